"""What a fitted model computes, as plain arrays that another program can compute with.

scores      f_p(x), one for each problem p: a sum over support vectors, a linear function, stumps,
            a network or a vote (the classes below)
joined      two classes: f itself; more of them: f_c of each class c, or, of one-vs-one, votes
answer      two classes: the second if f > 0; more: the class of the largest; of an outlier
            detector 1 if f >= 0 and -1 otherwise
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.base.labels import numbers_in
from largemargin.kernels.choosing import FunctionKernel, WithConstant
from largemargin.kernels.functions import KERNELS, Kernel, Linear
from largemargin.machines import DETECTOR, ENSEMBLE, HYPERPLANE, NETWORK, TRACE, card_of

# How scores of problems become those of classes.
ONE, EACH, PAIRS, INSIDE = "one", "each", "pairs", "inside"


@dataclass(frozen=True)
class KernelSum:
    """f_p(x) = sum_i coefs[p, i] k(x_i, x) + intercepts[p].

    A precomputed kernel has no vectors: `positions` are the columns of x to take. `single` says
    that the model computes its kernel values in float32.
    """

    kernel: Kernel
    vectors: Any
    positions: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    single: bool = False


@dataclass(frozen=True)
class LinearSum:
    """f_p(x) = weights[p] . x + intercepts[p]."""

    weights: np.ndarray
    intercepts: np.ndarray


@dataclass(frozen=True)
class Stumps:
    """f_p(x) = sum_t (left[t, p] if x[features[t]] <= thresholds[t] else right[t, p])."""

    features: np.ndarray
    thresholds: np.ndarray
    left: np.ndarray
    right: np.ndarray


@dataclass(frozen=True)
class Network:
    """f_p(x) = sum_k coefs[p, k] exp(-|x - centers[k]|^2 / (2 widths[k]^2))."""

    centers: np.ndarray
    widths: np.ndarray
    coefs: np.ndarray


@dataclass(frozen=True)
class VoteSum:
    """f_p(x) = sum_i counts[i] sign(v_i . x) over the vectors v_i of problem p, each of which is
    the one before it plus signs[i] times the support vector slots[i] of `values`.
    """

    values: KernelSum
    problems: np.ndarray
    slots: np.ndarray
    signs: np.ndarray
    counts: np.ndarray
    n_problems: int


Scores = KernelSum | LinearSum | Stumps | Network | VoteSum


@dataclass(frozen=True)
class Decision:
    """The scores of a model, how they are joined, and the labels, which a detector lacks."""

    scores: Scores
    joined: str
    classes: np.ndarray | None
    n_features: int


def decision_of(model: Any, expanded: bool = False) -> Decision:
    """What a fitted machine computes; ValueError with the reason where no formula says it.

    A sum of inner products with support vectors is a linear function, unless it is to be left
    `expanded`.
    """
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    name = type(model).__name__
    try:
        card = card_of(model)
        check_is_fitted(model)
    except TypeError as error:
        raise ValueError(
            f"this {name} is not a machine of largemargin: fit one of largemargin, or take a "
            "fitted "
            "model of scikit-learn through from_sklearn first"
        ) from error
    except NotFittedError as error:
        raise ValueError(f"this {name} is not fitted: call fit first") from error
    scores = _scores_of(model, card.outcome)
    if isinstance(scores, KernelSum) and not expanded:
        scores = _simplest(scores, int(model.n_features_in_))
    classes = None if card.kind == DETECTOR else model.classes_
    return Decision(scores, _joined(model, classes), classes, int(model.n_features_in_))


def _joined(model: Any, classes: np.ndarray | None) -> str:
    if classes is None:
        return INSIDE
    if len(classes) < 2:
        raise ValueError(
            f"this {type(model).__name__} has seen the class {classes.tolist()[0]!r} only and "
            "decides nothing yet: show it examples of another class first"
        )
    if len(classes) == 2:
        return ONE
    return PAIRS if getattr(model, "by_pairs", False) else EACH


def _scores_of(model: Any, outcome: str) -> Scores:
    if outcome == TRACE:
        return _of_trace(model)
    if outcome == HYPERPLANE:
        return LinearSum(model.coef_, model.intercept_)
    if outcome == NETWORK:
        return Network(model.centers_, model.widths_, model.coef_)
    if outcome == ENSEMBLE:
        return _of_rounds(model)
    expansion = model.expansion
    return _kernel_sum(expansion.basis, model.positions, expansion.coefs, expansion.intercepts)


def _kernel_sum(
    basis: Any, positions: np.ndarray, coefs: np.ndarray, intercepts: np.ndarray
) -> KernelSum:
    inner = basis.kernel.kernel if isinstance(basis.kernel, WithConstant) else basis.kernel
    if KERNELS.get(inner.name) is not type(inner):
        raise ValueError(
            f"the kernel {inner.name if isinstance(inner, FunctionKernel) else inner} is code, "
            "which no other program can run: use a kernel by name, or kernel='precomputed'"
        )
    vectors = None if inner.by_column or not len(basis) else basis.vectors
    single = basis.dtype == np.float32 and inner.on_products
    return KernelSum(basis.kernel, vectors, positions, coefs, intercepts, single)


def _simplest(scores: KernelSum, n_features: int) -> KernelSum | LinearSum:
    """A sum of inner products is one, and a sum of nothing is a constant."""
    plain = without_constant(scores)
    if plain.coefs.shape[1] and not isinstance(plain.kernel, Linear):
        return scores
    weights = np.zeros((len(plain.coefs), n_features))
    if plain.coefs.shape[1]:
        weights += plain.coefs @ plain.vectors
    return LinearSum(weights, plain.intercepts)


def _of_trace(model: Any) -> Scores:
    state, method = model.state, model.method
    basis, n_problems = state.basis, state.trace.n_problems
    nothing = np.zeros(n_problems)
    if method == "random":
        raise ValueError(
            "method='random' draws a vector anew for each row, which no formula says: set method "
            "to 'vote', 'average' or 'last', which need no new fit"
        )
    if method != "vote":
        coefs = model.coefficients((method, bool(model.normalize)))
        return _kernel_sum(basis, basis.examples, coefs, nothing)
    values = _kernel_sum(basis, basis.examples, np.zeros((n_problems, len(basis))), nothing)
    if not len(basis):
        return values
    trace = state.trace
    return VoteSum(
        values, trace.problem, trace.slot, trace.sign.astype(float),
        trace.survival().astype(float), n_problems,
    )  # fmt: skip


def _of_rounds(model: Any) -> Stumps:
    from largemargin.boosting.weak_learners import Stump

    foreign = next((one for one in model.estimators_ if type(one) is not Stump), None)
    if foreign is not None:
        raise ValueError(
            f"AdaBoost over {type(foreign).__name__} answers with many models, each with its own "
            "formula: boost stumps (estimator=None)"
        )
    alphas = model.alphas_
    alone = np.flatnonzero(np.isinf(alphas) | (alphas == 0))
    first = alone[-1] if len(alone) else 0  # this one makes no error, and those before do not count
    kept = model.estimators_[first:]
    weights = np.where(np.isinf(alphas) | (alphas == 0), 1.0, alphas)[first:]
    sides = np.array([[stump.left, stump.right] for stump in kept], model.classes_.dtype)
    numbers = numbers_in(model.classes_, sides)
    if len(model.classes_) == 2:
        each = (2.0 * numbers - 1.0)[:, :, None]
    else:
        each = np.eye(len(model.classes_))[numbers]
    each = each * (weights / weights.sum())[:, None, None]
    return Stumps(
        np.array([stump.feature for stump in kept]),
        np.array([stump.threshold for stump in kept], float),
        each[:, 0],
        each[:, 1],
    )


def without_constant(scores: KernelSum) -> KernelSum:
    """The same function with a kernel that adds no constant: sum_i c_i (k + 1) = sum_i c_i k + c_i.

    The voted perceptron with a threshold has such a kernel.
    """
    if not isinstance(scores.kernel, WithConstant):
        return scores
    intercepts = scores.intercepts + scores.coefs.sum(axis=1)
    return replace(scores, kernel=scores.kernel.kernel, intercepts=intercepts)


def dense_bytes(scores: KernelSum) -> int:
    """Bytes of the support vectors as a dense matrix of float64."""
    return 0 if scores.vectors is None else 8 * int(np.prod(scores.vectors.shape))


def dense(vectors: Any) -> np.ndarray:
    """Support vectors as an array of float64."""
    return np.asarray(vectors.toarray() if sp.issparse(vectors) else vectors, np.float64)
