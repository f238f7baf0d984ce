"""Online learners on a budget against a NumPy version, and against the products they cannot avoid.

1 LETTER against NumPy, 2 MNIST against its kernel block, 3 the variable cache beside other fits,
4 other online learners on the same streams, 5 a million examples of a drifting stream.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.budget_rivals import rivals
from benchmarks.budget_twin import NumpyMIRA
from benchmarks.options import OPTIONS
from benchmarks.timing import best_of, faster, figure, note, row, seconds
from largemargin import MIRA, SVC, VotedPerceptron
from largemargin.data import load

Row = dict[str, Any]
PAPER = {"policy": "margin", "average": False, "shuffle": False}  # the fixed cache
POLYNOMIAL = {"kernel": "poly", "degree": 9, "coef0": 0.0}  # homogeneous, as in the paper


def letter() -> Iterator[Row]:
    """LETTER, 26 classes, MIRA with a fixed cache of 500, gaussian; one by one in NumPy."""
    data = load("letter")
    y = np.unique(data.y, return_inverse=True)[1]
    # whole numbers and a power of two: distances are exact, and so the models can be the same
    X, y = data.X[: OPTIONS.size(16_000)].astype(np.float32), y[: OPTIONS.size(16_000)]
    ours = MIRA(gamma=1 / 32, precision="float32", n_jobs=OPTIONS.threads, **PAPER, budget=500)
    twin = NumpyMIRA(500, 1 / 32)
    ours.fit(X[:600], y[:600])  # compile
    mine, theirs = best_of(OPTIONS.rounds, lambda: ours.fit(X, y), lambda: twin.fit(X, y))
    same = np.array_equal(ours.support_, np.sort(twin.positions[: twin.size]))
    order = np.argsort(twin.positions[: twin.size])
    if same:
        same = np.allclose(ours.dual_coef_, twin.coefs[order].T, atol=1e-8)
    found = faster(
        f"LETTER, {len(y)} examples, MIRA, cache 500: NumPy / ours",
        theirs / mine,
        20.0,
        f"{theirs:.2f} s / {mine:.3f} s, {ours.margin_errors_} margin errors",
        **figure("fit", mine, {"the same algorithm in NumPy": theirs}),
    )
    yield {**found, "held": found["held"] and same, "wanted": f">= 20, same model: {same}"}


def mnist() -> Iterator[Row]:
    """MNIST, MIRA with a fixed cache of 1,000, degree 9, against the stream times 1,000 vectors."""
    data = load("mnist")
    n = OPTIONS.size(60_000)
    X, y = data.X[:n] / np.float32(255), data.y[:n]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    model = MIRA(
        budget=1000, gamma=1.0, precision="float32", n_jobs=OPTIONS.threads, **PAPER, **POLYNOMIAL
    )
    model.fit(X[:1500], y[:1500])
    vectors = np.ascontiguousarray(X[:1000])
    out = np.zeros((1000, 1000), np.float32)

    def products() -> None:
        for start in range(0, n, 1000):
            rows = X[start : start + 1000]
            np.dot(rows, vectors.T, out=out[: len(rows)])

    mine, bound = best_of(OPTIONS.rounds, lambda: model.fit(X, y), products)
    X_test = data.X_test / np.linalg.norm(data.X_test, axis=1, keepdims=True)
    error = 100 * np.mean(model.predict(X_test.astype(np.float32)) != data.y_test)
    yield row(
        f"MNIST, {n} examples, MIRA, cache 1,000 / its kernel block",
        mine / bound,
        2.5,
        f"{mine:.2f} s / {bound:.2f} s, {model.margin_errors_} margin errors, "
        f"test error {error:.1f} %",
        **figure("fit", mine, {"bound": bound}),
    )


def variable_cache() -> Iterator[Row]:
    """MIRA that distills, an epoch of the voted perceptron, a support vector machine: MNIST."""
    data = load("mnist")
    n = OPTIONS.size(60_000)
    lengths = [np.linalg.norm(rows, axis=1, keepdims=True) for rows in (data.X[:n], data.X_test)]
    X, X_test = (data.X[:n] / lengths[0]).astype("f4"), (data.X_test / lengths[1]).astype("f4")
    y = data.y[:n]
    for name, model in (
        ("MIRA, distill", MIRA(gamma=1.0, average=False, shuffle=False, **POLYNOMIAL)),
        ("MIRA, distill, average", MIRA(gamma=1.0, average=True, shuffle=False, **POLYNOMIAL)),
        (
            "voted perceptron, one epoch",
            VotedPerceptron(gamma=1.0, epochs=1, shuffle=False, **POLYNOMIAL),
        ),
        ("Crammer-Singer machine", SVC(gamma=1.0, multiclass="crammer-singer", **POLYNOMIAL)),
    ):
        model.set_params(n_jobs=OPTIONS.threads)
        model.fit(X[:600], y[:600])
        spent = seconds(lambda model=model: model.fit(X, y))
        error = 100 * float(np.mean(model.predict(X_test) != data.y_test))
        yield note(
            f"MNIST, {n} examples, {name}",
            f"{spent:.1f} s, {model.n_support_} stored, test error {error:.2f} %",
            seconds=spent,
            stored=int(model.n_support_),
            error=error,
        )


def million() -> Iterator[Row]:
    """A drifting stream of 50 features at budget 500: speed, and memory that does not grow."""
    n, chunk = OPTIONS.size(60_000) * 50 // 3, 10_000
    rng = np.random.default_rng(0)
    model = MIRA(budget=500, gamma=0.01, n_jobs=OPTIONS.threads, **PAPER)
    spent, sizes, errors = 0.0, [], 0
    for start in range(0, n, chunk):
        angle = 2 * np.pi * start / n
        direction = np.zeros(50)
        direction[:2] = np.cos(angle), np.sin(angle)
        X = rng.normal(size=(chunk, 50)).astype(np.float32)
        y = (X @ direction > 0).astype(int)
        before = time.perf_counter()
        model.partial_fit(X, y, classes=[0, 1])
        spent += time.perf_counter() - before
        errors = model.online_errors_
        sizes.append(_resident())
    grown = sizes[-1] - sizes[0]
    slope = float(np.polyfit(np.arange(len(sizes)), sizes, 1)[0]) if len(sizes) > 1 else 0.0
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield note(
        f"{n} examples, 50 features, budget 500",
        f"{n / spent:.0f} a second, progressive error {100 * errors / n:.1f} %, "
        f"peak {peak / 1e6:.0f} MB",
        **figure("speed", n / spent, {}, "a second", f"resident size {grown / 1e6:+.1f} MB"),
    )
    yield row(
        "resident size after the first chunk and at the end",
        sizes[-1] / sizes[0],
        1.02,
        f"{grown / 1e6:+.1f} MB, {slope / chunk:+.3f} bytes an example",
    )


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


PARTS = [
    {"letter": letter},
    {"mnist": mnist},
    {"variable-cache": variable_cache},
    {"rivals": rivals},
    {"million": million},
]
