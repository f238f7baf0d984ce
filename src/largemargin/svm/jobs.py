"""Machines to train: as they are asked for, as problems, and as trained."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from largemargin.svm.bounds import Criterion
from largemargin.svm.formulations import Formulation
from largemargin.svm.multiclass import Split
from largemargin.svm.problem import DualResult, Problem


@dataclass(frozen=True)
class Job:
    """A machine to train: its classes, formulation and weights, and the point to start from.

    `weights` and `start` have one entry per example of the data; weight 0 takes an example out.
    """

    split: Split
    formulation: Formulation
    weights: np.ndarray
    start: np.ndarray | None = None


@dataclass(frozen=True)
class StatedProblem:
    """A job as a problem: its examples, in the order of the variables, their signs and weights."""

    job: Job
    examples: np.ndarray
    signs: np.ndarray
    weights: np.ndarray
    problem: Problem


@dataclass(frozen=True)
class TrainedProblem:
    """A trained machine: its result, and the outputs of its examples without the threshold.

    The outputs are the solver's own, NaN where there was no time to compute them.
    """

    stated: StatedProblem
    result: DualResult
    outputs: np.ndarray
    # a bound of their distance from sums of the solver's kernel values
    drift: float | np.ndarray = np.inf
    sizes: np.ndarray | None = None  # the solver's sums of |coefficient x kernel value|
    scale: float = 1.0  # the result's coefficients divided by the solver's
    criterion: Criterion | None = None  # if it is not the formulation

    @property
    def job(self) -> Job:
        return self.stated.job

    @property
    def examples(self) -> np.ndarray:
        return self.stated.examples

    def is_bounded(self, whole: bool) -> bool:
        """Whether it is cheaper to go by these outputs than to sum up others."""
        return not whole or bool(np.isfinite(self.drift).all())

    def coefs(self, n: int) -> np.ndarray:
        """The coefficients of all examples of the data."""
        full = np.zeros(n)
        full[self.examples] = self.result.coefs
        return full
