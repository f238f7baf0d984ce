"""The report of a fit: what was trained on what, how good it is, what the theory says of it.

`fit_report` takes arrays; `describing` measures, with `outcome`, `curves` and `examples`; `content`
holds what was found; `page` shows it. `words` and `notes` are what the command line says of a fit
too; they load nothing.
"""
