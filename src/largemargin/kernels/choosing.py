"""Which kernel an estimator's parameters mean: one of `KERNELS` by its name, a function that the
user wrote, or a kernel object; with gamma worked out from the data, and 1 added for a threshold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.kernels.functions import KERNELS, Kernel, Matern, Rounding
from largemargin.runtime.arrays import DistantRows, Matrix, by_rows
from largemargin.runtime.suggesting import did_you_mean
from largemargin.runtime.threads import single_thread

KERNEL_NAMES = tuple(KERNELS)
# Between these variances no square of a deviation has left the range of float64.
SAFE_VARIANCE = 1e-280, 1e280


@dataclass(frozen=True)
class FunctionKernel(Kernel):
    """A Python function of two blocks of rows that returns the block of values."""

    function: Callable[[Any, Any], Any]
    on_products = False
    psd = False  # nothing is known about the function

    def __call__(self, A: Matrix, B: Matrix) -> np.ndarray:
        values = np.asarray(self.function(A, B))
        if values.dtype.kind not in "biuf":
            raise ValueError(
                f"the kernel function {self.name} must return real numbers, got values of type "
                f"{values.dtype}"
            )
        block = values.astype(np.float64, copy=False)
        if block.shape != (A.shape[0], B.shape[0]):
            raise ValueError(
                f"the kernel function {self.name} must return a block of shape "
                f"{(A.shape[0], B.shape[0])} for inputs with {A.shape[0]} and {B.shape[0]} rows, "
                f"got {block.shape}"
            )
        return block

    def diag(self, A: Matrix) -> np.ndarray:
        if isinstance(A, DistantRows):
            return A.by_rows(self.diag)
        values = np.array([self(A[i : i + 1], A[i : i + 1])[0, 0] for i in range(A.shape[0])])
        if not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values)))
            raise ValueError(
                f"the kernel function {self.name} returned {values[row]} for row {row} with "
                "itself: scale the data, or mend the kernel so that all its values are finite"
            )
        return values

    @property
    def name(self) -> str:  # type: ignore[override]
        return str(getattr(self.function, "__name__", repr(self.function)))


@dataclass(frozen=True)
class WithConstant(Kernel):
    """k(a, b) + 1: the kernel of examples with a constant coordinate, which has a threshold."""

    kernel: Kernel

    @property
    def on_products(self) -> bool:  # type: ignore[override]
        return self.kernel.on_products

    @property
    def value_by_value(self) -> bool:  # type: ignore[override]
        return self.kernel.value_by_value

    @property
    def by_column(self) -> bool:  # type: ignore[override]
        return self.kernel.by_column

    @property
    def psd(self) -> bool:  # type: ignore[override]
        return self.kernel.psd

    def from_products(
        self, products: np.ndarray, a_squares: np.ndarray, b_squares: np.ndarray
    ) -> np.ndarray:
        values = self.kernel.from_products(products, a_squares, b_squares)
        values += 1
        return values

    def __call__(self, A: Matrix, B: Matrix) -> np.ndarray:
        return self.kernel(A, B) + 1

    def diag(self, A: Matrix) -> np.ndarray:
        return self.kernel.diag(A) + 1

    def bound(self, square: float) -> float:
        return self.kernel.bound(square) + 1

    def exact_in(self, dtype: Any, square: float) -> bool:
        return self.kernel.exact_in(dtype, square)

    def rounding(self, squares: np.ndarray, terms: np.ndarray, unit: float) -> Rounding:
        found = self.kernel.rounding(squares, terms, unit)
        return replace(
            found, value=found.value + unit, constant=found.constant + unit, most=2 * found.most
        )

    def sizes(self, squares: np.ndarray) -> np.ndarray | None:
        sizes = self.kernel.sizes(squares)
        return None if sizes is None else np.sqrt(sizes**2 + 1)


def make_kernel(
    kernel: str | Kernel | Callable[[Any, Any], Any] = "rbf",
    *,
    degree: int = 3,
    gamma: float | str = "scale",
    coef0: float = 1.0,
    matern_nu: float = 1.5,
    X: Matrix | None = None,
    sample_weight: np.ndarray | None = None,
) -> Kernel:
    """The kernel that a name and parameters mean, with gamma worked out from the data.

    Parameters
    ----------
    kernel : one of the names in `KERNELS`, Kernel or callable
        A callable takes two blocks of rows and returns the block of values.
    degree, gamma, coef0 : as in `sklearn.svm.SVC`
        `gamma` is a positive number, "scale" (1 / (n_features * variance of X)) or "auto" (1 /
        n_features).
    matern_nu : {0.5, 1.5, 2.5}, default=1.5
        The smoothness of the Matern kernel.
    X : array or sparse matrix, optional
        The data that "scale" and "auto" are computed from.
    sample_weight : array, optional
        Weights of the rows of X in its variance: a row of weight 2 is two rows.

    Examples
    --------
    >>> make_kernel("poly", degree=4, gamma=1.0)
    Polynomial(degree=4, gamma=1.0, coef0=1.0)
    >>> make_kernel("rbf", gamma=-1.0)
    Traceback (most recent call last):
    ...
    ValueError: gamma must be 'scale', 'auto' or a positive number, got -1.0
    """
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return FunctionKernel(kernel)
    if kernel not in KERNEL_NAMES:
        hint = did_you_mean(kernel, KERNEL_NAMES) if isinstance(kernel, str) else ""
        raise ValueError(
            f"kernel must be one of {', '.join(KERNEL_NAMES)} or a callable, got {kernel!r}{hint}"
        )
    if not isinstance(degree, Integral) or isinstance(degree, bool) or degree < 0:
        raise ValueError(f"degree must be a non-negative integer, got {degree!r}")
    if not isinstance(coef0, Real) or not np.isfinite(coef0):
        raise ValueError(f"coef0 must be a finite number, got {coef0!r}")
    if not isinstance(matern_nu, Real) or matern_nu not in Matern.polynomials:
        raise ValueError(f"matern_nu must be 0.5, 1.5 or 2.5, got {matern_nu!r}")
    values = {"degree": int(degree), "coef0": float(coef0), "matern_nu": float(matern_nu)}
    chosen = KERNELS[kernel]
    if "gamma" in chosen.parameters:
        values["gamma"] = _gamma(gamma, X, sample_weight)
    return chosen(*(values[name] for name in chosen.parameters))


def kernel_of(
    model: Any, X: Matrix, sample_weight: np.ndarray | None = None, **changed: Any
) -> Kernel:
    """The kernel of an estimator, with gamma worked out from the rows X: `make_kernel` with those
    of its parameters that some kernel has, but for those that are `changed`.
    """
    known = {name for kernel in KERNELS.values() for name in kernel.parameters}
    given = {name: getattr(model, name) for name in known if hasattr(model, name)}
    return make_kernel(model.kernel, X=X, sample_weight=sample_weight, **{**given, **changed})


def has_gamma(kernel: Any) -> bool:
    """Whether a kernel parameter names a kernel with a coefficient gamma."""
    return isinstance(kernel, str) and kernel in KERNELS and "gamma" in KERNELS[kernel].parameters


def _gamma(gamma: float | str, X: Matrix | None, sample_weight: np.ndarray | None) -> float:
    if isinstance(gamma, str):
        if gamma not in ("scale", "auto"):
            raise ValueError(f"gamma must be 'scale', 'auto' or a positive number, got {gamma!r}")
        if X is None:
            raise ValueError(f"gamma={gamma!r} needs data to be computed from: pass X or a number")
        if gamma == "auto":
            return 1.0 / int(X.shape[1])
        with single_thread():
            return _scale(X, sample_weight)
    if not isinstance(gamma, Real) or isinstance(gamma, bool) or not 0 < gamma < np.inf:
        raise ValueError(f"gamma must be 'scale', 'auto' or a positive number, got {gamma!r}")
    return float(gamma)


def _scale(X: Matrix, sample_weight: np.ndarray | None) -> float:
    """1 / (n_features * variance of X), or 1 for constant data and for none."""
    if not X.shape[0]:
        return 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        variance = _variance(X, sample_weight)
    unit = 1.0
    if not SAFE_VARIANCE[0] < variance < SAFE_VARIANCE[1]:
        # squares may have left the range of float64: once more, for values of size 1
        unit = float(by_rows(_largest, X).max(initial=0.0)) or 1.0
        unit = float(2.0 ** np.round(np.log2(unit)))
        variance = _variance(X, sample_weight, unit)
    if not variance > 0:
        return 1.0
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        gamma = float(np.float64(1.0) / (X.shape[1] * variance) / unit / unit)
    if not 0 < gamma < np.inf:
        raise ValueError(
            "gamma='scale' is 1 / (n_features * variance of X), which cannot be computed for "
            f"values of about {unit:.3g}: scale the data, or give gamma as a number"
        )
    return gamma


def _variance(X: Matrix, sample_weight: np.ndarray | None, unit: float = 1.0) -> float:
    """The variance of all entries of X / unit, each row counted as often as its weight says."""
    weight = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, float)
    total = weight.sum() * X.shape[1]
    mean = float(weight @ by_rows(_sums, X, unit)) / total
    variance = float(weight @ by_rows(_deviations, X, unit, mean)) / total
    return variance if variance > 1e-14 * mean**2 else 0.0  # constant, but for rounding


def _largest(X: Matrix) -> np.ndarray:
    """The largest absolute value of each row."""
    return np.asarray(abs(X).max(axis=1).toarray() if sp.issparse(X) else np.abs(X).max(axis=1))


def _sums(X: Matrix, unit: float) -> np.ndarray:
    """The sum of each row of X / unit."""
    return np.asarray(np.asarray(X.sum(axis=1, dtype=np.float64)).ravel() / unit)


def _deviations(X: Matrix, unit: float, mean: float) -> np.ndarray:
    """The sum of squared distances from the mean, over each row of X / unit."""
    if sp.issparse(X):
        off = sp.csr_array(X, dtype=np.float64, copy=True)
        off.data = (off.data / unit - mean) ** 2
        zeros = X.shape[1] - np.diff(off.indptr)
        return np.asarray(np.asarray(off.sum(axis=1)).ravel() + zeros * mean**2)
    found = np.empty(X.shape[0])
    for start in range(0, X.shape[0], 1024):  # a few rows at a time: no float64 copy of the data
        rows = X[start : start + 1024].astype(np.float64) / unit - mean
        found[start : start + 1024] = np.einsum("ij,ij->i", rows, rows)
    return found
