"""What is said of every machine that is linear in a feature space, and how such a machine is
examined: as a kernel expansion of each problem beside data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.certificates.capacity import capacity_statements
from largemargin.certificates.certificate import Statement
from largemargin.certificates.fitted import Fitted, checked, numbers_of, recorded, signs_of
from largemargin.certificates.margins import margin_statements


@dataclass(frozen=True)
class Asked:
    """What the caller of `certificate` wants to know; see the `certificate` method of models."""

    delta: float
    constant: float
    rhos: list[float]
    leave_one_out: bool | str


def feature_space_statements(
    fitted: Fitted, own: Sequence[Statement], asked: Asked
) -> tuple[int, list[Statement]]:
    """The number of examples, and what is said: by margins, by the family itself, by capacity."""
    return len(fitted), [
        *margin_statements(fitted, asked.rhos),
        *own,
        *capacity_statements(fitted, asked.delta, asked.constant),
    ]


def examine_expansion(
    model: Any, X: Any, y: Any, *, by_pairs: bool = False, joint: bool = False
) -> Fitted:
    """A model that is one kernel expansion per problem; `joint` if its classes compete."""
    X, labels = checked(model, X, y)
    expansion, n_classes = model.expansion, len(model.classes_)
    if n_classes < 2:
        raise ValueError(
            f"margins need a model of two classes, got {model.classes_.tolist()}: go on with the "
            "stream"
        )
    signs = signs_of(labels, n_classes, by_pairs)
    scores = model.problem_scores(X)
    return Fitted(
        model, X, labels, numbers_of(model, model.join_scores(scores)), signs, scores,
        expansion.basis.kernel, expansion.basis, expansion.coefs, expansion.intercepts,
        recorded(model, X, labels), joint=joint and n_classes > 2,
    )  # fmt: skip


def rows_of(scores: np.ndarray) -> np.ndarray:
    """What `decision_function` gives, as one row per problem."""
    return scores[None] if scores.ndim == 1 else scores.T
