"""Coordinates in which the second derivatives of a barrier at a point are 1.

    H = diag(h) + c t' + t c' + A'DA        h, c: of the barrier's own terms, t the unit vector of
                                            tau; D diagonal, one entry an example

The coordinates z of x = P z have PP' = H^-1, so that a minimiser that knows nothing of units finds
its way, though h and D span twenty orders of magnitude near a solution. P is made of changes of
variables that leave no difference of large numbers:

    w = w' + lift tau            takes out c
    x_j = x_j' - mean'x          for each variable beside w takes its column a out of A'DA: it has a
                                 curvature of h_j + a'a, the other columns become (1 - g aa') of what
                                 they were (without weighted means, for the threshold)
    w' = h^-1/2 z                leaves 1 + N'N

and of a root of the last, by a factorisation as large as the smaller side of N. With lower
triangular L,

    1 + N'N = LL',    (1 + N'N)^-1 = QQ',   Q = L^-T
    1 + NN' = LL',    (1 + N'N)^-1 = QQ',   Q = 1 - N' L^-T (1 + L)^-1 N
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
        self.tau, self.threshold, n = barrier.tau, barrier.threshold, barrier.n
        own = at.curvature.copy()
        self.lift = at.cross / -own[:n]
        A = barrier.A
        if self.tau is not None:
            left = own[self.tau] + at.cross @ self.lift
            own[self.tau] = max(left, LOST * own[self.tau])
            A = _with_column(A, self.tau, A[:, :n] @ self.lift)
        self.example = np.sqrt(at.weights)
        self.side, length = np.zeros(len(self.example)), 1.0
        if self.threshold:
            self.side = self.example * barrier.y
            length = float(np.linalg.norm(self.side))
            self.side /= length
            A, own = A[:, :-1], own[:-1]
        self.unit = 1 / np.sqrt(own)
        self.wide = A.shape[1] > A.shape[0]
        if sp.issparse(A):
            self.N = sp.csr_array(sp.diags_array(self.example) @ A @ sp.diags_array(self.unit))
            self.means = self.N.T @ self.side
        else:
            self.N = self.example[:, None] * A * self.unit
            self.means = self.N.T @ self.side
            self.N -= np.outer(self.side, self.means)
        square = self._square()
        self.stiff = float(np.trace(square)) if self.wide and self.threshold else 0.0
        square += self.stiff * np.outer(self.side, self.side) if self.wide else 0.0
        square[np.diag_indices(len(square))] += 1
        self.length = length / np.sqrt(1 + self.stiff)
        self.L = cholesky(square, lower=True, check_finite=False)
        self.L_1 = self.L + np.eye(len(self.L))

    def _square(self) -> np.ndarray:
        """N'N or NN', the smaller."""
        square = self.N @ self.N.T if self.wide else self.N.T @ self.N
        if sp.issparse(square):
            square = square.toarray()
            if self.wide:
                square -= np.outer(self.side, self.side @ square)
                square -= np.outer(square @ self.side, self.side)
            else:
                square -= np.outer(self.means, self.means)
        return np.asarray(square)

    def _outputs(self, x: np.ndarray, b: float) -> np.ndarray:
        """N x, and what the threshold adds."""
        u = self.N @ x
        return u + self.side * (np.sqrt(self.stiff) * b - self.side @ u)

    def _pulls(self, u: np.ndarray) -> tuple[np.ndarray, float]:
        along = float(self.side @ u)
        return np.asarray(self.N.T @ (u - self.side * along)), np.sqrt(self.stiff) * along

    def out(self, z: np.ndarray) -> np.ndarray:
        """x = P z."""
        x, b = self._split(z)
        if self.wide:
            inner = _over(self.L, _over(self.L_1, self._outputs(x, b)), 1)
            dx, db = self._pulls(inner)
            x, b = x - dx, b - db
        else:
            x = _over(self.L, x, 1)
        b = (b - self.means @ x / np.sqrt(1 + self.stiff)) / self.length
        x = self.unit * x
        if self.tau is not None:
            x[: len(self.lift)] += self.lift * x[self.tau]
        return np.append(x, b) if self.threshold else x

    def _split(self, z: np.ndarray) -> tuple[np.ndarray, float]:
        return (z[:-1], float(z[-1])) if self.threshold else (z, 0.0)

    def _freed(self, gradient: np.ndarray) -> tuple[np.ndarray, float]:
        """P'g but for the root."""
        g, b = self._split(gradient)
        b /= self.length
        g = g.copy()
        if self.tau is not None:
            g[self.tau] += self.lift @ g[: len(self.lift)]
        return self.unit * g - self.means * (b / np.sqrt(1 + self.stiff)), b

    def back(self, gradient: np.ndarray) -> np.ndarray:
        """P'g."""
        x, b = self._freed(gradient)
        if self.wide:
            inner = _over(self.L_1, _over(self.L, self._outputs(x, b)), 1)
            dx, db = self._pulls(inner)
            x, b = x - dx, b - db
        else:
            x = _over(self.L, x)
        return np.append(x, b) if self.threshold else x

    def multipliers(self, at: Point) -> np.ndarray:
        """Those of a Newton step from the point.

        They satisfy the condition on their sum, where those of the point are quotients of small
        numbers.
        """
        x, b = self._freed(at.gradient)
        if self.wide:
            u = cho_solve((self.L, True), self._outputs(x, 0.0), check_finite=False)
        else:
            u = self._outputs(cho_solve((self.L, True), x, check_finite=False), 0.0)
        u += self.side * (b / np.sqrt(1 + self.stiff) - self.side @ u)
        return at.alpha + self.example * u


def _over(L: np.ndarray, u: np.ndarray, trans: int = 0) -> np.ndarray:
    return np.asarray(solve_triangular(L, u, trans=trans, lower=True, check_finite=False))


def _with_column(A: Any, k: int, column: np.ndarray) -> Any:
    if sp.issparse(A):
        return sp.hstack([A[:, :k], column[:, None], A[:, k + 1 :]], format="csr")
    A = A.copy()
    A[:, k] = column
    return A
