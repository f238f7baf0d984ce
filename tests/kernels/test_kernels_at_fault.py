"""A kernel that fails in the middle of a fit leaves the estimator as it was."""

import copy
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import largemargin as lm
from largemargin.online.prefetch import LOOK_AHEAD

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 3)), RNG.integers(0, 3, 40)
OTHERS, LABELS = RNG.normal(size=(30, 3)), RNG.integers(0, 3, 30)


class Kernel:
    """A polynomial that fails in some way after so many calls."""

    def __init__(self):
        self.calls, self.good, self.way = 0, np.inf, None

    def __call__(self, A, B):
        self.calls += 1
        values = (A @ B.T + 1.0) ** 2
        return values if self.calls <= self.good else WAYS[self.way](values)

    def __deepcopy__(self, memo):
        return self  # so that a clone has the same


def fail(error):
    def way(values):
        raise error

    return way


def one_infinite(values):
    values[0, 0] = np.inf
    return values


WAYS = {
    "raises": fail(RuntimeError("at fault")),
    "refuses": fail(ValueError("at fault")),
    "is interrupted": fail(KeyboardInterrupt()),
    "needs memory": fail(MemoryError()),
    "nan": lambda values: values * np.nan,
    "inf": one_infinite,
    "shape": lambda values: values[:-1],
    "complex": lambda values: values + 1j,
    "text": lambda values: "text",
    "none": lambda values: None,
    "ragged": lambda values: [[1.0, 2.0], [3.0]],
}
KERNEL = Kernel()
MODELS = [
    lm.VotedPerceptron(kernel=KERNEL, epochs=3),
    lm.VotedPerceptron(kernel=KERNEL, method="pocket"),
    lm.SVC(kernel=KERNEL),
    lm.SVC(kernel=KERNEL, warm_start=True),
    lm.SVC(kernel=KERNEL, multiclass="ovo"),
    lm.SVC(kernel=KERNEL, multiclass="crammer-singer"),
    lm.NuSVC(kernel=KERNEL, nu=0.2),
    lm.KernelAdatron(kernel=KERNEL, C=1.0),
    lm.LPSVC(kernel=KERNEL),
    lm.NuLPSVC(kernel=KERNEL),
    lm.LeaveOneOutSVC(kernel=KERNEL),
    lm.AdaptiveMarginSVC(kernel=KERNEL),
    lm.AggressivePerceptron(kernel=KERNEL, budget=6, average=True),
    lm.MIRA(kernel=KERNEL),
    lm.MIRA(kernel=KERNEL, budget=6, policy="projectron"),
    lm.ROMMA(kernel=KERNEL, budget=6, policy="forgetron"),
    lm.ALMA(kernel=KERNEL),
]
STREAMS = MODELS[12:]


def name_of(value):
    return value if isinstance(value, str) else type(value).__name__


def good_calls(model, method, X, y):
    """How often a call that succeeds asks the kernel."""
    KERNEL.good = np.inf
    model = copy.deepcopy(model)
    KERNEL.calls = 0
    getattr(model, method)(X, y)
    return KERNEL.calls


def state_of(model):
    KERNEL.good = np.inf
    attributes = {
        name: value.copy() if isinstance(value, np.ndarray) else value
        for name, value in vars(model).items()
        if isinstance(value, np.ndarray | int | float | str | bool | None)
    }
    return attributes | {"scores": model.decision_function(X), "names": sorted(vars(model))}


def fails_without_a_trace(model, method, way, after, X, y):
    before = state_of(model)
    KERNEL.calls, KERNEL.good, KERNEL.way = 0, after, way
    with pytest.raises((ValueError, RuntimeError, KeyboardInterrupt, MemoryError)) as caught:
        getattr(model, method)(X, y)
    if way not in ("raises", "refuses", "is interrupted", "needs memory"):
        assert isinstance(caught.value, ValueError)
        assert "kernel" in str(caught.value) or "inhomogeneous" in str(caught.value)
    after = state_of(model)
    assert before.keys() == after.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value, err_msg=name)


@pytest.mark.parametrize(
    ("model", "method"),
    [(model, "fit") for model in MODELS]
    + [(model, "partial_fit") for model in [MODELS[0], *STREAMS]],
    ids=name_of,
)
def test_every_estimator(model, method):
    KERNEL.good = np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(model).fit(X, Y)
        total = good_calls(model, method, OTHERS, LABELS)
        for way in WAYS:
            for after in sorted({0, total // 2, total - 1}):
                fails_without_a_trace(model, method, way, after, OTHERS, LABELS)


@pytest.mark.parametrize("model", STREAMS, ids=name_of)
def test_chunks_of_several_blocks(model):
    """What one block has learned is forgotten when the next fails."""
    n = 2 * LOOK_AHEAD + 100
    more, labels = RNG.normal(size=(n, 3)), RNG.integers(0, 3, n)
    KERNEL.good = np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(model).set_params(budget=6, policy="auto").partial_fit(X, Y)
        total = good_calls(model, "partial_fit", more, labels)
        assert total > 2
        for after in sorted({1, total // 2, total - 1}):
            fails_without_a_trace(model, "partial_fit", "raises", after, more, labels)
