"""Data for linear machines: a table of the literature, and generated ones."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp

FLIPPED = 0.1  # the fraction of wrong labels


def covtype(n: int, scaling: str) -> tuple[np.ndarray, np.ndarray]:
    """n rows of covtype, class 2 against the rest; columns to 0..1, or to mean 0 and variance 1."""
    from sklearn.preprocessing import minmax_scale, scale

    from largemargin import data

    try:
        whole = data.load("covtype")
        X, labels = np.asarray(whole.X, np.float64), np.asarray(whole.y).astype(int)
    except ValueError:  # not known by this name
        file = Path(os.environ["LARGEMARGIN_DATA"]) / "covtype" / "covtype.data.gz"
        table = np.loadtxt(file, delimiter=",")
        X, labels = table[:, :-1], table[:, -1].astype(int)
    rows = np.random.default_rng(0).permutation(len(X))[:n]
    X = (minmax_scale if scaling == "0..1" else scale)(X[rows])
    return X, np.where(labels[rows] == 2, 1, -1)


def dense(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns, and the sides of a hyperplane, some of them wrong."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(n, d)), rng.normal(size=d) / np.sqrt(d)
    return X, _flipped(rng, X @ w + 0.3 > 0)


def text(n: int, d: int, words: int = 130) -> tuple[sp.csr_matrix, np.ndarray]:
    """Rows like documents: word k is drawn about 1/k times as often as the first, `words` are drawn
    for a row, some of them twice; weighted by tf-idf, to length 1.
    """
    rng = np.random.default_rng(0)
    often = 1 / np.arange(1, d + 1)
    counts = rng.poisson(words, n) + 1
    columns = np.searchsorted(np.cumsum(often) / often.sum(), rng.random(counts.sum()))
    rows = np.repeat(np.arange(n), counts)
    entries = np.ones(len(rows)), (rows, np.minimum(columns, d - 1))
    X = sp.csr_matrix(entries, shape=(n, d))
    X.sum_duplicates()
    seen = np.bincount(X.indices, minlength=d)
    X.data = (1 + np.log(X.data)) * (np.log((n + 1) / (seen + 1)) + 1)[X.indices]
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(lengths, np.diff(X.indptr))
    f = X @ rng.normal(size=d)
    return X, _flipped(rng, f > np.median(f) + 0.3 * f.std())


def _flipped(rng: np.random.Generator, positive: np.ndarray) -> np.ndarray:
    return np.where(positive != (rng.random(len(positive)) < FLIPPED), 1, -1)


def objective(X: np.ndarray | sp.csr_matrix, y: np.ndarray, w: np.ndarray, C: float) -> float:
    """1/2 w.w + C sum xi, with the best threshold for w.

    The sum is convex and piecewise linear in b, with a kink of slope 1 at each y_i - w.x_i, from
    a slope of minus the number of positive rows on.
    """
    f = np.asarray(X @ w).ravel()
    kinks = np.sort(y - f)
    b = kinks[int((y > 0).sum()) - 1]
    return float(w @ w / 2 + C * np.maximum(0.0, 1 - y * (f + b)).sum())
