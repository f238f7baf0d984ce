"""The theorem: how many examples the variable cache holds on separable data.

If |x_t| <= R and some unit vector has y_t (u.x_t) >= gamma for all t, the aggressive perceptron
with margin beta that distils its cache never stores more than

    (R^2 + 2 beta) / gamma^2

examples. Without distilling the same number bounds the insertions, so the plain perceptron stands
beside it. The data are ours: R = 1, a known u, and margins from gamma to three times that.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.papers.comparison import Cell, Group, Row, Table, cell_of
from largemargin.papers.experiments import interruptions_raised
from largemargin.papers.figures import Figure, Panel
from largemargin.report.charts import Curve

N_FEATURES = 100
GAMMAS = (0.02, 0.05, 0.1, 0.2, 0.3)
BETAS = (0.01, 0.1, 1.0)
WIDEST = 3.0


@dataclass(frozen=True)
class SeparableExperiment:
    """One stream of separable examples, with the variable cache and with a cache that keeps all."""

    beta: float
    gamma: float
    permutation: int
    n: int

    @property
    def name(self) -> str:
        return f"separable data, beta {self.beta:g}, gamma {self.gamma:g}"

    @property
    def cost(self) -> float:
        return self.n / 20_000

    @property
    def file_name(self) -> str:
        return (
            f"separable_beta-{self.beta:g}_gamma-{self.gamma:g}_seed-{self.permutation}"
            f"_rows-{self.n}.json"
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": "separable",
            "beta": self.beta,
            "gamma": self.gamma,
            "seed": self.permutation,
            "n": self.n,
            "n_features": N_FEATURES,
            "widest": WIDEST,
        }

    def run(self) -> tuple[dict[str, Any], dict[str, float]]:
        """The largest and the last size of both caches, and the bound from what was drawn."""
        from largemargin.online import AggressivePerceptron

        X, y, u = draw_separable(self.n, self.gamma, self.permutation)
        radius = float(np.sqrt(np.max(np.sum(X * X, axis=1))))
        gamma = float(np.min(y * (X @ u)))
        results: dict[str, Any] = {"radius": radius, "gamma": gamma}
        results["bound"] = bound(radius, self.beta, gamma)
        seconds = {}
        for policy in ("distill", "keep"):
            started = time.perf_counter()
            model = AggressivePerceptron(margin=self.beta, policy=policy, kernel="linear")
            with interruptions_raised():
                model.fit(X, y)
            results[policy] = {
                "largest": int(max(model.cache_sizes_[:, 1].max(), model.n_support_)),
                "last": int(model.n_support_),
                "insertions": int(model.n_insertions_),
            }
            seconds[policy] = time.perf_counter() - started
        return results, seconds


def bound(radius: float, beta: float, gamma: float) -> float:
    """The theorem's."""
    return (radius**2 + 2 * beta) / gamma**2


def draw_separable(n: int, gamma: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unit vectors, labels 1 and -1, and the unit vector that separates them with that margin."""
    random = np.random.RandomState(seed)  # its stream is frozen
    u = random.standard_normal(N_FEATURES)
    u /= np.sqrt(u @ u)
    y = np.where(random.uniform(size=n) < 0.5, 1, -1)
    along = random.uniform(gamma, min(1.0, WIDEST * gamma), n)
    across = random.standard_normal((n, N_FEATURES))
    across -= np.outer(across @ u, u)
    across *= (np.sqrt(1 - along**2) / np.sqrt(np.sum(across**2, axis=1)))[:, None]
    return across + np.outer(y * along, u), y, u


Records = dict[tuple[float, float], list[dict[str, Any]]]
"""Results by beta and gamma, one per stream."""


def bound_table(found: Records) -> Table:
    """For each beta and gamma the bound and the sizes of both caches."""
    gammas = sorted({gamma for _, gamma in found})

    def group(beta: float) -> Group:
        runs = [found[beta, gamma] for gamma in gammas]
        exceeded = [sum(run["distill"]["largest"] > run["bound"] for run in one) for one in runs]

        def row(name: str, policy: str, key: str) -> Row:
            cells = (cell_of([run[policy][key] for run in one], None, "count") for one in runs)
            return Row(name, "count", tuple(cells))

        bounds = (cell_of([run["bound"] for run in one], None, "count") for one in runs)
        return Group(
            f"beta = {beta:g}",
            (
                Row("Bound", "count", tuple(bounds)),
                row("Variable, largest", "distill", "largest"),
                row("Variable, last", "distill", "last"),
                row("Variable, inserted", "distill", "insertions"),
                row("Plain", "keep", "largest"),
                Row("Exceeded", "count", tuple(Cell(float(e), unit="count") for e in exceeded)),
            ),
        )

    return Table(
        "bound-table",
        "The theorem: bound and cache sizes on separable data",
        "gamma",
        tuple(f"{gamma:g}" for gamma in gammas),
        tuple(group(beta) for beta in sorted({beta for beta, _ in found})),
        (
            f"Examples of norm 1 in {N_FEATURES} dimensions, separable with margin gamma by a "
            "vector that is known; R and gamma in the bound are those of the examples drawn. The "
            "learner is the aggressive perceptron, with the linear kernel and one pass.",
            "Largest: of the sizes recorded along the stream, at most 1,024 of them. Exceeded: in "
            "how many streams the variable cache was larger than the bound, which the theorem "
            "excludes. The bound holds for the plain perceptron as well.",
        ),
    )


def bound_figure(found: Records) -> Figure:
    """Bound and cache sizes against gamma, a panel for each beta."""
    return Figure(
        "bound",
        "The theorem's bound and the cache sizes",
        "margin gamma of the data",
        "stored examples",
        tuple(_panel(beta, found) for beta in sorted({beta for beta, _ in found})),
        ("Means over streams; the largest size along the stream.",),
    )


def _panel(beta: float, found: Records) -> Panel:
    gammas = sorted(gamma for b, gamma in found if b == beta)
    runs = [found[beta, gamma] for gamma in gammas]

    def curve(name: str, sizes: Sequence[Sequence[float]]) -> Curve:
        return Curve(name, tuple(gammas), tuple(float(np.mean(one)) for one in sizes))

    curves = (
        curve("bound", [[run["bound"] for run in one] for one in runs]),
        curve("variable cache", [[run["distill"]["largest"] for run in one] for one in runs]),
        curve("plain", [[run["keep"]["largest"] for run in one] for one in runs]),
    )
    at = ", ".join(f"{curve.name} {curve.y[0]:,.0f}" for curve in curves)
    return Panel(f"beta = {beta:g}", curves, f"at gamma = {gammas[0]:g}: {at}")
