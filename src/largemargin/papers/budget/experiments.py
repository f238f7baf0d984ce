"""The experiments: the three data sets, one pass with each eviction policy, and separable data.

The paper names the kernels but neither the scale of the inputs nor the width. Each is a `View`, and
one of several is chosen on held-out training data. The margin needs no such choice: with 0.01 and
K(x, x) = 1, as for a gaussian and for rows of norm 1, no step of MIRA comes near its limit of 1, so
that its vectors just have the scale of the margin, and another margin gives the same predictions.

A `StreamExperiment` is one pass of MIRA with one policy on one random order of a training set. The
rule of the paper's fixed cache drops what would be classified best without itself. A wrong label
never is, so it stays, and with noise the cache fills with it. Noise is in the training labels only:
each is, with the probability that is given, replaced by one of the other classes, all alike.

A `SeparableExperiment` is about the theorem. If |x_t| <= R and some unit vector has y_t (u.x_t) >=
gamma for all t, the aggressive perceptron with margin beta that distils its cache never stores more
than

    (R^2 + 2 beta) / gamma^2

examples. Without distilling the same number bounds the insertions, so the plain perceptron stands
beside it. The data are ours: R = 1, a known u, and margins from gamma to three times that.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from largemargin.data.dataset import Dataset
from largemargin.papers.budget import published
from largemargin.papers.experiments import Images, interruptions_raised

# A common scale is one over the root mean square of the norms.
SCALES = {
    "each": "rows of norm 1",
    "common": "one scale for all rows",
    "none": "as in the file",
}

FIXED, VARIABLE, PLAIN = "margin", "distill", "keep"
POLICIES = {
    FIXED: "fixed cache",
    VARIABLE: "variable cache",
    PLAIN: "plain MIRA",
    "random": "random removal",
    "forgetron": "forgetron",
    "projectron": "projectron",
}
"""Names of the policies on the page."""

WITH_BUDGET = (FIXED, "forgetron", "random", "projectron")
WITHOUT = (VARIABLE, PLAIN)
NOISE = (0.0, 0.1, 0.2)
NOISE_TASK = "usps"
NOISE_BUDGETS = (100, 250, 500, 1000)
QUICK_NOISE_BUDGETS = (100, 300)

N_FEATURES = 100
GAMMAS = (0.02, 0.05, 0.1, 0.2, 0.3)
BETAS = (0.01, 0.1, 1.0)
WIDEST = 3.0


@dataclass(frozen=True)
class View:
    """How the kernel sees the examples.

    Attributes
    ----------
    blank : bool
        Whether the smallest value, that of blank paper, is taken to zero.
    scale : a key of SCALES
    gamma : float
        Of the kernel.
    """

    blank: bool = False
    scale: str = "none"
    gamma: float = 1.0

    def as_json(self) -> dict[str, Any]:
        return {"blank": self.blank, "scale": self.scale, "gamma": self.gamma}

    @property
    def words(self) -> str:
        if self.scale == "none":
            return f"gamma = {self.gamma:g}"
        return SCALES[self.scale] + (", blank at 0" if self.blank else "")

    def of(self, data: Dataset) -> Dataset:
        """The data set through this view; shift and common scale are those of the training set."""
        shift = data.X.min() if self.blank else data.X.dtype.type(0)
        X, X_test = data.X - shift, data.X_test - shift
        if self.scale == "each":
            X, X_test = _unit_rows(X), _unit_rows(X_test)
        elif self.scale == "common":
            factor = X.dtype.type(1 / np.sqrt(np.mean(np.square(_norms(X)))))
            X, X_test = X * factor, X_test * factor
        return Dataset(X, data.y, X_test, data.y_test, data.name)


@dataclass(frozen=True)
class Task:
    """A data set of the paper.

    Attributes
    ----------
    views : what to choose from on held-out data
    Cs : of the machine, likewise
    sizes, quick_sizes : of the fixed caches, in a full and in a quick run
    """

    name: str
    title: str
    kernel: str
    views: tuple[View, ...]
    Cs: tuple[float, ...]
    sizes: tuple[int, ...]
    quick_sizes: tuple[int, ...]

    def parameters(self, view: View) -> dict[str, Any]:
        """Of the kernel, for an estimator."""
        if self.kernel == "poly":
            degree = published.DEGREE
            return {"kernel": "poly", "degree": degree, "coef0": 0.0, "gamma": view.gamma}
        return {"kernel": "rbf", "gamma": view.gamma}


TASKS = {
    task.name: task
    for task in (
        Task(
            "mnist", "MNIST", "poly",
            (View(scale="each"), View(scale="common")),
            (1.0, 10.0, 100.0),
            (500, 1000, 2000, 4000, 8000, 12000), (100, 300, 1000),
        ),
        Task(
            "usps", "USPS", "poly",
            tuple(View(blank, scale) for blank in (True, False) for scale in ("each", "common")),
            (1.0, 10.0, 100.0),
            (100, 200, 400, 800, 1200, 1600, 2400), (100, 300, 1000),
        ),
        Task(
            "letter", "LETTER", "rbf",
            tuple(View(gamma=gamma) for gamma in (0.03, 0.06, 0.12, 0.25)),
            (1.0, 10.0),
            (500, 1000, 2000, 3000, 4000, 6000), (300, 1000, 2000),
        ),
    )
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Problem:
    """A task with its data."""

    task: Task
    images: Images
    _seen: dict[View, Dataset] = field(default_factory=dict)

    def seen_through(self, view: View) -> Dataset:
        """The data through a view; the last one is kept."""
        if view not in self._seen:
            self._seen.clear()
            self._seen[view] = view.of(self.images.data)
        return self._seen[view]

    @property
    def comparable(self) -> bool:
        """Whether the published numbers are about as much data."""
        return (self.images.n_train, self.images.n_test) == published.DATA_SIZES[self.task.name]


def some_of(data: Dataset, n_train: int, n_test: int) -> Dataset:
    """At most so many examples, always the same ones."""
    random = np.random.RandomState(0)  # its stream is frozen
    train = np.sort(random.permutation(len(data.X))[:n_train])
    test = np.sort(random.permutation(len(data.X_test))[:n_test])
    assert data.y is not None
    assert data.y_test is not None
    return Dataset(data.X[train], data.y[train], data.X_test[test], data.y_test[test], data.name)


def _norms(X: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64)))


def _unit_rows(X: np.ndarray) -> np.ndarray:
    norms = _norms(X)
    norms[norms == 0] = 1.0
    return np.asarray(X / norms[:, None].astype(X.dtype))


def count_wrong(model: Any, data: Dataset) -> int:
    """Errors on the test set."""
    return int(np.count_nonzero(model.predict(data.X_test) != data.y_test))


@dataclass(frozen=True)
class StreamExperiment:
    """A policy with its budget (None: it has none) on one permutation."""

    problem: Problem
    view: View
    policy: str
    budget: int | None
    permutation: int
    noise: float = 0.0

    @property
    def name(self) -> str:
        size = "" if self.budget is None else f" {self.budget:,}"
        noise = f", {self.noise:.0%} noise" if self.noise else ""
        title = f"{self.problem.task.title}, {POLICIES[self.policy]}{size}{noise}"
        return f"{title}, permutation {self.permutation + 1}"

    @property
    def cost(self) -> float:
        n = self.problem.images.n_train
        stored = self.budget or n / 3
        work = n * stored * (1.5 if self.policy in (VARIABLE, FIXED) else 0.7)
        if self.policy == "projectron":
            work *= 1 + stored / 200
        return work / 2e7

    @property
    def file_name(self) -> str:
        budget = "" if self.budget is None else f"-{self.budget}"
        return (
            f"{self.problem.task.name}_{self.policy}{budget}_permutation-{self.permutation}"
            f"_noise-{self.noise:g}_rows-{self.problem.images.n_train}.json"
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": "stream",
            "data": self.problem.images.identity,
            "kernel": self.problem.task.kernel,
            "view": self.view.as_json(),
            "margin": published.MARGIN,
            "policy": self.policy,
            "budget": self.budget,
            "permutation": self.permutation,
            "noise": self.noise,
        }

    def run(self) -> tuple[dict[str, Any], dict[str, float]]:
        """One pass, then the test set.

        A pass that Ctrl-C cut short is no experiment: it raises KeyboardInterrupt.
        """
        from largemargin.online import MIRA

        data = self.problem.seen_through(self.view)
        assert data.y is not None
        order, labels = draw_stream(data.y, self.permutation, self.noise)
        model = MIRA(
            margin=published.MARGIN, policy=self.policy, budget=self.budget, average=False,
            shuffle=False, random_state=self.permutation, **self.problem.task.parameters(self.view),
        )  # fmt: skip
        started = time.perf_counter()
        with interruptions_raised():
            model.fit(data.X[order], labels)
        trained = time.perf_counter()
        results = {
            "n_train": len(order),
            "n_test": len(data.X_test),
            "wrong": count_wrong(model, data),
            "online_errors": int(model.online_errors_),
            "margin_errors": int(model.margin_errors_),
            "insertions": int(model.n_insertions_),
            "removals": int(model.n_removals_),
            "size": int(model.n_support_),
        }
        return results, {"fit": trained - started, "predict": time.perf_counter() - trained}


def draw_stream(y: np.ndarray, permutation: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """An order of the training set, and its labels in that order, some of them flipped."""
    random = np.random.RandomState(permutation)  # its stream is frozen
    order = random.permutation(len(y))
    classes, labels = np.unique(y[order], return_inverse=True)
    flipped = random.uniform(size=len(y)) < noise
    shifts = random.randint(1, len(classes), size=len(y))
    return order, classes[np.where(flipped, (labels + shifts) % len(classes), labels)]


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
            model = AggressivePerceptron(
                margin=self.beta, policy=policy, average=False, shuffle=False, kernel="linear"
            )
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
