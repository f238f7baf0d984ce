"""The tables that machines are compared on, written once for all processes."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from benchmarks.options import OPTIONS
from benchmarks.svm_race import store
from largemargin.data import Dataset, load

TEST_ROWS = 10_000
TRIAL_TEST_ROWS = 1000  # in a trial run
COLUMNS, WRONG = 30, 0.1
Spec = dict[str, Any]


def generate(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Standard normal columns, and on which side of a bent plane they are; one label in ten is
    wrong."""
    rng = np.random.default_rng(seed)
    plane = rng.normal(size=COLUMNS) / np.sqrt(COLUMNS)
    X = rng.normal(size=(n, COLUMNS))
    height = X @ plane + X[:, 0] * X[:, 1] / 4
    return X, ((height > 0) ^ (rng.random(n) < WRONG)).astype(np.int64)


@cache
def _generated(most: int) -> Spec:
    X, y = generate(TEST_ROWS + most)
    return _stored("generated", Dataset(X[TEST_ROWS:], y[TEST_ROWS:], X[:TEST_ROWS], y[:TEST_ROWS]))


@cache
def _covtype() -> Spec:
    """Class 2 against the rest, columns to 0..1."""
    data = load("covtype", split=0)
    low = np.minimum(data.X.min(axis=0), data.X_test.min(axis=0))
    high = np.maximum(data.X.max(axis=0), data.X_test.max(axis=0))
    X, X_test = ((part - low) / (high - low) for part in (data.X, data.X_test))
    return _stored("covtype", Dataset(X, data.y == 2, X_test, data.y_test == 2))


@cache
def _ijcnn1() -> Spec:
    return _stored("ijcnn1", load("ijcnn1"))


@cache
def _a9a(sparse: bool) -> Spec:
    data = load("a9a")
    if sparse:
        return _stored("a9a-sparse", data)
    return _stored(
        "a9a-dense", Dataset(data.X.toarray(), data.y, data.X_test.toarray(), data.y_test)
    )


@cache
def _letter() -> Spec:
    """Columns of mean 0 and deviation 1."""
    data = load("letter")
    mean, deviation = data.X.mean(axis=0), data.X.std(axis=0)
    X, X_test = ((part - mean) / deviation for part in (data.X, data.X_test))
    return _stored("letter", Dataset(X, data.y, X_test, data.y_test))


def _stored(name: str, data: Dataset) -> Spec:
    """Labels become 0, 1, ..., which every machine takes for classes."""
    classes = np.unique(data.y)
    dtype = np.dtype(OPTIONS.dtype)
    return store(
        name,
        {
            "X": data.X.astype(dtype, copy=False),
            "y": np.searchsorted(classes, data.y),
            "X_test": data.X_test.astype(dtype, copy=False),
            "y_test": np.searchsorted(classes, data.y_test),
        },
    )


def generated(n: int, most: int) -> Spec:
    """The first n rows of a table that has as many as the largest case, and 10,000 to predict."""
    return _part(_generated(OPTIONS.size(most)), n)


def covtype(n: int, tests: int = TEST_ROWS) -> Spec:
    return _part(_covtype(), n, tests)


def ijcnn1(n: int) -> Spec:
    return _part(_ijcnn1(), n, None)


def a9a(n: int, sparse: bool) -> Spec:
    return _part(_a9a(sparse), n, None)


def letter(n: int) -> Spec:
    return _part(_letter(), n, None)


def _part(spec: Spec, n: int, tests: int | None = TEST_ROWS) -> Spec:
    """So many rows of a table, less in a trial run; all rows to predict for None."""
    tests = min(tests or spec["test_rows"], spec["test_rows"])
    if OPTIONS.rows is not None:
        tests = min(tests, TRIAL_TEST_ROWS)
    return {**spec, "rows": min(OPTIONS.size(n), spec["rows"]), "test_rows": tests}
