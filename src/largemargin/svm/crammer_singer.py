"""The multiclass machine of Crammer & Singer with kernels: one vector per class, as one problem.

    minimise   1/2 sum_r |m_r|^2 + C sum_i s_i xi_i
    subject to m_(y_i).x_i - m_r.x_i >= 1 - xi_i   for all classes r other than y_i

    dual:
    minimise   1/2 sum_r t_r'K t_r - sum_i t_(i,y_i)
    subject to t_ir <= C s_i if r = y_i, else t_ir <= 0,   and   sum_r t_ir = 0 for each example i

There is no threshold. Each example has a group of k variables and its own sum, so the working set
is one of examples: the block is solved example by example, each exactly (a Newton step projected
onto the constraints of the example, as in MIRA), and then all scores are brought up to date with
the rows that changed.

One example at a time is slow where the coefficients are large beside 1/k(x, x), as they are with a
large C on examples that are nearly alike: a block that takes too many steps is solved by the
interior-point method. What that leaves is rounding, so the solver ends when further rounds bring no
progress of the violation or of the dual objective.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.lapack import dpotri

from largemargin.runtime.progress import Watch
from largemargin.svm.active_set import refine
from largemargin.svm.bounds import (
    FEW,
    Interval,
    ObjectiveBounds,
    dual_bounds,
    half_square,
    with_bounds,
)
from largemargin.svm.decomposition import LOCAL, WORKING_SET
from largemargin.svm.dense_solver import SMO_STEPS, STALLED_ROUNDS
from largemargin.svm.evaluation import Outputs, Stored, summed
from largemargin.svm.interior_point import RIDGE, Solver, minimise
from largemargin.svm.low_rank import without_rounding
from largemargin.svm.problem import DualResult, Problem, Solution
from largemargin.svm.session import Session

HARD = 10  # rounds that need the interior-point method, per working set of the examples
PROGRESS = 1e-6  # the least relative rise of the dual objective that counts as progress


def train(
    session: Session,
    weights: np.ndarray,
    C: float,
    *,
    tol: float,
    max_steps: float,
    watch: Watch,
    start: np.ndarray | None = None,
) -> tuple[np.ndarray, DualResult]:
    """The coefficients, one row per class, and what they achieve, from `start` on if given."""
    order = session.order
    start = None if start is None else start[:, order]
    run = _MulticlassDual(session, order, C * weights[order], start, watch.look)
    violation = run.violation()
    least, most, stuck, n_hard = violation, run.dual(), 0, 0
    sets = max(1, 2 * run.n // WORKING_SET)
    while violation > tol and run.n_steps < max_steps and not watch.stopped:
        # a round solves one working set only, so as many rounds per set are tolerated, and no more
        if stuck >= STALLED_ROUNDS * sets or n_hard >= HARD * sets:
            break
        hard = run.improve(max(tol / 2, LOCAL * violation), max_steps - run.n_steps)
        violation, dual = run.violation(), run.dual()
        if session.exact and hard and not watch.stopped:  # the optimum may be a guess away
            violation, dual = run.refine(violation), run.dual()
        stuck, n_hard = stuck + 1, n_hard + hard
        if violation < least / 2 or dual > most + PROGRESS * abs(most):
            stuck = 0
        least, most = min(least, violation), max(most, dual)
        watch.advance(0, f"violation {violation:.2g}")
    converged = violation <= tol
    if converged and session.exact and not watch.stopped:
        violation = run.refine(violation)
    coefs = np.zeros((run.n_classes, session.n))
    coefs[:, order] = run.tau
    watch.advance(1)
    return coefs, run.read(violation, converged)


class _MulticlassDual:
    """The dual of all classes: variables tau and scores tau K, one row per class."""

    def __init__(
        self,
        session: Session,
        order: np.ndarray,
        box: np.ndarray,
        start: np.ndarray | None,
        stopped: Callable[[], object],
    ) -> None:
        self.session, self.order, self.box, self.stopped = session, order, box, stopped
        self.labels = session.labels[order]
        self.n, self.n_classes = len(order), session.n_classes
        self.own = np.arange(self.n_classes)[:, None] == self.labels[None, :]
        self.hi = np.where(self.own, box, 0.0)
        self.tau = np.zeros((self.n_classes, self.n))
        self.scores = np.zeros((self.n_classes, self.n))
        self.n_steps = 0
        self.working = np.empty(0, np.int64)
        if start is not None:
            own = (start * self.own).sum(axis=0)  # scaled as a whole, a sum of zero stays zero
            scale = np.minimum(1.0, box / np.where(own > 0, own, 1.0)) * (own > 0)
            self.tau = np.minimum(scale * start, self.hi)
            changed = np.flatnonzero(self.tau.any(axis=0))
            self._add(changed, self.tau[:, changed])

    def _violations(self) -> np.ndarray:
        """By how much each example violates optimality."""
        grad = self.scores - self.own
        low = np.where(self.tau < self.hi, grad, np.inf).min(axis=0)
        return np.where(self.box > 0, grad.max(axis=0) - low, 0.0)

    def violation(self) -> float:
        return max(0.0, float(self._violations().max()))

    def improve(self, tol: float, max_steps: float) -> bool:
        """Select a working set, solve it and bring the scores up to date; returns whether it took
        the interior-point method.
        """
        from largemargin.svm.smo import solve_simplices

        if self.session.whole:
            working = np.arange(self.n)
        else:
            found = self._violations()
            count = min(WORKING_SET, int((found > tol / 2).sum()))
            new = np.argpartition(-found, count - 1)[:count]
            if len(self.working) and count > WORKING_SET // 2:
                new = new[np.argsort(-found[new], kind="stable")][: WORKING_SET // 2]
            old = self.working[~np.isin(self.working, new)]
            working = np.sort(np.concatenate([new, old[: WORKING_SET - len(new)]]))
        self.working = working
        local = self._gram(working)
        tau = np.ascontiguousarray(self.tau[:, working].T)
        steps, met = solve_simplices(
            local, np.ascontiguousarray(self.scores[:, working].T), tau, self.labels[working],
            self.box[working], tol, int(min(max_steps, SMO_STEPS)),
        )  # fmt: skip
        self.n_steps += steps
        found = tau.T
        hard = not met and max_steps > SMO_STEPS and not self.stopped()
        if hard:
            found = self._by_interior_point(working, local, found)
        delta = found - self.tau[:, working]
        changed = np.flatnonzero(delta.any(axis=0))
        self.tau[:, working] = found
        self._add(working[changed], delta[:, changed])
        return hard

    def _by_interior_point(
        self, working: np.ndarray, K: np.ndarray, found: np.ndarray
    ) -> np.ndarray:
        """The variables of a block by another method, or as they were if that is no better."""
        from largemargin.svm.smo import project_example

        counts = self.box[working] > 0
        examples, inner = working[counts], found.copy()
        K = without_rounding(K)
        before, grad = self.tau[:, working], (self.scores - self.own)[:, working]
        # the linear term, with what the other examples add, which is exactly 0 if there are none
        c = -1.0 * self.own[:, working]
        if len(working) < self.n:
            c = grad - before @ K
        # variables in units in which every example has length 1
        unit = np.sqrt(np.maximum(np.diagonal(K)[counts], 0.0))
        unit[unit == 0] = unit.max(initial=0.0) or 1.0
        hi = (unit * self.hi[:, examples]).ravel()
        share = np.where(self.own[:, examples], 0.5, -0.5 / (self.n_classes - 1))
        inside = minimise(
            Simplices(K[np.ix_(counts, counts)] / np.outer(unit, unit), self.n_classes),
            (c[:, counts] / unit).ravel(), (before[:, counts] * unit).ravel(),
            np.full(len(hi), -np.inf), hi, (share * unit * self.box[examples]).ravel(),
            self.stopped,
        )  # fmt: skip
        self.n_steps += inside.n_solved
        if inside.x is None:
            return found
        inner[:, counts] = inside.x.reshape(self.n_classes, -1) / unit
        out = np.empty(self.n_classes)
        for i in np.flatnonzero(counts).tolist():  # the method keeps sums to rounding only
            project_example(
                np.ascontiguousarray(inner[:, i]), self.labels[working[i]], self.box[working[i]],
                out,
            )  # fmt: skip
            inner[:, i] = out

        def rise(tau: np.ndarray) -> float:
            step = tau - before
            return -float((step * grad).sum() + (step * (step @ K)).sum() / 2)

        return inner if rise(inner) > rise(found) else found

    def _gram(self, variables: np.ndarray) -> np.ndarray:
        return self.session.gram_of(self.order[variables])

    def _add(self, variables: np.ndarray, delta: np.ndarray) -> None:
        """scores += delta K, over the examples that changed."""
        if len(variables):
            self.scores += self.session.products(self.order[variables], delta)

    def refine(self, violation: float) -> float:
        """Go on to the exact solution, with the variables of all classes in one problem."""
        n, k = self.n, self.n_classes
        example, of = np.tile(np.arange(n), k), np.repeat(np.arange(k), n)
        problem = Problem(
            p=-self.own.ravel().astype(float), lo=np.full(n * k, -np.inf), hi=self.hi.ravel(),
            ridge=np.zeros(n * k), a=np.ones(n * k), group=example, n_groups=n, threshold=True,
            start=np.zeros(n * k),
        )  # fmt: skip

        def gram(F: np.ndarray) -> np.ndarray:
            return np.asarray(self._gram(example[F]) * (of[F][:, None] == of[F][None, :]))

        def products(F: np.ndarray, d: np.ndarray) -> np.ndarray:
            used, place = np.unique(example[F], return_inverse=True)
            delta = np.zeros((k, len(used)))
            np.add.at(delta, (of[F], place), d)
            return self.session.products(self.order[used], delta).ravel()

        grad = (self.scores - self.own).ravel()
        solution = Solution(self.tau.ravel(), grad, violation, self.n_steps, True)
        exact = refine(problem, solution, gram, products, stopped=self.stopped)
        tau, scores, before = self.tau, self.scores, self.dual()
        self.tau = exact.beta.reshape(k, n)
        self.scores = exact.grad.reshape(k, n) + self.own
        if self.dual() < before - PROGRESS * abs(before):  # the violation is only rounding
            self.tau, self.scores = tau, scores
            return violation
        return exact.violation

    def dual(self) -> float:
        return float(self.tau[self.own].sum()) - float((self.tau * self.scores).sum()) / 2

    def read(self, violation: float, converged: bool) -> DualResult:
        """What the coefficients achieve as they are stored, which is as the difference of their
        rows if there are two classes.
        """
        session, tau = self.session, self.tau
        two = self.n_classes == 2
        kept = tau[1:] - tau[:1] if two else tau
        result = DualResult(np.empty(0), 0.0, 0.0, np.inf, 0.0, violation, self.n_steps, converged)
        stored = Stored(None, self.order, kept)
        readings = session.evaluation.outputs(stored, self._near, self.n_steps)
        if two:
            tau = np.concatenate([-kept, kept]) / 2
            readings = [_halved(outputs) for outputs in readings]
        return with_bounds(result, [self._bounds(tau, outputs) for outputs in readings])

    def _near(self, values: np.ndarray, errors: np.ndarray) -> np.ndarray:
        if len(values) == 1:
            values, errors = np.concatenate([-values, values]) / 2, np.tile(errors, (2, 1))
        return np.asarray((self.box > 0) & (self._lacks(values, 2 * errors) > 0))

    def _lacks(self, scores: np.ndarray, errors: np.ndarray) -> np.ndarray:
        """The largest that each example's slack can be."""
        off = FEW * (1 + np.abs(scores)) + errors
        right = ((scores - off) * self.own).sum(axis=0)
        other = np.where(self.own, -np.inf, scores + off).max(axis=0)
        return np.asarray(np.maximum(0.0, 1 + other - right))

    def _bounds(self, tau: np.ndarray, outputs: Outputs) -> ObjectiveBounds:
        high = self._lacks(outputs.values, outputs.errors)
        low = self._lacks(outputs.values, -outputs.errors - 2 * FEW * (1 + np.abs(outputs.values)))
        half = half_square(outputs)
        # each example's sum is to be zero
        missing = summed(np.abs(tau.sum(axis=0)) + FEW * np.abs(tau).sum(axis=0))
        alpha = tau[self.own]
        return ObjectiveBounds(
            Interval(
                half.low + summed(self.box * low) * (1 - FEW),
                half.high + summed(self.box * high) * (1 + FEW),
            ),
            dual_bounds(alpha, outputs, 2 * missing, self.session.evaluation.reach, 0.0),
            outputs.square,
        )  # fmt: skip


