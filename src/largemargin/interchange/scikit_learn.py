"""Fitted models of scikit-learn as machines of this library, and back.

A support vector machine keeps its support vectors, coefficients and thresholds, a linear one its
weights; nothing is trained again.
"""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.base.pipelines import earlier_steps, final_step
from largemargin.interchange.assembling import fill_hyperplane, fill_machine, rows_of
from largemargin.interchange.decision import (
    EACH,
    INSIDE,
    ONE,
    Decision,
    KernelSum,
    LinearSum,
    decision_of,
    without_constant,
)
from largemargin.interchange.pairs import by_class, rows_of_pairs
from largemargin.kernels.choosing import make_kernel
from largemargin.kernels.functions import Kernel
from largemargin.model_file.registry import TRANSFORMERS, find_entry

MACHINES = ("SVC", "NuSVC", "OneClassSVM")
LINEAR = ("LinearSVC", "Perceptron")
KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")  # that scikit-learn has by name


def from_sklearn(fitted: Any) -> Any:
    """A fitted model of scikit-learn as a machine of this library, without training again.

    Decision values are the same up to rounding; they are those of `decision_function_shape="ovr"`,
    and `predict` is their argmax, as with `break_ties=True`. Prediction is many times as fast.

    Parameters
    ----------
    fitted : estimator
        A fitted SVC, NuSVC, OneClassSVM, LinearSVC or Perceptron of scikit-learn, or a Pipeline
        that ends in one after StandardScaler, MinMaxScaler or MaxAbsScaler.

    Returns
    -------
    estimator
        SVC, NuSVC or OneClassSVM with the same support vectors; for a linear model a
        `MaxMarginHyperplane` with the same weights; a Pipeline for a Pipeline. It can be saved.
        Nothing is known of its training: `dual_gap_` is infinite.

    Raises
    ------
    ValueError
        With the reason, for what cannot be converted, such as a function as kernel.

    Examples
    --------
    >>> import sklearn.svm
    >>> from sklearn.datasets import load_iris
    >>> from largemargin.interchange import from_sklearn
    >>> X, y = load_iris(return_X_y=True)
    >>> theirs = sklearn.svm.SVC().fit(X, y)
    >>> ours = from_sklearn(theirs)
    >>> type(ours).__module__.split(".")[0], bool((ours.predict(X) == theirs.predict(X)).all())
    ('largemargin', True)
    """
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    final = final_step(fitted)
    name = type(final).__name__
    if not type(final).__module__.startswith("sklearn.") or name not in (*MACHINES, *LINEAR):
        raise ValueError(
            f"a {name} cannot be converted: of scikit-learn's models "
            f"{', '.join((*MACHINES, *LINEAR))} can, alone or at the end of a Pipeline"
        )
    try:
        check_is_fitted(final)
    except NotFittedError as error:
        raise ValueError(f"this {name} is not fitted: call fit first") from error
    ours = _machine(final) if name in MACHINES else _hyperplane(final)
    if hasattr(final, "feature_names_in_"):
        ours.feature_names_in_ = final.feature_names_in_.copy()
    return _after_same_steps(fitted, ours)


def _after_same_steps(model: Any, final: Any) -> Any:
    """A machine after copies of the scalers of a pipeline."""
    from sklearn.pipeline import Pipeline

    before = earlier_steps(model)
    if before is None:
        return final
    for _, step in before.steps:
        if find_entry(step, TRANSFORMERS) is None:
            raise ValueError(
                f"a {type(step).__name__} before the machine cannot be converted: only "
                f"{', '.join(TRANSFORMERS)} can; convert the last step alone"
            )
    return Pipeline([*deepcopy(before.steps), (model.steps[-1][0], final)])


def _machine(theirs: Any) -> Any:
    from largemargin import svm

    if callable(theirs.kernel):
        raise ValueError(
            f"the kernel {getattr(theirs.kernel, '__name__', theirs.kernel)} is a function, which "
            "is code: fit with a kernel by name, or kernel='precomputed'"
        )
    if getattr(theirs, "probability", False) is True:
        warnings.warn(
            "probability=True is left out: the converted model has decision_function and predict, "
            "and no predict_proba",
            stacklevel=3,
        )
    gamma = float(theirs._gamma)
    kernel = make_kernel(theirs.kernel, degree=theirs.degree, gamma=gamma, coef0=theirs.coef0)
    coefs: Any = theirs.dual_coef_
    coefs = np.asarray(coefs.toarray() if sp.issparse(coefs) else coefs, np.float64)
    intercepts = np.array(theirs.intercept_, np.float64)
    detector = type(theirs).__name__ == "OneClassSVM"
    classes = None if detector else theirs.classes_.copy()
    if classes is not None and len(classes) > 2:
        # a pair of theirs is positive for its first class, and one of ours for the second
        coefs, intercepts = -rows_of_pairs(coefs, theirs.n_support_), -intercepts
    vectors = None if kernel.by_column else rows_of(theirs.support_vectors_)
    positions = np.asarray(theirs.support_, np.int64)
    scores = KernelSum(kernel, vectors, positions, coefs, intercepts)
    own = getattr(svm, type(theirs).__name__)(**_parameters(theirs))
    return fill_machine(own, scores, theirs.n_features_in_, int(theirs.shape_fit_[0]), classes)


