"""What a kernel is: a symmetric function of two examples, evaluated on blocks of them.

    linear       a.b
    polynomial   (gamma a.b + coef0)^degree
    gaussian     exp(-gamma |a - b|^2)
    laplacian    exp(-gamma |a - b|_1)
    matern       p(s) exp(-s), s = 2 sqrt(nu gamma) |a - b|, p of degree nu - 1/2
    sigmoid      tanh(gamma a.b + coef0)

A kernel is a value object: `kernel(A, B)` gives the block of values between the rows of A and the
rows of B, `kernel.diag(A)` the values k(a, a). Most kernels are functions of inner products, so a
block is one matrix product and `from_products`, an in-place transform that the engine applies to
each tile while it is in cache. Parameters mean what they mean in `sklearn.svm.SVC`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import comb
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from largemargin.runtime.arrays import DistantRows, Matrix

# The error of an exponent, from rounding, up to which values are good. Past it they are worth
# computing in float64, or a warning: an inner product of vectors of squared norm q is off by about
# eps q, and the exponent of a Gaussian by gamma times that.
EXPONENT_ERROR = 1e-4
UNIT = 2.0**-53  # the unit roundoff of float64: the relative error of one operation


@dataclass(frozen=True)
class Rounding:
    """How far computed values k(a, b) may be from the true ones, for a the rows and b the vectors
    among some examples:

        value_a |k| + distance_a |k| (|a|^2 + |b|^2) + left_a right_b + constant_a

    Arrays have one entry per example; `most` is what an error never exceeds.
    """

    value: Any = 0.0
    distance: Any = 0.0
    left: Any = 0.0
    right: Any = 0.0
    constant: Any = 0.0
    most: float = np.inf


def squared_norms(A: Matrix) -> np.ndarray:
    """The squared Euclidean norm of each row, in float64 whatever the type of A."""
    if isinstance(A, DistantRows):
        return A.by_rows(squared_norms)
    if sp.issparse(A):
        rows: Any = A
        if rows.format == "csr" and rows.has_canonical_format:
            from largemargin.kernels.loops import squares_of_rows

            return np.asarray(squares_of_rows(rows.data, rows.indptr))
        entries = rows.astype(np.float64)
        return np.asarray(entries.multiply(entries).sum(axis=1)).ravel()
    if A.dtype == np.float64:
        return np.asarray(np.einsum("ij,ij->i", A, A))
    norms = np.empty(A.shape[0])
    for start in range(0, A.shape[0], 1024):  # a few rows at a time: no float64 copy of the data
        part = A[start : start + 1024].astype(np.float64)
        norms[start : start + 1024] = np.einsum("ij,ij->i", part, part)
    return norms


@cache
def _loops() -> Any:
    """Compiled code, loaded at its first use."""
    from largemargin.kernels import exponential

    return exponential


class Kernel:
    """A kernel function. Subclass it and define `from_products`, or `__call__` and `diag`.

    Attributes
    ----------
    name : str
        What estimators and model files call it; empty for a kernel that they do not know by name.
    parameters : tuple of str
        The parameters of estimators that mean something for it, in the order of its own.
    on_products : bool
        Whether values are a function of inner products and squared norms (`from_products`).
    value_by_value : bool
        Whether each value is computed by itself, so that its bits do not depend on what others are
        computed with it.
    by_column : bool
        Whether an example is known by its column of a kernel matrix (a precomputed kernel).
    psd : bool
        Whether every Gram matrix is positive semi-definite, so that |k(a, b)|^2 <= k(a, a) k(b, b).
    stationary : bool
        Whether values are a function of a - b alone, with 0 <= k(a, b) <= k(a, a) = 1.
    """

    name: ClassVar[str] = ""
    parameters: ClassVar[tuple[str, ...]] = ()
    on_products = True
    value_by_value = False
    by_column = False
    psd = True
    stationary = False

    def from_products(
        self, products: np.ndarray, a_squares: np.ndarray, b_squares: np.ndarray
    ) -> np.ndarray:
        """Turn inner products, one row per a and one column per b, into kernel values, in place."""
        raise NotImplementedError

    def __call__(self, A: Matrix, B: Matrix) -> np.ndarray:
        """The block of kernel values, one row per row of A and one column per row of B."""
        A, B = _floating(A), _floating(B)
        products: Any = A @ B.T
        products = np.asarray(products.toarray() if sp.issparse(products) else products)
        return self.from_products(
            products,
            squared_norms(A).astype(products.dtype),
            squared_norms(B).astype(products.dtype),
        )

    def diag(self, A: Matrix) -> np.ndarray:
        """k(a, a) for each row, in float64."""
        if self.stationary:
            return np.ones(A.shape[0])
        squares = squared_norms(A)
        return self.from_products(squares[:, None].copy(), squares, np.zeros(1)).ravel()

    def bound(self, square: float) -> float:
        """An upper bound of |k(a, b)|, and of every number on the way to it, over examples with
        squared norms up to `square`."""
        return max(1.0, 4 * square) if self.on_products else 1.0

    def exact_in(self, dtype: Any, square: float) -> bool:
        """Whether the type is good enough for examples with squared norms up to `square`."""
        return self.bound(square) < float(np.finfo(dtype).max)

    def rounding(self, squares: np.ndarray, terms: np.ndarray, unit: float) -> Rounding:
        """How far rounding may put values among examples with these squared norms and numbers of
        entries other than zero, the examples being rounded to a type with this unit and computed
        with in it. Of a kernel that does not say, each entry is taken to cost a unit in the last
        place of a value.
        """
        return Rounding(value=(terms + 16) * unit)

    def sizes(self, squares: np.ndarray) -> np.ndarray | None:
        """n with |k(a, b)| <= n(a) n(b), from squared norms; None where they do not tell."""
        return np.ones(len(squares)) if self.stationary else None

    def dimensions(self, n_features: int) -> float:
        """How many dimensions feature space has at most, for rows of so many features."""
        return np.inf


@dataclass(frozen=True)
class Linear(Kernel):
    """k(a, b) = a.b

    >>> Linear()(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[11.]])
    """

    name = "linear"

    def from_products(
        self, products: np.ndarray, a_squares: np.ndarray, b_squares: np.ndarray
    ) -> np.ndarray:
        return products

    def bound(self, square: float) -> float:
        return square

    def rounding(self, squares: np.ndarray, terms: np.ndarray, unit: float) -> Rounding:
        # an inner product of m terms is off by m units of |a| |b|, rounded vectors by two more
        norms = self.sizes(squares)
        return Rounding(left=(terms + 4) * unit * norms, right=norms)

    def sizes(self, squares: np.ndarray) -> np.ndarray:
        return np.asarray(np.sqrt(squares))

    def dimensions(self, n_features: int) -> float:
        return n_features


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(a, b) = (gamma a.b + coef0)^degree

    >>> Polynomial(degree=2)(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[144.]])
    """

    name = "poly"
    parameters = ("degree", "gamma", "coef0")
    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0

    @property
    def psd(self) -> bool:  # type: ignore[override]
        return self.coef0 >= 0

    def from_products(
        self, products: np.ndarray, a_squares: np.ndarray, b_squares: np.ndarray
    ) -> np.ndarray:
        if self.gamma != 1.0:
            products *= products.dtype.type(self.gamma)
        if self.coef0 != 0.0:
            products += products.dtype.type(self.coef0)
        return _integer_power(products, self.degree)

    def bound(self, square: float) -> float:
        inner = self.gamma * square + abs(self.coef0)
        try:
            return max(super().bound(square), inner, inner**self.degree)
        except OverflowError:
            return np.inf

    def rounding(self, squares: np.ndarray, terms: np.ndarray, unit: float) -> Rounding:
        # what is raised to the power is off by m + 2 units of gamma |a| |b| + |coef0|, and 4 more
        # if vectors, gamma and coef0 are rounded to the type; the power by one per multiplication
        units = self.degree * (terms + (3 if unit == UNIT else 7))
        sizes = self.sizes(squares)
        return Rounding(left=np.expm1(units * unit) * sizes, right=sizes)

    def sizes(self, squares: np.ndarray) -> np.ndarray:
        # (gamma |a| |b| + |coef0|)^degree is a kernel of the norms: the inequality of Schwarz holds
        return np.asarray((self.gamma * squares + abs(self.coef0)) ** (self.degree / 2))

    def dimensions(self, n_features: int) -> float:
        """The monomials of this degree, in the features and a constant, if there is one."""
        return comb(n_features + int(self.degree) - (self.coef0 == 0), int(self.degree))


