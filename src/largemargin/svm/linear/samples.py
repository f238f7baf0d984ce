"""A dual problem of few features as a function of w, and samples of it.

The dual of the dual in `problem` is in w and one level t per sum: to minimise

    1/2 w.w + s.t + sum_i max(-lo_i r_i, -hi_i r_i),   r = X w + p + A't

whose terms are lines with a kink, for the hinge loss the loss itself. (With a ridge the kink is
followed by a parabola.) A sample of the rows, with boxes that are larger by as much as it is
smaller, has nearly the same solution.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from largemargin.svm.active_set import group_sums
from largemargin.svm.linear.rows import Rows
from largemargin.svm.problem import Problem

SEED = 0
GROWTH = 4  # the factor by which samples grow
SMALLEST_SAMPLE = 1000  # rows
ROWS_PER_FEATURE = 10  # of the smallest sample


@dataclass(frozen=True)
class Sample:
    """Rows of a problem with their boxes, and what the sums have to be."""

    rows: Rows
    p: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    ridge: np.ndarray
    A: np.ndarray  # one column per sum
    sums: np.ndarray
    is_whole: bool

    def __len__(self) -> int:
        return len(self.p)

    @property
    def d(self) -> int:
        return int(self.rows.d)

    def reduced(self, v: np.ndarray) -> np.ndarray:
        """r for v = (w, t)."""
        return np.asarray(self.rows.times(v[: self.d]) + self.p + self.A @ v[self.d :])

    def primal(self, v: np.ndarray, r: np.ndarray) -> float:
        """What is to be minimised, for boxes with ends."""
        ends = np.where(r > 0, -self.lo, -self.hi) * r
        return float(v[: self.d] @ v[: self.d] / 2 + self.sums @ v[self.d :] + ends.sum())

    @property
    def worth(self) -> float:
        """The accuracy, relative to the margin, to which the rows of a sample tell those of all."""
        return float(np.sqrt(self.d / len(self)))

    def gathered(self, beta: np.ndarray) -> np.ndarray:
        """(X'b, A'b - s)"""
        return np.concatenate([self.rows.turned(beta), self.A.T @ beta - self.sums])

    def stated(self, problem: Problem) -> Problem:
        """The sample as a problem of its own, of the kind of another."""
        group = self.A @ np.arange(self.A.shape[1]) * (a := self.A.sum(axis=1))
        far = self.lo + self.hi
        reach = self.A.T @ far
        share = np.where(reach != 0, self.sums / np.where(reach != 0, reach, 1.0), 0.0)
        return replace(
            problem, p=self.p, lo=self.lo, hi=self.hi, ridge=self.ridge, a=a,
            group=group.astype(np.uint8), start=far * (np.abs(self.A) @ share),
        )  # fmt: skip


def whole(problem: Problem, rows: Rows) -> Sample:
    """All rows of a problem, all of which can move."""
    A, sums = np.zeros((len(problem), 0)), np.zeros(0)
    if problem.threshold:
        A = problem.a[:, None] * (problem.group[:, None] == np.arange(problem.n_groups))
        sums = group_sums(problem, problem.start)
    return Sample(rows, problem.p, problem.lo, problem.hi, problem.ridge, A, sums, True)


def samples(problem: Problem, full: Sample) -> list[Sample]:
    """Samples of growing size, the last one being all rows."""
    n, least = len(full), max(SMALLEST_SAMPLE, ROWS_PER_FEATURE * full.d)
    sizes: list[int] = []
    while n / GROWTH ** (len(sizes) + 1) >= least:
        sizes.append(n // GROWTH ** (len(sizes) + 1))
    rng = np.random.default_rng(SEED)
    strata = 2 * problem.group.astype(np.int64) + (problem.hi > -problem.lo)
    parts = [rng.permutation(np.flatnonzero(strata == k)) for k in np.unique(strata)]
    return [*(_taken(full, parts, size / n) for size in reversed(sizes)), full]


def _taken(full: Sample, parts: list[np.ndarray], share: float) -> Sample:
    """A share of each part, with boxes that make up for the rest of it."""
    taken, scales = [], []
    width = full.hi - full.lo
    for part in parts:
        least = min(len(part), SMALLEST_SAMPLE // 10)
        mine = part[: max(least, int(np.ceil(share * len(part))))]
        share_taken = len(mine) / len(part)
        if np.isfinite(width[part]).all():
            share_taken = float(width[mine].sum() / width[part].sum())
        taken.append(mine)
        scales.append(np.full(len(mine), 1 / share_taken))
    which, scale = np.concatenate(taken), np.concatenate(scales)
    order = np.argsort(which)  # neighbours in memory are read together
    which, scale = which[order], scale[order]
    return Sample(
        full.rows.taken(which), full.p[which], full.lo[which] * scale, full.hi[which] * scale,
        full.ridge[which] / scale, full.A[which], full.sums, False,
    )  # fmt: skip
