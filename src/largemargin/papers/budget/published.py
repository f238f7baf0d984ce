"""The numbers and statements of the paper and its successors, labelled by how well they are known.

The paper shows its results as plots, whose numbers are not at hand; what its text says of them is.
The errors of the multiclass machine are those that later papers quote for the same data sets. The
one-pass learners on a budget are later ones; their accuracies were printed and are errors here.
"""

from __future__ import annotations

from dataclasses import dataclass

from largemargin.papers.cells import Published

MARGIN = 0.01
DEGREE = 9
DATA_SIZES = {"mnist": (60_000, 10_000), "usps": (7_291, 2_007), "letter": (16_000, 4_000)}
PERMUTATIONS = {"mnist": 5, "usps": 11, "letter": 11}

MACHINE_ERROR = {
    "mnist": Published(1.42, "recalled"),
    "usps": Published(4.38, "recalled"),
    "letter": Published(1.95, "recalled"),
}

BUDGETS = (100, 500)
ONE_PASS_ACCURACY = {
    "usps": {"merge-BSGD": (91.8, 92.9), "projectron++": (81.4, 92.0)},
    "letter": {"merge-BSGD": (73.6, 89.7), "projectron++": (47.2, 75.9)},
}


@dataclass(frozen=True)
class Statement:
    """Something that the text says of the plots, and of which data sets it says so."""

    title: str
    about: tuple[str, ...]


EVERYWHERE = tuple(DATA_SIZES)
STATEMENTS = {
    "fixed-beats-machine": Statement("Some fixed cache beats the machine", ("mnist", "usps")),
    "variable-near-machine": Statement("Variable cache near the machine", ("mnist", "usps")),
    "plain-worst": Statement("Plain MIRA worst in error and size", EVERYWHERE),
    "online-chooses": Statement("Online errors choose a good size", EVERYWHERE),
    "variable-inserts-more": Statement("Variable cache inserts more", EVERYWHERE),
}


def one_pass_error(data: str, learner: str) -> list[Published]:
    """Test error in percent, one number for each of BUDGETS."""
    accuracies = ONE_PASS_ACCURACY[data][learner]
    return [Published(round(100 - accuracy, 1), "derived") for accuracy in accuracies]


def statement(name: str, data: str) -> Published | None:
    """1 if the text says so of the data set, None if it does not speak of it."""
    return Published(1.0, "text") if data in STATEMENTS[name].about else None
