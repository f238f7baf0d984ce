"""The voted perceptron against the matrix products that it cannot avoid, and against its peers.

1 fit, 2 prediction, 3 the linear kernel, 4 the package votedperceptron, 5 cold start, 6 memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import best_of, figure, row, seconds
from largemargin import VotedPerceptron
from largemargin.data import load

Row = dict[str, Any]
SEVEN_RULES = [("vote", False)] + [
    (method, normalize) for method in ("average", "last", "random") for normalize in (False, True)
]
PEAK = """
import re, sys
from largemargin import VotedPerceptron
from largemargin.data import load
import numpy as np
mnist = load("mnist")
X = mnist.X
X /= np.float32(255)
model = VotedPerceptron(gamma=1.0, epochs=30, shuffle=False, memory="500MB").fit(X, mnist.y)
peak = 1024 * int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])
trace = model.trace_
np.savez(sys.argv[1], peak=peak, data=X.nbytes + mnist.X_test.nbytes, **trace.arrays())
"""


@cache
def mnist() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    data = load("mnist")
    return data.X / np.float32(255), data.y, data.X_test / np.float32(255), data.y_test


@cache
def fitted() -> VotedPerceptron:
    X, y, *_ = mnist()
    return VotedPerceptron(gamma=1.0, epochs=30, shuffle=False, random_state=0).fit(X, y)


def fit() -> Iterator[Row]:
    """Ten classes of 60,000 images, (1 + x.y)^4, thirty epochs, against X times its support
    vectors.
    """
    X, y, *_ = mnist()
    VotedPerceptron(gamma=1.0, epochs=1, shuffle=False, precision="float32").fit(
        X[:500], y[:500]
    )  # compile
    vectors = np.ascontiguousarray(fitted().support_vectors_)
    product = np.zeros(
        (len(X), len(vectors)), np.float32
    )  # its pages are there before the clock runs
    train, bound = best_of(
        3,
        lambda: VotedPerceptron(gamma=1.0, epochs=30, shuffle=False).fit(X, y),
        lambda: np.dot(X, vectors.T, out=product),
    )
    yield row(
        "MNIST fit, degree 4, 30 epochs / X @ support vectors",
        train / bound,
        2.0,
        f"{train:.1f} s / {bound:.1f} s",
        **figure("fit", train, {"bound": bound}),
    )


def prediction() -> Iterator[Row]:
    """All seven rules of the paper from one pass over kernel values, and one row at a time."""
    *_, X_test, _ = mnist()
    model = fitted()
    vectors = np.ascontiguousarray(model.support_vectors_)
    product = np.zeros((len(X_test), len(vectors)), np.float32)
    model.decision_functions(X_test[:300], SEVEN_RULES)
    rules, bound = best_of(
        5,
        lambda: model.decision_functions(X_test, SEVEN_RULES),
        lambda: np.dot(X_test, vectors.T, out=product),
    )
    yield row(
        "seven rules, 10,000 images / X_test @ support vectors",
        rules / bound,
        2.5,
        f"{rules:.2f} s / {bound:.2f} s",
        **figure("rules", rules, {"bound": bound}),
    )
    rows = range(200)
    one, bound = best_of(
        3,
        lambda: [model.predict(X_test[i : i + 1]) for i in rows],
        lambda: [vectors @ X_test[i] for i in rows],
    )
    yield row(
        "predict one row / its matrix-vector product",
        one / bound,
        3.0,
        f"{one / 0.2:.2f} ms / {bound / 0.2:.2f} ms",
        **figure("one-row", one / 0.2, {"bound": bound / 0.2}, "ms"),
    )


def linear() -> Iterator[Row]:
    """Ten epochs of explicit vectors against scikit-learn's Perceptron, on two threads each."""
    from sklearn.linear_model import Perceptron

    X, y, X_test, y_test = mnist()
    threads = len(os.sched_getaffinity(0))
    ours = VotedPerceptron(
        kernel="linear", epochs=10, shuffle=False, fit_intercept=True, method="last"
    )
    theirs = Perceptron(max_iter=10, tol=None, n_jobs=threads)
    ours.fit(X[:500], y[:500])
    mine, peer = best_of(3, lambda: ours.fit(X, y), lambda: theirs.fit(X, y))
    errors = [100 * np.mean(m.predict(X_test) != y_test) for m in (ours, theirs)]
    voted = 100 * np.mean(ours.predict(X_test, "vote") != y_test)
    yield row(
        "MNIST linear, 10 epochs / sklearn Perceptron",
        mine / peer,
        1.0,
        f"{mine:.2f} s / {peer:.2f} s, "
        f"test error {errors[0]:.1f} (vote {voted:.1f}) / {errors[1]:.1f} %",
        **figure("fit", mine, {"sklearn.linear_model.Perceptron": peer}),
    )


