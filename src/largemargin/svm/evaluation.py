"""The outputs of machines as they are stored, and how far rounding may have put them off.

What a fit reports must hold for the coefficients that it keeps, so outputs are summed up afresh
from these. A computed sum f_i = sum_j c_j k(x_j, x_i) differs from the true one by at most

    e_i = sum_j |c_j| E_ij + g sum_j |c_j k_ij|

where E bounds the errors of kernel values (`kernels.Rounding`) and g that of the sum. Kernel
values in float32 make e_i much larger than anything that the solver left undone. But only examples
that may be inside the margin, and support vectors, count in an objective: after a look in float32
these are computed once more in float64, from the rows as they were given, where that is cheap
beside the fit. With the linear kernel w itself is at hand, and all is computed so.

A float32 machine stores rounded vectors. So there are three readings of it: with the rows as given,
with the stored vectors against the rows given, and with all rows rounded. The objective and the
duality gap that a fit reports hold for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from largemargin.kernels.engine import fill, prepare
from largemargin.kernels.functions import UNIT, Kernel, Linear, Rounding, squared_norms
from largemargin.kernels.fused import fused_rows, is_used_once, nonzeros
from largemargin.kernels.rounding import SINGLE, raised_squares
from largemargin.kernels.rows import BLOCK, KernelRows
from largemargin.runtime.arrays import DistantRows, Matrix, by_rows
from largemargin.svm.linear.passes import times
from largemargin.svm.linear.weights import LONG, weighted_sums

if TYPE_CHECKING:
    from largemargin.svm.multiclass import Split
    from largemargin.svm.session import Session

PIECE = 64  # vectors that are summed together
PANEL = 256  # examples per tile
PART = 512  # columns of a whole Gram matrix that are summed together
ROWS_PER_PRODUCT = 4096  # examples that are multiplied by w together
CHEAP = 4_000_000  # kernel values in float64 that are cheap beside any fit
CHEAP_SINGLE = 100_000  # products in extended precision, where others are in float32
SHARE = 20  # one in so many of the fit's own kernel values may be spent on them
COMPUTED_SHARE = 6  # the same where both are computed and forgotten, and cost about the same
STEP = 256  # kernel values that take as long as a step of the solver
FEW_TERMS = 32  # features up to which zeros are not counted
SHARED = 8  # roundings of a coefficient that is shared among copies, and a few to spare
DOT2_PRODUCTS = 20_000  # products up to which sums are made with twice the digits


@dataclass(frozen=True)
class Outputs:
    """f without the threshold, one row per function and one column per example of its problem, and
    w.w summed over the functions, each with a bound of its error. `mixed` says that w is that of
    other vectors than the examples, and w.w no sum of coefficients times outputs.
    """

    values: np.ndarray
    errors: np.ndarray
    square: float
    square_error: float
    mixed: bool = False


@dataclass(frozen=True)
class Stored:
    """Coefficients to evaluate: one row per function, for the examples of a split in their order,
    or, without a split, for all examples in the order of the session.
    """

    split: Split | None
    examples: np.ndarray
    coefs: np.ndarray
    values: np.ndarray | None = None  # outputs that the solver has
    drift: float | np.ndarray = np.inf  # a bound of their distance from sums of its kernel values
    sizes: np.ndarray | None = None  # the sums of |c_j k_ij| with `size_weights`, if it has them

    @cached_property
    def used(self) -> np.ndarray:
        return np.flatnonzero(self.coefs.any(axis=0))

    @property
    def is_known(self) -> bool:
        """Whether the solver's outputs are there, and how far they may be off."""
        return self.values is not None and bool(np.isfinite(self.drift).all())


