"""What a fit tells of itself: each trained machine with the objective and the duality gap of its
coefficients as they are stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from largemargin.kernels.functions import UNIT
from largemargin.runtime.arrays import DistantRows
from largemargin.runtime.progress import Watch
from largemargin.svm.bounds import multiple_bounds, with_bounds
from largemargin.svm.evaluation import Outputs, Stored, summed
from largemargin.svm.formulations import HardMargin, SoftMargin, square_of
from largemargin.svm.problem import DualResult, Optimality

if TYPE_CHECKING:
    from largemargin.svm.jobs import TrainedProblem
    from largemargin.svm.session import Session

SMALLEST_GAP = 1e-12  # a duality gap that is not worth making smaller


def certify(
    session: Session, trained: Sequence[TrainedProblem], watch: Watch, tol: float
) -> list[TrainedProblem]:
    """The same machines, each with the duality gap of its coefficients as they are stored."""
    session.evaluation.share_among(len(trained))
    found = list(trained)

    def run(k: int) -> None:
        with np.errstate(over="ignore"):  # an objective beyond the range of floats is infinite
            found[k] = _certified(session, trained[k], watch, tol)

    if isinstance(session.X, DistantRows):
        session.X.together(run, range(len(trained)))
        return found
    for k in range(len(trained)):
        run(k)
    return found


def _certified(session: Session, one: TrainedProblem, watch: Watch, tol: float) -> TrainedProblem:
    if one.result.witness is not None:
        if watch.stopped and one.result.separable:  # it shows nothing yet
            return one
        return replace(one, result=_without_margin(session, one))
    y, s, problem = one.stated.signs, one.stated.weights, one.stated.problem
    result, outputs = _with_bounds(session, one, one.result, watch)
    formulation = one.job.formulation
    if one.criterion is not None or not session.exact or watch.stopped:
        return replace(one, result=result)
    if not isinstance(formulation, SoftMargin):
        return replace(one, result=result)
    times = None
    if result.gap > SMALLEST_GAP:
        times = formulation.enlargement(y, s, result, outputs, session.norms[one.examples])
    if times is not None:
        other, found = _with_bounds(session, *_enlarged(session, one, times), watch)
        if other.gap < result.gap:
            result, outputs = other, found
    if result.converged:  # rounding in many steps may have hidden that it did not
        grad = outputs.values[0] + problem.p + problem.ridge * result.coefs
        left = Optimality.of(problem, result.coefs, grad, len(problem)).violation
        if left > 2 * tol:
            result = replace(result, converged=False)
    return replace(one, result=result)


def _enlarged(
    session: Session, one: TrainedProblem, times: float
) -> tuple[TrainedProblem, DualResult]:
    """A multiple of a machine; its outputs are known from the machine's, and how far off they may
    be: each coefficient is rounded once more.
    """
    result, norms = one.result, session.sizes[one.examples]
    coefs, outputs = times * result.coefs, times * one.outputs
    rounding = 2 * UNIT * (summed(np.abs(coefs) * norms) * norms + np.abs(outputs))
    sizes = None if one.sizes is None else times * one.sizes
    result = replace(result, coefs=coefs, intercept=times * result.intercept)
    drift = times * one.drift + rounding
    return replace(one, result=result, outputs=outputs, drift=drift, sizes=sizes), result


def _with_bounds(
    session: Session, one: TrainedProblem, result: DualResult, watch: Watch
) -> tuple[DualResult, Outputs]:
    """The result with its objective and duality gap as they hold, and the outputs for it."""
    y, s = one.stated.signs, one.stated.weights
    criterion, b = one.criterion or one.job.formulation, result.intercept
    late = bool(watch.stopped) and not session.whole
    drift: float | np.ndarray = np.inf
    values, sizes = None, None
    if result is one.result and (late or one.scale == 1.0) and one.is_bounded(session.whole):
        values, drift = one.scale * one.outputs[None], one.drift
        sizes = None if one.sizes is None else one.scale * one.sizes[None]
    stored = Stored(one.job.split, one.examples, result.coefs[None], values, drift, sizes)
    if late:
        found = session.evaluation.rough(stored, one.scale)
        if not found:
            unknown = Outputs(one.outputs[None], np.full((1, len(y)), np.inf), np.nan, np.inf)
            return replace(result, gap=np.inf, rounding=np.inf), unknown
    else:
        found = session.evaluation.outputs(stored, criterion.near_margin(y, s, b), result.n_steps)
    reach = session.evaluation.reach
    readings = [criterion.bounds(y, s, result.coefs, b, outputs, reach) for outputs in found]
    return with_bounds(result, readings), found[0]


def _without_margin(session: Session, one: TrainedProblem) -> DualResult:
    """Where no machine has the margin: what the nearest points of the hulls show of it."""
    result, formulation = one.result, one.job.formulation
    assert result.witness is not None
    y, s, problem = one.stated.signs, one.stated.weights, one.stated.problem
    stored = Stored(one.job.split, one.examples, result.witness[None])
    hard = isinstance(formulation, HardMargin)
    missing = abs(summed(result.witness)) if problem.n_groups > 1 else 0.0
    objective, separable = np.inf, result.separable
    for outputs in session.evaluation.outputs(stored, formulation.near_margin(y, s, 0.0)):
        longest = np.sqrt(max(outputs.square + outputs.square_error, 0.0))
        longest += missing * session.evaluation.reach
        separable |= not longest <= problem.least_norm
        reached = -square_of(longest) / 2
        if hard:
            reached = multiple_bounds(
                result.witness, outputs, missing, session.evaluation.reach
            ).low
        objective = min(objective, reached)
    return replace(result, objective=objective, separable=separable)
