"""A fitted SVC of scikit-learn against the same machine converted: rows predicted in a second.

The machine is trained once, by scikit-learn; `from_sklearn` takes its support vectors as they are.
Decision values of both are compared before the times: what is not the same machine does not count.

1 the whole of digits, 2 letter, 3 banana, 4 mnist (its first 6,000 rows): Gaussian kernels, all of
the test rows at once. 5 one row at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from benchmarks.options import OPTIONS
from benchmarks.timing import best_of, failed, faster, figure, note

Row = dict[str, Any]

SAME = 1e-9  # of the decision values
LEAST = 3.0  # times as fast
MOST_ROWS = 6000


@cache
def machines(name: str) -> tuple[Any, Any, np.ndarray]:
    """Theirs, ours, and rows to predict."""
    from sklearn.svm import SVC

    from largemargin.data import load
    from largemargin.interchange import from_sklearn

    data = load(name)
    scale = float(np.abs(data.X).max())
    X, y = np.asarray(data.X[:MOST_ROWS], np.float64) / scale, data.y[:MOST_ROWS]
    rows = np.asarray(data.X if data.X_test is None else data.X_test, np.float64) / scale
    theirs = SVC(C=10).fit(X, y)
    return theirs, from_sklearn(theirs), np.ascontiguousarray(rows[:MOST_ROWS])


def batch(name: str) -> Iterator[Row]:
    theirs, ours, rows = machines(name)
    what = f"{name}: {len(rows)} rows, {theirs.support_vectors_.shape[0]} support vectors"
    wanted = theirs.decision_function(rows)
    off = float(np.abs(ours.decision_function(rows) - wanted).max() / np.abs(wanted).max())
    if off > SAME:
        yield failed(what, f"decision values differ by {off:.1e}", f"<= {SAME:g}")
        return
    same = ours.predict(rows) == theirs.predict(rows)
    clear = ~_tied(wanted)
    took, own = best_of(OPTIONS.rounds, lambda: theirs.predict(rows), lambda: ours.predict(rows))
    detail = f"{took:.3f} s against {own:.4f} s"
    yield faster(what, took / own, LEAST, detail, **figure("predict", own, {"scikit-learn": took}))
    yield note(
        f"{name}: the same labels, and where votes are not tied",
        f"{same.mean():.2%}, {same[clear].mean():.2%}",
    )


def _tied(scores: np.ndarray) -> np.ndarray:
    """Where several classes have won as many pairs, of which scikit-learn takes the first."""
    if scores.ndim == 1:
        return np.zeros(len(scores), bool)
    votes = scores.round()
    return np.asarray((votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1)


def one_row() -> Iterator[Row]:
    theirs, ours, rows = machines("digits")
    few = [rows[i : i + 1] for i in range(200)]
    took, own = best_of(
        OPTIONS.rounds,
        lambda: [theirs.predict(row) for row in few],
        lambda: [ours.predict(row) for row in few],
    )
    detail = f"{took / len(few) * 1e6:.0f} against {own / len(few) * 1e6:.0f} microseconds"
    ms = [1e3 * t / len(few) for t in (own, took)]
    told = figure("predict", ms[0], {"scikit-learn": ms[1]}, "ms")
    yield faster("digits: one row at a time", took / own, 1.0, detail, **told)


PARTS = [
    *({name: lambda name=name: batch(name)} for name in ("digits", "letter", "banana", "mnist")),
    {"one-row": one_row},
]
