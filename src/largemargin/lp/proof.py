"""What coefficients are worth, and how far from the best: proof of a solution under rounding.

Of the coefficients as they will be stored, `Solution` tells

    the objective        computed from margins m_i, which are known to an error e_i
    an upper bound       of what it really is: with margins m_i - e_i
    a lower bound        of what any coefficients have, by the dual variables u (see `programs`):
                         sums that exceed what they may be, by rounding or otherwise, are counted
    the gap              between the two bounds, never less than the true duality gap

Where coefficients have a cost, u can be divided by what the largest sum exceeds it by. Where they
have none, or one that is lost beside the price of slack, the bound is one for coefficients up to
LARGER times the largest one found: each can gain what its sum exceeds its cost by, times its size.

A margin that is short of 1 by 1e-16 costs C times as much, which for a large C is more than all the
rest. So coefficients are multiplied by the number, and the margin rho is set to the one, for which
the upper bound is least.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.lp.exact_values import UNIT, ExactValues
from largemargin.lp.programs import Program
from largemargin.lp.restricted_master import MasterSolution

LARGER = 10.0  # factor, on the largest coefficient found, up to which the lower bound holds
SAME_SHARE = 1e-14  # difference of two sums of prices, which are 1 in all, that is rounding


@dataclass(frozen=True)
class Solution:
    """Coefficients of `examples`, threshold and margin to be stored, and what is known of them: the
    objective, its relative gap, and the steps of the solver that led here.

    `reason` says why the solver did not solve the program, and is empty if it did.
    """

    examples: np.ndarray
    coefs: np.ndarray
    b: float
    rho: float
    objective: float
    gap: float
    n_steps: int = 0
    reason: str = ""


def prove(
    program: Program,
    values: ExactValues,
    point: MasterSolution,
    duals: np.ndarray | None,
    stopped: Callable[[], Any] = lambda: False,
    *,
    as_it_is: bool = False,
) -> Solution:
    """A solution of the restricted master and what it is worth for the whole program. Its size or
    its margin is changed a little, unless it is to stay as it is. Without duals, the lower bound is
    what bounds every objective.
    """
    y, used = program.signs, np.flatnonzero(point.coefs)
    examples, coefs, b, rho = point.examples[used], point.coefs[used], point.b, point.rho
    found = values.sums(examples, coefs * y[examples], program.own, scores=True)
    assert found is not None  # nothing stops it
    outputs, error = found
    margins = y * (outputs + b)
    error = error + 4 * UNIT * (np.abs(outputs) + abs(b))
    if program.nu is not None:
        rho = best_margin(program, margins - error, rho)
    elif not as_it_is:
        times = best_multiple(program, coefs, margins - error)
        coefs, margins, error = times * coefs, times * margins, times * error
    objective = program.objective(coefs, margins, rho)
    upper = program.objective(coefs, margins - error, rho)
    terms = program.cost * float(coefs.sum()) + 2 * (program.nu or 0.0) * rho
    upper += (len(y) + len(coefs) + 8) * UNIT * (abs(upper) + terms)
    lower = program.least_objective
    if duals is not None:
        largest = float(coefs.max(initial=0.0))
        lower = max(lower, bound(program, values, duals, largest, max(rho, abs(b)), stopped))
    gap = np.inf
    if np.isfinite(lower):
        size = max(abs(objective), abs(lower), program.trifle)
        gap = max(upper - lower, upper - objective, 0.0) / size
    return Solution(examples, coefs, b, rho, objective, gap)


def unproven(program: Program, point: MasterSolution, objective: float) -> Solution:
    """A solution that was not proven: all that is known is what bounds every objective."""
    gap = np.inf if np.isinf(program.least_objective) else 1.0
    return Solution(point.examples, point.coefs, point.b, point.rho, objective, gap)


def best_multiple(program: Program, coefs: np.ndarray, margins: np.ndarray) -> float:
    """The t for which the objective of t times the coefficients is least; of several such t, the
    one nearest to 1.

    In t it is convex and made of lines, with a bend of prices_i m_i at 1 / m_i, where m_i > 0.
    """
    bent = np.flatnonzero(margins > 0)
    bends, jumps = 1 / margins[bent], program.prices[bent] * margins[bent]
    order = np.argsort(bends, kind="stable")
    bends, jumps = bends[order], jumps[order]
    never = margins <= 0
    last = program.cost * float(coefs.sum()) - float(program.prices[never] @ margins[never])
    slopes = np.append(last - np.cumsum(jumps[::-1])[::-1], last)  # one per line between bends
    ends = np.concatenate([[0.0], bends, [np.inf]])
    low, high = (ends[np.searchsorted(slopes, 0.0, side)] for side in ("left", "right"))
    times = float(np.clip(1.0, low, high))

    def objective(t: float) -> float:
        return program.objective(t * coefs, t * margins, 1.0)

    return times if objective(times) < objective(1.0) else 1.0


def best_margin(program: Program, margins: np.ndarray, rho: float) -> float:
    """The rho of least objective; of several, the one nearest to the rho given.

    The objective is convex in rho and made of lines, with a bend of prices_i at each margin.
    """
    order = np.argsort(margins, kind="stable")
    slopes = np.cumsum(program.prices[order]) - (program.nu or 0.0)  # slopes right of each bend
    ends = margins[order]
    first = min(int(np.searchsorted(slopes, -SAME_SHARE)), len(ends) - 1)
    last = min(int(np.searchsorted(slopes, SAME_SHARE, side="right")), len(ends) - 1)
    best = float(np.clip(rho, max(ends[first], 0.0), max(ends[last], 0.0)))

    def objective(value: float) -> float:
        return program.objective(np.empty(0), margins, value)

    return best if objective(best) < objective(rho) else rho


def bound(
    program: Program,
    values: ExactValues,
    duals: np.ndarray,
    largest: float,
    threshold: float,
    stopped: Callable[[], Any],
) -> float:
    """What no objective is below, by dual variables that are feasible but for rounding; it is minus
    infinity if it was stopped.
    """
    y = program.signs
    duals = np.clip(duals, 0.0, program.prices)
    if program.nu is not None:
        duals = balanced(duals, y)
    used = np.flatnonzero(duals)
    found = values.sums(used, duals[used] * y[used], program.own, scores=False, stopped=stopped)
    if found is None:
        return -np.inf
    sums = y * found[0] + found[1]  # upper bounds of sum_i u_i B_ij
    total = float(duals.sum()) * (1 - len(y) * UNIT)
    if program.nu is not None:
        # what b and rho could gain by sums that are not quite what they should be
        size = LARGER * max(program.size, threshold)
        lack = abs(float(y @ duals)) + max(program.nu - total, 0.0) + len(y) * UNIT * total
        return -float(sums.max()) - size * lack
    size = LARGER * max(largest, 1 / program.size)
    over = np.maximum(sums - program.cost, 0.0)
    limited = total - size * float(over.sum()) * (1 + len(y) * UNIT)
    if not program.cost:
        return limited
    return max(limited, total / max(1.0, float(sums.max()) / program.cost * (1 + 4 * UNIT)))


def balanced(duals: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Duals with equal sums on both sides: the heavier side is scaled down."""
    positive, negative = float(duals[y > 0].sum()), float(duals[y < 0].sum())
    if positive > negative:
        return np.where(y > 0, duals * (negative / positive), duals)
    return np.where(y < 0, duals * (positive / negative), duals) if negative else duals
