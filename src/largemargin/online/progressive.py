"""Answering and learning at once: each example of a stream is answered by the model as it is before
it learns from it.

`partial_fit` computes these scores anyway and forgets them. Here they are kept, and the result, the
answers and the model, does not depend in one bit on the chunks that the stream comes in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.base.labels import numbers_in
from largemargin.kernels.engine import check_overflow, largest_square, prepare
from largemargin.online.estimator import OnlineLearner
from largemargin.online.learner import Answers
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.memory import memory_bytes
from largemargin.runtime.progress import Watch
from largemargin.runtime.threads import Workers


@dataclass(frozen=True)
class Answer:
    """What an example was answered: a label and the scores of the classes then known, one score for
    two of them. Both are None as long as there was no class, the scores with one class too."""

    label: Any
    classes: list[Any]
    scores: list[float] | None


def answer_and_learn(
    model: OnlineLearner,
    X: Matrix,
    y: np.ndarray,
    labelled: np.ndarray,
    team: Workers,
    classes: np.ndarray | None = None,
) -> list[Answer]:
    """Answer each row of X, then learn from it if it is labelled.

    Parameters
    ----------
    model : OnlineLearner
        It goes on, or begins.
    X : array or sparse matrix of shape (n_samples, n_features)
        Finite numbers, and as many per row as there were before.
    y : array of shape (n_labelled,)
        Labels of those rows that have one.
    labelled : array of bool of shape (n_samples,)
        Which these are.
    team : Workers
    classes : array, optional
        Of a model that begins, all the labels that will occur; without it they may be any.

    Raises
    ------
    ValueError
        If something is wrong with a row; the model is then as it was.
    """
    found: list[Answer] = []
    with model.rolled_back_on_error():
        if not hasattr(model, "learner_state"):
            model.check_parameters()
            model.check_streaming()
        done = 0  # labels
        for row, known in enumerate(labelled):
            if not model.begins:
                break
            y_row = y[done : done + int(known)]
            found += _answer_and_hold_back(model, X[row : row + 1], y_row, team, classes)
            done += len(y_row)
        rest = slice(len(found), None)
        if X[rest].shape[0]:
            found += _answer_and_learn(model, X[rest], y[done:], labelled[rest], team, classes)
    return found


def _answer_and_hold_back(
    model: OnlineLearner, X: Matrix, y: np.ndarray, team: Workers, classes: np.ndarray | None
) -> list[Answer]:
    """The same for one row of a stream that has not fixed its gamma.

    The answer is that of the model which the examples held back so far give, and the row becomes
    one of them.
    """
    first = not hasattr(model, "learner_state")
    if first:
        X = model.validate(X)
    found = [Answer(None, [], None)]
    with Watch("stream", 1, interruptible=False) as watch:
        if first and classes is not None:
            model.go_on(X[:0], y[:0], classes, team, watch)
        if hasattr(model, "learner_state"):
            found = _answer_and_learn(model, X, y[:0], np.zeros(1, bool), team, None)
        if len(y):
            model.go_on(X, y, classes if first else None, team, watch)
    return found


def _answer_and_learn(
    model: OnlineLearner,
    X: Matrix,
    y: np.ndarray,
    labelled: np.ndarray,
    team: Workers,
    classes: np.ndarray | None,
) -> list[Answer]:
    first = not hasattr(model, "learner_state")
    if first and classes is None and not len(y):
        return [Answer(None, [], None)] * X.shape[0]
    if first:
        X = model.validate(X)
    before, given = model.classes_before(classes if first else None, first)
    after = model.classes_after(before, y, given) if len(y) else before
    labels = np.full(len(labelled), -1)
    labels[labelled] = numbers_in(after, y)
    known = numbers_in(after, before)
    record = model.record_with(first, X[labelled], after, labels[labelled])
    memory = memory_bytes(model.memory)
    if first:
        start = model.begin(X)
        state = model.new_state(X, start.double, start.seed)
    else:
        state = model.learner_state
        if state.block_length(len(labels), memory) < len(labels) or len(after) > len(before):
            state = state.copy()  # a failure between two blocks must leave no trace
    if state.kernel.on_products:
        check_overflow(state.kernel, state.dtype, largest_square(X))
    X = state.stored.match(prepare(X, state.kernel, state.dtype))
    if X.dtype == np.float32 and not np.isfinite(X.data if sp.issparse(X) else X).all():
        raise ValueError("x has a number that is too large for float32: scale the data")
    answers = Answers(state.learner.averages if model.average == "auto" else bool(model.average))
    with Watch("stream", len(labels), interruptible=False) as watch:
        state.learn(X, labels, known, team, memory, watch, answers)
    model.set_fitted(state, after, given, model.beginning)
    model._record = record
    model.warn_if_nothing_is_stored(len(y))
    return _read(answers, after)


def _read(answers: Answers, labels: np.ndarray) -> list[Answer]:
    """The answers in terms of labels."""
    found = []
    for numbers, scores in answers.parts:
        classes = labels[numbers].tolist()
        if len(classes) < 2:
            found += [Answer(classes[0] if classes else None, classes, None)] * len(scores)
            continue
        best = (scores[:, 0] > 0).astype(int) if len(classes) == 2 else scores.argmax(axis=1)
        found += [
            Answer(classes[k], classes, row)
            for k, row in zip(best.tolist(), scores.tolist(), strict=True)
        ]
    return found
