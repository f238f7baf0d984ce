"""The machines that are compared, behind one face: fit, predict, and the coefficients."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.svm_objective import pairs_from_rows

CACHE_MB = 2000  # for kernel values, for every peer that has a setting
OURS = "largemargin"
PEERS = ("scikit-learn", "scikit-learn-intelex", "aoclda", "thundersvm-cpu")
Expansion = tuple[np.ndarray, np.ndarray]  # positions in the training data, (problems, positions)


def ours(kernel: dict[str, Any], threads: int, **parameters: Any) -> Any:
    return import_module("largemargin").SVC(**kernel, n_jobs=threads, **parameters)


def scikit_learn(kernel: dict[str, Any], threads: int) -> Any:
    return import_module("sklearn.svm").SVC(**kernel, cache_size=CACHE_MB)


def intelex(kernel: dict[str, Any], threads: int) -> Any:
    return import_module("sklearnex.svm").SVC(**kernel, cache_size=CACHE_MB, n_jobs=threads)


def aoclda(kernel: dict[str, Any], threads: int) -> Any:
    return import_module("aoclda.svm").SVC(**kernel, cache_size=float(CACHE_MB))


def thundersvm(kernel: dict[str, Any], threads: int) -> Any:
    names = {"poly": "polynomial"}
    kernel = {**kernel, "kernel": names.get(kernel["kernel"], kernel["kernel"])}
    return import_module("thundersvm").SVC(**kernel, cache_size=CACHE_MB, n_jobs=threads)


MAKERS: dict[str, Callable[..., Any]] = {
    "scikit-learn": scikit_learn,
    "scikit-learn-intelex": intelex,
    "aoclda": aoclda,
    "thundersvm-cpu": thundersvm,
}


class Ours:
    def __init__(self, kernel: dict[str, Any], threads: int, **parameters: Any) -> None:
        self.model = ours(kernel, threads, **parameters)

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        self.model.fit(X, y)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.model.predict(X)

    def expansion(self, y: np.ndarray) -> Expansion:
        return self.model.support_, self.model.dual_coef_


class Pairs:
    """A peer as it is: one-vs-one inside."""

    def __init__(self, name: str, kernel: dict[str, Any], threads: int) -> None:
        self.model = MAKERS[name](kernel, threads)

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        self.model.fit(X, y)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.model.predict(X))

    def expansion(self, y: np.ndarray) -> Expansion:
        support, rows = rows_of(self.model)
        return support, pairs_from_rows(y[support], rows)


class Rest:
    """One-vs-rest with a peer that has none: a fit for each class."""

    def __init__(self, name: str, kernel: dict[str, Any], threads: int) -> None:
        self.make = lambda: MAKERS[name](kernel, threads)

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        self.models = [self.make().fit(X, (y == c).astype(np.int64)) for c in np.unique(y)]
        self.classes = np.unique(y)

    def predict(self, X: np.ndarray) -> np.ndarray:
        scores = [np.asarray(model.decision_function(X)).ravel() for model in self.models]
        return self.classes[np.argmax(scores, axis=0)]

    def expansion(self, y: np.ndarray) -> Expansion:
        coefs = np.zeros((len(self.models), len(y)))
        for coef, model in zip(coefs, self.models, strict=True):
            support, rows = rows_of(model)
            coef[support] = rows[0]
        support = np.flatnonzero(coefs.any(axis=0))
        return support, coefs[:, support]


def rows_of(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Support and coefficients in LIBSVM's layout, under whichever names."""
    if hasattr(model, "support_vectors_idx"):
        support, rows = model.support_vectors_idx, model.dual_coef
    else:
        support, rows = model.support_, model.dual_coef_
    if sp.issparse(rows):
        rows = rows.toarray()
    return np.asarray(support, np.int64).ravel(), np.atleast_2d(np.asarray(rows, np.float64))


def machine(name: str, kernel: dict[str, Any], multiclass: str, threads: int, **own: Any) -> Any:
    """`name` as a thing to time; `own` are parameters that only ours has."""
    if name == OURS:
        return Ours(kernel, threads, multiclass=multiclass, **own)
    return (Pairs if multiclass == "ovo" else Rest)(name, kernel, threads)
