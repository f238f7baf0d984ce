"""The papers, run again: every table and figure beside the published numbers.

One package a paper, with a `Plan` of what to run and a function `run` that runs it; one function a
table or figure. `experiments` keeps what is finished, so that an interrupted run goes on where it
was.
"""

PAPERS = {
    "freund-schapire": ("table1", "table2", "table3", "figure2"),
    "cortes-vapnik": ("planes", "table2", "table3", "benchmark", "bound"),
    "adaptive-margin": ("table", "planes", "width", "lambda", "margins"),
    "budget": ("panels", "one-pass", "bound", "noise"),
}
"""The papers that can be reproduced, and the parts of each."""
