"""How late estimators are that were given a number of seconds.

1 support vector machines, 2 machines of linear programs, 3 the others. Each is fitted on noisy data
that would take it far longer, with `max_seconds`; what counts is the time taken over 1.2 times the
limit and a second, and that the model, with its warning, can be used. `--rows` makes the data
smaller, to try the commands.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from benchmarks.options import OPTIONS
from benchmarks.timing import note, row, seconds

Row = dict[str, Any]
LATE, SECOND = 1.2, 1.0


@cache
def noise(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of two classes that are hard to learn."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = np.sin(X @ rng.normal(size=d)) + 0.5 * rng.normal(size=n) > 0
    return X, y.astype(int)


def late(model: Any, n: int, d: int, limit: float) -> Row:
    """One line: how long a fit took that was to end after `limit` seconds."""
    n = n if OPTIONS.rows is None else max(300, n * OPTIONS.rows // 60_000)
    X, y = noise(n, d)
    shown = " ".join(repr(model).split())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        type(model)(**model.get_params()).fit(X[:200], y[:200])  # compiled
    model.set_params(max_seconds=limit)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        took = seconds(lambda: model.fit(X, y))
    usable = model.predict(X[:100]).shape == (100,)
    what = f"{shown}, {n:,} x {d}"
    detail = f"{took:.1f} s for {limit:g}"
    stopped = any("max_seconds" in str(warning.message) for warning in caught)
    if not stopped and took <= limit:
        return note(what, f"{took:.1f} s: needs less than {limit:g}")
    return row(what, took / (LATE * limit + SECOND) if usable else np.inf, 1.0, detail)


def support_vectors() -> Iterator[Row]:
    from largemargin import SVC, KernelAdatron, NuSVC

    make = partial(SVC, n_jobs=OPTIONS.threads)
    yield late(make(C=100.0), 2_000, 30, 0.3)
    yield late(make(C=100.0), 8_000, 30, 3.0)
    yield late(make(C=100.0), 60_000, 30, 5.0)
    yield late(make(), 300_000, 30, 10.0)
    yield late(make(kernel="linear", C=100.0), 300_000, 30, 2.0)
    yield late(make(slack="squared-sum"), 8_000, 30, 3.0)
    yield late(make(multiclass="crammer-singer", C=100.0), 8_000, 30, 3.0)
    yield late(NuSVC(n_jobs=OPTIONS.threads), 60_000, 30, 5.0)
    yield late(KernelAdatron(C=10.0, n_jobs=OPTIONS.threads), 8_000, 30, 3.0)


def linear_programs() -> Iterator[Row]:
    from largemargin import LPSVC, AdaptiveMarginSVC, LeaveOneOutSVC, MaxMarginHyperplane, NuLPSVC

    for machine in (LPSVC, NuLPSVC, LeaveOneOutSVC, AdaptiveMarginSVC):
        yield late(machine(n_jobs=OPTIONS.threads), 4_000, 10, 3.0)
    yield late(MaxMarginHyperplane(norm=1), 20_000, 30, 3.0)
    yield late(MaxMarginHyperplane(norm=1.5), 20_000, 30, 3.0)


def others() -> Iterator[Row]:
    from largemargin import MIRA, AdaBoost, RBFNetwork, VotedPerceptron

    threads = OPTIONS.threads
    yield late(VotedPerceptron(epochs=100, shuffle=False, n_jobs=threads), 60_000, 30, 3.0)
    yield late(MIRA(average=False, shuffle=False, n_jobs=threads), 60_000, 30, 3.0)
    yield late(RBFNetwork(n_centers=50, random_state=0), 60_000, 30, 3.0)
    yield late(AdaBoost(n_rounds=100_000), 20_000, 30, 3.0)


PARTS = [support_vectors, linear_programs, others]
