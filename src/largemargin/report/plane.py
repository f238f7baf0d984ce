"""What a classifier makes of the plane: its answers on a grid, its margins, its support vectors.

Everything is read off the model from outside, so that any classifier can be asked:

    lead_k = s_k - max_{j != k} s_j     of scores s, one per class; k is answered where lead_k > 0

With two classes the scores are f/2 and -f/2, and the lead of the second is the decision function.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.base.classifier import Estimator
from largemargin.base.labels import numbers_in
from largemargin.base.pipelines import before_final_step, best_model, deciding_model
from largemargin.machines import card_of
from largemargin.runtime.arrays import MatrixLike

PADDING = 0.06  # share of the range of the points that is added on every side

# share of the grid that may lie so near a line that scores and answers round differently
MAX_DISAGREEING = 1e-3

# machines of others whose margin is where the decision function is 1 and -1, and whether that is so
# for more than two classes too
FOREIGN = {"SVC": False, "NuSVC": False, "LinearSVC": True}


@dataclass(frozen=True)
class Grid:
    """Points that cover the examples, as two matrices of coordinates."""

    across: np.ndarray
    up: np.ndarray

    @classmethod
    def around(cls, points: np.ndarray, resolution: int) -> Grid:
        low, high = points.min(axis=0), points.max(axis=0)
        room = PADDING * np.where(high > low, high - low, 1.0)
        sides = np.linspace(low - room, high + room, resolution).T
        return cls(*np.meshgrid(*sides))

    @property
    def limits(self) -> tuple[tuple[float, float], tuple[float, float]]:
        across, up = self.across[0], self.up[:, 0]
        return (float(across[0]), float(across[-1])), (float(up[0]), float(up[-1]))

    def like(self, X: MatrixLike) -> MatrixLike:
        """The points as rows: an array, or a data frame with the columns of X."""
        rows = np.stack([self.across.ravel(), self.up.ravel()], axis=1)
        if hasattr(X, "columns"):
            return type(X)(dict(zip(X.columns, rows.T, strict=True)))
        return rows


def classes_of(model: Any) -> np.ndarray:
    """The answers that a model can give: its classes, or -1 for an outlier and 1."""
    return np.asarray(getattr(model, "classes_", (-1, 1)))


def leads(model: Any, X: MatrixLike) -> np.ndarray:
    """By how much each class leads over the best other one: positive where it is the answer.

    Scores that the model's own answers contradict (one-vs-one votes, say) are not used: then the
    lead is 1/2 or -1/2.
    """
    classes = classes_of(model)
    answers = numbers_in(classes, model.predict(X))
    scores = _scores(model, X)
    if scores is not None and np.mean(scores.argmax(axis=0) != answers) <= MAX_DISAGREEING:
        return over_the_others(scores)
    return np.where(answers == np.arange(len(classes))[:, None], 0.5, -0.5)


def _scores(model: Any, X: MatrixLike) -> np.ndarray | None:
    """One row of scores per class; None if there is nothing but answers."""
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), np.float64)
        if scores.ndim == 1:
            return np.stack([-scores, scores]) / 2
    elif hasattr(model, "predict_proba"):
        scores = np.asarray(model.predict_proba(X), np.float64)
    else:
        return None
    return scores.T if scores.shape[1] == len(classes_of(model)) else None


def over_the_others(scores: np.ndarray) -> np.ndarray:
    """The lead of each class, from one row of scores per class."""
    second, best = np.partition(scores, -2, axis=0)[-2:]
    return np.asarray(scores - np.where(scores == best, second, best))


def margins(model: Any, X: MatrixLike, lead: np.ndarray, level: Any) -> np.ndarray | None:
    """Functions that are zero on the lines of the margin, one per line; None if there are none.

    With two classes the lines are f = level and f = -level. With more, a class that is trained
    against the rest has its own line f_k = level, and where the scores compete (Crammer and Singer,
    the online learners) the winner leads by level.
    """
    levels = np.broadcast_to(margin_level(model) if isinstance(level, str) else level, len(lead))
    if not (levels > 0).all():
        return None
    if len(lead) == 2:
        return np.asarray(lead - levels[:, None])
    scores = _scores(model, X)
    kind = getattr(deciding_model(model), "multiclass", None)
    if kind == "ovo" or scores is None:
        return None
    return np.asarray((lead if are_competing(model) else scores) - levels[:, None])


def are_competing(model: Any) -> bool:
    """Whether a margin is the lead over the other classes, not a score of its own."""
    last = deciding_model(model)
    online = isinstance(last, Estimator) and card_of(last).streams
    return online or getattr(last, "multiclass", None) == "crammer-singer"


def margin_level(model: Any) -> Any:
    """The score on the margin, one for all classes or one each; 0 if there is no such score."""
    last = deciding_model(model)
    if not isinstance(last, Estimator):
        of_many = FOREIGN.get(type(last).__name__)
        return 1.0 if of_many or (of_many is not None and len(last.classes_) == 2) else 0.0
    card = card_of(last)
    level = getattr(last, card.level) if isinstance(card.level, str) else card.level
    return level / 2 if card.doubled and len(last.classes_) == 2 else level


def support_points(model: Any, X: MatrixLike, points: np.ndarray) -> np.ndarray:
    """The support vectors, as points: rows of X if it is the training data, else from the model.

    Inside a pipeline a support vector is not in the coordinates of X: it must be one of its rows.
    """
    last = deciding_model(model)
    none = np.empty((0, 2))
    if not hasattr(last, "support_") or not hasattr(last, "support_vectors_"):
        return none
    support, vectors = np.asarray(last.support_), dense(last.support_vectors_)
    moved = last is not model
    inside = dense(before_final_step(best_model(model), X)) if moved else points
    if len(support) and support.max() < len(points):
        rows = inside[support]
        if rows.shape == vectors.shape and np.allclose(rows, vectors, rtol=1e-5, atol=1e-6):
            return np.asarray(points[support])
    return none if moved or vectors.shape[1:] != (2,) else vectors


def dense(rows: Any) -> np.ndarray:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, np.float64)
