"""Cross-validation over values of C, every fold and value trained over the same kernel rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import check_cv

from largemargin.base.training_set import TrainingSet
from largemargin.runtime.arrays import DistantRows, Matrix, MatrixLike, VectorLike
from largemargin.runtime.progress import INTERRUPTED
from largemargin.svm.estimator import Fit, unwarned
from largemargin.svm.formulations import SoftMargin
from largemargin.svm.multiclass import splits
from largemargin.svm.nu_svc import NuSVC
from largemargin.svm.svc import SVC, checked_Cs


@dataclass(frozen=True)
class CrossValidation:
    """How well each C does on examples that it was not trained on.

    Attributes
    ----------
    Cs : array of shape (n_Cs,)
    scores : array of shape (n_Cs, n_folds)
        The fraction of the held-out examples that is classified right.
    dual_gaps : array of shape (n_Cs, n_folds)
        The largest relative duality gap of a fold's machines.
    """

    Cs: np.ndarray
    scores: np.ndarray
    dual_gaps: np.ndarray

    @property
    def mean_scores(self) -> np.ndarray:
        return np.asarray(self.scores.mean(axis=1))

    @property
    def best_C(self) -> float:
        """The C with the best mean score; of equals, the smallest."""
        best = np.flatnonzero(self.mean_scores == self.mean_scores.max())
        return float(self.Cs[best].min())

    @property
    def best_score(self) -> float:
        return float(self.mean_scores.max())


def cross_validate(
    estimator: SVC,
    X: MatrixLike,
    y: VectorLike,
    Cs: Sequence[float],
    cv: Any = 5,
    sample_weight: VectorLike = None,
) -> CrossValidation:
    """Score every C on every fold, all trained over the same kernel rows.

    The folds of one C are trained together; each C starts from the solutions of the next smaller
    one. The kernel is the same in all folds: gamma="scale" is computed from all of X.

    Parameters
    ----------
    estimator : SVC
        Its parameters other than C hold for all.
    X, y :
        As for `SVC.fit`.
    Cs : sequence of float
    cv : int, splitter or iterable, default=5
        As in scikit-learn; an integer means stratified folds in the order of the data.
    sample_weight : array of shape (n_samples,), optional
        Weights of the examples in training and in the scores.

    Returns
    -------
    CrossValidation
        With `scores`, `mean_scores`, `best_C` and `best_score`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = cross_validate(SVC(), X, y, Cs=[0.01, 1.0, 100.0])
    >>> found.best_C, round(found.best_score, 3)
    (100.0, 0.973)
    """
    if not isinstance(estimator, SVC):
        raise TypeError(f"cross_validate needs an SVC, got {type(estimator).__name__}")
    template = clone(estimator)
    models = [clone(estimator).set_params(C=C) for C in checked_Cs(Cs)]
    for model in models:
        model.check_parameters()
    data = template.training_set(X, y, sample_weight)
    folds = _folds(cv, data)
    weightings = []
    for train, _ in folds:
        weights = np.zeros(len(data))
        weights[train] = data.weights[train]
        missing = np.setdiff1d(np.arange(data.n_classes), data.labels[train])
        if len(missing):
            raise ValueError(
                f"a fold has no training example of class {data.classes[missing[0]]!r}: "
                "use fewer folds or stratified ones"
            )
        weightings.append(weights)
    scores, gaps = np.zeros((len(models), len(folds))), np.zeros((len(models), len(folds)))
    total = len(models) * len(folds) * len(splits(data.n_classes, template.multiclass))
    with template.session(data, total) as (session, watch):
        for k, fits in template.sweep(session, weightings, models, watch):
            for f, (fit, (_, test)) in enumerate(zip(fits, folds, strict=True)):
                model = models[k]
                model.set_fitted(data, fit)
                model.n_features_in_ = template.n_features_in_
                scores[k, f] = _score(model, fit, data, test)
                gaps[k, f] = model.dual_gap_.max()
                if not model.converged_:
                    model.warn_unless_converged(watch.stopped, fit.rounding)
    return CrossValidation(np.array([model.C for model in models]), scores, gaps)


def held_out_scores(
    machine: SVC | NuSVC, X: Matrix, y: np.ndarray, weights: np.ndarray, folds: np.ndarray
) -> np.ndarray:
    """Scores of every example by a machine trained without its fold: one per row for two classes,
    else one per row and problem. All are trained over the same kernel rows, each in its share of
    `max_seconds`.

    `weights` are positive, and `folds` has the number of each example's. Ctrl-C is raised.
    """
    data = machine.training_set(X, y, weights)
    parts = splits(data.n_classes, machine.multiclass)
    n_folds = int(folds.max()) + 1
    scores = np.empty((1 if data.n_classes == 2 else len(parts), len(data)))
    with machine.session(data, n_folds * len(parts)) as (session, watch):
        for fold in range(n_folds):
            held_out = np.flatnonzero(folds == fold)
            watch.allow(1 / (n_folds - fold))
            kept = np.where(folds == fold, 0.0, data.weights)
            if isinstance(machine, NuSVC):
                machine.lower_nu(session, kept)
            with unwarned():
                (fit,) = machine.train(session, [kept], [None], watch)
            if watch.stopped == INTERRUPTED:
                raise KeyboardInterrupt
            machine.set_fitted(data, fit)
            scores[:, held_out] = _problem_scores(machine, data, held_out)
    return scores[0] if data.n_classes == 2 else scores.T


def _problem_scores(model: SVC | NuSVC, data: TrainingSet, rows: np.ndarray) -> np.ndarray:
    """Scores of some examples, one row per problem."""
    expansion = model.expansion
    if expansion.basis.kernel.by_column:
        values = data.X[np.ix_(rows, np.searchsorted(data.positions, model.positions))]
        return np.asarray(expansion.coefs @ values.T + expansion.intercepts[:, None])
    return expansion(data.X[rows], model.n_jobs)


def _folds(cv: Any, data: TrainingSet) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and held-out examples of each fold, by their number among those that count."""
    place = np.full(data.n_given, -1)
    place[data.positions] = np.arange(len(data))
    folds = []
    X, y = data.all_rows, data.all_labels
    if isinstance(X, DistantRows):  # to splitters rows are numbers
        X = np.arange(data.n_given)
    for train, test in check_cv(cv, y, classifier=True).split(X, y):
        train, test = place[train], place[test]
        folds.append((train[train >= 0], test[test >= 0]))
    return folds


