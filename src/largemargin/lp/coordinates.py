"""Coordinates in which the second derivatives of a barrier at a point are 1.

    H = diag(h) + c t' + t c' + A'DA        h, c: of the barrier's own terms; t the unit vector of
                                            tau; D diagonal, one entry an example

The coordinates z of x = P z have PP' = H^-1, so that a minimiser that knows nothing of units finds
its way, though h and D span twenty orders of magnitude near a solution. P is made of three changes
of variables:

    w    = w' + lift tau        takes out c
    b    = b' - mean'x          takes the threshold out of A, which has no h: the other columns are
                                freed of their weighted means
    x_j  = z_j / h_j^1/2        leaves 1 + N'N, where N = D^1/2 A h^-1/2 without means

and of a root of the last, by a factorisation as large as the smaller side of N. With lower
triangular L,

    1 + N'N = LL'    (1 + N'N)^-1 = QQ',   Q = L^-T
    1 + NN' = LL'    (1 + N'N)^-1 = QQ',   Q = 1 - N' L^-T (1 + L)^-1 N
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
        self.tau, n, k = barrier.tau, barrier.n, barrier.n_curved
        own = at.curvature[:k].copy()
        self.lift = -at.cross / own[:n]
        A = barrier.A[:, :k]
        if self.tau is not None:
            own[self.tau] = max(own[self.tau] + at.cross @ self.lift, LOST * own[self.tau])
            lifted = (A[:, :n] @ self.lift)[:, None]
            A = _beside([A[:, : self.tau], lifted, A[:, self.tau + 1 :]])
        self.unit, self.example = 1 / np.sqrt(own), np.sqrt(at.weights)
        self.side = np.zeros(len(self.example))  # of the threshold, as a unit vector
        self.length = 0.0
        if k < len(at.x):
            side = self.example * barrier.y
            self.length = float(np.linalg.norm(side))
            self.side = side / self.length
        self._center(A)
        self.L = cholesky(self._square(), lower=True, check_finite=False)

    def _center(self, A: Any) -> None:
        if sp.issparse(A):
            N = sp.csr_array(sp.diags_array(self.example) @ A @ sp.diags_array(self.unit))
            self.means = N.T @ self.side  # taken out wherever N is used
        else:
            N = self.example[:, None] * A * self.unit
            self.means = N.T @ self.side
            N -= np.outer(self.side, self.means)
        self.N, self.wide = N, N.shape[1] > N.shape[0]

    def _square(self) -> np.ndarray:
        """1 + N'N or 1 + NN', the smaller."""
        square = self.N @ self.N.T if self.wide else self.N.T @ self.N
        if sp.issparse(square):
            square = square.toarray()
            if self.wide:
                square -= np.outer(self.side, self.side @ square)
                square -= np.outer(square @ self.side, self.side)
            else:
                square -= np.outer(self.means, self.means)
        square[np.diag_indices(len(square))] += 1
        return np.asarray(square)

    def _outputs(self, x: np.ndarray) -> np.ndarray:
        u = self.N @ x
        return u - self.side * (self.side @ u)

    def _pulls(self, u: np.ndarray) -> np.ndarray:
        return np.asarray(self.N.T @ (u - self.side * (self.side @ u)))

    def _over(self, u: np.ndarray, trans: int = 0, plus: int = 0) -> np.ndarray:
        """u by L + plus, or by its transpose."""
        L = self.L + plus * np.eye(len(self.L)) if plus else self.L
        return np.asarray(solve_triangular(L, u, trans=trans, lower=True, check_finite=False))

    def out(self, z: np.ndarray) -> np.ndarray:
        """x = P z."""
        k = len(self.unit)
        if self.wide:
            root = z[:k] - self._pulls(self._over(self._over(self._outputs(z[:k]), 0, 1), 1))
        else:
            root = self._over(z[:k], 1)
        x = np.append(self.unit * root, (z[k:] - self.means @ root) / (self.length or 1.0))
        if self.tau is not None:
            x[: len(self.lift)] += self.lift * x[self.tau]
        return x

    def back(self, gradient: np.ndarray) -> np.ndarray:
        """P'g."""
        h, rest = self._scaled(gradient)
        if self.wide:
            root = h - self._pulls(self._over(self._over(self._outputs(h)), 1, 1))
        else:
            root = self._over(h)
        return np.append(root, rest)

    def _scaled(self, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        k = len(self.unit)
        rest = gradient[k:] / (self.length or 1.0)
        curved = gradient[:k].copy()
        if self.tau is not None:
            curved[self.tau] += self.lift @ gradient[: len(self.lift)]
        return self.unit * curved - self.means * rest.sum(), rest

    def multipliers(self, at: Point) -> np.ndarray:
        """Those of a Newton step from the point.

        They satisfy the condition on their sum, where those of the point are quotients of small
        numbers.
        """
        h, rest = self._scaled(at.gradient)
        if self.wide:
            pull = cho_solve((self.L, True), self._outputs(h), check_finite=False)
        else:
            pull = self._outputs(cho_solve((self.L, True), h, check_finite=False))
        return at.alpha + self.example * (pull + self.side * rest.sum())


def _beside(parts: list[Any]) -> Any:
    return sp.hstack(parts, format="csr") if sp.issparse(parts[0]) else np.hstack(parts)
