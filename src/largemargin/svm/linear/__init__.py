"""Linear machines with an explicit w, which need no kernel values.

Few columns (`solver`), dense or sparse, many rows:

    hinge loss, nu    `screening`: samples, and bands of rows near the margin, on the `central_path`
    squared slack     `newton`: piecewise quadratic in w, exact after a few steps
    hard margin       `working_sets` of few rows, each solved by `few_features`

Many sparse columns: `coordinate_descent` in the dual, compiled in `loops`. What is neither, and
what these methods cannot do, is left to `few_features` and to the solvers over kernel values.

The methods for few columns also take rows that are in other processes: what they do with all rows
are `passes` over them, and samples and bands are fetched as long as they are few numbers (see
`runtime.arrays.some_rows`). Coordinate descent is for rows in this process only.
"""
