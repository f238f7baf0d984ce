"""Every machine against its program in full, given to a general solver."""

import numpy as np
import pytest

from largemargin import LPSVC, AdaptiveMarginSVC, LeaveOneOutSVC, NuLPSVC
from tests.svm.problems import KERNELS, noisy, separable

from . import twin

MACHINES = {
    "lp": (LPSVC, {"C": 0.7}, lambda K, y, s: twin.lp_machine(K, y, s, 0.7)),
    "lp-cheap": (LPSVC, {"C": 1e-3}, lambda K, y, s: twin.lp_machine(K, y, s, 1e-3)),
    "lp-dear": (LPSVC, {"C": 1e5}, lambda K, y, s: twin.lp_machine(K, y, s, 1e5)),
    "nu-lp": (NuLPSVC, {"nu": 0.3}, lambda K, y, s: twin.nu_machine(K, y, s, 0.3)),
    "leave-one-out": (LeaveOneOutSVC, {}, lambda K, y, s: twin.adaptive_margin(K, y, s, 1.0)),
    "adaptive-0": (
        AdaptiveMarginSVC, {"lam": 0.0}, lambda K, y, s: twin.adaptive_margin(K, y, s, 0.0),
    ),
    "adaptive-3": (
        AdaptiveMarginSVC, {"lam": 3.0}, lambda K, y, s: twin.adaptive_margin(K, y, s, 3.0),
    ),
    "adaptive-1e6": (
        AdaptiveMarginSVC, {"lam": 1e6}, lambda K, y, s: twin.adaptive_margin(K, y, s, 1e6),
    ),
}  # fmt: skip
machines = pytest.mark.parametrize("machine", MACHINES)


def fit(machine, X, y, **parameters):
    kind, own, _ = MACHINES[machine]
    return kind(**own, **parameters).fit(X, y)


def check(machine, model, K, y, weights=None, tol=1e-7, conditions=True):
    """The objective is the general solver's, and the coefficients are optimal by themselves."""
    s = np.ones(len(y)) if weights is None else weights
    program = MACHINES[machine][2](K, y, s)
    wanted = twin.solve(program).fun
    trifle = 1e-9 * np.abs(program.cost).sum()
    assert abs(model.objective_[0] - wanted) <= tol * abs(wanted) + trifle
    assert model.converged_
    assert model.dual_gap_[0] <= tol
    if conditions:
        alpha = np.zeros(len(y))
        alpha[model.support_] = model.dual_coef_[0] * y[model.support_]
        rho = getattr(model, "margin_", [1.0])[0]
        twin.check_optimal(program, alpha, model.intercept_[0], rho)


@machines
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("problem", [noisy, separable])
def test_objective_and_conditions(machine, kernel, problem):
    parameters, values = KERNELS[kernel]
    for seed in range(2):
        X, y = problem(seed, n=30)
        K = values(X, X)
        model = fit(machine, K if kernel == "precomputed" else X, y, **parameters)
        check(machine, model, K, y)
