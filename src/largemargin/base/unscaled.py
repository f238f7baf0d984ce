"""A warning for rows whose columns need scaling, where a machine has not learned from them.

Few machines answer alike in whatever units the columns are measured: a column of values around a
million hides all others from a kernel of distances. Most such fits are good all the same. So a fit
is looked at twice: whether the columns of a sample of rows are of unusual size, which takes no
time, and only then, whether the model has learned these rows.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing

from largemargin.base.labels import as_common_labels, plain_labels
from largemargin.runtime.arrays import DistantRows
from largemargin.runtime.showing import percent

ROWS = 400  # rows that are looked at
UNUSUAL = 30.0  # a ratio of sizes from which on scaling is worth a try
LEARNED = 0.5  # a model that errs on less than so much of what guessing does has learned
LEARNED_BY_KERNEL = 0.3  # the same where large columns hide others; weights can make up for them


def warn_if_unscaled(model: Any, X: Any, y: Any) -> None:
    """Say that the columns should be scaled, if a fitted classifier shows that they should."""
    if getattr(model, "precomputed", False) or _is_elsewhere(X):
        return
    y = plain_labels(y)
    count = min(ROWS, len(y))
    rows = np.arange(count) * (len(y) - 1) // max(1, count - 1)
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    if isinstance(X, np.ndarray):
        sample = X[rows]
    else:
        sample = _safe_indexing(X.tocsr() if sp.issparse(X) else X, rows)
    why = unusual(sample)
    if why is None or _is_all_the_same(model, why):
        return
    share = LEARNED if getattr(model, "kernel", "linear") == "linear" else LEARNED_BY_KERNEL
    truth, answers = as_common_labels(y[rows]), as_common_labels(model.predict(sample))
    error, guess = learned(truth, answers, share)
    if error is not None:
        warnings.warn(
            f"{type(model).__name__} errs on {percent(error)} of its training rows, where always "
            f"answering the commonest class errs on {percent(guess)}, and {why}: standardise the "
            "columns, as sklearn.preprocessing.StandardScaler does" + _hint(model, why),
            UserWarning,
            stacklevel=6,
        )


def _is_elsewhere(X: Any) -> bool:
    """Whether rows are on other machines."""
    return isinstance(X, DistantRows) or hasattr(X, "__dask_graph__")


def unusual(X: Any) -> str | None:
    """What is unusual about the sizes of the columns; None if nothing is.

    >>> unusual(np.array([[0.5, 2e6], [-0.5, 1e6], [1.5, 3e6]]))
    'the standard deviations of the columns reach from 0.82 to 8.2e+05'
    >>> unusual(np.array([[0.5, 0.2], [-0.5, 0.1]])) is None
    True
    """
    if sp.issparse(X):
        X = X.toarray() if X.shape[1] <= ROWS else X.data[:, None]
    X = np.asarray(X, np.float64)
    largest = np.abs(X).max(axis=0, initial=0.0)
    X, largest = X[:, largest > 0], largest[largest > 0]
    with np.errstate(under="ignore"):
        X = X / largest  # squares of any numbers are in range
        spread, centre = X.std(axis=0), np.abs(X.mean(axis=0))
    varied = spread > 1e-12
    if not varied.any():
        return None
    far = (centre[varied] > UNUSUAL * spread[varied]).any()
    centre, spread = (centre * largest)[varied], (spread * largest)[varied]
    low, high = spread.min(), spread.max()
    if high / UNUSUAL > low:
        return f"the standard deviations of the columns reach from {low:.2g} to {high:.2g}"
    if far:
        return f"the columns lie far from 0 for their spread, at up to {centre.max():.2g}"
    if not 1 / UNUSUAL <= np.median(spread) <= UNUSUAL:
        return f"the standard deviations of the columns are about {np.median(spread):.2g}"
    return None


def learned(
    truth: np.ndarray, answers: np.ndarray, share: float = LEARNED
) -> tuple[float | None, float]:
    """The error of answers, None if it is below a share of that of a guess, and the latter.

    Answers that are good for each class alike, as `class_weight="balanced"` asks for, count as
    learned too.
    """
    wrong = answers != truth
    classes, numbers, counts = np.unique(truth, return_inverse=True, return_counts=True)
    if len(classes) < 2:
        return None, 0.0
    guess = 1 - counts.max() / len(truth)
    by_class = float(np.mean(np.bincount(numbers, weights=wrong) / counts))
    fine = wrong.mean() < share * guess or by_class < share * (1 - 1 / len(classes))
    return None if fine else float(wrong.mean()), float(guess)


def _is_all_the_same(model: Any, why: str) -> bool:
    """Whether a kernel follows the size of all columns, or does not look at where they lie."""
    kernel, gamma = getattr(model, "kernel", None), getattr(model, "gamma", None)
    follows = isinstance(gamma, str) and gamma in ("scale", "stream") and isinstance(kernel, str)
    if "far from 0" in why:
        return follows and kernel in ("rbf", "laplacian", "matern")
    return follows and "about" in why and kernel != "linear"


def _hint(model: Any, why: str) -> str:
    """What helps too where all columns are too large, or all too small."""
    kernel, gamma = getattr(model, "kernel", None), getattr(model, "gamma", None)
    helps = "about" in why and kernel != "linear" and isinstance(gamma, str) and gamma == "auto"
    return ", or use gamma='scale'" if helps else ""
