"""`KernelAdatron`: the optimal hyperplane by the simplest of rules, one example at a time.

    alpha_i <- alpha_i + eta_i (1 - y_i z_i),  z_i = sum_j alpha_j y_j k(x_j, x_i),  kept within 0
    and C

This climbs the dual of the machine without a threshold coordinate by coordinate (Friess,
Cristianini & Campbell 1998); 0 < eta_i k(x_i, x_i) < 2 makes every step one upwards. The threshold
is put halfway between the closest scores of the two classes, and a pass is the last when half their
distance reaches 1. With a finite C, or on data that cannot be separated, it ends when no step is
larger than `tol`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.svm.estimator import SupportVectorMachine


class KernelAdatron(SupportVectorMachine):
    def __init__(
        self,
        *,
        C: float = np.inf,
        learning_rate: float | str = "auto",
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 1.0,
        multiclass: str = "ovr",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_seconds: float | None = None,
        memory: int | str = "auto",
        n_jobs: int | None = None,
        precision: str = "auto",
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.learning_rate = learning_rate
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.multiclass = multiclass
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.memory = memory
        self.n_jobs = n_jobs
        self.precision = precision
        self.verbose = verbose