@dataclass(frozen=True)
class Gaussian(Kernel):
    """k(a, b) = exp(-gamma |a - b|^2)

    >>> Gaussian(gamma=0.5)(np.array([[1.0, 2.0]]), np.array([[1.0, 2.0], [1.0, 3.0]])).round(4)
    array([[1.    , 0.6065]])
    """

    name = "rbf"
    parameters = ("gamma",)
    gamma: float = 1.0
    stationary = True

    def from_products(
        self, products: np.ndarray, a_squares: np.ndarray, b_squares: np.ndarray
    ) -> np.ndarray:
        _loops().transform(_loops().gaussians, products, a_squares, b_squares, self.gamma)
        return products

    def bound(self, square: float) -> float:
        return max(super().bound(square), 2 * self.gamma, 4 * self.gamma * square)

    def exact_in(self, dtype: Any, square: float) -> bool:
        rounding = self.gamma * square * float(np.finfo(dtype).eps)
        return super().exact_in(dtype, square) and rounding < EXPONENT_ERROR

    def rounding(self, squares: np.ndarray, terms: np.ndarray, unit: float) -> Rounding:
        # the exponent is a sum of three numbers of the size of gamma (|a|^2 + |b|^2), good to m and
        # a few units (squared norms are summed in float64 whatever the type)
        slope = self.gamma * unit * ((2 if unit == UNIT else 1) * terms + 20)
        return _of_exponent(6 * unit, 1.3 * slope, slope, squares, 2 * _tiny(unit))


