"""How good answers are: their error beside that of a guess, and what an error alone would hide.

A guess always answers with the commonest class of the rows. Where a class is rare, a guess has a
small error and is of no use, so that its recall, the balanced error (1 less the mean recall) and,
for two classes, the area under the ROC curve (AUC) are told as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.report.intervals import ErrorRate

LEARNED = 0.75  # of the balanced error of a guess, below which rare classes are found too
ALIKE = 1e-10  # relative difference of decision values that is rounding
RARE = 0.2  # a class of two is rare below this share; of more classes below 2 / classes of it


@dataclass(frozen=True)
class Measures:
    """What was counted on labelled rows.

    Attributes
    ----------
    rate : ErrorRate
    guess_error : float
        The error of always answering with the commonest class of these rows.
    commonest, rarest : label
        The class with the most and with the fewest rows; both occur.
    rarest_share : float
        Of the rows that are of the rarest class.
    imbalanced : bool
        Whether the rarest class is rare, as `RARE` says.
    balanced_error : float
        1 less the mean recall of the classes that occur.
    recalls : dict
        By label, of the classes that occur.
    auc : float or None
        Of two classes; None for more, or if one of them does not occur.
    """

    rate: ErrorRate
    guess_error: float
    commonest: Any
    rarest: Any
    rarest_share: float
    imbalanced: bool
    balanced_error: float
    recalls: dict[Any, float]
    auc: float | None

    @property
    def error(self) -> float:
        return self.rate.share

    @property
    def beats_guess(self) -> bool:
        return self.error < self.guess_error

    @property
    def finds_rare(self) -> bool:
        """Whether the classes are told apart though one is rare, whatever the error is."""
        guess = 1 - 1 / len(self.recalls)
        return self.imbalanced and self.balanced_error < LEARNED * guess

    def as_json(self) -> dict[str, Any]:
        return {
            "guess_error": self.guess_error,
            "balanced_error": self.balanced_error,
            "recalls": {str(label): recall for label, recall in self.recalls.items()},
            "auc": self.auc,
            "imbalanced": self.imbalanced,
        }


def measure(
    truth: np.ndarray, predicted: np.ndarray, classes: np.ndarray, scores: np.ndarray | None = None
) -> Measures:
    """Measures of answers.

    Parameters
    ----------
    truth, predicted : arrays of int
        Class numbers; -1 is a label that the model does not know, which is always wrong.
    classes : array
        The labels of the class numbers.
    scores : array, optional
        What `decision_function` gives, for the AUC.

    Examples
    --------
    >>> found = measure(np.array([0, 0, 0, 0, 0, 1]), np.zeros(6, int), np.array(["no", "yes"]))
    >>> round(found.guess_error, 3), found.beats_guess, found.imbalanced
    (0.167, False, True)
    >>> found.balanced_error, found.recalls
    (0.5, {'no': 1.0, 'yes': 0.0})
    """
    counts = np.bincount(truth[truth >= 0], minlength=len(classes))
    right = np.bincount(truth[(truth >= 0) & (truth == predicted)], minlength=len(classes))
    there = np.flatnonzero(counts) if counts.any() else np.arange(len(classes))
    labels = classes.tolist()
    recalls = {labels[k]: float(right[k] / max(counts[k], 1)) for k in there.tolist()}
    rarest = int(there[counts[there].argmin()])
    share = float(counts[rarest] / max(counts.sum(), 1))
    return Measures(
        ErrorRate(int((truth != predicted).sum()), len(truth)),
        guess_error(truth),
        labels[int(counts.argmax())],
        labels[rarest],
        share,
        len(there) > 1 and share < 2 * RARE / len(there),
        1.0 - float(np.mean(list(recalls.values()))),
        recalls,
        area_under_curve(truth, scores),
    )


def guess_error(truth: np.ndarray) -> float:
    """The error of always answering with the commonest class of some rows.

    >>> guess_error(np.array([0, 0, 1, -1]))
    0.5
    """
    known = truth[truth >= 0]
    right = int(np.bincount(known).max()) if len(known) else 0
    return (len(truth) - right) / len(truth)


def all_alike(scores: np.ndarray) -> bool:
    """Whether scores differ by rounding only: all rows have the same decision value.

    >>> all_alike(np.array([-1.0, -1.0 + 1e-14])), all_alike(np.array([1e-14, -1e-14]))
    (True, False)
    """
    return bool(np.ptp(scores) <= ALIKE * np.abs(scores).max())


def area_under_curve(truth: np.ndarray, scores: np.ndarray | None) -> float | None:
    """The AUC of two classes; None where there is no such thing."""
    from sklearn.metrics import roc_auc_score

    known = truth >= 0
    if scores is None or np.ndim(scores) != 1 or len(np.unique(truth[known])) != 2:
        return None
    if all_alike(scores[known]):
        return 0.5
    return float(roc_auc_score(truth[known], scores[known]))
