"""Kernel values that are computed, used and forgotten.

A value of a few dozen columns costs less to compute than to write to memory and to read back. So
what a solver or a prediction wants of the values is done while they are in registers:

    out[p, j] += sum_i coefs[i, p] k(v_i, x_j)

for any number of problems p, over columns that were packed once. A block of values as such, the
corner among a few examples, comes from the same loops, and each value is the same bits wherever it
is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.kernels.engine import largest_square, largest_value
from largemargin.kernels.functions import (
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Sigmoid,
    squared_norms,
)
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.threads import Workers

MOST_COLUMNS = 160  # columns up to which a value is computed again
TASK = 1 << 20  # kernel values that are worth a task of their own


@cache
def _loops() -> Any:
    from largemargin.kernels import fused_loops

    return fused_loops


@dataclass(frozen=True)
class Form:
    """A kernel as the compiled loops take it: its kind, its numbers, a degree, and what squared
    norms are multiplied by.
    """

    kind: int
    numbers: tuple[float, ...]
    degree: int = 0
    norm_scale: float = 0.0


def form_of(kernel: Kernel) -> Form | None:
    """How the compiled loops compute a kernel; None if they do not know it."""
    loops = _loops()
    if isinstance(kernel, Gaussian):
        return Form(loops.GAUSSIAN, (0.0, 2 * kernel.gamma), norm_scale=-kernel.gamma)
    if isinstance(kernel, Matern):
        scale = 4 * kernel.nu * kernel.gamma
        numbers = (0.0, -2 * scale, *kernel.polynomials[kernel.nu], -1.0)
        return Form(loops.MATERN, numbers, norm_scale=scale)
    if isinstance(kernel, Laplacian):
        return Form(loops.LAPLACIAN, (0.0, -kernel.gamma))
    if isinstance(kernel, Polynomial):
        return Form(loops.POLYNOMIAL, (0.0, kernel.gamma, kernel.coef0, 1.0), degree=kernel.degree)
    if isinstance(kernel, Sigmoid):
        return Form(loops.SIGMOID, (0.0, kernel.gamma, kernel.coef0))
    if isinstance(kernel, Linear):
        return Form(loops.LINEAR, (0.0, 1.0))
    return None


def is_computed_again(kernel: Kernel, X: Matrix) -> bool:
    """Whether kernel values are cheaper to compute again than to keep."""
    return X.shape[1] <= MOST_COLUMNS and form_of(kernel) is not None


def single_enough(kernel: Kernel, X: Matrix) -> bool:
    """Whether float32 is good enough for values that a solution in float64 begins with."""
    single, square = np.dtype(np.float32), largest_square(X)
    fits = kernel.bound(square) < largest_value(single)
    return kernel.on_products and fits and kernel.exact_in(single, square)


class FusedRows:
    """The rows of a matrix, for a kernel in the compiled loops.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    dtype : dtype
        What values are computed in; for a kernel whose rounding takes it, float64 in any case.
    """

    def __init__(self, kernel: Kernel, X: Matrix, team: Workers, dtype: np.dtype) -> None:
        form = form_of(kernel)
        assert form is not None
        if not kernel.on_products:
            dtype = np.dtype(np.float64)
        rows: Any = X
        X = np.ascontiguousarray(rows.toarray() if sp.issparse(X) else X, dtype)
        self.form, self.X, self.team, self.dtype = form, X, team, dtype
        self.numbers = np.zeros(5, X.dtype)
        self.numbers[: len(form.numbers)] = form.numbers
        self.norms = np.zeros(len(X), X.dtype)
        if form.norm_scale:
            self.norms[:] = form.norm_scale * squared_norms(X)

    def columns(self, rows: np.ndarray) -> Columns:
        """Some rows as columns of kernel values."""
        return Columns(self, rows)

    def vectors(self, rows: np.ndarray) -> Vectors:
        """Some rows as vectors, in whole groups: the last one is repeated."""
        missing = -len(rows) % _loops().GROUP
        if missing:
            rows = np.concatenate([rows, np.full(missing, rows[-1])])
        return Vectors(self.X[rows].reshape(-1), self.norms[rows])

    def corner(self, rows: np.ndarray) -> np.ndarray:
        """The values among some rows."""
        return self.columns(rows).values(self.vectors(rows), len(rows))


@dataclass(frozen=True)
class Vectors:
    """Vectors one after the other, and their squared norms, as the kernel scales them."""

    flat: np.ndarray
    norms: np.ndarray


class Columns:
    """Columns of kernel values, packed for the compiled loops."""

    def __init__(self, of: FusedRows, rows: np.ndarray) -> None:
        from largemargin.kernels.simd import lanes_of

        self.n, self.d = len(rows), of.X.shape[1]
        self._of, self._width = of, 2 * lanes_of(of.dtype)
        self._count = -(-self.n // self._width)
        self._flat = np.empty(self._count * self._width * self.d, of.dtype)
        self._norms = np.zeros(self._count * self._width, of.dtype)
        self._norms[: self.n] = of.norms[rows]
        of.team.map(partial(self._pack, rows), self._parts(64))

    def _pack(self, rows: np.ndarray, part: tuple[int, int]) -> None:
        _loops().pack(self._of.X, rows, *part, self._width, self._flat)

    def _parts(self, n_vectors: int) -> list[tuple[int, int]]:
        """The panels in parts, each with enough to do for a task."""
        step = max(1, TASK // max(1, n_vectors * self._width))
        return [(k, min(k + step, self._count)) for k in range(0, self._count, step)]

    def sums(self, vectors: Vectors, coefs: np.ndarray) -> np.ndarray:
        """sum_i coefs[p, i] k(v_i, x_j), one row per problem p and one column per column j."""
        out = np.zeros((len(coefs), len(self._norms)))
        weights = np.zeros((len(vectors.norms), len(coefs)))
        weights[: coefs.shape[1]] = coefs.T
        of, form = self._of, self._of.form

        def add(part: tuple[int, int]) -> None:
            _loops().add_sums(
                vectors.flat, vectors.norms, self.d, self._flat, self._norms, form.kind,
                of.numbers, form.degree, weights, *part, out,
            )  # fmt: skip

        of.team.map(add, self._parts(len(vectors.norms)))
        return out[:, : self.n]

    def values(self, vectors: Vectors, count: int) -> np.ndarray:
        """The values of the first `count` vectors (down) against the columns (across)."""
        of, form = self._of, self._of.form
        out = np.empty((count, len(self._norms)), of.dtype)

        def fill(part: tuple[int, int]) -> None:
            _loops().fill_values(
                vectors.flat, vectors.norms, self.d, self._flat, self._norms, form.kind,
                of.numbers, form.degree, *part, out,
            )  # fmt: skip

        of.team.map(fill, self._parts(len(vectors.norms)))
        return out[:, : self.n]
