"""Which policy, and whether to average: online learners on a budget, noisy and clean streams.

Every learner goes once over every stream with every policy, and the test error is measured of the
last weight vectors and of their average, which one pass gives together. A stream is 3,000 examples
in random order, standardised; noise gives a share of them a wrong label, and the test examples are
clean. What is compared is the regret: a way's test error less that of the best way on the same
stream, with the same learner, noise and budget. `policy="auto"` and `average="auto"` are chosen by
its mean.

1 the table of regrets and errors. `benchmarks/budgets.json` has the errors of every stream.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn import datasets

from benchmarks.options import OPTIONS
from benchmarks.timing import note
from largemargin import ALMA, MIRA, ROMMA, AggressivePerceptron
from largemargin.data import load

Row = dict[str, Any]
Table = tuple[np.ndarray, np.ndarray]
LEARNERS = {cls.__name__: cls for cls in (AggressivePerceptron, MIRA, ROMMA, ALMA)}
WITH_BUDGET = ("margin", "forgetron", "random", "projectron")
WITHOUT = ("distill", "keep")
NOISE = (0.0, 0.1, 0.2, 0.3)
BUDGETS = (50, 200, 500, 2000)
# Of the largest budget, which takes longest: every other noise level, and two of the learners.
LARGE_NOISE, LARGE_LEARNERS = (0.0, 0.2), ("AggressivePerceptron", "MIRA")
TRAIN, TEST = 3000, 1000
NAMED = ("a9a", "banana", "covtype", "digits", "ijcnn1", "letter", "mnist", "usps")


def _named(name: str) -> Table:
    data = load(name)
    X, y = (data.X, data.y) if data.X_test is None else _joined(data)
    rows = np.random.default_rng(0).permutation(X.shape[0])[: TRAIN + TEST]
    X = X[rows]
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64), y[rows]


def _joined(data: Any) -> tuple[Any, np.ndarray]:
    """All the rows of a data set that is small, and the training rows of another."""
    if data.X.shape[0] >= TRAIN + TEST:
        return data.X, data.y
    return np.concatenate([data.X, data.X_test]), np.concatenate([data.y, data.y_test])


def _checkerboard(n: int) -> Table:
    X = np.random.default_rng(1).uniform(-2, 2, size=(n, 2))
    return X, (np.floor(X).sum(axis=1) % 2).astype(int)


def _halfspace(n: int) -> Table:
    X = np.random.default_rng(2).normal(size=(n, 20))
    return X, (X[:, :5].sum(axis=1) > 0).astype(int)


GENERATED: dict[str, Callable[[int], Table]] = {
    "moons": lambda n: datasets.make_moons(n, noise=0.2, random_state=0),
    "checkerboard": _checkerboard,
    "halfspace": _halfspace,
    "blobs": lambda n: datasets.make_blobs(n, 10, centers=8, cluster_std=4.0, random_state=0)[:2],
    "clusters": lambda n: datasets.make_classification(
        n, 20, n_informative=8, n_classes=4, flip_y=0, random_state=0
    ),
}


def tables() -> Iterator[tuple[str, Table, Table]]:
    """Name, training rows and test rows of each data set, standardised by the training rows."""
    for name in (*NAMED, *GENERATED):
        X, y = GENERATED[name](TRAIN + TEST) if name in GENERATED else _named(name)
        X, y = (
            X[: OPTIONS.size(60_000)],
            np.unique(y, return_inverse=True)[1][: OPTIONS.size(60_000)],
        )
        n = min(TRAIN, 3 * len(y) // 4)
        X = (X - X[:n].mean(axis=0)) / np.maximum(X[:n].std(axis=0), 1e-9)
        yield name, (X[:n], y[:n]), (X[n:], y[n:])


def noisy(y: np.ndarray, share: float) -> np.ndarray:
    """The labels, of which a share is another one at random."""
    rng = np.random.default_rng(3)
    wrong = rng.random(len(y)) < share
    k = y.max() + 1
    return np.where(wrong, (y + rng.integers(1, k, len(y))) % k, y)


def errors(model: Any, train: Table, test: Table) -> dict[str, float]:
    """Test errors of the last weight vectors and of their average, from one fit."""
    model.set_params(average=True).fit(*train)
    averaged = float(np.mean(model.predict(test[0]) != test[1]))
    last = float(np.mean(model.set_params(average=False).predict(test[0]) != test[1]))
    return {"last": last, "average": averaged}


def settings(noise: float) -> Iterator[tuple[str, int | None]]:
    """Learners and budgets that are tried with so much noise."""
    for name in LEARNERS:
        for budget in (*BUDGETS, None):
            large = budget == max(BUDGETS)
            if not large or (noise in LARGE_NOISE and name in LARGE_LEARNERS):
                yield name, budget


def streams() -> Iterator[Row]:
    """One row per stream, learner and budget, with the test errors of every way."""
    for table, train, test in tables():
        spread = train[0][:100].var() * train[0].shape[1]
        for noise in NOISE:
            stream = train[0], noisy(train[1], noise)
            for name, budget in settings(noise):
                found = {}
                for policy in WITHOUT if budget is None else WITH_BUDGET:
                    model = LEARNERS[name](
                        budget=budget,
                        policy=policy,
                        gamma=1 / spread,
                        shuffle=False,
                        random_state=0,
                        n_jobs=1,
                    )
                    for how, error in errors(model, stream, test).items():
                        found[f"{policy} {how}"] = error
                yield note(
                    f"{table}, noise {noise:.0%}, {name}, budget {budget}",
                    ", ".join(f"{way} {100 * error:.1f}" for way, error in found.items()),
                    data=table, noise=noise, learner=name, budget=budget, errors=found,
                    guessing=1 - float(np.bincount(test[1]).max() / len(test[1])),
                )  # fmt: skip


def regrets(rows: list[Row], **chosen: Any) -> dict[str, tuple[float, float]]:
    """Mean test error and mean regret of each way, over the streams that were chosen."""
    found = defaultdict(list)
    for row in rows:
        if all(row[key] == value for key, value in chosen.items()):
            best = min(row["errors"].values())
            for way, error in row["errors"].items():
                found[way].append((error, error - best))
    return {way: tuple(np.mean(pairs, axis=0)) for way, pairs in found.items()}


def choice() -> Iterator[Row]:
    """The streams, and below them the regrets: of all, by learner, by noise, by budget."""
    warnings.simplefilter("ignore")
    rows = []
    for row in streams():
        rows.append(row)
        yield row
    bounded = [row for row in rows if row["budget"] is not None]
    groups: list[tuple[str, list[Row], dict[str, Any]]] = [("all budgets", bounded, {})]
    groups += [(f"{name}, all budgets", bounded, {"learner": name}) for name in LEARNERS]
    groups += [(f"noise {noise:.0%}, all budgets", bounded, {"noise": noise}) for noise in NOISE]
    groups += [(f"budget {budget}", rows, {"budget": budget}) for budget in (*BUDGETS, None)]
    groups += [(f"{name}, no budget", rows, {"learner": name, "budget": None}) for name in LEARNERS]
    for what, some, chosen in groups:
        found = sorted(regrets(some, **chosen).items(), key=lambda pair: pair[1][1])
        told = (f"{way} {100 * e:.1f} (+{100 * r:.1f})" for way, (e, r) in found)
        yield note(f"mean error (and regret), {what}", ", ".join(told))


PARTS = [choice]