def _parameters(theirs: Any) -> dict[str, Any]:
    """Parameters that mean the same here."""
    shared = ("kernel", "degree", "gamma", "coef0", "tol", "max_iter")
    own = {"SVC": ("C", "class_weight"), "NuSVC": ("nu", "class_weight"), "OneClassSVM": ("nu",)}
    names = [*shared, *own[type(theirs).__name__]]
    found = {name: getattr(theirs, name) for name in names}
    return found if type(theirs).__name__ == "OneClassSVM" else {**found, "multiclass": "ovo"}


def _hyperplane(theirs: Any) -> Any:
    from largemargin import MaxMarginHyperplane

    weights = np.array(theirs.coef_.toarray() if sp.issparse(theirs.coef_) else theirs.coef_)
    intercepts = np.zeros(len(weights)) + np.asarray(theirs.intercept_, np.float64)
    model = MaxMarginHyperplane(
        norm=1 if theirs.penalty == "l1" else 2, fit_intercept=bool(theirs.fit_intercept)
    )
    return fill_hyperplane(
        model, np.asarray(weights, np.float64), intercepts, theirs.classes_.copy()
    )


def to_sklearn(model: Any) -> Any:
    """A fitted machine of this library as a model of scikit-learn, without training again.

    Parameters
    ----------
    model : estimator
        A fitted machine that sums over support vectors with a kernel that scikit-learn has by name
        (linear, poly, rbf, sigmoid, precomputed), or a linear one; alone or as the last step of a
        Pipeline after scikit-learn's scalers.

    Returns
    -------
    estimator
        SVC, NuSVC or OneClassSVM; where each class has a function of its own, LinearSVC, or, of
        another kernel, OneVsRestClassifier over SVC; a Pipeline for a Pipeline. Decision values are
        the same up to rounding.

    Raises
    ------
    ValueError
        With the reason, for what scikit-learn cannot hold.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from largemargin import SVC
    >>> from largemargin.interchange import to_sklearn
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(multiclass="ovo").fit(X, y)
    >>> theirs = to_sklearn(model)
    >>> float(abs(theirs.decision_function(X) - model.decision_function(X)).max()) < 1e-12
    True
    """
    final = final_step(model)
    decision = decision_of(final)
    if decision.joined != EACH:
        decision = decision_of(final, expanded=True)
    if isinstance(decision.scores, LinearSum):
        theirs = _linear_svc(decision)
    elif isinstance(decision.scores, KernelSum):
        theirs = _from_kernel_sum(final, decision)
    else:
        raise ValueError(
            f"scikit-learn has no machine that decides as {type(final).__name__} does: convert it "
            "with to_onnx"
        )
    if hasattr(final, "feature_names_in_"):
        theirs.feature_names_in_ = final.feature_names_in_.copy()
    return _after_same_steps(model, theirs)


def _linear_svc(decision: Decision) -> Any:
    from sklearn.svm import LinearSVC

    assert isinstance(decision.scores, LinearSum)
    theirs = LinearSVC()
    theirs.classes_, theirs.n_features_in_, theirs.n_iter_ = (
        decision.classes,
        decision.n_features,
        1,
    )
    theirs.coef_ = decision.scores.weights.copy()
    theirs.intercept_ = decision.scores.intercepts.copy()
    return theirs


def _from_kernel_sum(model: Any, decision: Decision) -> Any:
    from sklearn import svm

    assert isinstance(decision.scores, KernelSum)
    scores = without_constant(decision.scores)
    if scores.kernel.name not in KERNELS:
        raise ValueError(
            f"scikit-learn has no {scores.kernel.name} kernel by name, only {', '.join(KERNELS)}: "
            "convert it with to_onnx"
        )
    name = type(model).__name__ if type(model).__name__ in MACHINES else "SVC"
    theirs = getattr(svm, name)()
    shared = [
        key
        for key in ("C", "nu")
        if getattr(model, key, None) is not None and key in theirs.get_params()
    ]
    theirs.set_params(**{key: getattr(model, key) for key in shared})
    n_given = int(model.n_trained)
    if decision.joined == EACH:
        return _one_vs_rest(decision, scores, theirs, n_given)
    return _filled(theirs, decision, scores, n_given)


