"""The multiclass machine of Crammer & Singer with kernels: one vector a class, trained as one
problem.

    minimise  1/2 sum_r |m_r|^2 + C sum_i s_i xi_i,   m_y.x_i - m_r.x_i >= 1 - xi_i for all r other
    than y = y_i dual:     minimise 1/2 sum_r t_r'K t_r - sum_i t_(i,y_i),   t_ir <= C s_i [r =
    y_i],   sum_r t_ir = 0

There is no threshold. Each example has a group of k variables and its own sum, so the working set
is one of examples: the block is solved example by example, each exactly (its k variables are a
projection onto a simplex, as in MIRA), and then all scores are brought up to date with the rows
that changed.
"""

from __future__ import annotations

import numpy as np

from largemargin.svm.block import BURST
from largemargin.svm.evaluation import Outputs, Stored, summed
from largemargin.svm.exact import polish
from largemargin.svm.lockstep import LOCAL, WORKING_SET
from largemargin.svm.machines import (
    FEW,
    Between,
    Machine,
    Told,
    dual_bounds,
    half_square,
    told,
    total,
)
from largemargin.svm.problem import Problem, Solution
from largemargin.svm.session import Session
from largemargin.watch import Watch


def train(
    session: Session,
    weights: np.ndarray,
    C: float,
    *,
    tol: float,
    max_steps: float,
    watch: Watch,
    start: np.ndarray | None = None,
) -> tuple[np.ndarray, Machine]:
    """The coefficients, a row a class, and what they achieve; `start` is where to start from."""
    order = session.order
    run = _Run(session, order, C * weights[order], None if start is None else start[:, order])
    violation = run.violation()
    while violation > tol and run.n_steps < max_steps and not watch.stopped:
        run.improve(max(tol / 2, LOCAL * violation), max_steps - run.n_steps)
        violation = run.violation()
        watch.advance(0, f"violation {violation:.2g}")
    converged = violation <= tol
    if converged and session.exact and not watch.stopped:
        violation = run.polish(violation)
    coefs = np.zeros((run.n_classes, session.n))
    coefs[:, order] = run.tau
    watch.advance(1)
    return coefs, run.read(violation, converged)


class _Run:
    def __init__(
        self, session: Session, order: np.ndarray, box: np.ndarray, start: np.ndarray | None
    ) -> None:
        self.session, self.order, self.box = session, order, box
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

    def improve(self, tol: float, max_steps: float) -> None:
        """Choose a working set, solve it and bring the scores up to date."""
        from largemargin.svm._loops import solve_simplices

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
        self.n_steps += solve_simplices(
            local, np.ascontiguousarray(self.scores[:, working].T), tau, self.labels[working],
            self.box[working], tol, int(min(max_steps, BURST)),
        )  # fmt: skip
        delta = tau.T - self.tau[:, working]
        changed = np.flatnonzero(delta.any(axis=0))
        self.tau[:, working] = tau.T
        self._add(working[changed], delta[:, changed])

    def _gram(self, variables: np.ndarray) -> np.ndarray:
        return self.session.gram_of(self.order[variables])

    def _add(self, variables: np.ndarray, delta: np.ndarray) -> None:
        """scores += delta K, over the examples that changed."""
        if len(variables):
            self.scores += self.session.products(self.order[variables], delta)

    def polish(self, violation: float) -> float:
        """Go on to the exact solution, the variables of all classes in a row."""
        n, k = self.n, self.n_classes
        example, of = np.tile(np.arange(n), k), np.repeat(np.arange(k), n)
        problem = Problem(
            p=-self.own.ravel().astype(float), lo=np.full(n * k, -np.inf), hi=self.hi.ravel(),
            ridge=np.zeros(n * k), a=np.ones(n * k), group=example, n_groups=n, threshold=True,
            start=np.zeros(n * k),
        )  # fmt: skip

        def gram(F: np.ndarray) -> np.ndarray:
            return self._gram(example[F]) * (of[F][:, None] == of[F][None, :])

        def products(F: np.ndarray, d: np.ndarray) -> np.ndarray:
            used, place = np.unique(example[F], return_inverse=True)
            delta = np.zeros((k, len(used)))
            np.add.at(delta, (of[F], place), d)
            return self.session.products(self.order[used], delta).ravel()

        grad = (self.scores - self.own).ravel()
        solution = Solution(self.tau.ravel(), grad, violation, self.n_steps, True)
        exact = polish(problem, solution, gram, products)
        self.tau = exact.beta.reshape(k, n)
        self.scores = exact.grad.reshape(k, n) + self.own
        return exact.violation

    def read(self, violation: float, converged: bool) -> Machine:
        """What the coefficients as they are stored achieve: with two classes, as the difference of
        their rows.
        """
        session, tau = self.session, self.tau
        two = self.n_classes == 2
        kept = tau[1:] - tau[:1] if two else tau
        machine = Machine(np.empty(0), 0.0, 0.0, np.inf, 0.0, violation, self.n_steps, converged)
        stored = Stored(None, self.order, kept)
        readings = session.evaluation.outputs(stored, self._near, self.n_steps)
        if two:
            tau = np.concatenate([-kept, kept]) / 2
            readings = [_halved(outputs) for outputs in readings]
        return told(machine, [self._judge(tau, outputs) for outputs in readings])

    def _near(self, values: np.ndarray, errors: np.ndarray) -> np.ndarray:
        if len(values) == 1:
            values, errors = np.concatenate([-values, values]) / 2, np.tile(errors, (2, 1))
        return np.asarray((self.box > 0) & (self._lacks(values, 2 * errors) > 0))

    def _lacks(self, scores: np.ndarray, errors: np.ndarray) -> np.ndarray:
        """The largest that each example's slack can be."""
        off = FEW * (1 + np.abs(scores)) + errors
        right = ((scores - off) * self.own).sum(axis=0)
        other = np.where(self.own, -np.inf, scores + off).max(axis=0)
        return np.maximum(0.0, 1 + other - right)

    def _judge(self, tau: np.ndarray, outputs: Outputs) -> Told:
        high = self._lacks(outputs.values, outputs.errors)
        low = self._lacks(outputs.values, -outputs.errors - 2 * FEW * (1 + np.abs(outputs.values)))
        half, loss = half_square(outputs), total(self.box * low, self.box * high)
        # each example's sum is to be zero
        missing = summed(np.abs(tau.sum(axis=0)) + FEW * np.abs(tau).sum(axis=0))
        alpha = tau[self.own]
        return Told(
            Between(half.low + loss.low, half.high + loss.high),
            dual_bounds(alpha, outputs, 2 * missing, self.session.evaluation.reach, 0.0),
            outputs.square,
        )  # fmt: skip


def _halved(outputs: Outputs) -> Outputs:
    """The scores of two classes from their difference."""
    values = np.concatenate([-outputs.values, outputs.values]) / 2
    errors = np.tile(outputs.errors, (2, 1)) / 2
    return Outputs(values, errors, outputs.square / 2, outputs.square_error / 2)
