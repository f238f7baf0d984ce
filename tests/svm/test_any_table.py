"""Machines on tables of any kind: each ends, near its solution, and says so where it does not."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from largemargin.svm import SVC, NuSVC

from .extended import true_gaps

# what may keep a machine from its solution: numbers of very different sizes, or that there is none
REASONS = ("rounding", "cannot be separated", "less than the fraction of margin errors")


def drawn(seed, most_rows):
    """Rows of any scale, some alike, with columns that are constant, equal or of other scales, and
    labels of any share of noise, for any machine.
    """
    rng = np.random.default_rng(seed)
    n = int(np.exp(rng.uniform(np.log(20), np.log(most_rows))))
    d = int(np.exp(rng.uniform(0, np.log(40))))
    X = rng.normal(size=(n, d))
    if rng.random() < 0.3:
        X *= 10.0 ** rng.uniform(-2, 2, d)
    if rng.random() < 0.2:
        X[:, rng.integers(d)] = rng.choice([0.0, 1.0, 1000.0])
    if rng.random() < 0.2:
        X[:, 0] = X[:, -1]
    if rng.random() < 0.2:
        X = np.round(X)
    if rng.random() < 0.2:
        X = X[rng.integers(0, max(3, n // 3), n)]
    k = int(rng.choice([2, 2, 3]))
    heights = X @ (rng.normal(size=(d, k)) / np.maximum(X.std(axis=0), 1e-9)[:, None])
    y = heights.argmax(axis=1)
    y = np.where(rng.random(n) < rng.choice([0.0, 0.1, 0.5]), rng.integers(0, k, n), y)
    y[:k] = np.arange(k)
    X *= 10.0 ** rng.uniform(-3, 3)
    weight = rng.choice([0.5, 1.0, 2.0], n) if rng.random() < 0.3 else np.ones(n)
    return (sp.csr_array(X) if rng.random() < 0.2 else X), y, weight, machine(rng, y, weight)


def machine(rng, y, weight):
    params = {
        "kernel": str(rng.choice(["linear", "rbf", "poly"])),
        "degree": int(rng.integers(1, 4)),
        "fit_intercept": bool(rng.random() < 0.7),
        "multiclass": str(rng.choice(["ovr", "ovo"])),
        "n_jobs": 1,
    }
    if rng.random() < 0.25:
        shares = np.bincount(y, weight) / weight.sum()
        largest = 2 * shares.min() if params["fit_intercept"] else 1.0
        return NuSVC(nu=rng.uniform(0.05, 1) * largest, **params)
    slack = str(rng.choice(["linear", "squared", "squared-sum"]))
    if slack == "linear" and rng.random() < 0.3:
        params["multiclass"] = "crammer-singer"
    return SVC(C=10.0 ** rng.uniform(-3, 4), slack=slack, max_seconds=300, **params)


def ended(seed, most_rows):
    X, y, weight, model = drawn(seed, most_rows)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, weight)
    said = [str(w.message) for w in caught if w.category is ConvergenceWarning]
    assert model.converged_ or said, seed
    assert all(any(reason in message for reason in REASONS) for message in said), (seed, said)
    if not said and model.multiclass != "crammer-singer":
        rows = X.toarray() if sp.issparse(X) else X
        assert (true_gaps(model, rows, y, weight) <= model.dual_gap_).all(), seed
    return model.converged_


def test_machines_end():
    assert sum(ended(seed, 60) for seed in range(8)) > 5


@pytest.mark.full
def test_many_more_machines_end():
    assert sum(ended(seed, 600) for seed in range(100, 220)) > 90