NearMargin = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Evaluation:
    """Evaluates machines on the data of a session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.kernel: Kernel = session.kernel
        self.unit = UNIT if session.exact else SINGLE
        self._roundings: dict[float, Rounding] = {}  # by unit
        self.share_among(1)

    def share_among(self, n_machines: int) -> None:
        """What a look in float64 may cost is shared by so many machines."""
        self._cheap = CHEAP / max(1, n_machines)
        self._asked = self.session.n_asked / max(1, n_machines)

    @property
    def _in_registers(self) -> bool:
        """Whether values in float64 are computed, used and forgotten; a sum over all examples that
        are elsewhere is asked for there.
        """
        X = self.session.X
        near = not isinstance(X, DistantRows)
        return self.session.computed or (near and is_used_once(self.kernel, X.shape[1]))

    @cached_property
    def terms(self) -> np.ndarray:
        """The entries other than zero of each row: zeros add nothing to a sum, and no error. Of few
        entries all are taken to be.
        """
        X: Any = self.session.X
        if self.kernel.by_column:
            return np.zeros(self.session.n)
        if X.shape[1] <= FEW_TERMS and not sp.issparse(X):
            return np.full(X.shape[0], float(X.shape[1]))
        return by_rows(nonzeros, X)

    @cached_property
    def squares(self) -> np.ndarray:
        """Squared norms, raised to where a product below the range of the type is rounding too."""
        return self._raised_squares(self.unit)

    def _raised_squares(self, unit: float) -> np.ndarray:
        if not self.kernel.on_products:
            return np.zeros(self.session.n)
        return raised_squares(squared_norms(self.session.X), self.terms, unit)

    @cached_property
    def reach(self) -> float:
        """The largest norm of an example in feature space."""
        return float(self.session.sizes.max(initial=0.0))

    @cached_property
    def _readings(self) -> list[tuple[Matrix, Matrix]]:
        """Vectors and rows to read a machine with."""
        X, given = self.session.X, self.session.given
        if not self.kernel.on_products or np.can_cast(given.dtype, X.dtype):
            return [(X, X)]
        given = prepare(given, self.kernel, np.dtype(np.float64))
        if X.dtype.itemsize >= given.dtype.itemsize:
            return [(X, X)]
        rounded = by_rows(_are_rounded, given, X.dtype).any()
        return [(given, given), (X, given), (X, X)] if rounded else [(X, X)]

    def outputs(self, stored: Stored, near: NearMargin, n_steps: int = 0) -> list[Outputs]:
        """The outputs of some functions of one problem, once for each reading.

        `near` says from outputs and errors which examples must be known better.
        """
        if isinstance(self.kernel, Linear):
            return self._linear(stored)
        if self.session.exact:
            return [self._summed(stored)]
        first, chosen = None, np.arange(len(stored.examples))
        used, n_readings = len(stored.used), len(self._readings)
        if used * len(chosen) * n_readings > self._cheap:
            first = self._summed(stored)
            chosen = np.union1d(np.flatnonzero(near(first.values, first.errors)), stored.used)
            share = COMPUTED_SHARE if self._in_registers else SHARE
            budget = self._cheap + (self._asked + STEP * n_steps) // share
            if self._values_of(used, len(chosen)) > budget:
                return [replace(first, mixed=n_readings > 1)]
        found = [self._again(stored, V, Z, chosen, first) for V, Z in self._readings]
        if n_readings > 1:  # w.w is of the vectors alone
            own = found[-1]
            found[1] = replace(
                found[1], square=own.square, square_error=own.square_error, mixed=True
            )
        return found

    def _values_of(self, used: int, chosen: int) -> int:
        """How many kernel values all readings take for some examples, the vectors among them."""
        halves = sum(V is Z for V, Z in self._readings) if self._in_registers else 0
        return used * chosen * len(self._readings) - halves * used**2 // 2

    def rough(self, stored: Stored, scale: float) -> list[Outputs]:
        """What the solver's own outputs show, where there is no time to look at kernel values
        again; an empty list if they show nothing. An output that is not known is NaN, and the
        others were multiplied by `scale`.
        """
        if isinstance(self.kernel, Linear):
            return self._linear(stored)
        if stored.values is None or not stored.is_known:
            cheap = len(stored.used) * len(stored.examples) <= CHEAP
            found = self._summed(replace(stored, values=None)) if cheap else None
            return [replace(found, mixed=self._may_be_rounded)] if found else []
        errors = scale * stored.drift + self._errors_by_norms(stored, self.unit)
        errors += 4 * UNIT * np.abs(stored.values)
        known = ~np.isnan(stored.values)
        values, errors = np.where(known, stored.values, 0.0), np.where(known, errors, np.inf)
        return [replace(self._with_square(stored, values, errors), mixed=self._may_be_rounded)]

    @property
    def _may_be_rounded(self) -> bool:
        """Whether rows may have been given with more digits; not looked for where time is up."""
        given = np.dtype(getattr(self.session.given, "dtype", np.float64))
        return self.kernel.on_products and self.session.X.dtype.itemsize < given.itemsize

    def error_of_single(self, stored: Stored) -> float:
        """The most that sums of kernel values in float32 differ from those in float64."""
        return float(self.errors_of_single(stored).max(initial=0.0))

    def errors_of_single(self, stored: Stored) -> np.ndarray:
        """The same of each sum."""
        return self._errors_by_norms(stored, SINGLE)

    def _errors_by_norms(self, stored: Stored, unit: float) -> np.ndarray:
        """`_errors` without a look at kernel values."""
        sizes = self.session.sizes
        weights = self._weights(stored) @ sizes[stored.examples[stored.used]]
        return self._errors(
            stored, stored.examples, unit, weights[:, None] * sizes[stored.examples]
        )

    def _summed(self, stored: Stored) -> Outputs:
        """From the kernel values of the fit."""
        coefs = np.ascontiguousarray(stored.coefs[:, stored.used])
        values: np.ndarray | None
        off: float | np.ndarray
        if self.session.whole and not stored.is_known:
            values, most, relative = self._from_whole(stored, coefs)
            off = 0.0
        else:
            known = stored.is_known
            sized = known and stored.sizes is not None
            weights = None if self._by_norms or sized else self._weights(stored)
            found, weighted = self._from_rows(stored, None if known else coefs, weights)
            if known and stored.sizes is not None and self.size_weights is not None:
                weighted = stored.sizes + stored.drift * float(self.size_weights.max())
            values = stored.values if known else found
            relative, off = (0.0, stored.drift) if known else (of_sum(len(stored.used)), 0.0)
            most = self._most(stored, stored.examples, weighted)
        assert values is not None
        errors = self._errors(stored, stored.examples, self.unit, most, relative) + off
        return self._with_square(stored, values, errors)

    def _from_whole(
        self, stored: Stored, coefs: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """From the whole matrix, with `_weights` too; also the relative error of the sums."""
        gram, slots = self.session.gram, self.session.place[stored.examples[stored.used]]
        weights, width = self._weights(stored), len(stored.examples)
        few = coefs.size * width <= DOT2_PRODUCTS
        add = sum_loops().add_few if few else sum_loops().add_rows_and_sizes
        values, sizes = np.zeros((len(coefs), width)), np.zeros((len(coefs), width))
        tasks = []
        for k in range(len(coefs)):
            mine = (slots, coefs[k], weights[k])
            if len(coefs) > 1:
                mine = tuple(part[coefs[k] != 0] for part in mine)
            start = 0
            for first, last in self.session.column_ranges(stored.split):
                for at in range(first, last, PART):
                    part = min(PART, last - at)
                    tasks.append((values[k], sizes[k], start, gram, at, part, *mine))
                    start += part
        self.session.team.map(lambda task: add(*task), tasks)
        return values, sizes, 4 * UNIT if few else of_sum(len(slots))

    def _from_rows(
        self, stored: Stored, coefs: np.ndarray | None, weights: np.ndarray | None
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        layout = self.session.layout
        segments = list(range(len(layout.segments)))
        if stored.split is not None:
            segments = [s for part in layout.portions(stored.split) for s in part]
        if coefs is None and weights is None:
            return None, None
        vectors = stored.examples[stored.used]
        if self.session.computed:
            fused = self.session.fused
            given = [part for part in (coefs, weights) if part is not None]
            columns = fused.columns(stored.examples)
            sums = columns.sums(fused.vectors(vectors), np.concatenate(given))
            values = None if coefs is None else sums[: len(coefs)]
            return values, None if weights is None else sums[-len(weights) :]
        return _row_sums(self.session.rows, segments, vectors, coefs, weights)

    def _weights(self, stored: Stored) -> np.ndarray:
        """|c_j| (1 + |x_j|^2 / mean): a sum of |k_ij| with these is no less than one with |c_j|,
        and, times the larger of |x_i|^2 and the mean, than one with |c_j| (|x_i|^2 + |x_j|^2).
        """
        weights: np.ndarray = np.abs(stored.coefs[:, stored.used])
        if not self.kernel.stationary or not self.kernel.on_products:
            return weights
        return np.asarray(weights * self._stretched[stored.examples[stored.used]])

    @property
    def size_weights(self) -> np.ndarray | None:
        """What `_weights` multiplies |c_j| by, of all examples; None where norms will do."""
        if self._by_norms:
            return None
        return self._stretched if self.kernel.on_products else np.ones(self.session.n)

    @cached_property
    def _stretched(self) -> np.ndarray:
        return 1 + self.squares / self._mean_square

    @cached_property
    def _mean_square(self) -> float:
        return float(self.squares.mean()) or 1.0

    @property
    def _by_norms(self) -> bool:
        """Whether norms tell as much of the size of kernel values as there is to know."""
        return self.kernel.on_products and not self.kernel.stationary

    def _most(self, stored: Stored, rows: np.ndarray, sizes: np.ndarray | None) -> np.ndarray:
        """A bound of sum_j |c_j k_ij|, one row per function and one column for each of `rows`."""
        if sizes is not None:
            return sizes
        of = self.kernel.sizes(self.squares)
        assert of is not None
        weights: np.ndarray = np.abs(stored.coefs[:, stored.used])
        return np.asarray((weights @ of[stored.examples[stored.used]])[:, None] * of[rows])

    def _errors(
        self, stored: Stored, rows: np.ndarray, unit: float, most: np.ndarray, of_sum: float = 0.0
    ) -> np.ndarray:
        """What the errors of kernel values and of the sums add up to; `most` are the sums with
        `_weights` in place of the coefficients.
        """
        if unit not in self._roundings:
            self._roundings[unit] = self._rounding(unit)
        found, coefs = self._roundings[unit], np.ascontiguousarray(stored.coefs[:, stored.used])
        return np.asarray(
            sum_loops().sum_errors(
                coefs, stored.examples[stored.used], found.value, found.left, found.right,
                found.constant, found.most, rows, most, of_sum,
            )
        )  # fmt: skip

    def _rounding(self, unit: float) -> Rounding:
        """The kernel's bounds, per example, those of distances joined to those of values."""
        squares = self._raised_squares(unit) if unit > self.unit else self.squares
        found = self.kernel.rounding(squares, self.terms, unit)
        far = np.maximum(squares, self._mean_square)
        value, left, right, constant = (
            part + np.zeros(len(far))
            for part in (
                found.value + found.distance * far,
                found.left,
                found.right,
                found.constant,
            )
        )
        return Rounding(value, 0.0, left, right, constant, found.most)

    def _with_square(self, stored: Stored, values: np.ndarray, errors: np.ndarray) -> Outputs:
        coefs, unit = np.ascontiguousarray(stored.coefs), UNIT
        if self.session.shares:
            errors, unit = errors + self._of_shares(stored), SHARED * UNIT
        return Outputs(values, errors, *sum_loops().square_and_error(coefs, values, errors, unit))

    def _of_shares(self, stored: Stored) -> np.ndarray:
        """What the outputs change by when coefficients are shared among copies and rounded."""
        sizes = self.session.sizes[stored.examples]
        return np.asarray(SHARED * UNIT * (np.abs(stored.coefs) @ sizes)[:, None] * sizes)

    def _again(
        self, stored: Stored, V: Matrix, Z: Matrix, chosen: np.ndarray, first: Outputs | None
    ) -> Outputs:
        """In float64, for the examples chosen; the others as they were found first."""
        used, vectors = stored.used, stored.examples[stored.used]
        coefs = np.ascontiguousarray(stored.coefs[:, used])
        weights = None if self._by_norms else self._weights(stored)
        rows = stored.examples[chosen]
        sums = self._computed_again if self._in_registers else self._summed_again
        values, sizes = sums(V, vectors, Z, rows, coefs, weights)
        most = self._most(stored, rows, sizes)
        errors = self._errors(stored, rows, UNIT, most, of_sum(len(used)))
        if first is not None:
            all_values, all_errors = first.values.copy(), first.errors.copy()
            all_values[:, chosen], all_errors[:, chosen] = values, errors
            values, errors = all_values, all_errors
        return self._with_square(stored, values, errors)

    def _computed_again(
        self, V: Matrix, vectors: np.ndarray, Z: Matrix, rows: np.ndarray, coefs: np.ndarray,
        weights: np.ndarray | None,
    ) -> tuple[np.ndarray, np.ndarray | None]:  # fmt: skip
        """coefs @ K and weights @ |K|, K between some rows of V and of Z, computed and forgotten;
        where sizes are asked for, no value is below zero.
        """
        given = coefs if weights is None else np.concatenate([coefs, weights])
        double, team = np.dtype(np.float64), self.session.team
        sums, others = np.empty((len(given), len(rows))), np.ones(len(rows), bool)
        if V is Z:  # values among the vectors are computed once
            own = np.flatnonzero(np.isin(rows, vectors))
            others[own] = False
            place = np.empty(self.session.n, np.int64)
            place[vectors] = np.arange(len(vectors))
        rest = rows[others]
        if not isinstance(Z, DistantRows):  # a copy of all rows in float64 would be large
            V_rows, Z_rows = V[vectors], Z[rest]
            vectors, rest = np.arange(len(vectors)), np.arange(len(rest))
        else:
            V_rows, Z_rows = V, Z
        of, on = (fused_rows(self.kernel, part, team, double) for part in (V_rows, Z_rows))
        if V is Z:
            sums[:, own] = of.sums_among(vectors, given)[:, place[rows[own]]]
        if len(rest):
            sums[:, others] = on.columns(rest).sums(of.vectors(vectors), given)
        return sums[: len(coefs)], None if weights is None else sums[len(coefs) :]

    def _summed_again(
        self, V: Matrix, vectors: np.ndarray, Z: Matrix, rows: np.ndarray, coefs: np.ndarray,
        weights: np.ndarray | None,
    ) -> tuple[np.ndarray, np.ndarray | None]:  # fmt: skip
        """The same for kernels that are not computed so."""
        by_column, by_norm = self.kernel.by_column, self.kernel.on_products
        values = np.zeros((len(coefs), len(rows)))
        sizes = None if weights is None else np.zeros_like(values)
        pieces = []
        for k in range(0, len(vectors), PIECE):
            part = vectors[k : k + PIECE]
            B = part[:, None] if by_column else _doubled(V[part], by_norm)
            pieces.append((slice(k, k + PIECE), B, _squares(B, by_norm)))

        def panel(at: int) -> None:
            these = _doubled(Z[rows[at : at + PANEL]], by_norm)
            columns = slice(at, at + these.shape[0])
            squares = _squares(these, by_norm)
            for part, B, B_squares in pieces:
                K = np.empty((B.shape[0], these.shape[0]))
                fill(self.kernel, K.dtype, (these, squares), (B, B_squares), K)
                values[:, columns] += coefs[:, part] @ K
                if weights is not None and sizes is not None:
                    sizes[:, columns] += weights[:, part] @ np.abs(K)

        self.session.team.map(panel, range(0, len(rows), PANEL))
        return values, sizes

    def _linear(self, stored: Stored) -> list[Outputs]:
        """By way of w: what is summed over the support vectors is a vector, in extended precision
        if it is not too long.
        """
        vectors, coefs = stored.examples[stored.used], stored.coefs[:, stored.used]
        few = CHEAP if self.session.exact else CHEAP_SINGLE
        found, last = [], None
        for V, Z in self._readings:
            if V is not last:
                (w, unit), last = weighted_sums(V, vectors, coefs, few), V
            found.append(replace(self._by_weights(stored, w, unit, Z), mixed=V is not Z))
        return found

    def _by_weights(self, stored: Stored, w: np.ndarray, unit: float, Z: Matrix) -> Outputs:
        """The outputs of w, with its error relative to the sizes of the terms summed up to it."""
        norms = np.sqrt(self.squares)
        lengths = np.sqrt((w.astype(LONG) ** 2).sum(axis=1)).astype(float) * (1 + 4 * UNIT)
        summed_up = np.abs(stored.coefs[:, stored.used]) @ norms[stored.examples[stored.used]]
        off = unit * summed_up + UNIT * lengths
        values = self._times(Z, stored.examples, w)
        of, terms = norms[stored.examples], self.terms[stored.examples]
        errors = 1.01 * of * ((terms + 3) * UNIT * lengths[:, None] + off[:, None])
        errors += (terms + 1) * float(np.finfo(np.float64).tiny)
        square = float((lengths**2).sum())
        square_error = float((2 * lengths * off + off**2).sum()) * 1.01 + 16 * UNIT * square
        return Outputs(values, errors, square, square_error)

    def _times(self, Z: Matrix, examples: np.ndarray, w: np.ndarray) -> np.ndarray:
        """w @ Z[examples].T; of all rows in their own order first, which copies none."""
        if isinstance(Z, DistantRows):
            return Z.by_rows(times, w.T).T[:, examples]
        everything = 2 * len(examples) >= self.session.n
        n = self.session.n if everything else len(examples)
        values = np.empty((len(w), n))

        def fill(first: int) -> None:
            part: Any = slice(first, first + ROWS_PER_PRODUCT)
            rows = Z[part if everything else examples[part]].astype(np.float64, copy=False)
            values[:, part] = (rows @ w.T).T

        self.session.team.map(fill, range(0, n, ROWS_PER_PRODUCT))
        return values[:, examples] if everything else values


