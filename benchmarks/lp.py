"""Linear-programming machines against the dense program given to `scipy.optimize.linprog`, and
boosting against scikit-learn's.

1 speed, 2 all of banana and growth, 3 a path, 4 AdaBoost with stumps, 5 with the same trees. The
programs are those of the adaptive-margin machine on the banana set, standardised, Gaussian kernel
of width 0.5, lambda 1; m rows are the first of a seeded permutation. Objectives, computed from the
coefficients, are beside the times: what is not the same solution to 1e-7 does not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from benchmarks.boosting import same_trees, stumps
from benchmarks.options import OPTIONS
from benchmarks.timing import failed, faster, figure, note, row, seconds

Row = dict[str, Any]

WIDTH = 0.5
SAME = 1e-7  # of the objective
SIZES = {400: 8.0, 1000: None, 2000: 40.0}  # and how many times as fast it should be
ALL = 5300
REPEATS = {400: 5, 1000: 1, 2000: 1}  # linprog takes a minute for the last
LAMBDAS = np.logspace(-1, np.log10(2), 20)


@cache
def banana(m: int) -> tuple[np.ndarray, np.ndarray]:
    """m rows of the banana set, and signs."""
    from sklearn.preprocessing import scale

    from largemargin import data

    whole = data.load("banana")
    X, y = scale(whole.X), np.where(whole.y == np.unique(whole.y)[1], 1.0, -1.0)
    rows = np.random.default_rng(0).permutation(len(y))[:m]
    return np.ascontiguousarray(X[rows]), y[rows]


def machine(lam: float = 1.0) -> Any:
    from largemargin import AdaptiveMarginSVC

    return AdaptiveMarginSVC(lam=lam, gamma=1 / (2 * WIDTH**2), n_jobs=1)


def ours(m: int) -> tuple[float, float, int]:
    """The seconds of a cold fit, its objective and the number of support vectors."""
    X, y = banana(m)
    model = machine()
    took = seconds(lambda: model.fit(X, y))
    return took, float(model.objective_[0]), model.n_support_


def dense(m: int) -> tuple[float, float]:
    """The seconds of linprog on the whole program, kernel included, and its objective."""
    from scipy.optimize import linprog
    from sklearn.metrics.pairwise import rbf_kernel

    X, y = banana(m)
    found: list[float] = []

    def solve() -> None:
        B = y[:, None] * rbf_kernel(X, gamma=1 / (2 * WIDTH**2)) * y
        np.fill_diagonal(B, 0.0)  # lambda 1: no part in one's own score
        A = np.hstack([B, np.eye(m)])
        cost = np.concatenate([np.zeros(m), np.ones(m)])
        result = linprog(cost, -A, -np.ones(m), bounds=(0, None), method="highs")
        found.append(float(np.maximum(0.0, 1 - B @ result.x[:m]).sum()))

    return seconds(solve), found[0]


@cache
def race(m: int) -> dict[str, Any]:
    """Both on m rows, taking turns; the least time of each, and their objectives."""
    banana(m)
    machine().fit(*banana(100))  # what is imported at the first fit is not the fit
    mine, theirs = [ours(m)], []
    for _ in range(REPEATS[m]):
        theirs.append(dense(m))
        mine.append(ours(m))
    return {
        "ours": min(mine)[0], "linprog": min(theirs)[0], "objective": mine[0][1],
        "theirs": theirs[0][1], "n_support": mine[0][2],
    }  # fmt: skip


def speed(m: int) -> Iterator[Row]:
    """How many times as fast, with the same objective."""
    least, result = SIZES[m], race(m)
    gap = abs(result["objective"] - result["theirs"]) / result["theirs"]
    detail = f"{result['linprog']:.2f} s / {result['ours']:.3f} s"
    what = f"m = {m:,}: linprog / ours"
    told = figure("fit", result["ours"], {"linprog": result["linprog"]})
    if gap > SAME:
        yield failed(what, f"objectives differ by {gap:.1e}", f">= {least}")
    elif least is not None:
        yield faster(what, result["linprog"] / result["ours"], least, detail, **told)
    else:
        yield note(what, f"{result['linprog'] / result['ours']:.2f} ({detail})", **told)
    yield note(
        f"  {result['n_support']} support vectors",
        f"objectives {result['objective']:.9g} and {result['theirs']:.9g}",
    )


def all_rows() -> Iterator[Row]:
    """All of banana."""
    took, objective, n_support = min(ours(ALL) for _ in range(2))
    detail = f"objective {objective:.9g}, {n_support} vectors"
    yield row(f"m = {ALL:,}: seconds", took, 15.0, detail, **figure("fit", took, {}))


def growth() -> Iterator[Row]:
    """How time grows with the number of rows."""
    sizes = np.log(list(SIZES))
    for name in ("ours", "linprog"):
        times = np.log([race(m)[name] for m in SIZES])
        exponent = np.polyfit(sizes, times, 1)[0]
        yield note(f"  exponent of time against m, {min(SIZES)} to {max(SIZES)}: {name}",
                   f"{exponent:.2f}", exponent=exponent)  # fmt: skip
    exponent = np.log(min(ours(ALL) for _ in range(2))[0] / race(400)["ours"]) / np.log(ALL / 400)
    yield note(f"  the same, 400 to {ALL}: ours", f"{exponent:.2f}", exponent=exponent)


def path() -> Iterator[Row]:
    """Twenty values of lambda, each from the last, against one cold fit and against twenty."""
    m = 2000
    X, y = banana(m)
    cold = min(ours(m)[0] for _ in range(2))
    models: list[Any] = []
    took = min(seconds(lambda: models.append(machine().path(X, y, LAMBDAS))) for _ in range(2))
    what = f"m = {m:,}: 20 lambdas, {LAMBDAS[0]:g} to {LAMBDAS[-1]:g} / a cold fit of lambda 1"
    told = figure("path", took, {"one fit": cold})
    yield row(what, took / cold, 4.0, f"{took:.2f} s / {cold:.2f} s", **told)
    if OPTIONS.brief:
        return
    alone, worst = 0.0, 0.0
    for model in models[-1]:
        fresh = machine(model.lam)
        alone += seconds(lambda fresh=fresh: fresh.fit(X, y))
        gap = abs(model.objective_[0] - fresh.objective_[0]) / fresh.objective_[0]
        worst = max(worst, float(gap))
    yield note(
        "  against twenty cold fits",
        f"{took / alone:.2f} ({alone:.2f} s), objectives within {worst:.1e}",
    )


PARTS = [
    {f"speed-{m}": partial(speed, m) for m in SIZES},
    {"all-rows": all_rows, "growth": growth},
    {"path": path},
    {"stumps": stumps},
    {"same-trees": same_trees},
]