def pure_python() -> Iterator[Row]:
    """The PyPI package votedperceptron on the digits, 8 against the rest: equal votes, and time.

    It adds a constant 1 to every example, so its (x.y + 1 + 0)^4 is our (x.y + 1)^4, and it calls a
    score of zero positive where we call it a mistake, so the first example, which scores zero, is a
    negative one.
    """
    from votedperceptron import VotedPerceptron as Peer

    data = load("digits")
    order = np.argsort(data.y == 8, kind="stable")[:1]  # a negative example goes first
    order = np.concatenate([order, np.delete(np.arange(len(data.y)), order)])
    X, X_test = data.X[order], data.X_test
    y = np.where(data.y[order] == 8, 1, -1)
    peer = Peer({"kernel_type": "polynomial", "degree": 4, "gamma": 1.0, "coef0": 0.0})
    theirs = seconds(lambda: peer.train(X, y, 0, 3))
    answers: list[float] = []
    theirs += seconds(lambda: answers.extend(peer.predict(x, "classification") for x in X_test))
    model = VotedPerceptron(degree=4, gamma=1.0, epochs=3, shuffle=False)
    model.fit(X, y).predict(X_test)  # compile
    ours = min(seconds(lambda: model.fit(X, y).predict(X_test)) for _ in range(5))
    equal = np.array_equal(model.predict(X_test), answers)
    found = row(
        "digits, 8 against the rest / votedperceptron",
        ours / theirs,
        1.0,
        f"{theirs / ours:.0f} times",
        **figure("fit", ours, {"votedperceptron": theirs}),
    )
    yield {**found, "held": found["held"] and equal, "wanted": f"< 1, equal predictions: {equal}"}


def cold_start() -> Iterator[Row]:
    """What a user waits for before anything happens."""

    def python(code: str) -> float:
        return seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True))

    python("import sklearn.svm, largemargin")
    ours, peer = best_of(
        7,
        lambda: python("from largemargin import VotedPerceptron"),
        lambda: python("import sklearn.svm"),
    )
    yield row(
        "from largemargin import VotedPerceptron / import sklearn.svm",
        ours / peer,
        1.2,
        f"{ours:.2f} s / {peer:.2f} s",
        **figure("import", ours, {"import sklearn.svm": peer}),
    )
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "largemargin",
            "train",
            "digits",
            "-o",
            f"{folder}/model.safetensors",
        ]
        environment = os.environ | {"NUMBA_CACHE_DIR": f"{folder}/numba"}

        def train() -> None:
            subprocess.run(command, env=environment, check=True, capture_output=True)

        cold = seconds(train)
        warm = min(seconds(train) for _ in range(3))
    what = "largemargin train digits, {} Numba cache, seconds"
    for state, took, limit in (("empty", cold, 8.0), ("warm", warm, 3.0)):
        told = figure(f"digits-{state}", took, {})
        yield row(what.format(state), took, limit, f"{took:.1f} s", **told)


def memory() -> Iterator[Row]:
    """The fit of part 1 within 500 MB: the same trace, and the resident size of the process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.npz"
        subprocess.run([sys.executable, "-c", PEAK, str(path)], check=True)
        small = dict(np.load(path))
    same = all(np.array_equal(small[k], v) for k, v in fitted().trace_.arrays().items())
    allowed = small["data"] + 800e6
    yield {
        **row(
            "MNIST fit with memory='500MB': peak / (data + 800 MB)",
            float(small["peak"] / allowed),
            1.0,
            f"{small['peak'] / 1e6:.0f} MB / {allowed / 1e6:.0f} MB",
            **figure("peak", float(small["peak"] / 1e6), {"bound": float(allowed / 1e6)}, "MB"),
        ),
    }
    yield {
        "what": "the same trace as with all the memory",
        "ratio": float(same),
        "measured": f"equal: {same}, {len(small['step'])} mistakes",
        "wanted": "equal",
        "held": bool(same),
    }


PARTS = [
    {"fit": fit},
    {"predict": prediction},
    {"linear": linear},
    {"votedperceptron": pure_python},
    {"cold-start": cold_start},
    {"memory": memory},
]
