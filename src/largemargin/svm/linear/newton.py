"""Machines with squared slack: many rows of few features by Newton's method.

With the ridge g_i of `problem` and no upper end of the box, what there is to minimise in w and in
the level t of the threshold is once differentiable and piecewise quadratic:

    1/2 w.w + s.t + sum of r_i^2 / (2 g_i) over the rows inside the margin,   r = X w + p + A't

A row is inside the margin if r has the sign that makes its variable b_i = -r_i / g_i lie in its
box. Where no row comes in or goes out a Newton step leads to the minimum itself, so the method ends
after a few, with an exact solution (Mangasarian 2002; Keerthi & DeCoste 2005). Where the full step
does not go down enough, the best one along its direction is taken. Samples give the start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg import cho_factor, cho_solve

from largemargin.svm.linear.samples import Sample

STEPS = 60  # Newton steps at most
HALVINGS = 50  # steps of the line search
SLOPE = 1e-13  # a gradient, relative to the sizes of its terms, that is rounding
DECREASE = 1e-4  # the share of the expected decrease that a step has to make
LEAST_PIVOT = 1e-14  # of the system, relative to its diagonal
TINY = 1e-300


def newton(
    samples: Sequence[Sample], stopped: Callable[[], object]
) -> tuple[np.ndarray, int] | None:
    """The variables of the last sample, and the number of systems; None where that fails."""
    full = samples[-1]
    v, n_steps = np.zeros(full.d + full.A.shape[1]), 0
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            for sample in samples:
                v, steps = _minimise(sample, v, stopped)
                n_steps += steps
    except LinAlgError:
        return None
    return _variables(full, full.reduced(v)), n_steps


def _variables(sample: Sample, r: np.ndarray) -> np.ndarray:
    """b = -r / g where that is in the box, else at the near end of it, which is zero."""
    return np.asarray(np.clip(-r / sample.ridge, sample.lo, sample.hi))


def _minimise(
    sample: Sample, v: np.ndarray, stopped: Callable[[], object]
) -> tuple[np.ndarray, int]:
    d, r = sample.d, sample.reduced(v)
    for n_steps in range(STEPS):
        if stopped():
            return v, n_steps
        beta = _variables(sample, r)
        inside = np.flatnonzero(beta)
        slope = -sample.gathered(beta)
        slope[:d] += v[:d]
        M = sample.rows.normal(inside, sample.A[inside], 1 / sample.ridge[inside])
        diagonal = np.arange(len(M))
        size = np.abs(v) * np.append(np.ones(d), np.zeros(len(M) - d)) + np.sqrt(
            np.diagonal(M) * float(beta @ (sample.ridge * beta))
        )
        if not (np.abs(slope) > SLOPE * size).any():
            return v, n_steps
        M[diagonal[:d], diagonal[:d]] += 1.0
        M[diagonal, diagonal] *= 1 + LEAST_PIVOT
        M[diagonal, diagonal] += TINY
        dv = -cho_solve(cho_factor(M, lower=True, check_finite=False), slope, check_finite=False)
        if not np.isfinite(dv).all():
            raise LinAlgError("the system is singular")
        dr = sample.reduced(v + dv) - r
        step = _step(sample, v, dv, r, dr, float(slope @ dv))
        if step == 0:
            return v, n_steps
        v, before = v + step * dv, beta
        r = sample.reduced(v)
        same = np.array_equal(_variables(sample, r) != 0, before != 0)
        if step == 1 and same:
            return v, n_steps + 1
    return v, STEPS


def _step(
    sample: Sample, v: np.ndarray, dv: np.ndarray, r: np.ndarray, dr: np.ndarray, slope: float
) -> float:
    """1 if the full step goes down enough, else the best one, where the slope along it is zero."""
    d = sample.d

    def along(step: float) -> float:
        beta = _variables(sample, r + step * dr)
        own = float((v[:d] + step * dv[:d]) @ dv[:d]) + float(sample.sums @ dv[d:])
        return own - float(beta @ dr)

    if abs(along(1.0)) <= (1 - DECREASE) * abs(slope):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if along(middle) < 0:
            low = middle
        else:
            high = middle
    return low
