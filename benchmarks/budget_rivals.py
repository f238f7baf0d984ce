"""The same streams through other online learners: River's linear ones and Vowpal Wabbit's kernel
machine, which grows without bound (it has no budget to set equal).

Every learner answers before it learns, one example at a time for the others; theirs is the time of
learning and answering together, without making examples of the rows for them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.options import OPTIONS
from benchmarks.timing import figure, note
from largemargin import MIRA, AggressivePerceptron
from largemargin.data import load

Row = dict[str, Any]
Stream = tuple[np.ndarray, np.ndarray]  # rows and labels, True or False
Outcome = tuple[float, float, str]  # seconds, progressive error, what is stored
BUDGET = 500
OURS = "largemargin MIRA"
MOST_FOR_VW = 5_000  # its cost an example grows with the stream


def rivals() -> Iterator[Row]:
    """Two binary streams: letters up to M against the others, and a digit against the rest."""
    letter, mnist = load("letter"), load("mnist")
    streams: dict[str, tuple[Stream, float]] = {
        "LETTER, A-M against N-Z": (
            ((letter.X / 15).astype(np.float32), np.asarray(letter.y) <= "M"),
            8.0,
        ),
        "MNIST, 8 against the rest": (
            ((mnist.X[:10_000] / 255).astype(np.float32), np.asarray(mnist.y[:10_000]) == 8),
            0.02,
        ),
    }
    for name, (stream, gamma) in streams.items():
        size = OPTIONS.size(len(stream[1]))
        X, y = stream[0][:size], stream[1][:size]
        yield from _race(name, X, y, gamma)


def _race(name: str, X: np.ndarray, y: np.ndarray, gamma: float) -> Iterator[Row]:
    settings = {
        "budget": BUDGET,
        "average": False,
        "shuffle": False,
        "gamma": gamma,
        "precision": "float32",
        "n_jobs": OPTIONS.threads,
    }
    runners: dict[str, tuple[Callable[[np.ndarray, np.ndarray], Outcome], int]] = {
        OURS: (lambda X, y: _ours(MIRA(policy="margin", **settings), X, y), len(y)),
        "largemargin AggressivePerceptron, projectron": (
            lambda X, y: _ours(AggressivePerceptron(policy="projectron", **settings), X, y),
            len(y),
        ),
        "river PAClassifier": (lambda X, y: _river("PAClassifier", X, y), len(y)),
        "river LogisticRegression": (lambda X, y: _river("LogisticRegression", X, y), len(y)),
        "vowpalwabbit --ksvm": (lambda X, y: _vowpal(gamma, X, y), min(len(y), MOST_FOR_VW)),
    }
    rates: dict[str, float] = {}
    errors: list[str] = []
    for who, (run, n) in runners.items():
        try:
            spent, error, stored = run(X[:n], y[:n])
        except ImportError as missing:
            yield note(f"{name}: {who}", f"not measured: {missing}")
            continue
        rates[who] = n / spent
        errors.append(f"{who} {100 * error:.1f} %")
        yield note(
            f"{name}: {who}",
            f"{n / spent:,.0f} a second, progressive error {100 * error:.1f} % on {n}{stored}",
            seconds=spent,
            error=error,
        )
    ours = rates.pop(OURS)
    told = f"progressive errors: {'; '.join(errors)}"
    yield note(f"{name}: all", told, **figure(name.split(",")[0], ours, rates, "a second", told))


def _ours(model: Any, X: np.ndarray, y: np.ndarray) -> Outcome:
    model.fit(X[:600], y[:600])  # compile
    start = time.perf_counter()
    model.fit(X, y)
    spent = time.perf_counter() - start
    return spent, model.online_errors_ / len(y), f", {model.n_support_} stored"


def _river(name: str, X: np.ndarray, y: np.ndarray) -> Outcome:
    from river import linear_model

    model = getattr(linear_model, name)()
    rows = [dict(enumerate(row)) for row in X.tolist()]
    errors = 0
    start = time.perf_counter()
    for row, label in zip(rows, y.tolist(), strict=True):
        errors += bool(model.predict_one(row)) != label
        model.learn_one(row, label)
    return time.perf_counter() - start, errors / len(y), ", linear"


def _vowpal(gamma: float, X: np.ndarray, y: np.ndarray) -> Outcome:
    from vowpalwabbit import Workspace

    # its kernel is exp(-bandwidth |a - b|^2)
    machine = Workspace(f"--ksvm --kernel rbf --bandwidth {gamma} --quiet")
    lines = [
        " ".join(f"{i}:{value:.8g}" for i, value in enumerate(row) if value) for row in X.tolist()
    ]
    errors = 0
    start = time.perf_counter()
    for line, label in zip(lines, y.tolist(), strict=True):
        errors += (machine.predict(f"| {line}") > 0) != label
        machine.learn(f"{1 if label else -1} | {line}")
    spent = time.perf_counter() - start
    machine.finish()
    return spent, errors / len(y), ", no bound on what is stored"
