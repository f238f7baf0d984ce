"""Kernel values that are computed, used and forgotten.

A value of a few dozen columns costs less to compute than to write to memory and to read back. So
what a solver or a prediction wants of the values is done while they are in registers:

    out[p, j] += sum_i coefs[i, p] k(v_i, x_j)

for any number of problems p, over columns that were packed once. A block of values as such, the
corner among a few examples, comes from the same loops, and each value is the same bits wherever it
is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.kernels.basis import Basis
from largemargin.kernels.engine import GROUP, SMALL_PROBLEM, largest_value
from largemargin.kernels.functions import (
    KERNELS,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Sigmoid,
    squared_norms,
)
from largemargin.runtime.arrays import DistantRows, Matrix
from largemargin.runtime.memory import aligned
from largemargin.runtime.threads import Workers

# Entries of a row up to which a value is computed again and not kept: measured where fits of both
# ways take as long. There is no memory for many rows; values of few would be kept in float64, and
# those that are computed again begin in float32
USUAL_COST, MANY_ROWS_COST, FEW_ROWS_COST = 192, 320, 512
MANY_ROWS = 1 << 15
FEWEST_ROWS, FEWEST_ROWS_COST = 1 << 12, 1024  # the same of problems with a matrix each
SHARED_COST = 144  # the same where several problems would share what is kept
SORTED_ENTRIES = 48  # entries of a row up to which rows that are zero in the same features are many
MOST_COLUMNS = 512  # columns up to which sparse rows are packed as dense ones
MOST_PREDICTED_COLUMNS = 1024  # the same for predictions, which use a value once
LEAST_ZEROS = 8  # features of a row that are zero, in the mean, from which on zeros are left out
TASK = 1 << 18  # kernel values that are worth a task of their own
SQUARE_PARTS = 32  # tasks at most that each end with sums over all examples
LEAST_PANELS = 8  # panels of a task, over which vectors pass while they are in cache


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
    if type(kernel) not in KERNELS.values():  # a subclass may compute something else
        return None
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


def is_computed_again(
    kernel: Kernel, X: Matrix, n_problems: int = 1, in_matrices: bool = False
) -> bool:
    """Whether kernel values are computed again each time: where they are cheap, or nothing could
    be kept. `in_matrices` says that a problem of few rows has all its values in a matrix.
    """
    return isinstance(X, DistantRows) or is_cheap(kernel, X, n_problems, in_matrices)


def is_used_once(kernel: Kernel, n_columns: int) -> bool:
    """Whether a prediction, which has no further use of a kernel value, computes it in registers:
    that beats a product of matrices, which leaves out no zeros and writes values to memory.
    """
    return n_columns <= MOST_PREDICTED_COLUMNS and form_of(kernel) is not None


def is_cheap(kernel: Kernel, X: Matrix, n_problems: int = 1, in_matrices: bool = False) -> bool:
    """Whether kernel values are cheaper to compute again each time than to write to memory and to
    read back.

    A value costs one multiplication per entry other than zero. What is kept is shared by all
    problems that want it, and where there are many rows, not much of it can be kept.
    """
    n, d = X.shape
    most = MOST_PREDICTED_COLUMNS if n <= SMALL_PROBLEM else MOST_COLUMNS
    if d > most or form_of(kernel) is None:
        return False
    if n <= FEWEST_ROWS and in_matrices and kernel.on_products:
        affordable = FEWEST_ROWS_COST
    elif n <= SMALL_PROBLEM:
        affordable = FEW_ROWS_COST
    elif n_problems > 1:
        affordable = SHARED_COST
    else:
        affordable = MANY_ROWS_COST if n > MANY_ROWS else USUAL_COST
    return entries_per_row(X) <= affordable


def entries_per_row(X: Matrix) -> float:
    """How many entries other than zero a row has, in the mean, by about a thousand rows."""
    step = max(1, X.shape[0] // 1000)
    if isinstance(X, DistantRows):
        return float(X.by_rows(nonzeros)[::step].mean())
    some = X[::step]
    entries = some.data if sp.issparse(some) else some
    return float(np.count_nonzero(entries != 0) / max(1, some.shape[0]))


def nonzeros(X: Matrix) -> np.ndarray:
    """How many entries other than zero each row has."""
    if sp.issparse(X):
        return np.asarray((X != 0).sum(axis=1), float).ravel()
    counts = [np.count_nonzero(X[k : k + 1024] != 0, axis=1) for k in range(0, len(X), 1024)]
    return np.concatenate(counts or [np.empty(0)]).astype(float)


def fused_rows(
    kernel: Kernel, X: Matrix, team: Workers, dtype: np.dtype, segments: Sequence[np.ndarray] = ()
) -> FusedRows:
    """The rows of a matrix for a kernel, wherever they are; those elsewhere may keep values of
    whole segments.
    """
    if isinstance(X, DistantRows):
        found: FusedRows = X.fused(kernel, dtype, team, segments)
        return found
    return FusedRows(kernel, X, team, dtype)


def single_enough(kernel: Kernel, square: float) -> bool:
    """Whether float32 is good enough for values that an answer in float64 begins with, over
    examples with squared norms up to `square`.
    """
    single = np.dtype(np.float32)
    fits = kernel.bound(square) < largest_value(single)
    return kernel.on_products and fits and kernel.exact_in(single, square)


def roundings(count: int) -> float:
    """How many roundings a sum of so many values goes through at most: terms are added in groups of
    six, or in at least four sums side by side, and those on a diagonal one by one.
    """
    return count / 4 + 40


def has_zeros(kernel: Kernel, X: Matrix) -> bool:
    """Whether features that are zero in a group of vectors are worth leaving out."""
    n, d = X.shape
    if not n or isinstance(kernel, Laplacian):
        return False
    return bool(entries_per_row(X) <= d - LEAST_ZEROS)


class FusedRows:
    """The rows of a matrix, for a kernel in the compiled loops.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    dtype : dtype
        What values are computed in; for a kernel whose rounding takes it, float64 in any case.
    zeros : bool, optional
        Whether features that are zero in a group of vectors are left out; if not given, they are
        where the rows have enough of them.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Matrix,
        team: Workers,
        dtype: np.dtype,
        zeros: bool | None = None,
    ) -> None:
        form = form_of(kernel)
        assert form is not None
        if not kernel.on_products:
            dtype = np.dtype(np.float64)
        rows: Any = X.toarray() if sp.issparse(X) else X  # type: ignore[union-attr]
        X = np.ascontiguousarray(rows)  # packing makes numbers of `dtype` of these
        self.form, self.X, self.team, self.dtype = form, X, team, dtype
        self._kernel, self._zeros = kernel, zeros
        from largemargin.kernels.simd import lanes_of

        self.width = 2 * lanes_of(dtype)  # of a panel
        self.numbers = np.zeros(5, dtype)
        self.numbers[: len(form.numbers)] = form.numbers

    @cached_property
    def norms(self) -> np.ndarray:
        """Squared norms, as the kernel scales them."""
        norms = np.zeros(len(self.X), self.dtype)
        if self.form.norm_scale:
            rows = self.X  # of more digits than it has, no copy is needed
            if not np.can_cast(rows.dtype, self.dtype):
                rows = rows.astype(self.dtype)
            norms[:] = self.form.norm_scale * squared_norms(rows)
        return norms

    has_pools = True  # whether a part of the columns is worth a solution of its own
    keeps_gradients = False  # whether the gradient of a problem is where the rows are

    def nearby(self) -> FusedRows:
        """The same, of which corners of all rows will be asked for, one after the other."""
        return self

    def corners(self) -> FusedRows:
        """The same, of which corners of one problem will be asked for."""
        return self

    def columns(self, rows: np.ndarray) -> Columns:
        """Some rows as columns of kernel values."""
        return Columns(self, rows)

    def pool(self, rows: np.ndarray) -> Columns:
        """The same of a small part of the rows that will be used often."""
        return self.columns(rows)

    def measured_columns(self) -> Columns:
        """All rows as columns, with squared norms from the packed numbers: quicker than others,
        and not the same to the last bit.
        """
        return Columns(self, np.arange(len(self.X)), measured=True)

    def vectors(self, rows: np.ndarray, sort: bool = True) -> Vectors:
        """Some rows as vectors, in whole groups: the last one is repeated.

        Where zeros are left out, vectors of a group should be zero in the same features: they are
        sorted, unless no two are expected to be.
        """
        order = self._sorted(rows) if sort and self._leaves_zeros else np.arange(len(rows))
        d = self.X.shape[1]
        missing = -len(rows) % GROUP
        taken = rows[np.concatenate([order, np.repeat(order[-1:], missing)])]
        n_groups = len(taken) // GROUP
        flat = np.empty((len(taken) * d + GROUP,), self.dtype)
        features, starts = np.empty(n_groups * d + 1, np.int64), np.empty(n_groups + 1, np.int64)
        every = not self._leaves_zeros
        _loops().pack_vectors(self.X, taken, every, self.width, flat, features, starts)
        return Vectors(flat, self.norms[taken], features, starts, order)

    def corner(self, rows: np.ndarray, room: np.ndarray | None = None) -> np.ndarray:
        """The values among some rows, side by side in memory; in `room`, a flat array, if it is
        long enough: fresh memory is slow.
        """
        columns, vectors = self.columns(rows), self.vectors(rows, sort=not self.in_order)
        if self.in_order:
            return columns.square(vectors, room)
        return np.ascontiguousarray(columns.values(vectors, room))

    def sums_among(self, rows: np.ndarray, coefs: np.ndarray) -> np.ndarray:
        """sum_i coefs[p, i] k(x_i, x_j) among some rows; each value is computed once."""
        vectors = self.vectors(rows)
        if self.dtype != np.float64:  # lanes of fewer digits would be summed for too long
            return self.columns(rows).sums(vectors, coefs)
        found, order = np.empty((len(coefs), len(rows))), vectors.order
        found[:, order] = self.columns(rows[order]).square_sums(vectors, coefs[:, order])
        return found

    @cached_property
    def in_order(self) -> bool:
        """Whether half of a corner is computed, from vectors in the order of the columns: unless
        more is saved by vectors together that are zero in the same features.
        """
        return not self._leaves_zeros or entries_per_row(self.X) > SORTED_ENTRIES

    @cached_property
    def _leaves_zeros(self) -> bool:
        """Whether features that are zero in a group of vectors are left out."""
        zeros = has_zeros(self._kernel, self.X) if self._zeros is None else self._zeros
        return bool(len(self.X)) and zeros

    def _sorted(self, rows: np.ndarray) -> np.ndarray:
        """Some rows in an order in which those that are zero in the same features are together."""
        return np.argsort(self._patterns[rows], kind="stable")

    @cached_property
    def _patterns(self) -> np.ndarray:
        """A number for each row that is the same for rows that are zero in the same features."""
        words = _pattern_words(self.X)
        order = np.lexsort(words.T)
        differs = (words[order][1:] != words[order][:-1]).any(axis=1)
        patterns = np.empty(len(words), np.int64)
        patterns[order] = np.concatenate([[0], np.cumsum(differs)])
        return patterns