@cache
def sum_loops() -> Any:
    """The compiled sums, imported at their first use and kept; see `problem.smo_loops`."""
    from largemargin.svm import verified_sums

    return verified_sums


def summed(values: np.ndarray) -> float:
    """The sum, hardly worse than rounded once."""
    return float(sum_loops().compensated_sum(values.ravel()))


def of_sum(count: int) -> float:
    """The relative error of a sum in float64 of so many terms, PIECE at a time."""
    return (PIECE + count // 4 + 8) * UNIT


def _doubled(X: Matrix, by_norm: bool) -> Matrix:
    """Rows in float64 if they are to be multiplied."""
    return X.astype(np.float64, copy=False) if by_norm else X


def _are_rounded(X: Matrix, dtype: np.dtype) -> np.ndarray:
    """Whether a type of fewer digits rounds any of some rows, once for each row."""
    entries: Any = X.data if sp.issparse(X) else X
    step = 1 << 17 if sp.issparse(X) else 1024  # no copies of all of it
    parts = (entries[k : k + step] for k in range(0, len(entries), step))
    return np.full(X.shape[0], any((part.astype(dtype) != part).any() for part in parts))


def _squares(X: Matrix, by_norm: bool) -> np.ndarray:
    return squared_norms(X) if by_norm else np.zeros(X.shape[0])


def _row_sums(
    rows: KernelRows,
    segments: Sequence[int],
    vectors: np.ndarray,
    coefs: np.ndarray | None,
    weights: np.ndarray | None,
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """coefs @ K and weights @ |K| from kernel rows, the columns of some segments one after the
    other. Rows are summed in the same blocks whatever the memory.
    """
    from largemargin.kernels.loops import add_rows
    from largemargin.svm.verified_sums import add_rows_and_sizes, add_sizes

    starts = np.cumsum([0, *(rows.segments[s].width for s in segments)])
    values, sizes = (
        None if part is None else np.zeros((len(part), starts[-1])) for part in (coefs, weights)
    )
    rows.announce({s: [vectors] for s in segments})
    step = max(BLOCK, rows.capacity // BLOCK * BLOCK)
    for first in range(0, len(vectors), step):
        part = vectors[first : first + step]
        rows.fetch({s: [part] for s in segments})

        def add(task: tuple[int, int], part: np.ndarray = part, first: int = first) -> None:
            row, k = task
            segment = rows.segments[segments[k]]
            held = segment.values, segment.slot_of[part]
            at = slice(first, first + len(part))
            if values is None or coefs is None:
                assert sizes is not None
                assert weights is not None
                add_sizes(sizes[row], starts[k], *held, weights[row, at])
            elif sizes is None or weights is None:
                add_rows(values[row], starts[k], *held, coefs[row, at])
            else:
                add_rows_and_sizes(
                    values[row], sizes[row], starts[k], held[0], 0, segment.width, held[1],
                    coefs[row, at], weights[row, at],
                )  # fmt: skip

        count = len(coefs) if coefs is not None else len(weights) if weights is not None else 0
        rows.team.map(add, [(r, k) for r in range(count) for k in range(len(segments))])
    return values, sizes
