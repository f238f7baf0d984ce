"""The C of a machine, chosen by cross-validation on its training set.

The paper does not print its C. Folds are stratified and shuffled with a fixed seed; the C with the
fewest held-out errors wins, and of equal ones the smallest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

USPS_CS = (0.1, 1.0, 10.0, 100.0, 1000.0)
MNIST_CS = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 10.0)  # kernel values go up to 1e8 there


@dataclass(frozen=True)
class Search:
    """The values to try, on how many folds, and on how many training images (None: all)."""

    Cs: tuple[float, ...]
    folds: int = 5
    rows: int | None = None

    def as_json(self) -> dict[str, Any]:
        return {"Cs": list(self.Cs), "folds": self.folds, "rows": self.rows}

    def errors(self, model: Any, X: np.ndarray, y: np.ndarray) -> list[float]:
        """Held-out error of the model in percent, one number for each C."""
        from sklearn.model_selection import StratifiedKFold

        from largemargin.svm import cross_validate

        if self.rows is not None and self.rows < len(y):
            chosen = np.random.RandomState(0).permutation(len(y))[: self.rows]
            X, y = X[chosen], y[chosen]
        folds = StratifiedKFold(self.folds, shuffle=True, random_state=0)
        scores = cross_validate(model, X, y, self.Cs, folds).mean_scores
        return [float(error) for error in 100 * (1 - scores)]

    def best(self, errors: list[float]) -> float:
        return min(zip(errors, self.Cs, strict=True))[1]
