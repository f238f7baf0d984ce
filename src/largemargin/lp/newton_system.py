"""The linear system of a Newton step: features x, a few others beta, and the pull u of examples.

    H x  + C beta + B'u = r1        H diagonal, one entry a feature
    C'x  + K beta + E'u = r2
    B x  + E beta - u/D = r3        D diagonal, one entry an example

With u eliminated it is (H + B'DB) x + ..., with x eliminated (1/D + B H^-1 B') u = ...: a system as
large as the smaller side of B. In units of H^1/2 and D^1/2, that is with M = D^1/2 B H^-1/2, these
are 1 + M'M and 1 + MM'. Near a solution D spans twenty orders of magnitude, so the answer is
refined, with the residuals of all three lines: that of (H + B'DB) x alone would be rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve

REFINEMENTS = 2

Parts = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class NewtonSystem:
    """The matrices, H and D given by their diagonals."""

    B: Any
    E: np.ndarray
    H: np.ndarray
    D: np.ndarray
    C: np.ndarray
    K: np.ndarray

    def solve(self, r1: np.ndarray, r2: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x, beta and u for r3 = 0. Raises LinAlgError where rounding leaves no solution."""
        feature, example = 1 / np.sqrt(self.H), np.sqrt(self.D)
        if sp.issparse(self.B):
            M = sp.csr_array(sp.diags_array(example) @ self.B @ sp.diags_array(feature))
        else:
            M = example[:, None] * self.B * feature
        scaled = _Scaled(M, example[:, None] * self.E, feature[:, None] * self.C, self.K)
        x, beta, u = scaled.refined(feature * r1, r2)
        return feature * x, beta, example * u


class _Scaled:
    """The system in which H and D are 1."""

    def __init__(self, M: Any, E: np.ndarray, C: np.ndarray, K: np.ndarray) -> None:
        self.M, self.E, self.C, self.K = M, E, C, K
        self.wide = M.shape[1] > M.shape[0]
        square = M @ M.T if self.wide else M.T @ M
        square = square.toarray() if sp.issparse(square) else square
        square[np.diag_indices(len(square))] += 1
        self.factor = cho_factor(square, lower=True, overwrite_a=True, check_finite=False)
        # what is left of the others when x and u are eliminated
        if self.wide:
            self.side = E - M @ C
            self.corner = K - C.T @ C + self.side.T @ self._divide(self.side)
        else:
            self.side = C + M.T @ E
            self.corner = K + E.T @ E - self.side.T @ self._divide(self.side)

    def refined(self, r1: np.ndarray, r2: np.ndarray) -> Parts:
        r3 = np.zeros(self.M.shape[0])
        x, beta, u = self.once(r1, r2, r3)
        for _ in range(REFINEMENTS):
            left = (
                r1 - x - self.C @ beta - self.M.T @ u,
                r2 - self.C.T @ x - self.K @ beta - self.E.T @ u,
                u - self.M @ x - self.E @ beta,
            )
            dx, d_beta, du = self.once(*left)
            x, beta, u = x + dx, beta + d_beta, u + du
        return x, beta, u

    def once(self, r1: np.ndarray, r2: np.ndarray, r3: np.ndarray) -> Parts:
        M, E, C, side = self.M, self.E, self.C, self.side
        if self.wide:
            pull = M @ r1 - r3
            beta = self._others(r2 - C.T @ r1 - side.T @ self._divide(pull))
            u = self._divide(pull + side @ beta)
            return r1 - C @ beta - M.T @ u, beta, u
        push = r1 + M.T @ r3
        beta = self._others(r2 + E.T @ r3 - side.T @ self._divide(push))
        x = self._divide(push - side @ beta)
        return x, beta, M @ x + E @ beta - r3

    def _divide(self, right: np.ndarray) -> np.ndarray:
        return np.asarray(cho_solve(self.factor, right, check_finite=False))

    def _others(self, right: np.ndarray) -> np.ndarray:
        return np.linalg.solve(self.corner, right) if len(right) else right