def _one_vs_rest(decision: Decision, scores: KernelSum, empty: Any, n_given: int) -> Any:
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.preprocessing import LabelBinarizer

    theirs = OneVsRestClassifier(empty)
    two = Decision(scores, ONE, np.array([0, 1]), decision.n_features)
    theirs.estimators_ = []
    for p, intercept in enumerate(scores.intercepts):
        used = np.flatnonzero(scores.coefs[p])
        part = KernelSum(
            scores.kernel,
            None if scores.vectors is None else scores.vectors[used],
            scores.positions[used],
            scores.coefs[[p]][:, used],
            np.array([intercept]),
        )
        theirs.estimators_.append(_filled(deepcopy(empty), two, part, n_given))
    theirs.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(decision.classes)
    theirs.n_features_in_ = decision.n_features
    if not hasattr(theirs, "classes_"):  # of some versions it is a property
        theirs.classes_ = theirs.label_binarizer_.classes_
    return theirs


def _filled(theirs: Any, decision: Decision, scores: KernelSum, n_given: int) -> Any:
    """Give a machine of scikit-learn its fitted attributes, as its `fit` leaves them."""
    coefs, intercepts, sizes = scores.coefs, scores.intercepts, np.empty(0, np.int32)
    order = np.arange(coefs.shape[1])
    if decision.joined != INSIDE:
        assert decision.classes is not None
        laid_out = by_class(-coefs, len(decision.classes))
        order, coefs, sizes = laid_out.order, laid_out.coefs, laid_out.sizes
        intercepts = -intercepts
        theirs.classes_, theirs.class_weight_ = decision.classes, np.ones(len(decision.classes))
        # `predict` is then the argmax of `decision_function`, as here
        theirs.set_params(break_ties=len(decision.classes) > 2)
    else:
        theirs.offset_, theirs.class_weight_ = -intercepts, np.empty(0)
        sizes = np.array([len(order), 0])
    _set_kernel(theirs, scores.kernel)
    theirs.support_ = scores.positions[order].astype(np.int32)
    _set_vectors(theirs, scores, order, coefs, decision.n_features)
    theirs._n_support = sizes.astype(np.int32)
    theirs._intercept_, theirs.intercept_ = intercepts.copy(), intercepts.copy()
    if decision.joined == ONE:  # the public attributes are positive for the second class
        theirs.intercept_, theirs.dual_coef_ = -theirs._intercept_, -theirs._dual_coef_
    theirs._probA = theirs._probB = np.empty(0)
    theirs._effective_probability = False
    theirs.fit_status_, theirs.shape_fit_ = 0, (n_given, decision.n_features)
    theirs.n_features_in_ = decision.n_features
    theirs.n_iter_ = theirs._num_iter = np.ones(len(intercepts), np.int32)
    if decision.joined == INSIDE:
        theirs.n_iter_ = 1
    return theirs


def _set_kernel(theirs: Any, kernel: Kernel) -> None:
    numbers = {name: getattr(kernel, name) for name in kernel.parameters}
    theirs.set_params(kernel=kernel.name, **numbers)
    theirs._gamma = float(numbers.get("gamma", 1.0))


def _set_vectors(
    theirs: Any, scores: KernelSum, order: np.ndarray, coefs: np.ndarray, width: int
) -> None:
    theirs._sparse = sp.issparse(scores.vectors)
    if theirs._sparse:
        rows = sp.csr_matrix(scores.vectors[order], dtype=np.float64)
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        theirs.support_vectors_ = rows
        # LIBSVM reads the entries one after the other, zeros too
        n_rows, n = coefs.shape
        places = np.tile(np.arange(n, dtype=np.int32), n_rows), np.arange(n_rows + 1) * n
        theirs._dual_coef_ = sp.csr_matrix((coefs.ravel(), *places), shape=coefs.shape)
        theirs.dual_coef_ = theirs._dual_coef_
        return
    empty = np.empty((0, 0 if scores.kernel.by_column else width))
    vectors = empty if scores.vectors is None else scores.vectors[order]
    theirs.support_vectors_ = np.ascontiguousarray(vectors, np.float64)
    theirs._dual_coef_ = theirs.dual_coef_ = np.ascontiguousarray(coefs)
