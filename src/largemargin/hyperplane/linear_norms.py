"""Hyperplanes for p = 1 and p = inf: the dual, a linear program, given to HiGHS.

    maximise  sum_i alpha_i    subject to  |v|_q <= 1,  v = sum_i alpha_i y_i x_i,
                                           0 <= alpha_i <= C s_i,  sum_i y_i alpha_i = 0

    p = 1,  q = inf:   -1 <= v_j <= 1
    p = inf,  q = 1:   v = plus - minus,  plus, minus >= 0,  sum_j (plus_j + minus_j) <= 1

It has one row per feature and one column per example, the other way round from the program in w:
there are usually more examples than features, and the simplex method works in a basis as large as
there are rows. The Lagrange multipliers of the rows of v are w, that of the sum of y alpha is b.

With more features than examples, the sum of |v_j| is approached from below instead, by cutting
planes. Features are in as many blocks as there are examples, and t_k, the block's part of the sum,
is at least sigma.v for any signs sigma; those of the last solution are added, one row per block,
until no block asks for more. w is then the sum of the signs times their multipliers. (100 x 10,000:
10 s, where the program above takes minutes.)

C = inf would leave it unbounded for data that cannot be separated. So the sum of alpha, which is 1
over the margin, has an upper bound; where it is reached, there is no such margin.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.hyperplane.program import Program, Proposal
from largemargin.lp.highs import OPTIMAL, LinearProgram, Outcome
from largemargin.runtime.progress import Watch

ROUNDS = 1000  # rounds of cutting planes at most
CUT_VIOLATION = 1e-10  # what a block may lack, relative to the sum, without another cutting plane


def solve_linear(program: Program, watch: Watch) -> Proposal:
    """The solution that HiGHS gives, or why there is none."""
    scaled = ScaledDual(program, watch)
    if program.norm.p == 1:
        return scaled.by_features()
    m, n = program.X.shape
    return scaled.by_signs() if n > m else scaled.by_parts()


class ScaledDual:
    """The dual of a program in units that suit HiGHS, which does not scale it itself.

    Features are in units of the largest, alpha in units of its largest bound if that is below 1,
    since it would be lost in tolerances.
    """

    def __init__(self, program: Program, watch: Watch) -> None:
        self.program, self.watch = program, watch
        X = program.X
        self.largest = float(abs(X).max()) or 1.0
        bounds = program.C * program.s * self.largest
        self.unit = min(1.0, float(bounds.max()))
        self.bounds = bounds / self.unit
        signs = program.y / self.largest
        if sp.issparse(X):
            self.V = sp.csr_array((sp.diags_array(signs) @ X).T)
        else:
            self.V = (signs[:, None] * X).T
        self.n_steps = 0

    def by_features(self) -> Proposal:
        """p = 1."""
        n = self.V.shape[0]
        most = np.full(n, 1 / self.unit)
        outcome = self._solve(self._with_examples(self.V, -most, most))
        return self._proposal(outcome, outcome.duals[:n], n)

    def by_parts(self) -> Proposal:
        """p = inf, with the positive and the negative part of v."""
        n = self.V.shape[0]
        matrix = _stack([self.V, np.zeros((1, self.V.shape[1]))])
        most = np.concatenate([np.zeros(n), [1 / self.unit]])
        lp = self._with_examples(matrix, np.zeros(n + 1), most)
        below = sp.csr_array((lp.shape[0] - n - 1, n))
        for sign in (1.0, -1.0):
            part = sp.vstack([-sign * sp.eye_array(n), np.ones((1, n)), below])
            lp.add_columns(np.zeros(n), 0.0, np.inf, part)
        outcome = self._solve(lp)
        return self._proposal(outcome, outcome.duals[:n], n + 1)

    def by_signs(self) -> Proposal:
        """p = inf, with the signs of v, a block of features at a time."""
        n, m = self.V.shape
        starts = np.linspace(0, n, m, endpoint=False).astype(int)
        lp = self._with_examples(np.zeros((1, m)), np.zeros(1), np.full(1, 1 / self.unit))
        first = lp.shape[0]
        sums = np.zeros((first, m))
        sums[0] = 1
        lp.add_columns(np.zeros(m), 0.0, np.inf, sums)
        taken: list[np.ndarray] = []
        v = np.ones(n)
        for _ in range(ROUNDS):
            sigma = np.where(v >= 0, 1.0, -1.0)
            taken.append(sigma)
            cuts = _block_sums(self.V, sigma, starts)
            lp.add_rows(np.column_stack([cuts, -np.eye(m)]), -np.inf, np.zeros(m))
            outcome = self._solve(lp)
            if outcome.status != OPTIMAL:
                break
            v = np.asarray(self.V @ outcome.x[:m])
            lack = np.add.reduceat(np.abs(v), starts) - outcome.x[m:]
            if lack.max() <= CUT_VIOLATION / self.unit:
                break
        shares = outcome.duals[first:].reshape(len(taken), m)
        widths = np.diff(np.append(starts, n))
        w = sum(
            sigma * np.repeat(share, widths) for sigma, share in zip(taken, shares, strict=True)
        )
        return self._proposal(outcome, np.asarray(w), 1)

    def _with_examples(self, matrix: Any, lower: np.ndarray, upper: np.ndarray) -> LinearProgram:
        """The columns of alpha: in the given rows, in the sum of y alpha and in that of alpha."""
        program = self.program
        rows, low, high = [matrix], [lower], [upper]
        if program.threshold:
            rows.append(program.y[None])
            low.append(np.zeros(1))
            high.append(np.zeros(1))
        if program.hard:
            rows.append(np.ones((1, len(program.y))))
            low.append(np.zeros(1))
            high.append(np.full(1, 2 * self.largest / program.min_margin))
        lp = LinearProgram(maximize=True, solvable=True)
        lower, upper = np.concatenate(low), np.concatenate(high)
        lp.add_rows(np.empty((len(lower), 0)), lower, upper)
        lp.add_columns(np.ones(len(program.y)), 0.0, self.bounds, _stack(rows))
        return lp

    def _solve(self, lp: LinearProgram) -> Outcome:
        seconds = self.watch.seconds_left
        outcome = lp.solve(None if np.isinf(seconds) else seconds, self._stopped)
        self.n_steps += outcome.n_steps
        self._stopped()
        rows, columns = lp.shape
        if len(outcome.x) != columns or len(outcome.duals) != rows:  # stopped before it began
            outcome = replace(outcome, x=np.zeros(columns), duals=np.zeros(rows))
        return outcome

    def _stopped(self) -> bool:
        self.watch.advance(0)
        return bool(self.watch.stopped)

    def _proposal(self, outcome: Outcome, w: np.ndarray, row: int) -> Proposal:
        """The hyperplane in the program's own units; b is the multiplier of the given row."""
        m = len(self.program.y)
        trouble = self.watch.stopped
        if outcome.status != OPTIMAL and not trouble:
            trouble = f"the linear program ended with the status {outcome.status}"
        b = float(outcome.duals[row]) if self.program.threshold else 0.0
        alpha = outcome.x[:m] * self.unit / self.largest
        return Proposal(w / self.largest, b, alpha, self.n_steps, trouble)


def _block_sums(V: Any, sigma: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """sigma_j V_j summed over each block of rows."""
    blocks = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(sigma))))
    picker = sp.csr_array((sigma, (blocks, np.arange(len(sigma)))), (len(starts), len(sigma)))
    found = picker @ V
    return np.asarray(found.toarray() if sp.issparse(found) else found)


def _stack(parts: list[Any]) -> Any:
    """Rows of the program, one part above the other."""
    return sp.vstack(parts, format="csc") if sp.issparse(parts[0]) else np.vstack(parts)