@dataclass(frozen=True)
class Laplacian(Kernel):
    """k(a, b) = exp(-gamma sum_j |a_j - b_j|)

    >>> Laplacian(gamma=0.5)(np.array([[1.0, 2.0]]), np.array([[0.0, 3.0]])).round(4)
    array([[0.3679]])
    """

    name = "laplacian"
    parameters = ("gamma",)
    gamma: float = 1.0
    on_products = False
    value_by_value = True
    stationary = True

    def __call__(self, A: Matrix, B: Matrix) -> np.ndarray:
        from largemargin.kernels.exponential import exponentials

        if sp.issparse(A):
            from sklearn.metrics.pairwise import manhattan_distances

            distances = manhattan_distances(_narrow(A), _narrow(B))
        else:
            from scipy.spatial.distance import cdist

            distances = cdist(A, B, "cityblock")
        with np.errstate(over="ignore"):  # a value of zero
            distances *= -self.gamma
        exponentials(distances)
        return np.asarray(distances)

    def rounding(self, squares: np.ndarray, terms: np.ndarray, unit: float) -> Rounding:
        # distances are in float64 whatever the type of the values; of t e^-t there is at most 1/e
        most = int(terms.max(initial=0))
        return Rounding(
            value=6 * UNIT + unit, constant=0.5 * (terms + most + 4) * UNIT + 2 * _tiny(unit),
            most=1.0,
        )  # fmt: skip


@dataclass(frozen=True)
class Matern(Kernel):
    """The Matern kernel of smoothness nu = 1/2, 3/2 or 5/2:

        k(a, b) = p(s) e^-s,   s = 2 sqrt(nu gamma) |a - b|,   p(s) = 1, 1 + s, 1 + s + s^2 / 3

    With the length scale l of `sklearn.gaussian_process.kernels.Matern`, gamma = 1 / (2 l^2), as in
    the Gaussian kernel, to which this one tends as nu grows.

    >>> Matern(nu=0.5, gamma=0.5)(np.array([[1.0, 2.0]]), np.array([[1.0, 3.0]])).round(4)
    array([[0.3679]])
    """

    name = "matern"
    parameters = ("matern_nu", "gamma")
    nu: float = 1.5
    gamma: float = 1.0
    stationary = True
    # the coefficients of s and s^2 in p(s), by nu
    polynomials: ClassVar = {0.5: (0.0, 0.0), 1.5: (1.0, 0.0), 2.5: (1.0, 1 / 3)}

    def __post_init__(self) -> None:
        if self.nu not in self.polynomials:
            raise ValueError(f"nu must be 0.5, 1.5 or 2.5, got {self.nu!r}")

    def from_products(
        self, products: np.ndarray, a_squares: np.ndarray, b_squares: np.ndarray
    ) -> np.ndarray:
        constants = 4 * self.nu * self.gamma, *self.polynomials[self.nu]
        _loops().transform(_loops().materns, products, a_squares, b_squares, *constants)
        return products

    def bound(self, square: float) -> float:
        scale = 4 * self.nu * self.gamma
        return max(super().bound(square), 2 * scale, 4 * scale * square)

    def exact_in(self, dtype: Any, square: float) -> bool:
        error = self.gamma * square * float(np.finfo(dtype).eps)
        error = np.sqrt(2 * error) if self.nu == 0.5 else error * self.nu / (self.nu - 1)
        return super().exact_in(dtype, square) and error < EXPONENT_ERROR

    def rounding(self, squares: np.ndarray, terms: np.ndarray, unit: float) -> Rounding:
        # x = s^2 is off by E = 4 nu slope (|a|^2 + |b|^2), like the exponent of a Gaussian, with
        # four units more for the root. An exponential that would not be a normal number is zero,
        # and with it the polynomial that multiplies it.
        slope = self.gamma * unit * ((2 if unit == UNIT else 1) * terms + 24)
        tiny, (linear, quadratic) = _tiny(unit), self.polynomials[self.nu]
        lost = 2 * tiny * (1 - linear * np.log(tiny) + quadratic * np.log(tiny) ** 2)
        if self.nu > 0.5:
            # log k falls with x, fastest at x = 0, at the rate 1 / (4 (nu - 1))
            steep = self.nu / (self.nu - 1) * slope
            return _of_exponent(12 * unit, 1.3 * steep, steep, squares, lost)
        # log k = -sqrt(x) is infinitely steep at x = 0, and half of the digits are lost there:
        # |sqrt(x + E) - sqrt(x)| <= sqrt(E) <= (h + E / h) / 2 for any h, here sqrt(E) for the
        # longest b. Values are known as long as sqrt(E) <= 1/2.
        h = np.sqrt(2 * slope * (squares + squares.max(initial=0.0)))
        distance = 1.3 * slope / np.where(h > 0, h, 1.0)
        return _of_exponent(12 * unit + 0.65 * h, distance, 4 * slope, squares, lost)


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """k(a, b) = tanh(gamma a.b + coef0); not positive semi-definite in general.

    >>> Sigmoid(gamma=0.5, coef0=0.0)(np.array([[1.0, 0.0]]), np.array([[1.0, 0.0]])).round(4)
    array([[0.4621]])
    """

    name = "sigmoid"
    parameters = ("gamma", "coef0")
    gamma: float = 1.0
    coef0: float = 1.0
    psd = False

    def from_products(
        self, products: np.ndarray, a_squares: np.ndarray, b_squares: np.ndarray
    ) -> np.ndarray:
        products *= products.dtype.type(self.gamma)
        products += products.dtype.type(self.coef0)
        np.tanh(products, out=products)
        return products

    def bound(self, square: float) -> float:
        return max(super().bound(square), self.gamma * square + abs(self.coef0))

    def rounding(self, squares: np.ndarray, terms: np.ndarray, unit: float) -> Rounding:
        # tanh is nowhere steeper than 1
        norms = np.sqrt(self.gamma * squares + abs(self.coef0))
        return Rounding(left=(terms + 8) * unit * norms, right=norms, constant=8 * unit, most=2.0)

    def sizes(self, squares: np.ndarray) -> np.ndarray:
        return np.ones(len(squares))


