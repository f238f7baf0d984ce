"""The active set method, the last step to the exact solution of a dual problem.

Where the free variables F and the bounds that the others are at are known, the KKT conditions are
linear in the step d of the free variables:

    (K + ridge)_FF d + grad_F + a_F t = 0,   sums kept

with one Lagrange multiplier t per group. Variables that leave the box by this step are put at their
bounds, those at a bound that violate optimality are set free, and again: a few solves from a
solution that is good to the usual tolerance (the primal-dual active set method). Where such guesses
go round in a circle, the classical method changes one variable at a time. The result is taken only
if it violates optimality less than the solution that it started from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotrs, dpstrf

from largemargin.svm.conjugate_gradients import ConjugateSteps
from largemargin.svm.problem import Problem, Solution

MOST_FREE = 2000  # free variables that a dense factorisation is made for
GUESSES = 25  # sets of free variables that are tried
# Guesses in a row without progress that are tolerated before the classical method takes over
STALLED_GUESSES = 4
PROGRESS = 1e-2  # the share of the violation by which a guess has to be better
# Free variables, so many times those of the best point, of a guess that is not tried after one
# without progress, if they are more than a few: such guesses only grow
FLOOD, FEW_FREE = 4, 200
STEP_WORK = 2e9  # multiplications that the steps of the classical method may cost
STEP_OVERHEAD = 3e6  # what a step costs beside its factorisation, counted in multiplications
EXACT_VIOLATION = 1e-11  # a violation, relative to the gradients, that leaves little to gain
SUM_ROUNDING = 1e-14  # the rounding error of a sum, relative to the sum of all sizes
SUM_DRIFT = 1e-12  # a sum that is off by less than this, relative to the largest size, is kept
LEAST_LACK = 1e-13  # the violation, relative to a multiplier, that sets a variable free
# A pivot below this fraction of the largest diagonal entry, times the order of the matrix, is zero
PIVOT_ROUNDING = 1e-13
# The least pivot, relative to the largest diagonal entry, of a matrix that is taken as it is
REGULAR = 1e-10
# What a step may leave of its equations, relative to their largest right side, to be taken: small
# pivots are rounding too, and more of it than they show
AGREED = 1e-9
# Variables that a step would take out of the box are held at its ends: the largest share of all,
# and how many times others are looked for
MOST_HELD, HELD_ROUNDS = 1 / 16, 5
FEW_GROUPS = 2  # groups up to which each is summed in pairs
LARGEST_PRICE = 1e3  # a larger price of slack asks for no smaller violation: rounding allows none


def exact_violation(problem: Problem) -> float:
    """The violation at which a solution counts as exact: smaller where slack, which is what a
    violation costs, has a high price, the largest bound of the box.
    """
    box = np.maximum(problem.hi, -problem.lo)
    price = float(box[np.isfinite(box)].max(initial=1.0))
    return EXACT_VIOLATION / min(max(price, 1.0), LARGEST_PRICE)


def is_exact(problem: Problem, violation: float) -> bool:
    """Whether a solution with this violation counts as exact."""
    return violation <= EXACT_VIOLATION / LARGEST_PRICE or violation <= exact_violation(problem)


def refine(
    problem: Problem,
    solution: Solution,
    gram: Callable[[np.ndarray], np.ndarray],
    products: Callable[[np.ndarray, np.ndarray], np.ndarray],
    solve: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray] | None = None,
    stopped: Callable[[], object] = lambda: "",
    single: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Solution:
    """The exact solution near a good one, or the best point found until it is stopped.

    `gram(F)` gives the kernel values among variables F, `products(F, d)` those of all against F,
    times d. `solve(F, right, short)`, if there is one, gives d with (K + ridge)_FF d + a_F t =
    right and sums of `short` without the kernel values, whatever the number of free variables.
    `single` is `gram` in float32, if that is quicker.
    """
    before = violation_of(problem, solution.beta, solution.grad)
    steps = ConjugateSteps(problem, single or (lambda free: gram(free).astype(np.float32)))
    point = _Iterate(problem, solution.beta, solution.grad, gram, products, solve, steps)
    best, least = point, before
    scale = float(np.abs(solution.grad).max(initial=0.0))
    if not problem.relative:
        scale += 1.0
    worse = 0
    for _ in range(GUESSES):
        if least <= exact_violation(problem) * scale or worse > (
            STALLED_GUESSES if least > EXACT_VIOLATION * scale else 0
        ):
            break
        if stopped():
            break
        free = point.guess()
        if not 0 < len(free) <= (MOST_FREE if solve is None else len(problem)):
            break
        if worse and solve is None and len(free) > max(FEW_FREE, FLOOD * len(best.inside())):
            break
        point = point.jump(free)
        left = point.violation()
        worse = 0 if left < least * (1 - PROGRESS) else worse + 1
        if left < least:
            best, least = point, left
    if least > EXACT_VIOLATION * scale and solve is None:
        best, least = _active_set_steps(best, least, EXACT_VIOLATION * scale, stopped)
    if best.beta is solution.beta:
        return solution
    return replace(
        solution, beta=best.beta, grad=best.grad, violation=solution.violation * least / before
    )


def _active_set_steps(
    best: _Iterate, least: float, enough: float, stopped: Callable[[], object]
) -> tuple[_Iterate, float]:
    """The classical active set method: one variable joins or leaves the free ones per step."""
    point, free, spent = best, best.inside(), 0.0
    while spent < STEP_WORK and not stopped():
        if not 0 < len(free) <= MOST_FREE:
            break
        spent += len(free) ** 3 + STEP_OVERHEAD
        point, blocked = point.step(free, enough)
        if len(blocked):
            free = np.setdiff1d(free, blocked)
            continue
        left = point.violation()
        if left < least:
            best, least = point, left
        worst = point.worst()
        if left <= enough or worst is None or worst in free:
            break
        free = np.union1d(free, [worst])
    return best, least


@dataclass(frozen=True)
class _Iterate:
    """Variables and gradient of a problem, and how its kernel values are had."""

    problem: Problem
    beta: np.ndarray
    grad: np.ndarray
    gram: Callable[[np.ndarray], np.ndarray]
    products: Callable[[np.ndarray, np.ndarray], np.ndarray]
    solve: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray] | None
    steps: ConjugateSteps

    def moved(self, free: np.ndarray, to: np.ndarray) -> _Iterate:
        step = to - self.beta[free]
        beta, grad = self.beta.copy(), self.grad + self.products(free, step)
        beta[free] = to
        grad[free] += self.problem.ridge[free] * step
        return replace(self, beta=beta, grad=grad)

    def direction(
        self, free: np.ndarray, within: tuple[np.ndarray, np.ndarray] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The step to the optimum of the free variables, and a direction in which there is none.
        A few that would leave the box `within` which the step is to be are held at its ends, where
        that costs little.
        """
        totals = group_sums(self.problem, self.problem.start)
        if self.solve is not None:
            return self._solved(free, totals - group_sums(self.problem, self.beta)), np.zeros(
                len(free)
            )
        if within is not None:
            missing = totals - group_sums(self.problem, self.beta)
            step = self.steps.step(free, self.grad, missing, within)
            if step is not None:
                return step, np.zeros(len(free))
        return _solve(self.problem, free, self.beta, self.grad, self.gram(free), totals, within)

    def _solved(self, free: np.ndarray, missing: np.ndarray) -> np.ndarray:
        """The step by the solver given; what rounding leaves of the sums is shared out."""
        assert self.solve is not None
        group = self.problem.group[free]
        step = self.solve(free, -self.grad[free], missing[np.unique(group)])
        if not self.problem.threshold:
            return step
        return with_sums(step, self.problem.a[free], group, missing, np.ones(len(free), bool))

    def jump(self, free: np.ndarray) -> _Iterate:
        """To the optimum of the free variables, those that leave the box put at their bounds."""
        lo, hi, at = self.problem.lo[free], self.problem.hi[free], self.beta[free]
        within = lo - at, hi - at
        step, _ = self.direction(free, within)
        to = np.clip(at + step, lo, hi)
        # one that is held is at its bound, not next to it by rounding, which would be inside
        to = np.where(step <= within[0], lo, np.where(step >= within[1], hi, to))
        return self.moved(free, to)

    def step(self, free: np.ndarray, enough: float) -> tuple[_Iterate, np.ndarray]:
        """Towards that optimum as far as the box allows; also the variables at a bound after it.

        Where a direction without curvature leads down, by more than `enough`, it is followed to the
        bound where it ends.
        """
        lo, hi, at = self.problem.lo[free], self.problem.hi[free], self.beta[free]
        step, ray = self.direction(free)
        falling = float(np.abs(ray).max()) > enough
        if falling:
            step = ray
        room = np.where(step > 0, hi - at, at - lo)
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(step != 0, room / np.abs(step), np.inf)
        first = float(reach.min())
        if falling and not np.isfinite(first):
            return self, np.empty(0, np.int64)
        if first >= 1 and not falling:
            return self.moved(free, np.clip(at + step, lo, hi)), np.empty(0, np.int64)
        to = np.clip(at + first * step, lo, hi)
        blocked = reach <= first
        to[blocked] = np.where(step > 0, hi, lo)[blocked]
        return self.moved(free, to), free[blocked]

    def violation(self) -> float:
        """The violation; infinite where the sums are not kept."""
        if self._groups_off().any():
            return np.inf
        return violation_of(self.problem, self.beta, self.grad)

    def _groups_off(self) -> np.ndarray:
        """The groups whose sums are not kept."""
        if not self.problem.threshold:
            return np.zeros(self.problem.n_groups, bool)
        drift = group_sums(self.problem, self.beta) - group_sums(self.problem, self.problem.start)
        size = np.abs(self.beta)
        return np.asarray(np.abs(drift) > max(SUM_DRIFT * size.max(), SUM_ROUNDING * size.sum()))

    def inside(self) -> np.ndarray:
        return np.flatnonzero((self.beta > self.problem.lo) & (self.beta < self.problem.hi))

    def guess(self) -> np.ndarray:
        """The variables inside the box, those at a bound that should leave it, and all of a group
        that has neither where that keeps its sum from what it has to be.
        """
        lack, rises, falls = self._lacks()
        free = (rises & falls) | (lack > LEAST_LACK)
        group = self.problem.group
        lost = self._groups_off()
        lost[group[free]] = False
        return np.flatnonzero(free | lost[group])

    def worst(self) -> int | None:
        """The variable at a bound that violates optimality most."""
        lack, rises, falls = self._lacks()
        lack[rises & falls] = 0.0
        found = int(np.argmax(lack))
        return found if lack[found] > 0 else None

    def _lacks(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """How far each variable is on the wrong side of its group's multiplier, relative to it;
        and the sets I_up and I_low.
        """
        problem = self.problem
        value, rises, falls = sides(problem, self.beta, self.grad)
        free = rises & falls
        level = np.zeros(problem.n_groups)
        if problem.threshold:
            top, low = extremes(problem, value, rises, falls)
            counts = np.bincount(problem.group[free], minlength=problem.n_groups)
            means = np.bincount(problem.group[free], value[free], problem.n_groups)
            with np.errstate(invalid="ignore"):
                middle = np.nan_to_num((top + low) / 2, nan=0.0, posinf=0.0, neginf=0.0)
            level = np.where(counts > 0, means / np.maximum(counts, 1), middle)
        level = level[problem.group]
        lack = np.maximum(np.where(rises, value - level, 0.0), np.where(falls, level - value, 0.0))
        return lack / (1 + np.abs(level)), rises, falls


def violation_of(problem: Problem, beta: np.ndarray, grad: np.ndarray) -> float:
    """The largest violation of the KKT conditions, m - M."""
    top, low = extremes(problem, *sides(problem, beta, grad))
    return max(0.0, float((top - low).max(initial=0.0)))


def extremes(
    problem: Problem, value: np.ndarray, rises: np.ndarray, falls: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Per group m = max over I_up and M = min over I_low."""
    end = np.inf if problem.threshold else 0.0
    top, low = np.full(problem.n_groups, -end), np.full(problem.n_groups, end)
    np.maximum.at(top, problem.group[rises], value[rises])
    np.minimum.at(low, problem.group[falls], value[falls])
    return top, low


def sides(
    problem: Problem, beta: np.ndarray, grad: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The values -a grad, and the sets I_up and I_low."""
    below, above = beta < problem.hi, beta > problem.lo
    positive = problem.a > 0
    return -problem.a * grad, np.where(positive, below, above), np.where(positive, above, below)


def group_sums(problem: Problem, beta: np.ndarray) -> np.ndarray:
    """The sums that are kept, one per group; of few groups summed in pairs, which rounds less."""
    terms = problem.a * beta
    if problem.n_groups > FEW_GROUPS:
        return np.bincount(problem.group, terms, problem.n_groups)
    return np.array([terms[problem.group == g].sum() for g in range(problem.n_groups)])


def with_kept_sums(problem: Problem, beta: np.ndarray) -> np.ndarray:
    """A point with the sums of the start, near one that nearly has them: what is missing is shared
    by the variables inside the box, or by all if those have no room for it.
    """
    if not problem.threshold:
        return beta
    for inside in (True, False):
        missing = group_sums(problem, problem.start) - group_sums(problem, beta)
        # what is missing by rounding alone, nothing can mend
        missing[np.abs(missing) < SUM_ROUNDING * np.abs(beta).sum()] = 0.0
        wanted = problem.a * missing[problem.group]
        room = np.where(wanted > 0, problem.hi - beta, beta - problem.lo)
        if inside:
            room = np.where((beta > problem.lo) & (beta < problem.hi), room, 0.0)
        room = np.minimum(room, np.abs(wanted))
        rooms = np.bincount(problem.group, room, problem.n_groups)
        share = np.minimum(1.0, np.abs(missing) / np.where(rooms > 0, rooms, 1.0))
        beta = beta + np.sign(wanted) * room * share[problem.group]
        beta = np.clip(beta, problem.lo, problem.hi)
    return beta


def _solve(
    problem: Problem,
    free: np.ndarray,
    beta: np.ndarray,
    grad: np.ndarray,
    K: np.ndarray,
    totals: np.ndarray,
    within: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The step of the free variables to where their gradients agree and the sums are met; and a
    direction that keeps the sums, without curvature, in which the gradients do not agree.
    """
    n = len(free)
    H = np.array(K, np.float64)
    H[np.diag_indices(n)] += problem.ridge[free]
    a, group = problem.a[free], problem.group[free]
    missing = totals - group_sums(problem, beta) if problem.threshold else None
    step = _regular_solve(H, -grad[free], a, group, missing, within)
    if step is not None:
        return step, np.zeros(n)
    if missing is None:
        return positive_solve(H, -grad[free])
    step = np.zeros(n)
    # the first variable of each group makes up for the others:
    # d_first = a_first (missing - sum of a d over the others)
    groups, leaders, mine = np.unique(group, return_index=True, return_inverse=True)
    step[leaders] = a[leaders] * missing[groups]
    first = leaders[mine]
    swap = a * a[first]
    right = -(grad[free] + H @ step)
    right = right - swap * right[first]
    R = swap[:, None] * H[first]
    H = H - R - R.T + np.outer(swap, swap) * H[first][:, first]
    rest = np.ones(n, bool)
    rest[leaders] = False

    def whole(part: np.ndarray) -> np.ndarray:
        u = np.zeros(n)
        u[rest] = part
        u[leaders] = -a[leaders] * np.bincount(mine, a * u, len(groups))
        return u

    x, ray = positive_solve(H[np.ix_(rest, rest)], right[rest])
    return step + whole(x), whole(ray)


def _regular_solve(
    H: np.ndarray,
    right: np.ndarray,
    a: np.ndarray,
    group: np.ndarray,
    missing: np.ndarray | None,
    within: tuple[np.ndarray, np.ndarray] | None = None,
) -> np.ndarray | None:
    """d with H d + A t = right and A'd = wanted, for an H that is positive definite beyond doubt;
    None for any other, and where rounding leaves no solution.

    A has one column for each group, whose sum is to be what is `missing`, if there are sums. A
    variable that leaves the box `within` gets a column of its own, with which it stays at the end.
    With H = LL' that is d = H^-1 right - U t, U = H^-1 A and (A'U) t = A' H^-1 right - wanted.
    """
    factor, failed = dpotrf(H.T, lower=1, clean=0)
    pivots = np.diagonal(factor)
    if failed or not float(pivots.min()) ** 2 > REGULAR * float(np.diagonal(H).max()):
        return None
    n = len(right)
    plain = step = np.asarray(dpotrs(factor, right, lower=1)[0])
    A, U, wanted = np.zeros((n, 0)), np.zeros((n, 0)), np.zeros(0)
    if missing is not None:
        groups, mine = np.unique(group, return_inverse=True)
        A = np.zeros((n, len(groups)), order="F")
        A[np.arange(n), mine] = a
        U, wanted = dpotrs(factor, A, lower=1)[0], missing[groups]
    n_sums = len(wanted)
    held, push, at_end = np.zeros(n, bool), np.zeros(n), np.empty(0, np.int64)
    for _ in range(HELD_ROUNDS):
        if len(wanted):
            t = np.linalg.solve(A.T @ U, A.T @ plain - wanted)
            step, push = plain - U @ t, A @ t
            step[at_end] = wanted[n_sums:]  # as they are but for rounding
        if within is None:
            break
        left = np.flatnonzero(~held & ((step < within[0]) | (step > within[1])))
        if not 0 < len(left) <= MOST_HELD * n - held.sum():
            break
        held[left] = True
        if missing is not None and (np.bincount(mine, held) == np.bincount(mine)).any():
            break  # a group of which nothing is left to make up for it
        at_end = np.concatenate([at_end, left])
        ends = np.zeros((n, len(left)), order="F")
        ends[left, np.arange(len(left))] = 1.0
        at = np.where(step < within[0], within[0], within[1])[left]
        A, U = np.hstack([A, ends]), np.hstack([U, dpotrs(factor, ends, lower=1)[0]])
        wanted = np.concatenate([wanted, at])
    if missing is not None:
        moving = np.ones(n, bool)
        moving[at_end] = False
        step = with_sums(step, a, group, missing, moving)
    off = np.abs(H @ step + push - right).max()
    return step if off <= AGREED * np.abs(right).max() else None


def with_sums(
    step: np.ndarray, a: np.ndarray, group: np.ndarray, missing: np.ndarray, moving: np.ndarray
) -> np.ndarray:
    """A step whose sums are `missing` but for rounding: what is left of that is shared out among
    the variables that are marked.
    """
    left = missing - np.bincount(group, a * step, len(missing))
    shares = left / np.maximum(np.bincount(group, moving, len(missing)), 1)
    return np.asarray(step + np.where(moving, a * shares[group], 0.0))


def positive_solve(H: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """H x = right for a positive semi-definite H, where directions that H does not see stay zero;
    and what of `right` is in such directions, which is one, if not zero.
    """
    n = len(right)
    x, ray = np.zeros(n), np.zeros(n)
    if not n:
        return x, ray
    largest = float(np.diagonal(H).max())
    if not largest > 0:
        return x, right.copy()
    factor, pivots, rank, _ = dpstrf(H, tol=PIVOT_ROUNDING * n * largest, lower=1)
    L = np.tril(factor[:rank, :rank])
    seen, unseen = pivots[:rank] - 1, pivots[rank:] - 1
    y = solve_triangular(L, right[seen], lower=True, check_finite=False)
    x[seen] = solve_triangular(L.T, y, check_finite=False)
    if len(unseen):
        below = factor[rank:, :rank]  # H[unseen, seen] = below L'
        ray[unseen] = right[unseen] - below @ y
        ray[seen] = -solve_triangular(L.T, below.T @ ray[unseen], check_finite=False)
    return x, ray
