"""A fit beside data, as the theorems see it: for each problem of two sides, one linear function in
the feature space of a kernel.

    f_p(x) = w_p.x + b_p,   w_p = sum_j c_pj x_j,   |w_p|^2 = sum_j c_pj (f_p(x_j) - b_p)

Two classes are one problem; several classes are one problem per class or one per pair of classes. A
machine that trains the vectors of all classes together is one problem, whose margin is the lead of
the true class.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from largemargin.base.expansion import Expansion
from largemargin.base.fingerprint import fingerprint
from largemargin.base.labels import numbers_in, plain_labels
from largemargin.base.training_record import told_changes
from largemargin.base.training_set import class_factors
from largemargin.certificates.certificate import Condition
from largemargin.certificates.rounding import FEW, kernel_error
from largemargin.kernels.basis import Basis
from largemargin.kernels.choosing import FunctionKernel, WithConstant
from largemargin.kernels.engine import prepare
from largemargin.kernels.functions import UNIT, Kernel, Precomputed
from largemargin.runtime.arrays import Matrix, MatrixLike, VectorLike
from largemargin.runtime.showing import shown

LARGEST_EIGENPROBLEM = 2000  # rows up to which a kernel matrix is checked for negative eigenvalues
EIGENVALUE_ROUNDING = 1e-9  # size of a negative eigenvalue, relative to the largest, taken for zero
FOREIGN = "these are not the rows that the model was trained on"
UNKNOWN = (
    "it is unknown whether these are the training data, since the model has no record of them: fit "
    "it again"
)


@dataclass(frozen=True)
class Fitted:
    """A model and the data given.

    Attributes
    ----------
    X : array or sparse matrix
        Validated, but not converted.
    labels, predicted : arrays of class numbers
    signs : array of shape (n_problems, m)
        1 and -1, or 0 for examples that take no part in a problem.
    scores : array of shape (n_problems, m)
        f_p(x_i).
    kernel : Kernel
    basis : Basis
        Of the expansion of f.
    coefs, thresholds : arrays of shape (n_problems, n_vectors) and (n_problems,)
        c and b.
    joint : bool
        Whether the vectors of several classes were trained together.
    one_vector : str
        Empty, or why f is not one linear function.
    records : tuple of Condition
        Whether these are the training data, and the parameters those of training.
    """

    model: Any
    X: Matrix
    labels: np.ndarray
    predicted: np.ndarray
    signs: np.ndarray
    scores: np.ndarray
    kernel: Kernel
    basis: Basis
    coefs: np.ndarray
    thresholds: np.ndarray
    records: tuple[Condition, Condition]
    joint: bool = False
    one_vector: str = ""

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def n_problems(self) -> int:
        return len(self.signs)

    @property
    def foreign(self) -> str:
        """Empty, or why nothing can be said of the training data: these may be others."""
        return self.records[0].otherwise if self.records[0].silences else ""

    @property
    def silent(self) -> str:
        """Empty, or why nothing can be said of the training: of the data, or of the parameters."""
        return next((c.otherwise for c in self.records if c.silences), "")

    @property
    def wrong(self) -> np.ndarray:
        """Whether each example is misclassified."""
        return np.asarray(self.predicted != self.labels)

    @cached_property
    def functional(self) -> list[np.ndarray]:
        """The margins y f(x) of the examples of each problem."""
        if self.joint:
            return [lead(self.scores, self.labels)]
        return [y[y != 0] * f[y != 0] for y, f in zip(self.signs, self.scores, strict=True)]

    @cached_property
    def norms(self) -> np.ndarray | None:
        """|w| of each problem; None if the vectors are not at hand."""
        return norms_of(self.basis, self.coefs, self.X, self.foreign)

    @cached_property
    def squares(self) -> np.ndarray | None:
        """k(x, x) of each example."""
        if self.kernel.by_column and self.foreign:
            return None
        return np.asarray(self.kernel.diag(self.X), float)

    @cached_property
    def radius(self) -> float:
        """The largest norm of an example."""
        return float(np.sqrt(self.squares.max())) if self.squares is not None else np.nan

    @cached_property
    def largest_radius(self) -> float:
        """`radius`, rounded up."""
        if self.squares is None:
            return np.nan
        # k(x, x) of a stationary kernel is 1 exactly
        error = 0.0 if self.kernel.stationary else kernel_error(self.kernel, self.X, np.float64)
        return float(np.nextafter(np.sqrt(self.squares.max() + error) * (1 + 2 * UNIT), np.inf))

    @cached_property
    def score_errors(self) -> np.ndarray:
        """What the scores of each problem are off by at most; see `rounding`."""
        errors = expansion_errors(self.basis, self.coefs, self.X, self.squares)
        return np.asarray(errors + 2 * UNIT * np.abs(self.thresholds))

    @cached_property
    def norm_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """What |w| of each problem is at least, and at most."""
        assert self.norms is not None
        errors = expansion_errors(self.basis, self.coefs, self.X, self.squares)
        return norms_within(self.norms, self.coefs, errors)

    @cached_property
    def alone(self) -> np.ndarray:
        """The examples that are the only ones of their class. Left out, such an example is an
        error: no machine trained on the rest answers with its class.
        """
        return np.asarray(np.bincount(self.labels)[self.labels] == 1)

    @cached_property
    def alone_by_problem(self) -> np.ndarray:
        """`alone` of each problem: the examples that are the only ones on their side of it."""
        sides = [(self.signs == side) for side in (1, -1)]
        return np.asarray(sum(mine & (mine.sum(axis=1, keepdims=True) == 1) for mine in sides) > 0)

    @cached_property
    def gram(self) -> np.ndarray:
        """All kernel values between the examples; for few of them."""
        if self.kernel.by_column:
            values = np.asarray(self.X, float)
            return np.asarray(values + 1 if isinstance(self.kernel, WithConstant) else values)
        X = prepare(self.X, self.kernel, np.dtype(float))
        return np.asarray(self.kernel(X, X), float)

    @cached_property
    def indefinite(self) -> str:
        """Empty if the kernel matrix of the examples is positive semi-definite, or else the reason
        why that is not known.
        """
        if self.kernel.psd:
            return ""
        if len(self) > LARGEST_EIGENPROBLEM:
            return (
                f"{self.kernel} is not known to be positive definite, and {len(self):,} rows "
                "are too many to check"
            )
        if self.kernel.by_column and self.foreign:
            return "the kernel matrix of the training data is not at hand"
        values = self.gram
        if not np.allclose(values, values.T, rtol=1e-6, atol=0):
            return "the kernel is not symmetric"
        eigenvalues = np.linalg.eigvalsh(values)
        if eigenvalues[0] < -EIGENVALUE_ROUNDING * max(eigenvalues[-1], 0.0):
            return (
                "the kernel is not positive definite: its matrix on these rows has the eigenvalue "
                f"{eigenvalues[0]:.3g}"
            )
        return ""

    @property
    def indefinite_in_training(self) -> str:
        """The same of the training examples, whatever the examples are."""
        if self.foreign and not self.kernel.psd:
            return f"{self.kernel} is not known to be positive definite on the training examples"
        return self.indefinite

    @property
    def definite_everywhere(self) -> bool | None:
        """Whether every matrix of the kernel is positive semi-definite; None if nobody knows."""
        kernel = self.kernel.kernel if isinstance(self.kernel, WithConstant) else self.kernel
        return None if isinstance(kernel, FunctionKernel | Precomputed) else kernel.psd

    def alphas(self) -> np.ndarray:
        """alpha_pi = y_pi c_pi of all training examples, one row per problem."""
        full = np.zeros((len(self.coefs), len(self)))
        full[:, self.basis.examples] = self.coefs
        return np.asarray(full * self.signs)

    def coefs_used(self) -> np.ndarray:
        """Which training examples have a coefficient in any problem."""
        used = np.zeros(len(self), bool)
        used[self.basis.examples] = self.coefs.any(axis=0)
        return used


def lead(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The score of the true class less the largest of another; `scores` has one row per class."""
    others = scores.copy()
    columns = np.arange(len(labels))
    others[labels, columns] = -np.inf
    return np.asarray(scores[labels, columns] - others.max(axis=0))


