"""Machines with a box (the hinge loss, nu): many rows of few features, by ever sharper looks at
ever fewer of them.

At the solution all but about as many variables as there are features are at an end of their box,
and a w that is known to some accuracy tells for most of them which: those with |r| well above the
accuracy (see `central_path` for r and for the resolution). So

    samples   of a sixtieth, a sixteenth, a fourth of the rows, each solved to the resolution that
              its number of rows is worth, about sqrt(d / m);
    bands     in each only the rows with |r| below a few times the resolution of the last sample are
              moved (more times where the sample says little of a row), the others stay at their
              ends; then all are looked at, and rows that turn out to be on the other side join;
    the end   with all rows: once to a tenth of the resolution, then, in the narrow band that is
              left, exactly, the free variables being those of one small linear system.

So the whole data is read some twenty times, whatever its size, and multiplied with itself in a
band that is narrower the more rows there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg import cholesky, solve_triangular

from largemargin.svm.active_set import refine, with_kept_sums
from largemargin.svm.few_features import best_multiple, solve_in_features
from largemargin.svm.formulations import group_multipliers
from largemargin.svm.linear.central_path import BoxProblem, CentralPoint, central, follow
from largemargin.svm.linear.samples import Sample
from largemargin.svm.problem import Optimality, Problem, Solution

BAND = 6.0  # half the width of a band, in resolutions
BLUR = 10.0  # the resolution to start from, relative to that of the last point
COARSEST = 1.0  # the resolution to begin with: the margin
FINEST = 1e-10  # the one to end with
EARLY = 0.1  # the one to reach with all rows before that, relative to the last sample's
LEAST_ROWS = 4  # rows of a band, for each feature and sum, at least
LAST_STEPS = 10  # systems that are solved after the time is up
ROUNDS = 10  # times that rows join a band
FEW = 1e-3  # the fraction of a sample that may be on the wrong side


def solve_by_screening(
    problem: Problem, samples: Sequence[Sample], tol: float, exact: bool,
    stopped: Callable[[], object],
) -> Solution | None:  # fmt: skip
    """The solution, from samples of which the last is the problem itself; None where the method
    loses its way, as it may where numbers are of very different sizes.
    """
    search = _Search(problem, samples[-1], tol, exact, stopped)
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
            for k, sample in enumerate(samples):
                if k == 0 and problem.relative:
                    search.measure(sample)
                else:
                    search.look_at(sample)
                if stopped():
                    return search.blurred()
            return search.finished()
    except LinAlgError:
        return None


class _Search:
    """The best (w, t) so far, the resolution that it is good for, and the systems solved.

    Resolutions are in units of the margin, which is 1 for the hinge loss.
    """

    def __init__(
        self, problem: Problem, full: Sample, tol: float, exact: bool, stopped: Callable[[], object]
    ) -> None:
        self.problem, self.full, self.tol, self.exact = problem, full, tol, exact
        self.stopped = stopped
        self.v = np.zeros(full.d + full.A.shape[1])
        self.resolution, self.unit = np.inf, 1.0
        self.n_steps = 0
        self.system: np.ndarray | None = None

    def measure(self, sample: Sample) -> None:
        """Solve a small sample in another way, to know the size of the margin."""
        X = sample.rows.dense(np.arange(len(sample)), np.zeros((len(sample), 0)))
        problem = sample.stated(self.problem)
        at = solve_in_features(problem, X, self.tol, sample.rows.team, self.stopped)
        optimality = Optimality.of(problem, at.beta, at.grad, len(problem))
        if optimality.infeasible_margin or not at.converged:
            raise LinAlgError("a sample has no margin")
        self.v = np.concatenate([X.T @ at.beta, group_multipliers(problem, at)])
        self.unit, self.resolution = optimality.unit, sample.worth

    def look_at(self, sample: Sample) -> None:
        """Go on to a sample, to the resolution that it is worth."""
        target = EARLY * min(self.resolution, COARSEST) if sample.is_whole else sample.worth / 2
        r, joined = sample.reduced(self.v), np.zeros(len(sample), bool)
        half = BAND * self.resolution * self.unit * self._spread(sample)
        least = sample.primal(self.v, r) if np.isfinite(self.resolution) else np.inf
        reached = np.inf
        for _ in range(ROUNDS):
            band = self._band(r, half) | joined
            point = self._follow(sample, r, band, joined, target)
            seen = sample.reduced(point.v)
            if self.stopped():
                return
            wrong = ~band & ((seen < 0) != (r < 0))
            joined |= wrong
            value = sample.primal(point.v, seen)
            better = value <= least
            if better:
                self.v, r, least = point.v, seen, value
                reached, self.system = point.resolution, point.system
            if better and np.count_nonzero(wrong) <= FEW * len(sample):
                break
        if not np.isfinite(reached):
            raise LinAlgError("rows change sides without end")
        self.resolution = reached if sample.is_whole else max(reached, sample.worth)

    def _spread(self, sample: Sample) -> np.ndarray | float:
        """How much less is known of the output of each row than of a usual one: the length that the
        last system gives it, relative to the median. Features that a sample hardly has make it
        large.
        """
        if self.system is None:
            return 1.0
        L = cholesky(self.system, lower=True, check_finite=False)
        inverse = solve_triangular(L, np.eye(len(L)), lower=True, check_finite=False)
        lengths = sample.rows.lengths(inverse.T, sample.A)
        return np.maximum(1.0, lengths / (float(np.median(lengths)) or 1.0))

    def _band(self, r: np.ndarray, half: np.ndarray | float) -> np.ndarray:
        """The rows to move: those near the margin, and no fewer than can be free."""
        band = np.abs(r) < half
        least = min(len(r), LEAST_ROWS * len(self.v))
        if np.count_nonzero(band) < least:
            band[np.argpartition(np.abs(r), least - 1)[:least]] = True
        return np.asarray(band)

    def _follow(
        self, sample: Sample, r: np.ndarray, band: np.ndarray, joined: np.ndarray, target: float,
        exact: bool = False,
    ) -> CentralPoint:  # fmt: skip
        """The point of the central path that moves a band."""
        start = min(COARSEST, BLUR * self.resolution)
        if joined.any():  # blurred enough for these to come back
            far = float(np.quantile(np.abs(r[joined]), 0.9)) / self.unit / BAND
            start = max(start, min(COARSEST, far))
        box = self._box(sample, r, band)
        point = follow(box, self.v, start, target, self.unit, self.stopped, exact)
        self.n_steps += point.n_steps
        return point

    def _box(self, sample: Sample, r: np.ndarray, band: np.ndarray) -> BoxProblem:
        """The problem of a band, the other variables being at their ends."""
        moved = np.flatnonzero(band)
        return BoxProblem(
            sample.rows.band(moved, sample.A[moved]), sample.p[moved], sample.lo[moved],
            sample.hi[moved] - sample.lo[moved], sample.gathered(_at_ends(sample, r, band)),
            sample.d,
        )  # fmt: skip

    def blurred(self) -> Solution:
        """A feasible point for a w that is known to some resolution only, or the start if that is
        better: what there is when there is no time for more.
        """
        problem, full = self.problem, self.full
        r, width = full.reduced(self.v), min(self.resolution, COARSEST)
        near, _ = central(r, full.hi - full.lo, width * self.unit)
        beta = full.lo + near
        if np.isfinite(self.resolution):
            # one look at all rows, since the sum of these, unlike that of a sample, is far from w
            band = self._band(r, BAND * self.resolution * self.unit * self._spread(full))
            late = partial(next, iter([False] * LAST_STEPS), True)
            blur = min(COARSEST, BLUR * width)
            box = self._box(full, r, band)
            point = follow(box, self.v, blur, EARLY * width, self.unit, late)
            beta = _at_ends(full, r, band)
            beta[band] = point.beta
        beta = with_kept_sums(problem, np.clip(beta, full.lo, full.hi))
        found = self._read(beta)
        if not problem.relative:
            found = best_multiple(problem, found)
        start = self._read(problem.start)
        better = max((found, start), key=lambda at: -float(at.beta @ (at.grad + problem.p)))
        return self._judged(better)

    def finished(self) -> Solution:
        """The exact solution, in a band of all rows that grows until nothing else moves."""
        full = self.full
        r, joined = full.reduced(self.v), np.zeros(len(full), bool)
        half = BAND * self.resolution * self.unit * self._spread(full)
        best: Solution | None = None
        for _ in range(ROUNDS):
            band = self._band(r, half) | joined
            point = self._follow(full, r, band, joined, FINEST, exact=True)
            if self.stopped():
                return best or self.blurred()
            at = self._refined(r, band, point)
            if best is None or at.violation < best.violation:
                best = at
            seen = full.reduced(point.v)
            wrong = ~band & ((seen < 0) != (r < 0))
            if not wrong.any() or (best.converged and not self.exact):
                break
            joined |= wrong
        assert best is not None
        return best

    def _refined(self, r: np.ndarray, band: np.ndarray, point: CentralPoint) -> Solution:
        """All variables: the band as the active set method finds it from a point near the solution,
        the others at their ends.
        """
        full, moved = self.full, np.flatnonzero(band)
        beta = _at_ends(full, r, band)
        lo, hi = full.lo[moved], full.hi[moved]
        beta[moved] = np.where(point.at_lo, lo, np.where(point.at_hi, hi, point.beta))
        beta = with_kept_sums(self.problem, np.clip(beta, full.lo, full.hi))
        found = self._judged(self._read(beta))
        if found.converged and not self.exact:
            return found
        w, rows = full.rows.turned(beta), full.rows.taken(moved)
        inner = beta[moved]
        problem = replace(self.problem.taken(moved), start=inner)
        none = np.zeros((len(moved), 0))

        def gram(F: np.ndarray) -> np.ndarray:
            Z = rows.dense(F, none[: len(F)])
            return np.asarray(Z @ Z.T)

        def products(F: np.ndarray, d: np.ndarray) -> np.ndarray:
            return rows.times(d @ rows.dense(F, none[: len(F)]))

        at = Solution(inner, problem.p + rows.times(w), np.inf, 0, False)
        beta[moved] = refine(problem, at, gram, products, stopped=self.stopped).beta
        return self._judged(self._read(beta))

    def _read(self, beta: np.ndarray) -> Solution:
        """With the gradient in the rows as they are."""
        rows = self.full.rows.unshifted()
        return Solution(
            beta, self.problem.p + rows.times(rows.turned(beta)), np.inf, self.n_steps, False
        )

    def _judged(self, at: Solution) -> Solution:
        optimality = Optimality.of(self.problem, at.beta, at.grad, len(self.problem))
        return replace(at, violation=optimality.violation, converged=optimality.meets(self.tol))


def _at_ends(sample: Sample, r: np.ndarray, band: np.ndarray) -> np.ndarray:
    """The variables outside a band at the ends that r says, those in it zero."""
    return np.where(band, 0.0, np.where(r > 0, sample.lo, sample.hi))
