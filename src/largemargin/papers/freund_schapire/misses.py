"""Two rows of table 1 that ours do not meet, looked into.

The normalised random rule at d = 1. Its expected error is that of the vector alive at a step, in
the mean over steps, so that nothing need be drawn: it is read at every tenth of an epoch. Beside
the division by the norm |v| stands one by the root of the number of mistakes k, which bounds the
norm, |v| <= R sqrt(k), and is what a program gets that adds |x|^2 for each mistake and leaves out
the product with v.

The last vector at d = 2 and T = 0.1 depends on the last few examples of ten permutations. It costs
little to have ten times as many: T = 0.1 is one pass over the first tenth of a permutation.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.papers.cells import Published, cell_of
from largemargin.papers.experiments import Images
from largemargin.papers.freund_schapire import published
from largemargin.papers.freund_schapire.experiments import (
    TABLE_EPOCHS,
    fitted,
    make_model,
    pixels,
    stages,
)
from largemargin.papers.report import Group, Row, Table

LAST_PERMUTATIONS = 100
FIRST_EPOCH = 3  # before that a tenth of an epoch is too coarse for the mean over steps
LAST_DEGREE, LAST_EPOCHS = 2, 0.1
DIVISORS = ("nothing", "norm", "root of mistakes")
ROWS = {
    "nothing": ("Rand", "random"),
    "norm": ("Rand / norm", "random normalized"),
    "root of mistakes": ("Rand / root of k", "random normalized"),
}


@dataclass(frozen=True)
class RandomRule:
    """The expected error of the random rule at d = 1, for one permutation."""

    permutation: int
    epochs: int
    images: Images

    @property
    def name(self) -> str:
        return f"random rule at degree 1, permutation {self.permutation + 1}"

    cost = 1.0

    @property
    def file_name(self) -> str:
        rows = self.images.n_train
        return f"random_permutation-{self.permutation}_epochs-{self.epochs}_rows-{rows}.json"

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": "random rule",
            "permutation": self.permutation,
            "epochs": self.epochs,
            "data": self.images.identity,
        }

    def run(self) -> tuple[dict[str, Any], dict[str, float]]:
        """Test images that the vectors alive at each stage get wrong, for each divisor."""
        data = self.images.data
        assert data.y_test is not None
        started = time.perf_counter()
        model = fitted(make_model(1, self.epochs, None), data, 1, self.permutation)
        at = stages(self.epochs)
        truth = np.searchsorted(model.classes_, data.y_test)
        wrong = {divisor: np.zeros(len(at), int) for divisor in DIVISORS}
        rules = {"nothing": ("last", False), "norm": ("last", True)}
        mistakes = [model.trace_.n_mistakes(model.trace_.step_at(epoch)) for epoch in at]
        roots = [np.sqrt(np.maximum(made, 1)) for made in mistakes]
        for first in range(0, len(truth), 2_560):
            rows = slice(first, first + 2_560)
            X = pixels(data.X_test[rows], 1)
            staged = model.staged_decision_functions(X, at, list(rules.values()))
            for s, scores in enumerate(staged):
                found = {divisor: scores[rule] for divisor, rule in rules.items()}
                found["root of mistakes"] = found["nothing"] / roots[s]
                for divisor, values in found.items():
                    wrong[divisor][s] += np.count_nonzero(values.argmax(axis=1) != truth[rows])
        results = {
            "stages": at,
            "n_test": len(truth),
            "wrong": {divisor: counts.tolist() for divisor, counts in wrong.items()},
        }
        return results, {"fit and evaluate": time.perf_counter() - started}


@dataclass(frozen=True)
class LastVector:
    """The last vector at d = 2 and T = 0.1, for some permutations."""

    first: int
    count: int
    images: Images

    @property
    def name(self) -> str:
        return f"last vector at degree 2, permutations from {self.first + 1}"

    cost = 0.5

    @property
    def file_name(self) -> str:
        rows = self.images.n_train
        return f"last_permutations-{self.first}-{self.first + self.count - 1}_rows-{rows}.json"

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": "last vector",
            "first": self.first,
            "count": self.count,
            "data": self.images.identity,
        }

    def run(self) -> tuple[dict[str, Any], dict[str, float]]:
        data = self.images.data
        assert data.y_test is not None
        started = time.perf_counter()
        X_test = pixels(data.X_test, LAST_DEGREE)
        rules = [("last", False), ("last", True)]
        errors: list[list[float]] = []
        for permutation in range(self.first, self.first + self.count):
            model = fitted(make_model(LAST_DEGREE, 1, None), data, LAST_DEGREE, permutation, 10)
            scores = model.decision_functions(X_test, rules)
            answers = [model.classes_[scores[rule].argmax(axis=1)] for rule in rules]
            errors.append([100 * float(np.mean(answer != data.y_test)) for answer in answers])
        return {"errors": errors}, {"fit and evaluate": time.perf_counter() - started}


def miss_experiments(
    images: Images, permutations: int, epochs: int
) -> list[RandomRule | LastVector]:
    many = LAST_PERMUTATIONS * permutations // published.PERMUTATIONS
    chunk = max(1, min(10, many))
    return [
        *(RandomRule(permutation, epochs, images) for permutation in range(permutations)),
        *(LastVector(first, chunk, images) for first in range(0, many, chunk)),
    ]


def run_miss(experiment: RandomRule | LastVector) -> tuple[dict[str, Any], dict[str, float]]:
    return experiment.run()


def misses_table(records: Sequence[dict[str, Any]], *, comparable: bool) -> Table:
    """Both, in the columns of table 1."""
    random = [r["results"] for r in records if r["settings"]["kind"] == "random rule"]
    last = [e for r in records if "errors" in r["results"] for e in r["results"]["errors"]]
    until = random[0]["stages"][-1]
    columns = [at for at in TABLE_EPOCHS if FIRST_EPOCH <= at <= until]

    def known(degree: int, row: str, epochs: float) -> Published | None:
        return published.table_1(degree, row, epochs) if comparable else None

    def expected(divisor: str) -> Row:
        title, row = ROWS[divisor]
        cells = []
        for epochs in columns:
            n = random[0]["stages"].index(epochs) + 1
            means = [100 * np.mean(r["wrong"][divisor][:n]) / r["n_test"] for r in random]
            cells.append(cell_of(means, known(1, row, epochs), "percent"))
        return Row(title, "percent", tuple(cells))

    def last_row(place: int, title: str, row: str) -> Row:
        cell = cell_of([e[place] for e in last], known(LAST_DEGREE, row, LAST_EPOCHS), "percent")
        empty = (cell_of([], None, "percent"),) * len(columns)
        return Row(title, "percent", (cell, *empty))

    empty = (cell_of([], None, "percent"),)
    rows = (expected(divisor) for divisor in DIVISORS)
    return Table(
        "misses",
        "Two misses of table 1, looked into: test error in percent",
        "T =",
        tuple(f"{at:g}" for at in (LAST_EPOCHS, *columns)),
        (
            Group(
                f"d = 1, expected error over {len(random)} permutations",
                tuple(Row(row.name, row.unit, (*empty, *row.cells)) for row in rows),
            ),
            Group(
                f"d = {LAST_DEGREE}, over {len(last)} permutations",
                (last_row(0, "Last", "last"), last_row(1, "Last norm", "last normalized")),
            ),
        ),
        (
            "The expected error of the random rule is the mean error of the vectors alive at every "
            "tenth of an epoch, so that nothing is drawn. They are divided by their norm, "
            "or by the root of their number of mistakes k, which bounds the norm up to a factor.",
        ),
    )