def _halved(outputs: Outputs) -> Outputs:
    """The scores of two classes from their difference."""
    values = np.concatenate([-outputs.values, outputs.values]) / 2
    errors = np.tile(outputs.errors, (2, 1)) / 2
    return Outputs(values, errors, outputs.square / 2, outputs.square_error / 2)


class Simplices:
    """The matrix of a block for the interior-point method: K for each class, one sum per example.

    With H_r = K + diag(theta_r), the sums need (sum_r H_r^-1) dy = short - sum_r H_r^-1 right_r.
    """

    def __init__(self, K: np.ndarray, n_classes: int) -> None:
        self.K, self.shape = K, (n_classes, len(K))
        self.diagonal = np.tile(np.diagonal(K), n_classes)
        self.largest = float(self.diagonal.max(initial=0.0)) or 1.0

    def times(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(x.reshape(self.shape) @ self.K).ravel()

    def sums(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(x.reshape(self.shape).sum(axis=0))

    def spread(self, y: np.ndarray) -> np.ndarray:
        return np.tile(y, self.shape[0])

    def factor(self, theta: np.ndarray) -> Solver:
        n = self.shape[1]
        factors, inverses = [], np.zeros((n, n))  # of which the lower triangle counts
        for row in theta.reshape(self.shape):
            H = self.K + np.diag(row + RIDGE * self.largest)
            factors.append(cho_factor(H, lower=True, check_finite=False))
            inverses += dpotri(factors[-1][0], lower=1)[0]
        if not np.isfinite(inverses).all():
            raise LinAlgError("the system is singular")
        both = cho_factor(inverses, lower=True, check_finite=False)

        def solve(right: np.ndarray) -> np.ndarray:
            rows = right.reshape(self.shape)
            return np.array(
                [
                    cho_solve(factor, row, check_finite=False)
                    for factor, row in zip(factors, rows, strict=True)
                ]
            )

        def direction(right: np.ndarray, short: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            dy = cho_solve(both, short - solve(right).sum(axis=0), check_finite=False)
            return solve(right + self.spread(dy)).ravel(), dy

        return direction
