"""A preconditioner: coordinates in which the second derivatives of a barrier at a point are 1.

    H = diag(h) + c t' + t c' + A'DA        h, c: of the barrier's own terms, t the unit vector of
                                            tau; D diagonal, one entry per example

The coordinates z of x = P z have PP' = H^-1, so that the conjugate gradients of a minimiser that
knows nothing of units take few steps, though h and D span twenty orders of magnitude near a
solution. P is made of

    w = w' + lift tau        which takes out c
    b = b' - mean'x          which takes the threshold out of A'DA, as it has no h: the other
                             columns of D^1/2 A are freed of what they have along its own, the
                             unit vector a
    x_j = z_j / h_j^1/2      which leaves 1 + N'N, N = (1 - aa') D^1/2 A h^-1/2

and a root of the last. With orthogonal columns Q, as many as the smaller side of N is long, and
lower triangular L,

    N' = QR,    1 + RR' = LL',    (1 + N'N)^-1 = SS',    S = 1 + Q (L^-T - 1) Q'

where pivots make the rows of R fall, so that small ones are not lost among large ones.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky, qr, solve_triangular

from largemargin.hyperplane.barrier import Barrier, BarrierPoint

CANCELLATION = 1e-14  # relative size below which the difference of two numbers is rounding alone


class Preconditioner:
    """P at a point. Raises LinAlgError where rounding or overflow leaves no coordinates."""

    def __init__(self, barrier: Barrier, at: BarrierPoint) -> None:
        self.n, self.k, self.tau = barrier.n, barrier.n_curved, barrier.tau
        own, A = at.curvature[: self.k].copy(), barrier.A[:, : self.k]
        A = A.copy() if isinstance(A, np.ndarray) else A.toarray()
        self.lift = at.cross / -own[: self.n]
        if self.tau is not None:
            own[self.tau] = max(own[self.tau] + at.cross @ self.lift, CANCELLATION * own[self.tau])
            A[:, self.tau] = A[:, : self.n] @ self.lift
        self.unit, self.example = 1 / np.sqrt(own), np.sqrt(at.weights)
        A *= self.example[:, None]
        A *= self.unit
        side = self.example * (barrier.y if barrier.threshold else 0.0)
        self.length = float(np.linalg.norm(side)) or 1.0
        self.a = side / self.length
        self.mean = self.a @ A
        A -= np.outer(self.a, self.mean)
        self._factor(A)

    def _factor(self, N: np.ndarray) -> None:
        self.Q, self.R, pivots = qr(
            N.T, mode="economic", pivoting=True, overwrite_a=True, check_finite=False
        )
        self.order = np.argsort(pivots)
        square = self.R @ self.R.T
        square[np.diag_indices(len(square))] += 1
        if not np.isfinite(square).all():
            raise LinAlgError("the second derivatives are not numbers")
        self.L = cholesky(square, lower=True, check_finite=False)

    def apply(self, z: np.ndarray) -> np.ndarray:
        """x = P z."""
        root = self._root(z[: self.k], 1)
        x = np.append(self.unit * root, (z[self.k :] - self.mean @ root) / self.length)
        if self.tau is not None:
            x[: self.n] += self.lift * x[self.tau]
        return x

    def apply_transpose(self, gradient: np.ndarray) -> np.ndarray:
        """P'g."""
        g, rest = self._freed(gradient)
        return np.append(self._root(g, 0), rest)

    def _freed(self, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """P'g without S', and the part of the threshold by itself."""
        g, rest = gradient[: self.k].copy(), gradient[self.k :] / self.length
        if self.tau is not None:
            g[self.tau] += self.lift @ g[: self.n]
        return self.unit * g - self.mean * rest.sum(), rest

    def _root(self, z: np.ndarray, trans: int) -> np.ndarray:
        """S z with trans=1, S'z with trans=0."""
        within = self.Q.T @ z
        turned = solve_triangular(self.L, within, trans=trans, lower=True, check_finite=False)
        return np.asarray(z + self.Q @ (turned - within))

    def multipliers(self, at: BarrierPoint) -> np.ndarray:
        """The Lagrange multipliers after a Newton step from the point.

        They satisfy the condition on their sum. Those of the point itself need not, since they are
        quotients of small numbers.
        """
        g, rest = self._freed(at.gradient)
        u = self.R.T @ cho_solve((self.L, True), self.Q.T @ g, check_finite=False)
        u = u[self.order]  # N (1 + N'N)^-1 g
        u += self.a * (rest.sum() - self.a @ u)
        return np.asarray(at.alpha + self.example * u)
