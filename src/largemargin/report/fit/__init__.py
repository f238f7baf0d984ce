"""The report of a fit: what was trained on what, how good it is, what the theory says of it.

`fit_report` measures a model on arrays, with `outcome`, `curves` and `examples`; `page` holds what
was found and shows it. `words` are what the command line says of a fit too; they load nothing.
"""
