"""The last step to the exact solution: how many systems it takes."""

import numpy as np
import pytest

from largemargin.svm.active_set import refine, violation_of
from largemargin.svm.problem import Problem, Solution


@pytest.mark.parametrize("seed", range(20))
def test_a_variable_that_is_held_at_an_end_of_the_box_is_exactly_there(seed):
    """All variables are inside the box and one belongs at an end of it: one system tells which, and
    is not followed by others in which it is inside by rounding.
    """
    rng = np.random.default_rng(seed)
    n = 120
    X = rng.normal(size=(n, 6))
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    plain, ones = np.linalg.solve(K, y), np.linalg.solve(K, np.ones(n))
    unbounded = plain - plain.sum() / ones.sum() * ones
    C = 0.999 * np.abs(unbounded).max()
    start = rng.uniform(-0.9, 0.9, n) * C
    start -= start.mean()
    problem = Problem(
        p=-y, lo=np.full(n, -C), hi=np.full(n, C), ridge=np.zeros(n),
        a=np.ones(n), group=np.zeros(n, np.uint8), n_groups=1, threshold=True, start=start,
    )  # fmt: skip
    systems = []

    def gram(free):
        systems.append(len(free))
        return K[np.ix_(free, free)]

    given = Solution(start, K @ start - y, 1.0, 0, True)
    found = refine(problem, given, gram, lambda free, step: K[:, free] @ step)

    assert systems == [n]
    assert (np.abs(found.beta) == C).sum() == 1
    assert abs(found.beta.sum()) < 1e-12
    assert violation_of(problem, found.beta, K @ found.beta - y) < 1e-11