def _score(model: SVC, fit: Fit, data: TrainingSet, test: np.ndarray) -> float:
    """The fraction, by weight, of examples that are classified right."""
    if not len(test):
        return np.nan
    answers = _known_answers(model, fit, data)[test]
    unknown = test[answers < 0]
    if len(unknown):
        scores = model.join_scores(_problem_scores(model, data, unknown))
        several = scores.ndim == 2
        answers[answers < 0] = scores.argmax(axis=1) if several else (scores > 0).astype(int)
    weights = data.weights[test]
    return float(weights @ (answers == data.labels[test]) / weights.sum())


def _known_answers(model: SVC, fit: Fit, data: TrainingSet) -> np.ndarray:
    """The classes that training has found out on the way, since it holds the outputs of examples of
    weight 0 too; -1 where it has not.

    Of pairs an example has the outputs of its own class's only, but if its class wins them all no
    other can have as many votes.
    """
    soft = [one for one in fit.trained if isinstance(one.job.formulation, SoftMargin)]
    # other machines hold their outputs at another scale, and a fit that was stopped may have none
    if not soft or any(np.isnan(one.outputs).any() for one in soft):
        return np.full(len(data), -1)
    if model.by_pairs:
        lost = np.zeros(len(data), bool)
        for one in soft:
            won = one.outputs + one.result.intercept > 0
            lost[one.examples] |= won != (data.labels[one.examples] == one.job.split.positive)
        return np.where(lost, -1, data.labels)
    scores = np.empty((len(soft), len(data)))
    for row, one in zip(scores, soft, strict=True):
        row[one.examples] = one.outputs + one.result.intercept
    several = len(scores) > 1
    return np.asarray(scores.argmax(axis=0) if several else (scores[0] > 0).astype(np.int64))
