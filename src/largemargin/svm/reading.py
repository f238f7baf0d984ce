"""What a fitted support vector machine answers: scores and classes, from every pair of classes
too.
"""

from __future__ import annotations

import numpy as np

from largemargin.base.expansion import Expansion, ExpansionClassifier
from largemargin.svm.multiclass import votes


class ExpansionReader(ExpansionClassifier):
    """The reading half of the support vector machines; the other half makes the expansion read
    here.
    """

    _expansion: Expansion
    _positions: np.ndarray
    _by_pairs: bool  # whether each problem is one of two classes among several

    def join_scores(self, scores: np.ndarray) -> np.ndarray:
        if self._by_pairs:
            return votes(scores, len(self.classes_)).T
        return super().join_scores(scores)