def signs_of(labels: np.ndarray, n_classes: int, by_pairs: bool = False) -> np.ndarray:
    """The signs of the examples in each problem, 0 for those that take no part."""
    if by_pairs:
        pairs = combinations(range(n_classes), 2)
        return np.array([(labels == j) * 1.0 - (labels == i) for i, j in pairs])
    positive = [1] if n_classes == 2 else range(n_classes)
    return np.array([np.where(labels == k, 1.0, -1.0) for k in positive])


def class_factors_of(fitted: Fitted) -> np.ndarray:
    """The weights of the examples that `class_weight` means."""
    weight = getattr(fitted.model, "class_weight", None)
    ones = np.ones(len(fitted))
    return class_factors(weight, fitted.model.classes_, fitted.labels, ones)


def norms_of(basis: Basis, coefs: np.ndarray, X: Matrix, foreign: str) -> np.ndarray | None:
    """|w| of each row of coefficients; None if the kernel matrix is not at hand, because X has
    other rows than the training data.
    """
    if not len(basis):
        return np.zeros(len(coefs))
    if basis.kernel.by_column:
        if foreign:
            return None
        values = np.asarray(X, float)[np.ix_(basis.examples, basis.examples)]
        values = values + 1 if isinstance(basis.kernel, WithConstant) else values
        products = coefs @ values
    else:
        products = Expansion(basis, coefs, np.zeros(len(coefs)))(basis.vectors)
    return np.asarray(np.sqrt(np.maximum(np.einsum("ij,ij->i", coefs, products), 0.0)))


