"""Coordinates in which the second derivatives of a barrier at a point are 1.

    H = diag(h) + c t' + t c' + A'DA        h, c: of the barrier's own terms, t the unit vector of
                                            tau; D diagonal, one entry an example

The coordinates z of x = P z have PP' = H^-1, so that a minimiser that knows nothing of units finds
its way, though h and D span twenty orders of magnitude near a solution. P is made of

    w = w' + lift tau        which takes out c
    b = b' - mean'x          which takes the threshold out of A'DA, as it has no h: the other
                             columns of D^1/2 A are freed of what they have along its own, the
                             unit vector a
    x_j = z_j / h_j^1/2      which leaves 1 + N'N, N = (1 - aa') D^1/2 A h^-1/2

and a root of the last, by a factorisation as large as the smaller side of N. With lower triangular
L,

    1 + N'N = LL',    (1 + N'N)^-1 = QQ',    Q = L^-T
    1 + NN' = LL',    (1 + N'N)^-1 = QQ',    Q = 1 - N' L^-T (1 + L)^-1 N

NN' has no part along a, which beside numbers of 1e20 would make LL' singular. So in the second form
the threshold is one more column of N, as long as the others are together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_solve, cholesky, solve_triangular

from largemargin.lp.barrier import Barrier, Point

LOST = 1e-14  # of a number, where it is a difference


class Coordinates:
    """Raises LinAlgError where rounding leaves no coordinates."""

    def __init__(self, barrier: Barrier, at: Point) -> None:
        self.n, self.k, self.tau = barrier.n, barrier.n_curved, barrier.tau
        own, A = at.curvature[: self.k].copy(), barrier.A[:, : self.k]
        self.lift = at.cross / -own[: self.n]
        if self.tau is not None:
            own[self.tau] = max(own[self.tau] + at.cross @ self.lift, LOST * own[self.tau])
            A = _with_column(A, self.tau, A[:, : self.n] @ self.lift)
        self.example, self.unit = np.sqrt(at.weights), np.zeros(len(at.x))
        self.unit[: self.k] = 1 / np.sqrt(own)
        self._center(A, barrier.y if barrier.threshold else 0.0 * barrier.y)
        self._factor()

    def _center(self, A: Any, thresholds: np.ndarray) -> None:
        """N, but for sparse data, from which a is taken out where N is used."""
        side = self.example * thresholds
        self.length = float(np.linalg.norm(side)) or 1.0
        self.a = side / self.length
        features = self.unit[: self.k]
        if sp.issparse(A):
            self.N = sp.csr_array(sp.diags_array(self.example) @ A @ sp.diags_array(features))
            self.means = self.N.T @ self.a
        else:
            self.N = self.example[:, None] * A * features
            self.means = self.N.T @ self.a
            self.N -= np.outer(self.a, self.means)

    def _factor(self) -> None:
        self.wide = self.N.shape[1] > self.N.shape[0]
        square = self.N @ self.N.T if self.wide else self.N.T @ self.N
        if sp.issparse(square):
            square = square.toarray()
            if self.wide:
                square -= np.outer(self.a, self.a @ square)
                square -= np.outer(square @ self.a, self.a)
            else:
                square -= np.outer(self.means, self.means)
        stiff = float(np.trace(square)) if self.wide else 0.0
        if self.wide:
            square += stiff * np.outer(self.a, self.a)
        square[np.diag_indices(len(square))] += 1
        self.L = cholesky(square, lower=True, check_finite=False)
        self.L_1 = self.L + np.eye(len(self.L))
        self.column, self.stretch = np.sqrt(stiff), np.sqrt(1 + stiff)  # of the threshold
        self.unit[self.k :] = self.stretch / self.length

    def _outputs(self, x: np.ndarray) -> np.ndarray:
        """N x, with the threshold's column."""
        u = self.N @ x[: self.k]
        return np.asarray(u + self.a * (self.column * x[self.k :].sum() - self.a @ u))

    def _pulls(self, u: np.ndarray) -> np.ndarray:
        """N'u, with the threshold's column."""
        x, along = np.empty_like(self.unit), self.a @ u
        x[: self.k], x[self.k :] = self.N.T @ (u - self.a * along), self.column * along
        return x

    def out(self, z: np.ndarray) -> np.ndarray:
        """x = P z."""
        if self.wide:
            x = z - self._pulls(_over(self.L, _over(self.L_1, self._outputs(z)), 1))
        else:
            x = np.append(_over(self.L, z[: self.k], 1), z[self.k :])
        x[self.k :] -= self.means @ x[: self.k] / self.stretch
        x *= self.unit
        if self.tau is not None:
            x[: self.n] += self.lift * x[self.tau]
        return x

    def back(self, gradient: np.ndarray) -> np.ndarray:
        """P'g."""
        g = self._freed(gradient)
        if self.wide:
            return g - self._pulls(_over(self.L_1, _over(self.L, self._outputs(g)), 1))
        return np.append(_over(self.L, g[: self.k]), g[self.k :])

    def _freed(self, gradient: np.ndarray) -> np.ndarray:
        """P'g but for Q'."""
        g = gradient.copy()
        if self.tau is not None:
            g[self.tau] += self.lift @ g[: self.n]
        g *= self.unit
        g[: self.k] -= self.means * (g[self.k :].sum() / self.stretch)
        return g

    def multipliers(self, at: Point) -> np.ndarray:
        """Those of a Newton step from the point.

        They satisfy the condition on their sum, where those of the point itself are quotients of
        small numbers.
        """
        g = self._freed(at.gradient)
        along, g[self.k :] = g[self.k :].sum() / self.stretch, 0.0
        if self.wide:
            u = cho_solve((self.L, True), self._outputs(g), check_finite=False)
        else:
            g[: self.k] = cho_solve((self.L, True), g[: self.k], check_finite=False)
            u = self._outputs(g)
        u += self.a * (along - self.a @ u)
        return np.asarray(at.alpha + self.example * u)


def _over(L: np.ndarray, u: np.ndarray, trans: int = 0) -> np.ndarray:
    return np.asarray(solve_triangular(L, u, trans=trans, lower=True, check_finite=False))


def _with_column(A: Any, k: int, column: np.ndarray) -> Any:
    parts = [A[:, :k], column[:, None], A[:, k + 1 :]]
    return sp.hstack(parts, format="csr") if sp.issparse(A) else np.hstack(parts)
