"""What data were, in a few bytes: a fingerprint by which they are known again.

A row is hashed to 64 bits by its non-zero values and their columns, a label by what it says, a
weight by its number. Each of the three sequences is then one number: the sum modulo 2^128 of a
value that a hash and its position make together. So

- the same numbers give the same fingerprint in whatever form they come, dense or sparse, float32,
  integer or data frame;
- the fingerprints of the chunks of a stream add up to that of the whole;
- any other row, label or weight, and any other order, gives another fingerprint; the chance that
  it does not is about 2^-64.

What is fingerprinted is what `fit` was given, before it is converted or scaled by an estimator: all
rows at their positions, also those of weight 0, those held out, and those that left nothing in the
model. No weights are weights of 1. Labels are not hashed by their number among the classes, since
that changes when a stream brings a new one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.runtime.arrays import Matrix, by_rows

MODULUS = 1 << 128
PARTS = ("rows", "labels", "weights")


@dataclass(frozen=True)
class Fingerprint:
    """Of rows, their labels and their weights, in their order.

    Attributes
    ----------
    n_rows : int
    rows, labels, weights : int
        The sums, from 0 to 2^128 - 1.
    """

    n_rows: int = 0
    rows: int = 0
    labels: int = 0
    weights: int = 0

    def __add__(self, other: Fingerprint) -> Fingerprint:
        """That of a sequence, from those of its parts, each with its positions in the whole."""
        return Fingerprint(
            self.n_rows + other.n_rows,
            (self.rows + other.rows) % MODULUS,
            (self.labels + other.labels) % MODULUS,
            (self.weights + other.weights) % MODULUS,
        )

    def then(self, X: Matrix, classes: np.ndarray, labels: np.ndarray) -> Fingerprint:
        """That of a stream with these rows next; see `fingerprint`."""
        return self + fingerprint(X, classes, labels, start=self.n_rows)

    def differences(self, other: Fingerprint) -> list[str]:
        """Which of `PARTS` are not the same."""
        return [part for part in PARTS if getattr(self, part) != getattr(other, part)]


def fingerprint(
    X: Matrix,
    classes: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray | None = None,
    start: int = 0,
    hashes: np.ndarray | None = None,
) -> Fingerprint:
    """The fingerprint of rows.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Of floats.
    classes, labels : arrays
        The label of row i is classes[labels[i]].
    weights : array of shape (n_samples,), optional
    start : int, default=0
        The position of the first row.
    hashes : array of shape (n_samples,), optional
        The `row_hashes` of X, if they are known.

    Examples
    --------
    >>> X, classes, labels = np.eye(3), np.array(["no", "yes"]), np.array([0, 1, 1])
    >>> whole = fingerprint(X, classes, labels)
    >>> whole == fingerprint(sp.csr_array(X), classes, labels, np.ones(3))
    True
    >>> begun = fingerprint(X[:2], classes, labels[:2])
    >>> begun + fingerprint(X[2:], classes, labels[2:], start=2) == whole
    True
    >>> whole.differences(fingerprint(X, classes, 1 - labels))
    ['labels']
    """
    if weights is None:
        weights = np.ones(len(labels))
    return Fingerprint(
        len(labels),
        _total(row_hashes(X) if hashes is None else hashes, start),
        _total(_label_hashes(classes, labels), start),
        _total((np.asarray(weights, np.float64) + 0.0).view(np.uint64), start),
    )


@cache
def _hashing() -> Any:
    """Compiled code, loaded at its first use."""
    from largemargin.base import hashing

    return hashing


def _total(hashes: np.ndarray, start: int) -> int:
    low, high = _hashing().sum_over_positions(hashes, start)
    return int(high) << 64 | int(low)


def row_hashes(X: Matrix) -> np.ndarray:
    """64 bits of each row, the same for equal rows."""
    return np.asarray(by_rows(_row_hashes, X))


def _row_hashes(X: Matrix) -> np.ndarray:
    hashes = np.empty(X.shape[0], np.uint64)
    if sp.issparse(X):
        rows: Any = X
        rows = rows.tocsr()
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        _hashing().hash_entries(rows.data, rows.indices, rows.indptr, hashes)
    elif X.flags.f_contiguous and not X.flags.c_contiguous:
        _hashing().hash_columns(X.T, hashes)
    else:
        _hashing().hash_rows(X, hashes)
    return hashes


def _label_hashes(classes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    if len(labels) < len(classes):  # few rows of a stream with many classes
        there, labels = np.unique(labels, return_inverse=True)
        classes = classes[there]
    hashes = np.array([hash_label(label) for label in classes.tolist()], np.uint64)
    return np.asarray(hashes[labels])


@lru_cache(4096)
def hash_label(label: Any) -> int:
    """64 bits of what a label says: equal numbers are equal whatever their types.

    >>> hash_label(1) == hash_label(1.0) == hash_label(True) != hash_label("1")
    True
    """
    if isinstance(label, Integral):
        text = f"number {int(label)}"
    elif isinstance(label, Real):
        number = float(label)
        text = f"number {int(number) if number.is_integer() else number!r}"
    elif isinstance(label, str):
        text = f"text {str(label)!r}"
    else:
        text = f"{type(label).__name__} {label!r}"
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
