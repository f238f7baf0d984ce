"""Data sets downloaded from OpenML and kept in the user's cache.

Only those that are the same data there, row for row: what comes down is compared with a fingerprint
of the original files before it is used. The letters are on OpenML in another order, which loses the
split into training and test rows; of the six benchmark sets, four are there in other versions
(rounded, unscaled, with three classes or with missing values).
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from largemargin.data.errors import DataError
from largemargin.data.reading import read


@dataclass(frozen=True)
class Fingerprint:
    """What tells a data set, the order of its rows included.

    The checksum is of the labels in order; `total` sums all features, `moment` the features of
    each row times its position from 1, divided by the number of rows.
    """

    shape: tuple[int, int]
    checksum: int
    total: float
    moment: float

    @classmethod
    def of(cls, X: np.ndarray, y: np.ndarray) -> Fingerprint:
        sums = X.sum(axis=1, dtype=np.float64)
        moment = np.arange(1, len(X) + 1) @ sums / len(X)
        checksum = zlib.crc32(" ".join(map(str, y)).encode())
        return cls(X.shape, checksum, float(sums.sum()), float(moment))

    def matches(self, other: Fingerprint) -> bool:
        same = self.shape == other.shape and self.checksum == other.checksum
        sums = [self.total, self.moment], [other.total, other.moment]
        return same and np.allclose(*sums, rtol=1e-6)


@dataclass(frozen=True)
class OnlineSet:
    """A data set on OpenML, and how it becomes the one that is meant here."""

    data_id: int
    convert: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    fingerprint: Fingerprint


def fetch(name: str, cache: Path) -> tuple[np.ndarray, np.ndarray]:
    """The rows and labels of a data set, from an earlier download or a new one.

    Raises
    ------
    OSError
        If OpenML cannot be reached.
    DataError
        If what it sends is not the data set that is meant.
    """
    stored = cache / "openml" / f"{name}.npz"
    if stored.is_file():
        X, y = read(stored)
        return X, y
    online = ONLINE[name]
    X, y = online.convert(*_download(online.data_id))
    if not Fingerprint.of(X, y).matches(online.fingerprint):
        raise DataError(
            f"the data set {online.data_id} of OpenML is not the {name} data expected here, saw "
            f"shape {X.shape} with other values or another order"
        )
    _store(stored, X, y)
    return X, y


def _download(data_id: int) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import fetch_openml

    with warnings.catch_warnings():
        # A failed attempt warns and then raises; the error alone says it all.
        warnings.simplefilter("ignore")
        bunch = fetch_openml(
            data_id=data_id,
            as_frame=False,
            cache=False,
            n_retries=1,
            parser="pandas" if importlib.util.find_spec("pandas") else "liac-arff",
        )
    return np.asarray(bunch.data, dtype=np.float64), np.asarray(bunch.target).astype(np.str_)


def _store(path: Path, X: np.ndarray, y: np.ndarray) -> None:
    """Write a cache file in one step, so that an interrupted write leaves none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(suffix=".npz", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, X=X, y=y)
        os.replace(partial, path)
    except BaseException:
        os.unlink(partial)
        raise


def _mnist(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return X.astype(np.float32), y.astype(np.int64)


def _usps(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return X.astype(np.float32), y.astype(np.int64) - 1


def _diabetes(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return X, np.where(y == "tested_positive", 1, -1)


def _heart(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / (high - low), np.where(y == "present", 1, -1)


ONLINE = {
    "mnist": OnlineSet(
        554, _mnist, Fingerprint((70000, 784), 4064519673, 1832221745.0, 915941697.7634715)
    ),
    "usps": OnlineSet(
        41082, _usps, Fingerprint((9298, 256), 1531154645, -1155322.8749470199, -573168.5899909859)
    ),
    "diabetes": OnlineSet(
        37, _diabetes, Fingerprint((768, 8), 3172495514, 276392.701, 138687.27314453127)
    ),
    "heart": OnlineSet(
        53, _heart, Fingerprint((270, 13), 368487034, 1421.799563822, 714.1369481042259)
    ),
}
