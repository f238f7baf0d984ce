"""The linear system of a Newton step.

    H x  + C tau         + B'u = r1        H diagonal, one entry a feature
    C'x  + T tau               = r2        tau: at most one
           K beta        + E'u = r3        beta: a threshold, and e of the hard margin
    B x  + E beta        - u/D = 0         D diagonal, one entry an example

With u and beta eliminated it is a system in x, with x eliminated one in u: one as large as the
smaller side of B. In units of H^1/2 and D^1/2, with M = D^1/2 B H^-1/2 and E in the same units,
these have the matrices

    1 + N'N + G'KG,   G = (K + E'E)^-1 E'M,  N = M - E G        and        1 + MM'

where N is M with its weighted means taken out, which is the threshold's doing. Near a solution D
spans twenty orders of magnitude, and these are the forms in which no difference of large numbers is
left. The answer is refined, with the residuals of all lines: that of the matrix in x alone would
be rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve

REFINEMENTS = 3

Parts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # x, tau, beta, u or their lines


@dataclass(frozen=True)
class NewtonSystem:
    """The matrices, H and D given by their diagonals."""

    B: Any
    H: np.ndarray
    D: np.ndarray
    C: np.ndarray
    T: np.ndarray
    E: np.ndarray
    K: np.ndarray

    def solve(self, r1: np.ndarray, r2: np.ndarray, r3: np.ndarray) -> Parts:
        """x, tau, beta and u. Raises LinAlgError where rounding leaves no solution."""
        feature, example = 1 / np.sqrt(self.H), np.sqrt(self.D)
        if sp.issparse(self.B):
            M = sp.csr_array(sp.diags_array(example) @ self.B @ sp.diags_array(feature))
        else:
            M = example[:, None] * self.B * feature
        form = _Wide if M.shape[1] > M.shape[0] else _Tall
        scaled = form(M, feature[:, None] * self.C, self.T, example[:, None] * self.E, self.K)
        x, tau, beta, u = scaled.refined((feature * r1, r2, r3, np.zeros(len(example))))
        return feature * x, tau, beta, example * u


class _Scaled:
    """The system in which H and D are 1; subclasses eliminate one side or the other."""

    def __init__(self, M: Any, C: np.ndarray, T: np.ndarray, E: np.ndarray, K: np.ndarray) -> None:
        self.M, self.C, self.T, self.E, self.K = M, C, T, E, K
        square = self._matrix()
        square[np.diag_indices(len(square))] += 1
        self.factor = cho_factor(square, lower=True, overwrite_a=True, check_finite=False)
        self._prepare()

    def _matrix(self) -> np.ndarray:
        """What is to be factored, but for the 1."""
        raise NotImplementedError

    def _prepare(self) -> None:
        raise NotImplementedError

    def once(self, lines: Parts) -> Parts:
        raise NotImplementedError

    def refined(self, lines: Parts) -> Parts:
        """The solution, corrected as long as it gets better."""
        at, least = self.once(lines), np.inf
        best = at
        for _ in range(REFINEMENTS):
            left = self._left(lines, at)
            size = max(float(np.abs(part).max(initial=0.0)) for part in left)
            if not size < least:
                return best
            best, least = at, size
            x, tau, beta, u = (a + b for a, b in zip(at, self.once(left), strict=True))
            at = (x, tau, beta, u)
        return at

    def _left(self, lines: Parts, at: Parts) -> Parts:
        (r1, r2, r3, r4), (x, tau, beta, u) = lines, at
        return (
            r1 - x - self.C @ tau - self.M.T @ u,
            r2 - self.C.T @ x - self.T @ tau,
            r3 - self.K @ beta - self.E.T @ u,
            r4 - self.M @ x - self.E @ beta + u,
        )

    def divide(self, right: np.ndarray) -> np.ndarray:
        return np.asarray(cho_solve(self.factor, right, check_finite=False))


class _Tall(_Scaled):
    """In x: (1 + N'N + G'KG) x + C tau = r1 + N'r4 - G'r3."""

    def _matrix(self) -> np.ndarray:
        M, E = self.M, self.E
        self.inner = self.K + E.T @ E
        self.G = _over(self.inner, np.asarray((M.T @ E).T))
        if sp.issparse(M):  # where N would be dense, by differences
            square = (M.T @ M).toarray() - self.G.T @ self.inner @ self.G
        else:
            N = M - E @ self.G
            square = N.T @ N + self.G.T @ self.K @ self.G
        return np.asarray(square)

    def _prepare(self) -> None:
        self.side = self.divide(self.C)
        self.corner = self.T - self.C.T @ self.side

    def once(self, lines: Parts) -> Parts:
        r1, r2, r3, r4 = lines
        sums = r3 + self.E.T @ r4
        push = self.divide(r1 + self.M.T @ r4 - self.G.T @ sums)
        tau = _over(self.corner, r2 - self.C.T @ push)
        x = push - self.side @ tau
        beta = _over(self.inner, sums) - self.G @ x
        return x, tau, beta, self.M @ x + self.E @ beta - r4


class _Wide(_Scaled):
    """In u: (1 + MM') u = M r1 - r4 - M C tau + E beta, and tau, beta from what is left."""

    def _matrix(self) -> np.ndarray:
        square = self.M @ self.M.T
        return square.toarray() if sp.issparse(square) else square

    def _prepare(self) -> None:
        self.n_tau = self.C.shape[1]
        self.sides = np.column_stack([-self.M @ self.C, self.E])
        corner = np.zeros((self.sides.shape[1],) * 2)
        corner[: self.n_tau, : self.n_tau] = self.T - self.C.T @ self.C
        corner[self.n_tau :, self.n_tau :] = self.K
        self.corner = corner + self.sides.T @ self.divide(self.sides)

    def once(self, lines: Parts) -> Parts:
        r1, r2, r3, r4 = lines
        pull = self.M @ r1 - r4
        right = np.concatenate([r2 - self.C.T @ r1, r3]) - self.sides.T @ self.divide(pull)
        others = _over(self.corner, right)
        tau, beta = others[: self.n_tau], others[self.n_tau :]
        u = self.divide(pull + self.sides @ others)
        return r1 - self.C @ tau - self.M.T @ u, tau, beta, u


def _over(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.linalg.solve(matrix, right) if len(matrix) else right
