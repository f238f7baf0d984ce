"""Fits that end before they converge: said, usable, and to be gone on with."""

import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from largemargin.svm import SVC, NuSVC

from . import twin
from .problems import KERNELS, noisy, separable, several
from .test_decomposition import small_blocks

MACHINES = {
    "linear": SVC(C=10.0, gamma=0.4),
    "squared": SVC(C=10.0, slack="squared", gamma=0.4),
    "squared-sum": SVC(C=1.0, slack="squared-sum", gamma=0.4),
    "no threshold": SVC(C=10.0, fit_intercept=False, gamma=0.4),
    "hard": SVC(C=np.inf, gamma=0.4),
    "nu": NuSVC(nu=0.3, gamma=0.4),
    "crammer-singer": SVC(C=10.0, multiclass="crammer-singer", gamma=0.4),
}


def again(name, **params):
    model = MACHINES[name]
    return type(model)(**{**model.get_params(), **params})


def data(name):
    if name == "hard":
        return separable(3, n=80)
    return several(3, n=90) if name == "crammer-singer" else noisy(3, n=80)


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("blocks", [False, True])
def test_a_limit_of_steps(name, blocks):
    X, y = data(name)
    model = again(name, max_iter=7)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if blocks:
            with small_blocks():
                model.fit(X, y)
        else:
            model.fit(X, y)
    (warning,) = caught
    assert warning.category is ConvergenceWarning
    message = str(warning.message)
    gap = f"the largest relative duality gap is {model.dual_gap_.max():.3g}"
    assert f"max_iter=7 was reached; {gap}" in message
    assert "warm_start=True" in message
    assert not model.converged_
    assert model.dual_gap_.max() > 1e-3
    assert model.predict(X).shape == y.shape
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("blocks", [False, True])
def test_the_gap_that_is_named_is_true(blocks):
    X, y = noisy(3, n=80)
    model = SVC(C=10.0, gamma=0.4, max_iter=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if blocks:
            with small_blocks(portions=True):
                model.fit(X, y)
        else:
            model.fit(X, y)
    K, coefs = KERNELS["rbf"][1](X, X), np.zeros(80)
    coefs[model.support_] = model.dual_coef_[0]
    upper = twin.primal(K, y, np.ones(80), coefs, model.intercept_[0], 10.0)
    lower = twin.dual(K, y, np.ones(80), coefs, 10.0)
    assert model.n_iter_[0] <= 30
    assert model.objective_[0] == pytest.approx(lower)
    assert model.dual_gap_[0] == pytest.approx((upper - lower) / upper)
    assert lower < twin.soft_margin(K, y, np.ones(80), 10.0).objective < upper


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("blocks", [False, True])
def test_going_on(name, blocks):
    """Short fits one after the other, each from where the last one ended, reach the solution."""
    X, y = data(name)
    truth = again(name).fit(X, y)
    # the shared box is looked for in rounds, of which the first needs many
    model = again(name, max_iter=2000 if name == "squared-sum" else 40, warm_start=True)
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore", ConvergenceWarning)
        if blocks:
            patch.setattr("largemargin.svm.session.WHOLE_GRAM_ROWS", 0)
            patch.setattr("largemargin.svm.decomposition.WORKING_SET", 32)
        before = -np.inf
        for _ in range(300):
            model.fit(X, y)
            if name in ("linear", "squared", "no threshold", "crammer-singer"):
                assert model.objective_[0] >= before - 1e-9 * abs(before)  # the dual only rises
                before = model.objective_[0]
            if model.converged_:
                break
    assert model.converged_
    f, expected = model.decision_function(X), truth.decision_function(X)
    assert np.allclose(f, expected, rtol=0, atol=1e-7 * (1 + abs(expected).max()))


@pytest.mark.parametrize("name", MACHINES)
def test_going_on_from_the_solution_is_free(name):
    X, y = data(name)
    model = again(name, warm_start=True).fit(X, y)
    before, steps = model.decision_function(X), model.n_iter_.sum()
    model.fit(X, y)
    assert model.n_iter_.sum() <= max(5, steps // 5)
    assert np.allclose(model.decision_function(X), before, rtol=0, atol=1e-7)


def test_going_on_with_other_parameters():
    """A start outside the new box, another C, other weights: what a fresh fit gives."""
    X, y = noisy(3, n=80)
    weight = np.random.default_rng(0).uniform(0.2, 3, 80)
    weight[::7] = 0
    for slack in ("linear", "squared", "squared-sum"):
        model = SVC(C=10.0, gamma=0.4, slack=slack, warm_start=True).fit(X, y)
        for C, w in ((0.1, None), (100.0, weight), (1.0, None), (np.inf, None), (1.0, weight)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.set_params(C=C).fit(X, y, w)
                fresh = SVC(C=C, gamma=0.4, slack=slack).fit(X, y, w)
            f = fresh.decision_function(X)
            assert np.allclose(
                model.decision_function(X), f, rtol=0, atol=1e-6 * (1 + abs(f).max())
            )


def test_going_on_with_other_data_starts_afresh():
    X, y = several(3, n=90)
    model = SVC(gamma=0.4, warm_start=True).fit(X, y)
    for rows, labels in ((X[:50], y[:50]), (X, (y > 0).astype(int)), (X[:, :2], y), (X, 2 - y)):
        model.fit(rows, labels)
        fresh = SVC(gamma=0.4).fit(rows, labels)
        assert np.allclose(model.decision_function(rows), fresh.decision_function(rows), atol=1e-7)


@pytest.mark.parametrize("blocks", [False, True])
def test_a_limit_of_time(blocks):
    X, y = several(4, n=300, n_classes=4, noise=1.0)
    params = {"C": 1e5, "kernel": "poly", "gamma": 1.0}
    with pytest.MonkeyPatch.context() as patch:
        if blocks:
            patch.setattr("largemargin.svm.session.WHOLE_GRAM_ROWS", 0)
        with pytest.warns(ConvergenceWarning, match=r"max_seconds=1e-06 was reached.* gap is"):
            model = SVC(max_seconds=1e-6, **params).fit(X, y)
    assert not model.converged_
    assert np.isfinite(model.decision_function(X)).all()


def test_time_enough_does_not_warn():
    X, y = noisy(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SVC(max_seconds=1000.0, max_iter=10**6).fit(X, y).converged_


class Interrupting:
    """A kernel during whose n-th block of values Ctrl-C is pressed, once or more."""

    def __init__(self, at, times=1):
        self.at, self.times, self.calls = at, times, 0

    def __call__(self, A, B):
        self.calls += 1
        if self.calls == self.at:
            for _ in range(self.times):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.01)
        return (A @ B.T + 1) ** 3


def test_interrupted():
    X, y = several(4, n=200, n_classes=4, noise=1.0)
    before = signal.getsignal(signal.SIGINT)
    with small_blocks(), pytest.warns(ConvergenceWarning, match="because it was interrupted"):
        model = SVC(C=100.0, kernel=Interrupting(5), n_jobs=1).fit(X, y)
    assert signal.getsignal(signal.SIGINT) is before
    assert not model.converged_
    assert model.predict(X).shape == (200,)


def test_interrupted_twice_is_interrupted():
    X, y = several(4, n=200, n_classes=4, noise=1.0)
    model = SVC().fit(X[:50], y[:50])
    truth = model.decision_function(X)
    before = signal.getsignal(signal.SIGINT)
    model.set_params(kernel=Interrupting(5, times=2), n_jobs=1)
    with small_blocks(), pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert signal.getsignal(signal.SIGINT) is before
    assert np.array_equal(model.decision_function(X), truth)


@pytest.mark.parametrize("n", [pytest.param(1500, marks=pytest.mark.full), 2500])
def test_interrupted_from_outside(n):
    """The fit waits for it, at its third block of kernel values."""
    program = f"""
        import signal, time, warnings
        import numpy as np
        from largemargin.svm import SVC
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=({n}, 3)), rng.integers(0, 3, {n})
        calls = []

        def kernel(A, B):
            calls.append(1)
            if len(calls) == 3:
                print("go", flush=True)
                while signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
                    time.sleep(0.01)
            return np.exp(-3 * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = SVC(kernel=kernel, n_jobs=1).fit(X, y)
        assert [w.category.__name__ for w in caught] == ["ConvergenceWarning"], caught
        assert "interrupted" in str(caught[0].message), caught[0].message
        assert model.predict(X[:50]).shape == (50,)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        print("usable", flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "go\n"
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=600)
    finally:
        process.kill()
        process.wait()
    assert out == "usable\n"
    assert process.returncode == 0


def test_progress_goes_to_stderr(capfd):
    X, y = noisy(2)
    SVC(verbose=1).fit(X, y)
    out, err = capfd.readouterr()
    assert out == ""
    assert "SVC" in err
    SVC().fit(X, y)
    assert capfd.readouterr() == ("", "")