@dataclass(frozen=True)
class Precomputed(Kernel):
    """Values that the user computed: A holds rows of a kernel matrix, B the columns wanted."""

    name = "precomputed"
    on_products = False
    value_by_value = True
    by_column = True
    psd = False  # nothing is known about the matrix

    def __call__(self, A: Matrix, B: Matrix) -> np.ndarray:
        return np.asarray(A)[:, np.asarray(B).ravel()]

    def diag(self, A: Matrix) -> np.ndarray:
        return np.diagonal(np.asarray(A)).astype(np.float64)

    def rounding(self, squares: np.ndarray, terms: np.ndarray, unit: float) -> Rounding:
        return Rounding(value=unit if unit > UNIT else 0.0)  # in float64 they are as given


# The kernels that estimators, model files and messages know by name, in the order of their classes.
KERNELS: dict[str, type[Kernel]] = {cls.name: cls for cls in Kernel.__subclasses__()}


def _floating(A: Matrix) -> Matrix:
    """A, in float64 unless it holds floating-point numbers already: integers would wrap around."""
    return A if np.issubdtype(A.dtype, np.floating) else A.astype(np.float64)


def _of_exponent(
    value: Any, distance: np.ndarray, slope: np.ndarray, squares: np.ndarray, lost: float
) -> Rounding:
    """The rounding of an exponential whose exponent is off by slope (|a|^2 + |b|^2) at most.

    e^t - 1 <= 1.3 t up to a half, and beyond nothing is known of a value; values up to `lost` may
    have become zero.
    """
    unknown = slope.max(initial=0.0) * squares > 0.25
    return Rounding(
        value, distance, left=1.0, right=unknown.astype(float),
        constant=np.where(slope * squares > 0.25, 1.0, lost), most=1.0,
    )  # fmt: skip


def _tiny(unit: float) -> float:
    """The smallest normal number of the type with this unit: below it values are zero."""
    return float(np.finfo(np.float32 if unit > UNIT else np.float64).tiny)


def _narrow(A: Any) -> Any:
    """A CSR block in float64, which has few entries, with the 32-bit indices of compiled code."""
    data = A.data.astype(np.float64, copy=False)
    parts = (data, A.indices.astype(np.int32), A.indptr.astype(np.int32))
    return sp.csr_matrix(parts, shape=A.shape)


def _integer_power(values: np.ndarray, degree: int) -> np.ndarray:
    """values ** degree in place by repeated squaring: straight multiplications that vectorise."""
    if degree == 0:
        values.fill(1)
        return values
    if degree & (degree - 1) == 0:  # a power of two needs no second buffer
        while degree > 1:
            np.multiply(values, values, out=values)
            degree >>= 1
        return values
    square = values.copy()
    degree -= 1
    while degree:
        if degree & 1:
            values *= square
        degree >>= 1
        if degree:
            square *= square
    return values
