"""The papers, run again: every table and figure beside the published numbers.

One package for each paper: a `Plan` of what to run and a function `run` that runs it, the numbers
that were `published`, the `experiments`, the `tables` and figures made of what they found, and
where something is left open, `choosing` it. `experiments` here keeps what is finished, so that an
interrupted run goes on where it was.

A `report` holds what was found, in tables of published and own numbers and in `figures`, and
`rendering` shows it, in the terminal and as files in a folder. This is the top of the house:
nobody imports it but the command line.
"""

PAPERS = {
    "freund-schapire": ("table1", "table2", "table3", "figure2", "misses"),
    "cortes-vapnik": ("planes", "table2", "table3", "benchmark", "bound", "slack"),
    "adaptive-margin": ("table", "planes", "width", "lambda", "margins"),
    "budget": ("panels", "one-pass", "bound", "noise"),
}
"""The papers that can be reproduced, and the parts of each."""
