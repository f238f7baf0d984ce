"""The little that is known of a network of basis functions."""

from __future__ import annotations

from typing import Any

from largemargin.certificates.capacity import HARD, MARGIN, VC
from largemargin.certificates.certificate import Statement
from largemargin.certificates.feature_space import Asked
from largemargin.certificates.fitted import checked, numbers_of, recorded
from largemargin.certificates.margins import SMALLEST, error_statement, score_margins

examine = None  # there is no feature space


def statements(model: Any, X: Any, y: Any, asked: Asked) -> tuple[int, list[Statement]]:
    """The number of examples, and what is said of `RBFNetwork`."""
    X, labels = checked(model, X, y)
    scores = model.decision_function(X)
    sentence = "The smallest y f(x) of an example; negative if it is misclassified."
    records = recorded(model, X, labels)
    unknown = "the capacity of networks with moving centres is not known"
    return len(labels), [
        error_statement(numbers_of(model, scores) != labels),
        SMALLEST.says(float(score_margins(scores, labels).min()), sentence),
        *(theorem.fails(unknown, records) for theorem in (VC, MARGIN, HARD)),
    ]
