"""The report of a fit: what was trained on what, how good it is, what the theory says of it.

`fit_report` measures a model on arrays, and `detector` one that learns without labels. Each part of
the page has a module: `error_axis` what is known about the error, `picture` how the model decides,
`confusion`, `thresholds`, `importance`, `curves` and `sizes` how it learned, `search`, `examples`,
`use`, `facts`. `page` holds what was found and shows it. `words` are what the command line says of
a fit too; they load nothing.
"""