def expansion_errors(
    basis: Basis, coefs: np.ndarray, X: Matrix, squares: np.ndarray | None
) -> np.ndarray:
    """What w.x of each row of coefficients is off by at most, on rows of X; see `rounding`."""
    if squares is None:
        return np.full(len(coefs), np.inf)
    sums = np.abs(coefs).sum(axis=1) * (1 + FEW * UNIT)
    each = kernel_error(basis.kernel, X, basis.dtype)
    return np.asarray(sums * (each + (len(basis) + FEW) * UNIT * float(squares.max())))


def norms_within(
    norms: np.ndarray, coefs: np.ndarray, errors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of |w|, from errors of w.x."""
    error = 2 * np.abs(coefs).sum(axis=1) * errors + FEW * UNIT * norms**2
    least = np.sqrt(np.maximum(norms**2 - error, 0.0)) * (1 - FEW * UNIT)
    return least, np.sqrt(norms**2 + error) * (1 + FEW * UNIT)


def checked(model: Any, X: MatrixLike, y: VectorLike) -> tuple[Matrix, np.ndarray]:
    """X validated, and y as class numbers."""
    check_is_fitted(model)
    X = model.validate(X, reset=False)
    y = plain_labels(y)
    if not isinstance(y, np.ndarray) or y.ndim != 1:
        y = column_or_1d(y)
    check_consistent_length(X, y)
    labels = numbers_in(model.classes_, y)
    if (unknown := labels < 0).any():
        raise ValueError(
            f"y holds the label {shown(y[unknown].tolist()[0])}, which is none of the model's "
            "classes: give data with the labels that it was trained on"
        )
    return X, labels


def numbers_of(model: Any, scores: np.ndarray) -> np.ndarray:
    """Class numbers from what `decision_function` gives."""
    return numbers_in(model.classes_, model.classes_of(scores))


def recorded(model: Any, X: Matrix, labels: np.ndarray) -> tuple[Condition, Condition]:
    """Whether X and y are what a model was trained on, and its parameters what it was trained with,
    by the record of its training. Rows without labels have those of `training_set.unlabelled`.
    """
    data, parameters = "these are the training data", "the parameters are those of training"
    n, record = len(labels), model.training_record
    trained = model.n_trained if record is None else record.data.n_rows
    if trained not in (None, n):
        differs = f"{FOREIGN}: it was trained on {trained:,}, and these are {n:,}"
    elif record is None:
        return Condition(data, None, UNKNOWN, True), Condition(parameters, None, UNKNOWN, True)
    else:
        classes = getattr(model, "classes_", np.zeros(1, np.int64))
        others = record.data.differences(fingerprint(X, classes, labels))
        differs = f"{FOREIGN}: {' and '.join(others)} differ" if others else ""
        if others == ["weights"]:
            differs = "the model was trained on these rows, but not with equal weights of 1"
    changed = record.changed(model, model._chosen_later) if record is not None else {}
    return (
        Condition(data, not differs, differs, True),
        Condition(parameters, not changed, told_changes(changed, model), True),
    )
