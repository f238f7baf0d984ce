"""Sums of kernel values for the proof of a solution: in float64 or beyond, of the examples
themselves, with a bound of what rounding can have done to them.

A solver may work with float32 and without tiny values (see `kernel_values`). What its solution is
worth is computed here once more, a strip of values at a time, from values of which none was
dropped. With u the unit of rounding, n features and i, j two examples, the error of
k(x_i, x_j) is at most

    |k_ij| (base + share_i + share_j) + size_i size_j

    linear, polynomial, sigmoid   an inner product is off by (n + 4) u |x_i| |x_j| at most, and its
                                  power by as much again for each factor
    Gaussian                      gamma (|x_i|^2 + |x_j|^2 - 2 x_i.x_j) is off by
                                  2 (n + 4) u gamma (|x_i|^2 + |x_j|^2) at most
    Laplacian                     likewise (n + 4) u gamma (|x_i - c|_1 + |x_j - c|_1), any c
    Matern                        likewise s^2 by 2 (n + 8) u 4 nu gamma (|x_i|^2 + |x_j|^2), with
                                  what its root is rounded by; log k falls with s^2 at the rate
                                  1 / (4 (nu - 1)) at most, and for nu = 1/2 at 1 / (2 s)

The Matern kernel e^-s of nu = 1/2 loses half of its digits where s = 0. An error e of s^2 puts the
exponent off by

    |sqrt(s^2 + e) - s| <= min(sqrt(e), e / s)

so with shares of s^2 the error of a value is |k_ij| (base + (share_i + share_j) / r) at most, where
r is the largest of s and the roots of both shares.

Values that a user gives, as a matrix or by a function, are what they are.

`Kernel.rounding` bounds the values that a model scores with: of examples that were rounded to the
model's type, by kernels that may be a user's function, and never in extended precision. Its bounds
are looser for that, and a gap that is told with them would be larger.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.kernels.engine import check_values, prepare
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

UNIT = float(np.finfo(np.float64).eps) / 2  # the unit of rounding of float64
# The unit of rounding of the longest floating-point numbers; where nothing is beyond float64, UNIT.
LONG_UNIT = float(np.finfo(np.longdouble).eps) / 2
BLOCK = 128  # terms that one product sums: its error grows with their number
HEIGHT = 2048  # rows of a strip
ELEMENTARY = 8  # units of rounding that an exponential or hyperbolic tangent and the rest may cost
KNOWN = (Linear, Polynomial, Sigmoid, Gaussian, Laplacian, Matern)  # their rounding is known


@dataclass(frozen=True)
class ErrorBounds:
    """How far kernel values may be off; `shares` and `sizes` have one number per example. With
    `of_square`, values are e^-s and the shares are those of s^2.
    """

    base: float
    shares: np.ndarray
    sizes: np.ndarray
    of_square: bool = False

    def through_roots(self, values: np.ndarray, rows: slice, js: np.ndarray) -> np.ndarray:
        """What shares of s^2 do to a block of values e^-s, at most."""
        left, right = self.shares[rows, None], self.shares[js]
        with np.errstate(divide="ignore"):  # a value of zero: s is infinite
            roots = np.maximum(np.sqrt(np.maximum(left, right)), -np.log(values))
        # where the root is zero both examples are zero, and the value of 1 is exact
        return np.asarray(values * (left + right) / np.where(roots > 0, roots, 1.0))


def error_bounds(kernel: Kernel, X: Matrix, unit: float) -> ErrorBounds:
    """The errors of a kernel's values among the rows of X, computed to a unit of rounding."""
    n, nothing = X.shape[0], np.zeros(X.shape[0])
    if not isinstance(kernel, KNOWN):
        return ErrorBounds(0.0, nothing, nothing)
    terms = X.shape[1] if isinstance(X, np.ndarray) else int(np.diff(X.indptr).max(initial=0))
    sum_error = (terms + 4) * unit
    if isinstance(kernel, Laplacian):
        middle = np.asarray(X.mean(axis=0)).ravel()
        distances = np.empty(n)
        for first in range(0, n, HEIGHT):
            part = X[first : first + HEIGHT]
            part = part if isinstance(part, np.ndarray) else part.toarray()
            distances[first : first + HEIGHT] = np.abs(part - middle).sum(axis=1)
        return ErrorBounds(ELEMENTARY * unit, sum_error * kernel.gamma * distances, nothing)
    squares = squared_norms(X)
    if isinstance(kernel, Matern):
        shares = 2 * (terms + 8) * unit * kernel.gamma * squares
        if kernel.nu > 0.5:
            return ErrorBounds(12 * unit, kernel.nu / (kernel.nu - 1) * shares, nothing)
        return ErrorBounds(12 * unit, 2 * shares, nothing, of_square=True)
    if isinstance(kernel, Gaussian):
        return ErrorBounds(ELEMENTARY * unit, 2 * sum_error * kernel.gamma * squares, nothing)
    if isinstance(kernel, Linear):
        return ErrorBounds(0.0, nothing, np.sqrt(sum_error * squares))
    inner = kernel.gamma * squares + abs(kernel.coef0)
    if isinstance(kernel, Sigmoid):
        return ErrorBounds(ELEMENTARY * unit, nothing, np.sqrt(sum_error * inner))
    factors = max(1, kernel.degree)
    return ErrorBounds(0.0, nothing, np.sqrt(factors * sum_error) * inner ** (factors / 2))


