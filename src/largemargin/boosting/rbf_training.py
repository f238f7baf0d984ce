"""Training of a network of radial basis functions whose centres and widths adapt.

    minimise  E(c, sigma) = min_w 1/2 sum_i d_i |y_i - sum_k w_k g_k(x_i)|^2 + lambda/2 |w|^2,
    with  g_k(x) = exp(-|x - c_k|^2 / (2 sigma_k^2)),   sum_i d_i = 1

over centres c and widths sigma: w is eliminated, since for given basis functions it solves a small
linear system, and by the envelope theorem the gradient of E is that of the sum at this w. So a few
quasi-Newton steps go far (Raetsch, Onoda & Mueller 2001, appendix, take conjugate gradients).
It starts from the centres of a weighted k-means, each as wide as it is far from the nearest other.

Equal examples are made one with the sum of their weights first, in the order of their values. So an
example of weight 2 and the same example twice are the same numbers from here on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from largemargin.kernels.engine import LARGEST_NUMBER

MOST_LLOYD_STEPS = 10  # Lloyd's steps at most: a start need not be a local optimum
BEYOND = (
    "centres, widths and output weights of these data are more or less than float64 can compute "
    "with: scale the data (to 0..1, say)"
)
LARGEST_SQUARE = LARGEST_NUMBER  # squared norm of a row at most: sums of many must be finite


@dataclass(frozen=True)
class Network:
    """Centres, one per row, their widths, and their output weights, one column per output."""

    centers: np.ndarray
    widths: np.ndarray
    weights: np.ndarray
    objective: float
    n_iter: int


def basis_values(X: np.ndarray, centers: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """g_k(x_i), one row per example."""
    middle = centers.mean(axis=0)  # far from the origin, differences of squares lose digits
    X, centers = X - middle, centers - middle
    return _gaussians(_extended(X), centers, widths)


def train(
    X: np.ndarray,
    labels: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray,
    *,
    n_centers: int,
    regularization: float,
    max_iter: int,
    random_state: np.random.RandomState,
    after_step: Callable[[], bool],
    look: Callable[[], Any] = lambda: False,
) -> Network:
    """Train a network; row k of `targets` is what class k wants of the outputs.

    `after_step` is called after every step and says whether to go on; `look` is asked in between
    whether to stop with what there is.
    """
    with np.errstate(all="ignore"):  # infinities and NaN are refused below
        found = _trained(
            X, labels, targets, weights, n_centers, regularization, max_iter, random_state,
            after_step, look,
        )  # fmt: skip
    parts = (found.centers, found.widths, found.weights, np.array(found.objective))
    if not all(np.isfinite(part).all() for part in parts) or not (found.widths > 0).all():
        raise ValueError(BEYOND)
    return found


def _trained(
    X: np.ndarray,
    labels: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray,
    n_centers: int,
    regularization: float,
    max_iter: int,
    random_state: np.random.RandomState,
    after_step: Callable[[], bool],
    look: Callable[[], Any],
) -> Network:
    X, labels, d = _merge_duplicates(X, labels, weights)
    middle = d @ X
    X = X - middle
    centers = kmeans(X, d, n_centers, random_state, look)
    problem = _ReducedObjective(X, targets[labels], d, regularization, centers.shape, look)
    start = np.concatenate([centers.ravel(), np.log(_first_widths(X, d, centers))])
    best, n_iter = _descend(problem, start, max_iter, after_step)
    centers, widths = problem.parts(best.vector)
    return Network(centers + middle, widths, best.weights, best.value, n_iter)


def _descend(
    problem: _ReducedObjective, start: np.ndarray, max_iter: int, after_step: Callable[[], bool]
) -> tuple[_Fitted, int]:
    """Quasi-Newton steps; returns where they end and how many they were."""
    n_iter = 0
    if max_iter == 0:
        return problem.fitted(start), n_iter

    def step_taken(_: np.ndarray) -> None:
        nonlocal n_iter
        n_iter += 1
        if not after_step():
            raise StopIteration

    try:
        found = minimize(
            problem, start, jac=True, method="L-BFGS-B", callback=step_taken,
            options={"maxiter": max_iter},
        )  # fmt: skip
    except _OutOfTime:
        assert problem.best is not None
        return problem.best, n_iter
    return problem.fitted(found.x), int(found.nit)


class _OutOfTime(Exception):
    """There is no time left to evaluate the objective."""


@dataclass(frozen=True)
class _Fitted:
    """Centres and widths as one vector, the output weights that are best for them, and E."""

    vector: np.ndarray
    weights: np.ndarray
    value: float


class _ReducedObjective:
    """E and its gradient, as a function of centres and logarithms of widths in one vector."""

    def __init__(
        self,
        X: np.ndarray,
        Y: np.ndarray,
        d: np.ndarray,
        regularization: float,
        shape: tuple[int, int],
        look: Callable[[], Any] = lambda: False,
    ) -> None:
        self.X, self.Y, self.d = _extended(X), Y, d[:, None]
        self.ridge = regularization * np.eye(shape[0])
        self.regularization = regularization
        self.shape = shape
        self.look = look
        self.best: _Fitted | None = None  # the best of all that were evaluated

    def parts(self, vector: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Centres and widths."""
        size = self.shape[0] * self.shape[1]
        return vector[:size].reshape(self.shape), np.exp(vector[size:])

    def best_weights(self, G: np.ndarray) -> np.ndarray:
        """The output weights that are best for these values of the basis functions."""
        dG = self.d * G
        try:
            return np.linalg.solve(dG.T @ G + self.ridge, dG.T @ self.Y)
        except np.linalg.LinAlgError:
            raise ValueError(BEYOND) from None

    def fitted(self, vector: np.ndarray) -> _Fitted:
        """What belongs to a vector, computed anew if it is not the best of all."""
        if self.best is not None and np.array_equal(vector, self.best.vector):
            return self.best
        self._evaluate(vector)
        return self.last

    def _evaluate(self, vector: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values of the basis functions, output weights and residuals."""
        G = _gaussians(self.X, *self.parts(vector))
        W = self.best_weights(G)
        residual = G @ W - self.Y
        value = 0.5 * np.vdot(self.d * residual, residual)
        value += 0.5 * self.regularization * np.vdot(W, W)
        self.last = _Fitted(vector.copy(), W, float(value))
        if self.best is None or self.last.value < self.best.value:
            self.best = self.last
        return G, W, residual

    def __call__(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        if self.best is not None and self.look():
            raise _OutOfTime
        centers, widths = self.parts(vector)
        G, W, residual = self._evaluate(vector)
        G *= (self.d * residual) @ W.T  # G_ik dE/dG_ik, which d log G_ik is to be summed with
        sums = G.T @ self.X  # sums of x, |x|^2 and 1
        precisions = widths**-2
        by_center = (sums[:, :-2] - sums[:, -1:] * centers) * precisions[:, None]
        squares = (sums * _coefficients(centers)).sum(axis=1)
        return self.last.value, np.concatenate([by_center.ravel(), squares * precisions])


def _extended(X: np.ndarray) -> np.ndarray:
    """Rows (x, |x|^2, 1), whose product with (-2 c, 1, |c|^2) is the squared distance to c."""
    with np.errstate(over="ignore"):
        squares = (X * X).sum(axis=1)
    if not squares.max(initial=0.0) < LARGEST_SQUARE:
        raise ValueError(
            f"X spreads over {np.abs(X).max():.3g}, the square of which is more than float64 can "
            "compute with: scale the data (to 0..1, say)"
        )
    return np.column_stack([X, squares, np.ones(len(X))])


def _coefficients(centers: np.ndarray) -> np.ndarray:
    found = np.empty((len(centers), centers.shape[1] + 2))
    found[:, :-2] = centers
    found[:, :-2] *= -2.0
    found[:, -2] = 1.0
    found[:, -1] = np.einsum("kj,kj->k", centers, centers)
    return found


def _squares(extended: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Squared distances of rows to centres."""
    squares = extended @ _coefficients(centers).T
    return np.asarray(np.maximum(squares, 0.0, out=squares))


def _gaussians(extended: np.ndarray, centers: np.ndarray, widths: np.ndarray) -> np.ndarray:
    exponents = extended @ (_coefficients(centers) * (-0.5 / widths**2)[:, None]).T
    np.minimum(exponents, 0.0, out=exponents)
    return np.exp(exponents, out=exponents)


def kmeans(
    X: np.ndarray,
    d: np.ndarray,
    n_centers: int,
    random_state: np.random.RandomState,
    look: Callable[[], Any] = lambda: False,
) -> np.ndarray:
    """Centres of clusters of weighted rows; fewer than asked for if there are fewer rows.

    A first centre is drawn by weight, each further one by weight times squared distance to the
    nearest so far (k-means++); then Lloyd's steps, a few or until nothing moves. `look` is asked in
    between whether to stop with what there is.
    """
    rows = _extended(X)
    rounding = 1e-10 * rows[:, -2].max()
    draws = random_state.random_sample(n_centers)
    chosen: list[int] = []
    nearest = np.ones(len(X))
    for draw in draws:
        reach = np.cumsum(d * nearest)
        if not reach[-1] > 0 or (chosen and look()):
            break  # every row is a centre
        chosen.append(min(int(np.searchsorted(reach, draw * reach[-1], "right")), len(X) - 1))
        found = _squares(rows, X[chosen[-1:]])[:, 0]
        found[found <= rounding] = 0.0
        nearest = np.minimum(nearest, found) if len(chosen) > 1 else found
    centers = X[chosen]
    clusters = np.arange(len(centers))[:, None]
    before = None
    for _ in range(MOST_LLOYD_STEPS):
        if look():
            break
        distances = _squares(rows, centers)
        # as near as the nearest, to rounding: then the first, whatever the last bits are
        mine = (distances <= distances.min(axis=1, keepdims=True) + rounding).argmax(axis=1)
        if before is not None and np.array_equal(mine, before):
            break
        before = mine
        members = np.where(mine == clusters, d, 0.0)
        mass = members.sum(axis=1)
        full = mass > 0
        centers[full] = members[full] @ X / mass[full, None]
    return centers


def _first_widths(X: np.ndarray, d: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """The distance to the nearest other centre; for one centre, the spread of the rows."""
    spread = np.sqrt(d @ (X * X).sum(axis=1)) or 1.0
    if len(centers) == 1:
        return np.array([spread])
    distances = _squares(_extended(centers), centers)
    np.fill_diagonal(distances, np.inf)
    nearest = np.sqrt(distances.min(axis=1))
    return np.where(nearest > 1e-6 * spread, nearest, spread)


def _merge_duplicates(
    X: np.ndarray, labels: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Equal examples merged into one, in the order of their values; their weights are added up, as
    a share of all weights.
    """
    order = np.lexsort((labels, *X.T[::-1]))
    X, labels, weights = X[order], labels[order], weights[order]
    starts = np.ones(len(labels), bool)
    starts[1:] = (X[1:] != X[:-1]).any(axis=1) | (labels[1:] != labels[:-1])
    sums = np.add.reduceat(weights, np.flatnonzero(starts))
    return X[starts], labels[starts], sums / sums.sum()
