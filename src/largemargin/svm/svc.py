"""`SVC`: support-vector networks, soft and hard margins, in three ways to count slack."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from largemargin.svm.estimator import SupportVectorMachine, TrainingSet
from largemargin.svm.machines import HardMargin, SoftMargin
from largemargin.svm.reductions import Split
from largemargin.svm.session import Formulation

SLACKS = ("linear", "squared", "squared-sum")


class SVC(SupportVectorMachine):
    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 1.0,
        slack: str = "linear",
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
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.slack = slack
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

    _reductions = ("ovr", "ovo", "crammer-singer")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("C", "min_margin"):
            value = getattr(self, name)
            if not isinstance(value, Real) or isinstance(value, bool) or not value > 0:
                raise ValueError(f"{name} must be positive, got {value!r}")
        if self.slack not in SLACKS:
            raise ValueError(f"slack must be one of {', '.join(SLACKS)}, got {self.slack!r}")

    def _formulation(self, data: TrainingSet, split: Split) -> Formulation:
        if np.isinf(self.C):
            return HardMargin(float(self.min_margin), bool(self.fit_intercept))
        return SoftMargin(float(self.C), self.slack == "squared", bool(self.fit_intercept))
