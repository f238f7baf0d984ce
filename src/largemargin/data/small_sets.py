"""Data sets that are always there: those inside scikit-learn, and one that is generated.

A fixed stratified quarter of each is its test set.
"""

from __future__ import annotations

import numpy as np

from largemargin.data.dataset import Dataset

SMALL_SETS = ("digits", "iris", "wine", "moons")


def load_small(name: str) -> Dataset:
    """One of `SMALL_SETS`."""
    from sklearn.model_selection import train_test_split

    X, y, names, label = _rows(name)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
    return Dataset(X, y, X_test, y_test, name=name, feature_names=names, label_name=label)


def _rows(name: str) -> tuple[np.ndarray, np.ndarray, tuple[str, ...] | None, str | None]:
    from sklearn import datasets

    if name == "digits":
        X, y = datasets.load_digits(return_X_y=True)
        return X, y.astype(np.int64), None, None
    if name == "moons":
        X, y = datasets.make_moons(400, noise=0.2, random_state=0)
        return X, y.astype(np.int64), ("x", "y"), "moon"
    found = datasets.load_iris() if name == "iris" else datasets.load_wine()
    names = tuple(feature.removesuffix(" (cm)") for feature in found.feature_names)
    if name == "iris":
        return found.data, np.asarray(found.target_names)[found.target], names, "species"
    return found.data, found.target.astype(np.int64), names, "cultivar"
