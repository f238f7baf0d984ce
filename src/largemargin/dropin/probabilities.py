"""Scores of rows by machines that have not seen them, for Platt's scaling.

The rows of each class are dealt out to five folds. For each pair of classes and each fold a machine
is trained on the other four, over the same kernel rows as the machine itself, and scores the rows
of the pair that are in the fold. The folds follow from a seed alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.base.training_set import TrainingSet
from largemargin.runtime.progress import Watch
from largemargin.svm.jobs import Job, TrainedProblem
from largemargin.svm.multiclass import Split, splits
from largemargin.svm.session import Session

N_FOLDS = 5


def folds_of(labels: np.ndarray, seed: int) -> np.ndarray:
    """The fold of each row: those of a class are dealt out in a random order.

    >>> np.bincount(folds_of(np.zeros(11, int), 0)).tolist()
    [3, 2, 2, 2, 2]
    """
    order = np.random.default_rng(seed).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    folds = np.empty(len(labels), np.intp)
    start = np.cumsum(np.bincount(labels)) - np.bincount(labels)
    folds[order] = (np.arange(len(labels)) - start[labels[order]]) % N_FOLDS
    return folds


def cross_fitted_scores(
    model: Any, session: Session, data: TrainingSet, watch: Watch, seed: int
) -> np.ndarray:
    """One column for each pair (i, j), positive for j, in which the rows of i and j have scores and
    the others have 0.
    """
    folds, pairs = folds_of(data.labels, seed), splits(data.n_classes, "ovo")
    scores = np.zeros((len(data), len(pairs)))
    jobs, places = [], []
    for fold in range(N_FOLDS):
        weights = np.where(folds == fold, 0.0, data.weights)
        sums = np.bincount(data.labels, weights, data.n_classes)
        for column, split in enumerate(pairs):
            held_out = np.isin(data.labels, split.classes) & (folds == fold)
            if not held_out.any():
                continue
            if not all(sums[c] > 0 for c in split.classes):
                scores[held_out, column] = _only_side(split, sums)
                continue
            jobs.append(Job(split, model._formulation(session, split, weights), weights))
            places.append((held_out, column))
    trained = session.train(jobs, tol=model.tol, max_steps=model._max_steps, watch=watch)
    for one, (held_out, column) in zip(trained, places, strict=True):
        scores[held_out, column] = _scores_of(one, len(data))[held_out]
    return scores


def _only_side(split: Split, sums: np.ndarray) -> float:
    """The score where at most one of the two classes is left to train on."""
    return float(np.sign(sum(sums[c] * (1 if c == split.positive else -1) for c in split.classes)))


def _scores_of(one: TrainedProblem, n: int) -> np.ndarray:
    """The scores of all examples of a problem, also of those of weight 0."""
    scores = np.zeros(n)
    scores[one.examples] = one.outputs * one.scale + one.result.intercept
    return scores
