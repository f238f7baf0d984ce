"""`NuSVC`: the support vector machine that is told a fraction of errors instead of a price for
them.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

from largemargin.svm.estimator import SupportVectorMachine, TrainingSet
from largemargin.svm.machines import HardMargin, Nu, largest_nu
from largemargin.svm.reductions import Split, splits
from largemargin.svm.session import Formulation, Job


class NuSVC(SupportVectorMachine):
    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 1.0,
        multiclass: str = "ovr",
        class_weight: Any = None,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        min_margin: float = 1e-6,
        max_iter: int = -1,
        max_seconds: float | None = None,
        warm_start: bool = False,
        memory: int | str = "auto",
        n_jobs: int | None = None,
        precision: str = "auto",
        verbose: int = 0,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.min_margin = min_margin
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.memory = memory
        self.n_jobs = n_jobs
        self.precision = precision
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        nu = self.nu
        if not isinstance(nu, Real) or isinstance(nu, bool) or not 0 <= nu <= 1:
            raise ValueError(f"nu must lie between 0 and 1, got {nu!r}")
        margin = self.min_margin
        if not isinstance(margin, Real) or isinstance(margin, bool) or not margin > 0:
            raise ValueError(f"min_margin must be positive, got {margin!r}")

    def _formulation(self, data: TrainingSet, split: Split) -> Formulation:
        if self.nu == 0:
            return HardMargin(float(self.min_margin), bool(self.fit_intercept))
        return Nu(min(float(self.nu), self._largest(data, split)), bool(self.fit_intercept))

    def _largest(self, data: TrainingSet, split: Split) -> float:
        """The largest nu that a problem allows."""
        sides = [
            data.weights[data.labels == c].sum() * (1 if c == split.positive else -1)
            for c in split.classes
        ]
        return largest_nu(sides, bool(self.fit_intercept))

    def _jobs(self, data: TrainingSet) -> list[Job]:
        largest = [self._largest(data, split) for split in splits(data.n_classes, self.multiclass)]
        short = [nu for nu in largest if nu < self.nu]
        if short and data.n_classes == 2:
            raise ValueError(
                f"nu={self.nu} is infeasible for these classes: the largest feasible nu is "
                f"{largest[0]:.6g}, twice the smaller class's share"
            )
        if short:
            warnings.warn(
                f"nu={self.nu} is infeasible for {len(short)} of {len(largest)} problems of two sides; "
                f"it was lowered there to the largest feasible value, at least {min(short):.4g}",
                UserWarning,
                stacklevel=5,
            )
        return super()._jobs(data)