def _pattern_words(X: np.ndarray) -> np.ndarray:
    """Whether each entry is other than zero, a bit each, in words."""
    n, d = X.shape
    bits = np.zeros((n, -(-d // 64) * 8), np.uint8)
    packed = np.packbits(X != 0, axis=1)
    bits[:, : packed.shape[1]] = packed
    return bits.view(np.uint64)


class StoredRows(FusedRows):
    """Dense vectors, read from where they are stored, of which few are used at a time: what is
    known of each is not worked out anew whenever there are more of them.
    """

    def __init__(
        self, kernel: Kernel, basis: Basis, team: Workers, dtype: np.dtype, zeros: bool
    ) -> None:
        super().__init__(kernel, basis.vectors, team, dtype, zeros)
        self.norms = (self.form.norm_scale * basis.squares[: len(self.X)]).astype(self.dtype)

    @staticmethod
    def can_read(basis: Basis, dtype: np.dtype) -> bool:
        """Whether these vectors are such that packing keeps all their digits."""
        squares_too = basis.squares.dtype == np.float64
        return squares_too and not basis.sparse and np.can_cast(basis.vectors.dtype, dtype)

    def _sorted(self, rows: np.ndarray) -> np.ndarray:
        return np.lexsort(_pattern_words(self.X[rows]).T)


@dataclass(frozen=True)
class Vectors:
    """Vectors in groups that are zero in the same features, and are stored without these.

    Attributes
    ----------
    flat : array
        Group by group and feature by feature, the number of each vector.
    norms : array
        Squared norms, as the kernel scales them.
    features, starts : arrays
        The features of the groups, as places in a panel, and where each group begins.
    order : array
        Which of the vectors that were asked for each of these is.
    """

    flat: np.ndarray
    norms: np.ndarray
    features: np.ndarray
    starts: np.ndarray
    order: np.ndarray


class Columns:
    """Columns of kernel values, packed for the compiled loops."""

    squares: np.ndarray  # in float64, of `measured` columns only

    def __init__(self, of: FusedRows, rows: np.ndarray, measured: bool = False) -> None:
        self.n, self.d = len(rows), of.X.shape[1]
        self._of, self._width = of, of.width
        self._count = -(-self.n // self._width)
        self._flat = aligned(self._count * self._width * self.d, of.dtype)
        self._norms = aligned(self._count * self._width, of.dtype)
        squares = np.zeros(len(self._norms)) if measured else None
        of.team.map(partial(self._pack, rows, squares), self._parts(64))
        if squares is None:
            self._norms[: self.n] = of.norms[rows]
            self._norms[self.n :] = 0.0
        else:
            self.squares = squares[: self.n]
            self._norms[:] = of.form.norm_scale * squares

    def _pack(self, rows: np.ndarray, squares: np.ndarray | None, part: tuple[int, int]) -> None:
        _loops().pack_columns(self._of.X, rows, *part, self._width, self._flat)
        if squares is not None:
            _loops().add_squares(self._flat, self.d, *part, squares)

    def _parts(self, n_vectors: int) -> list[tuple[int, int]]:
        """The panels in parts, each with enough to do for a task."""
        step = max(LEAST_PANELS, TASK // max(1, n_vectors * self._width))
        return [(k, min(k + step, self._count)) for k in range(0, self._count, step)]

    def sums(self, vectors: Vectors, coefs: np.ndarray) -> np.ndarray:
        """sum_i coefs[p, i] k(v_i, x_j), one row per problem p and one column per column j."""
        out = np.zeros((len(coefs), len(self._norms)))
        weights = np.zeros((len(vectors.norms), len(coefs)), coefs.dtype)
        weights[: len(vectors.order)] = coefs.T[vectors.order]
        of, form = self._of, self._of.form

        def add(part: tuple[int, int]) -> None:
            _loops().add_sums(
                vectors.flat, vectors.norms, vectors.features, vectors.starts, self.d, self._flat,
                self._norms, form.kind, of.numbers, form.degree, weights, *part, out,
            )  # fmt: skip

        of.team.map(add, self._parts(len(vectors.norms)))
        return out[:, : self.n]

    def values(self, vectors: Vectors, room: np.ndarray | None = None) -> np.ndarray:
        """The values of the vectors (down) against the columns (across), in `room` if it is long
        enough.
        """
        out = self._taken(room, len(vectors.order), self.padded)
        self.fill(vectors, vectors.order, out)
        return out[:, : self.n]

    @property
    def padded(self) -> int:
        """How many columns there are in whole panels."""
        return len(self._norms)

    def fill(self, vectors: Vectors, places: np.ndarray, out: np.ndarray) -> None:
        """The values of the vectors into some rows of `out`, which are `padded` long: those of
        vector i, in the order that they are packed in, into row places[i].
        """
        of, form = self._of, self._of.form

        def fill(part: tuple[int, int]) -> None:
            _loops().fill_values(
                vectors.flat, vectors.norms, vectors.features, vectors.starts, self.d, self._flat,
                self._norms, form.kind, of.numbers, form.degree, places, *part, out,
            )  # fmt: skip

        of.team.map(fill, self._parts(len(vectors.norms)))

    def square(self, vectors: Vectors, room: np.ndarray | None = None) -> np.ndarray:
        """The same where the vectors are the columns, in their order: half of it is computed, and
        the other half is the same bits.
        """
        of, form = self._of, self._of.form
        out = self._taken(room, self.n, self.n)

        def fill(part: tuple[int, int]) -> None:
            _loops().fill_square(
                vectors.flat, vectors.norms, vectors.features, vectors.starts, self.d, self._flat,
                self._norms, form.kind, of.numbers, form.degree, *part, out,
            )  # fmt: skip

        # the last columns meet most vectors: whoever begins with them is not left alone at the end
        of.team.map(fill, self._parts(self.n)[::-1])
        return out

    def square_sums(self, vectors: Vectors, coefs: np.ndarray) -> np.ndarray:
        """`sums` where the vectors are the columns, in their order: half of the values are
        computed, and each is used for its row and for its column.
        """
        of, form = self._of, self._of.form
        step = max(LEAST_PANELS, 4 * TASK // max(1, self.n * self._width))
        step = max(step, -(-self._count // SQUARE_PARTS))
        parts = [(k, min(k + step, self._count)) for k in range(0, self._count, step)]
        shape = len(coefs), len(self._norms) + GROUP
        given, out = np.zeros(shape), np.zeros(shape)
        given[:, : self.n] = coefs
        above = np.zeros((len(parts), *shape))  # of each part by itself, for a fixed order of sums

        def add(k: int) -> None:
            _loops().add_square_sums(
                vectors.flat, vectors.norms, vectors.features, vectors.starts, self.d, self._flat,
                self._norms, form.kind, of.numbers, form.degree, given, self.n, *parts[k], out,
                above[k],
            )  # fmt: skip

        of.team.map(add, range(len(parts))[::-1])  # as in `square`
        for part in above:
            out += part
        return out[:, : self.n]

    def _taken(self, room: np.ndarray | None, height: int, width: int) -> np.ndarray:
        """An array of this shape, in `room` if it is long enough."""
        if room is None or len(room) < height * width:
            room = np.empty(height * width, self._of.dtype)
        return room[: height * width].reshape(height, width)