class ExactValues:
    """Kernel values among the rows of X, as `prepare` gave them; with `finer`, in the longest
    floating-point numbers there are, which takes a hundred times as long.
    """

    def __init__(self, X: Matrix, kernel: Kernel, team: Workers, finer: bool = False) -> None:
        self.X, self.kernel, self.team = X, kernel, team
        self.longer = finer and isinstance(kernel, KNOWN) and not sp.issparse(X)
        self.dtype = np.longdouble if finer else np.float64
        self.unit = LONG_UNIT if finer else UNIT
        self.rounding = error_bounds(kernel, X, LONG_UNIT if self.longer else UNIT)
        self.diagonal = np.asarray(kernel.diag(X), np.float64)
        # the diagonal of a Gaussian, a Laplacian or a Matern kernel is 1 and was not computed
        self.diagonal_errors = self.rounding.sizes**2

    def __len__(self) -> int:
        return len(self.diagonal)

    @property
    def finer(self) -> ExactValues:
        return ExactValues(self.X, self.kernel, self.team, finer=True)

    def work(self, count: int) -> int:
        """Multiplications that sums over so many examples take, about."""
        X = self.X
        width = X.shape[1] if isinstance(X, np.ndarray) else X.indptr[-1] / len(self)
        return int(len(self) * count * (30 + (0 if self.kernel.by_column else width)))

    def sums(
        self,
        examples: np.ndarray,
        coefs: np.ndarray,
        own: np.ndarray,
        *,
        scores: bool,
        stopped: Callable[[], Any] = lambda: False,
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """For all i, the sum over some j of coefs_j (k(x_i, x_j) - [i = j] own_j), and a bound of
        its error. The bound allows for coefficients that are rounded twice more; without `scores`
        it does not, and k(x_j, x_i) takes the place of k(x_i, x_j).

        None if it was stopped.
        """
        n, rounding = len(self), self.rounding
        total: Any = np.zeros(n, self.dtype)
        weight, shared = np.zeros((2, n))
        coefs = coefs.astype(self.dtype)
        entries = self.diagonal - own

        def strip(first: int) -> None:
            last = min(first + HEIGHT, n)
            for start in range(0, len(examples), BLOCK):
                js, c = examples[start : start + BLOCK], coefs[start : start + BLOCK]
                values = self._block(first, last, js, scores)
                here = np.flatnonzero((js >= first) & (js < last))
                values[js[here] - first, here] = entries[js[here]]
                total[first:last] += values @ c
                sizes = np.abs(c).astype(np.float64)
                values = np.abs(values).astype(np.float64, copy=False)
                both = values @ np.column_stack([sizes, sizes * rounding.shares[js]])
                weight[first:last] += both[:, 0]
                if rounding.of_square:
                    values[js[here] - first, here] = 0.0  # the diagonal was not computed
                    both[:, 1] = rounding.through_roots(values, slice(first, last), js) @ sizes
                shared[first:last] += both[:, 1]

        step = HEIGHT * self.team.count
        for first in range(0, n, step):
            if stopped():
                return None
            self.team.map(strip, range(first, min(first + step, n), HEIGHT))
        summing = (BLOCK + len(examples) / BLOCK + 4) * self.unit
        sizes = np.abs(coefs).astype(np.float64)
        own_shares = 0.0 if rounding.of_square else rounding.shares  # else `shared` has both
        error = weight * (rounding.base + own_shares + summing) + shared
        error += rounding.sizes * float(sizes @ rounding.sizes[examples])
        diagonal, own = np.abs(self.diagonal[examples]), np.abs(own[examples])
        relative = self.diagonal_errors[examples] / np.where(diagonal > 0, diagonal, 1.0)
        error[examples] += sizes * (own * (4 * UNIT + relative) + 2 * UNIT * diagonal)
        error += UNIT * np.abs(total).astype(np.float64)
        if scores:  # coefficients will be multiplied, and shared among duplicates
            error += 2 * UNIT * weight
        return total.astype(np.float64), error * (1 + 1e-6)

    def _block(self, first: int, last: int, js: np.ndarray, scores: bool) -> np.ndarray:
        """k(x_i, x_j) of a strip, or k(x_j, x_i)."""
        if self.longer:
            return longer_values(self.kernel, self.X[first:last], self.X[js])
        if scores or self.kernel.on_products:
            vectors = js[:, None] if self.kernel.by_column else self._rows(js)
            values = self.kernel(self._rows(slice(first, last)), vectors)
        else:
            strip = np.arange(first, last)[:, None]
            vectors = strip if self.kernel.by_column else self._rows(slice(first, last))
            values = self.kernel(self._rows(js), vectors).T
        check_values(self.kernel, np.dtype(np.float64), values)
        return np.array(values, self.dtype, order="C")

    def _rows(self, which: Any) -> Any:
        return prepare(self.X[which], self.kernel, np.dtype(np.float64))


def longer_values(kernel: Any, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Kernel values of two blocks in the longest floating-point numbers."""
    A, B = A.astype(np.longdouble), B.astype(np.longdouble)
    if isinstance(kernel, Laplacian):
        distances = sum(np.abs(np.subtract.outer(A[:, j], B[:, j])) for j in range(A.shape[1]))
        return np.asarray(np.exp(-np.longdouble(kernel.gamma) * distances))
    products = A @ B.T
    if isinstance(kernel, Linear):
        return np.asarray(products)
    gamma = np.longdouble(kernel.gamma)
    if isinstance(kernel, Gaussian | Matern):
        distances = (A * A).sum(axis=1)[:, None] + (B * B).sum(axis=1) - 2 * products
        t = gamma * np.maximum(distances, 0)
        if isinstance(kernel, Gaussian):
            return np.asarray(np.exp(-t))
        s = 2 * np.sqrt(np.longdouble(kernel.nu) * t)
        # not by `Matern.polynomials`, whose third is one of float64
        polynomial = {0.5: 1, 1.5: 1 + s, 2.5: 1 + s + s * s / 3}[kernel.nu]
        return np.asarray(polynomial * np.exp(-s))
    inner = gamma * products + np.longdouble(kernel.coef0)
    if isinstance(kernel, Sigmoid):
        return np.asarray(np.tanh(inner))
    return np.asarray(inner**kernel.degree)
