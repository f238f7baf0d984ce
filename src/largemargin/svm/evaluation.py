"""The outputs of machines as they are stored, and how far rounding may have put them off.

What a fit tells of itself must hold for the coefficients that it keeps, so outputs are summed up
from these afresh. A computed sum f_i = sum_j c_j k(x_j, x_i) differs from the true one by at most

    e_i = sum_j |c_j| E_ij + g sum_j |c_j k_ij|

where E bounds the errors of kernel values (`kernels.Rounding`) and g that of the sum. Kernel
values in float32 make e_i much larger than anything that the solver left undone. But only examples
that may be inside the margin, and support vectors, count in an objective: after a look in float32
these are computed once more in float64, from the rows as they were given, where that is cheap
beside the fit. With the linear kernel w itself is at hand, and all is computed so.

A float32 machine stores rounded vectors. So there are three readings of it: with the rows as given,
with the stored vectors against the rows given, and with all rows rounded; what is told holds for
each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from largemargin.gram import fill, prepare
from largemargin.kernel_rows import BLOCK, KernelRows
from largemargin.kernels import UNIT, Gaussian, Kernel, Linear, squared_norms

if TYPE_CHECKING:
    from largemargin.svm.reductions import Split
    from largemargin.svm.session import Session

SINGLE = 2.0**-24  # the unit of float32
PIECE = 128  # vectors that are summed together
PANEL = 256  # examples a tile
STRETCH = 4096  # examples that are multiplied by w together
CHEAP = 4_000_000  # kernel values in float64 that no fit minds
SHARE = 20  # one in so many of what the fit took may be spent on them
STEP = 256  # kernel values that take as long as a step of the solver
LONG = np.longdouble
FEW = 1_000_000 if np.finfo(LONG).eps < UNIT / 64 else 0  # products that are summed in it


@dataclass(frozen=True)
class Outputs:
    """f without the threshold, a row a function and a column an example of its problem, and w.w
    summed over the functions, each with a bound of its error.
    """

    values: np.ndarray
    errors: np.ndarray
    square: float
    square_error: float


@dataclass(frozen=True)
class Stored:
    """Coefficients to evaluate: a row a function, for the examples of a split in their order, or,
    without one, for all in the order of the session.
    """

    split: Split | None
    examples: np.ndarray
    coefs: np.ndarray

    @cached_property
    def used(self) -> np.ndarray:
        return np.flatnonzero(self.coefs.any(axis=0))


Near = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Evaluation:
    """Evaluates machines on the data of a session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.kernel: Kernel = session.kernel
        self.unit = UNIT if session.exact else SINGLE

    @cached_property
    def terms(self) -> np.ndarray:
        """The entries other than zero of each row: zeros add nothing to a sum, and no error."""
        X = self.session.X
        if self.kernel.by_column:
            return np.zeros(self.session.n)
        if sp.issparse(X):
            return np.diff(X.indptr).astype(float)
        counts = [np.count_nonzero(X[k : k + 1024], axis=1) for k in range(0, len(X), 1024)]
        return np.concatenate(counts).astype(float)

    @cached_property
    def squares(self) -> np.ndarray:
        """Squared norms, raised to where a product below the range of the type is rounding too."""
        if not self.kernel.on_products:
            return np.zeros(self.session.n)
        tiny = float(np.finfo(np.float64 if self.session.exact else np.float32).tiny)
        return squared_norms(self.session.X) * (1 + 4 * self.unit) + self.terms * tiny / self.unit

    @cached_property
    def reach(self) -> float:
        """The largest norm of an example in feature space."""
        sizes = self.kernel.sizes(self.squares)
        if sizes is None:
            sizes = np.sqrt(np.abs(self.kernel.diag(self.session.X)))
        return float(sizes.max(initial=0.0))

    @cached_property
    def _readings(self) -> list[tuple[Any, Any]]:
        """Vectors and rows to read a machine with."""
        X = self.session.X
        given = prepare(self.session.given, self.kernel, np.dtype(np.float64))
        if not self.kernel.on_products or X.dtype.itemsize >= given.dtype.itemsize:
            return [(X, X)]
        if sp.issparse(X):
            same = (X.astype(np.float64) != given).nnz == 0
        else:
            pieces = range(0, len(X), 1024)
            same = not any((X[k : k + 1024] != given[k : k + 1024]).any() for k in pieces)
        return [(X, X)] if same else [(given, given), (X, given), (X, X)]

    def outputs(self, stored: Stored, near: Near, n_steps: int = 0) -> list[Outputs]:
        """The outputs of some functions of one problem, once for each reading.

        `near` says from outputs and errors which examples must be known better.
        """
        if isinstance(self.kernel, Linear):
            return [self._linear(stored, V, Z) for V, Z in self._readings]
        if self.session.exact:
            return [self._summed(stored)]
        first, chosen = None, np.arange(len(stored.examples))
        used, n_readings = len(stored.used), len(self._readings)
        if used * len(chosen) * n_readings > CHEAP:
            first = self._summed(stored)
            chosen = np.union1d(np.flatnonzero(near(first.values, first.errors)), stored.used)
            budget = CHEAP + (self.session.n_asked + STEP * n_steps) // SHARE
            if used * len(chosen) * n_readings > budget:
                return [first]
        found = [self._again(stored, V, Z, chosen, first) for V, Z in self._readings]
        if n_readings > 1:  # w.w is of the vectors alone
            own = found[-1]
            found[1] = replace(found[1], square=own.square, square_error=own.square_error)
        return found

    def rough(self, stored: Stored, values: np.ndarray, drift: float) -> list[Outputs]:
        """What the solver's own outputs tell, which are off by `drift` from sums of its kernel
        values, or NaN if they are not known: for when there is no time to sum them up again.
        """
        sizes = self.kernel.sizes(self.squares)
        if sizes is None:
            return [self._summed(stored)]
        weights = np.abs(stored.coefs[:, stored.used])
        vectors = stored.examples[stored.used]
        of = sizes[stored.examples]
        most = (weights @ sizes[vectors])[:, None] * of
        far = (weights @ (sizes * self.squares)[vectors])[:, None] * of
        errors = drift + self._errors(stored, stored.examples, self.unit, most, far)
        known = ~np.isnan(values)
        errors, values = np.where(known, errors, np.inf), np.where(known, values, 0.0)
        return [self._judged(stored, values, errors)]

    def _summed(self, stored: Stored) -> Outputs:
        """From the kernel values of the fit."""
        used, vectors = stored.used, stored.examples[stored.used]
        coefs = np.ascontiguousarray(stored.coefs[:, used])
        weights = np.abs(coefs)
        by_size = np.concatenate([weights, weights * self.squares[vectors]])
        if self._by_norms:
            by_size = by_size[:0]
        of_sum = _of_sum(len(used))
        if self.session.whole:
            K = self.session.values_of(vectors, stored.examples)
            if coefs.shape[0] * K.size <= FEW:
                values = (coefs.astype(LONG) @ K.astype(LONG)).astype(np.float64)
                sizes, of_sum = by_size @ np.abs(K), 4 * UNIT
            else:
                values, sizes = _products(coefs, by_size, K)
        else:
            segments = list(range(len(self.session.layout.segments)))
            if stored.split is not None:
                segments = [s for part in self.session.layout.portions(stored.split) for s in part]
            values, sizes = _row_sums(self.session.rows, segments, vectors, coefs, by_size)
        rows = stored.examples
        most, far = self._sizes(stored, rows, sizes)
        errors = self._errors(stored, rows, self.unit, most, far) + of_sum * most
        return self._judged(stored, values, errors)

    @property
    def _by_norms(self) -> bool:
        """Whether norms tell as much of the size of kernel values as there is to know."""
        return self.kernel.on_products and not isinstance(self.kernel, Gaussian)

    def _sizes(
        self, stored: Stored, rows: np.ndarray, sizes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """sum_j |c_j k_ij| and sum_j |c_j k_ij| |x_j|^2, a row a function."""
        if len(sizes):
            half = len(sizes) // 2
            return sizes[:half], sizes[half:]
        of = self.kernel.sizes(self.squares)
        assert of is not None
        weights = np.abs(stored.coefs[:, stored.used])
        total = weights @ of[stored.examples[stored.used]]
        most = total[:, None] * of[rows]
        return most, np.zeros_like(most)

    def _errors(
        self, stored: Stored, rows: np.ndarray, unit: float, most: np.ndarray, far: np.ndarray
    ) -> np.ndarray:
        """What the errors of kernel values add up to, a column each of some rows."""
        found = self.kernel.rounding(self.squares, self.terms, unit)
        weights = np.abs(stored.coefs[:, stored.used])
        vectors = stored.examples[stored.used]

        def at(part: Any, which: np.ndarray) -> np.ndarray:
            return np.broadcast_to(np.asarray(part, float), self.squares.shape)[which]

        errors = at(found.value, rows) * most
        errors = errors + at(found.distance, rows) * (self.squares[rows] * most + far)
        errors = errors + np.outer(weights @ at(found.right, vectors), at(found.left, rows))
        total = weights.sum(axis=1, keepdims=True)
        errors = errors + total * at(found.constant, rows)
        errors = 1.01 * errors
        return np.minimum(errors, found.most * total) if np.isfinite(found.most) else errors

    def _judged(self, stored: Stored, values: np.ndarray, errors: np.ndarray) -> Outputs:
        coefs = stored.coefs[:, stored.used]
        parts = coefs * values[:, stored.used]
        off = np.abs(coefs) * errors[:, stored.used] + 2 * UNIT * np.abs(parts)
        return Outputs(values, errors, fsum(parts.ravel()), fsum(off.ravel()))

    def _again(
        self, stored: Stored, V: Any, Z: Any, chosen: np.ndarray, first: Outputs | None
    ) -> Outputs:
        """In float64, for the examples chosen; the others as they were found first."""
        used, vectors = stored.used, stored.examples[stored.used]
        coefs = np.ascontiguousarray(stored.coefs[:, used])
        weights = np.abs(coefs)
        by_size = np.concatenate([weights, weights * self.squares[vectors]])
        if self._by_norms:
            by_size = by_size[:0]
        by_column, by_norm = self.kernel.by_column, self.kernel.on_products
        values = np.zeros((len(coefs), len(chosen)))
        sizes = np.zeros((len(by_size), len(chosen)))
        pieces = []
        for k in range(0, len(used), PIECE):
            part = vectors[k : k + PIECE]
            B = part[:, None] if by_column else _doubled(V[part], by_norm)
            pieces.append((slice(k, k + PIECE), B, _squares(B, by_norm)))

        def panel(at: int) -> None:
            rows = _doubled(Z[stored.examples[chosen[at : at + PANEL]]], by_norm)
            columns = slice(at, at + rows.shape[0])
            squares = _squares(rows, by_norm)
            for part, B, B_squares in pieces:
                K = np.empty((B.shape[0], rows.shape[0]))
                fill(self.kernel, K.dtype, (rows, squares), (B, B_squares), K)
                values[:, columns] += coefs[:, part] @ K
                if len(by_size):
                    sizes[:, columns] += by_size[:, part] @ np.abs(K)

        self.session.team.map(panel, range(0, len(chosen), PANEL))
        rows = stored.examples[chosen]
        most, far = self._sizes(stored, rows, sizes)
        errors = self._errors(stored, rows, UNIT, most, far) + _of_sum(len(used)) * most
        if first is not None:
            all_values, all_errors = first.values.copy(), first.errors.copy()
            all_values[:, chosen], all_errors[:, chosen] = values, errors
            values, errors = all_values, all_errors
        return self._judged(stored, values, errors)

    def _linear(self, stored: Stored, V: Any, Z: Any) -> Outputs:
        """By way of w: what is summed over the support vectors is a vector, in extended precision
        if it is not too long.
        """
        vectors = stored.examples[stored.used]
        coefs = stored.coefs[:, stored.used]
        norms = np.sqrt(self.squares)
        extended = coefs.size * V.shape[1] <= CHEAP
        dtype: Any = np.float64
        unit = _of_sum(len(vectors))
        if extended:
            dtype, unit = LONG, float(np.finfo(LONG).eps) * (len(vectors) + 2)
        w = np.zeros((len(coefs), V.shape[1]))
        for k in range(0, len(vectors), PIECE if not extended else max(1, len(vectors))):
            part = slice(k, len(vectors) if extended else k + PIECE)
            w += (V[vectors[part]].astype(dtype).T @ coefs[:, part].astype(dtype).T).T
        lengths = np.sqrt((w.astype(LONG) ** 2).sum(axis=1)).astype(float) * (1 + 4 * UNIT)
        off = unit * (np.abs(coefs) @ norms[vectors]) + UNIT * lengths
        values = np.empty((len(coefs), len(stored.examples)))
        for k in range(0, len(stored.examples), STRETCH):
            rows = Z[stored.examples[k : k + STRETCH]].astype(np.float64, copy=False)
            values[:, k : k + STRETCH] = (rows @ w.T).T
        of, terms = norms[stored.examples], self.terms[stored.examples]
        errors = 1.01 * of * ((terms + 3) * UNIT * lengths[:, None] + off[:, None])
        errors += (terms + 1) * float(np.finfo(np.float64).tiny)
        square = float((lengths**2).sum())
        square_error = float((2 * lengths * off + off**2).sum()) * 1.01 + 16 * UNIT * square
        return Outputs(values, errors, square, square_error)


def _of_sum(count: int) -> float:
    """The relative error of a sum in float64 of so many terms, PIECE at a time."""
    return (PIECE + count // 4 + 8) * UNIT


def _doubled(X: Any, by_norm: bool) -> Any:
    """Rows in float64 if they are to be multiplied."""
    return X.astype(np.float64, copy=False) if by_norm else X


def _squares(X: Any, by_norm: bool) -> np.ndarray:
    return squared_norms(X) if by_norm else np.zeros(X.shape[0])


def _products(
    coefs: np.ndarray, by_size: np.ndarray, K: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """coefs @ K and by_size @ |K|"""
    values, sizes = np.zeros((len(coefs), K.shape[1])), np.zeros((len(by_size), K.shape[1]))
    for k in range(0, len(K), PIECE):
        part = K[k : k + PIECE].astype(np.float64, copy=False)
        values += coefs[:, k : k + PIECE] @ part
        if len(by_size):
            sizes += by_size[:, k : k + PIECE] @ np.abs(part)
    return values, sizes


def _row_sums(
    rows: KernelRows,
    segments: Sequence[int],
    vectors: np.ndarray,
    coefs: np.ndarray,
    by_size: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The same from kernel rows, the columns of some segments one after the other. Rows are summed
    in the same blocks whatever the memory.
    """
    from largemargin._loops import add_rows
    from largemargin.svm._loops import add_sizes

    starts = np.cumsum([0, *(rows.segments[s].width for s in segments)])
    values, sizes = np.zeros((len(coefs), starts[-1])), np.zeros((len(by_size), starts[-1]))
    wanted = {s: [vectors] for s in segments}
    rows.announce(wanted)
    step = max(BLOCK, rows.capacity // BLOCK * BLOCK)
    for first in range(0, len(vectors), step):
        part = vectors[first : first + step]
        rows.fetch({s: [part] for s in segments})

        def add(task: tuple[int, int], part: np.ndarray = part, first: int = first) -> None:
            row, k = task
            segment = rows.segments[segments[k]]
            slots, at = segment.slot_of[part], slice(first, first + len(part))
            if row < len(coefs):
                add_rows(values[row], starts[k], segment.values, slots, coefs[row, at])
            else:
                row -= len(coefs)
                add_sizes(sizes[row], starts[k], segment.values, slots, by_size[row, at])

        tasks = [(r, k) for r in range(len(coefs) + len(by_size)) for k in range(len(segments))]
        rows.team.map(add, tasks)
    return values, sizes
