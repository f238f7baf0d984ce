"""How training ends: converged, out of time, interrupted, or failed; and when the last vector is
known to be right on all that it was trained on.
"""

import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from largemargin import VotedPerceptron, load, save
from tests.model_file.models import changed, forge, parts_of

from .test_kernel_pass import integers, power
from .twin import RULES, decide, mistakes_of, shaped, signs_of, small_tiles, train


def separable(n=40):
    rng = np.random.default_rng(0)
    X = rng.integers(-4, 5, (n, 3)).astype(float)
    X[:, 0] = np.where(X[:, 0] >= 0, X[:, 0] + 2, X[:, 0] - 2)
    return X, (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_an_epoch_without_a_mistake_ends_the_fit(kernel):
    X, y = separable()
    model = VotedPerceptron(kernel=kernel, degree=2, gamma=1.0, epochs=200, shuffle=False)
    model.fit(X, y)
    assert model.converged_
    assert model.n_epochs_ < 200
    assert model.trace_.n_steps == 200 * 40
    K = power(X, 1, 0) if kernel == "linear" else power(X, 2)
    expected = train(K, signs_of(y), 200)
    assert mistakes_of(model) == expected
    assert model.n_epochs_ == expected[-1].step // 40 + 2
    model.set_params(random_state=3)
    moments = np.random.RandomState(3).randint(0, 8001, 40, np.int64)
    for rule, found in model.decision_functions(X, RULES).items():
        truth = decide(rule, expected, 1, K.astype(float), K.astype(float), 8000, moments)
        assert np.allclose(found, shaped(truth)), rule


def test_a_fit_that_made_mistakes_to_the_end_has_not_converged():
    X, y = integers(0, 60, 2, 2)
    model = VotedPerceptron(kernel="linear", epochs=4, shuffle=False).fit(X, y)
    assert not model.converged_
    assert model.n_epochs_ == 4


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_out_of_time(kernel):
    X, y = integers(1, 600, 4, 3)
    settings = {"kernel": kernel, "degree": 2, "gamma": 1.0, "epochs": 5, "shuffle": False}
    with small_tiles():
        whole = VotedPerceptron(**settings).fit(X, y)
        with pytest.warns(ConvergenceWarning, match="of 5 epochs because max_seconds=1e-09"):
            model = VotedPerceptron(max_seconds=1e-9, **settings).fit(X, y)
    steps = model.trace_.n_steps
    assert 0 < steps < 600
    assert mistakes_of(model) == [m for m in mistakes_of(whole) if m.step < steps]
    assert not model.converged_
    stopped = whole.staged_decision_functions(X[:50], [steps / 600], [("average", True)])
    assert np.allclose(
        model.decision_function(X[:50], "average", True), stopped[0]["average", True]
    )
    assert model.predict(X).shape == (600,)


def test_time_enough_does_not_warn():
    X, y = integers(1, 60, 4, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = VotedPerceptron(max_seconds=1000, epochs=2, shuffle=False).fit(X, y)
    assert model.trace_.n_steps == 120


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
        return (A @ B.T + 1) ** 2


def test_interrupted():
    X, y = integers(2, 300, 3, 3)
    before = signal.getsignal(signal.SIGINT)
    with small_tiles():
        whole = VotedPerceptron(degree=2, gamma=1.0, epochs=3, shuffle=False).fit(X, y)
        model = VotedPerceptron(kernel=Interrupting(30), epochs=3, n_jobs=1, shuffle=False)
        with pytest.warns(ConvergenceWarning, match="because it was interrupted"):
            model.fit(X, y)
    assert signal.getsignal(signal.SIGINT) is before
    steps = model.trace_.n_steps
    assert 0 < steps < 900
    assert mistakes_of(model) == [m for m in mistakes_of(whole) if m.step < steps]
    model.kernel = None
    assert model.predict(X).shape == (300,)


def test_interrupted_twice_is_interrupted():
    X, y = integers(2, 300, 3, 3)
    model = VotedPerceptron(degree=2, gamma=1.0, epochs=1, shuffle=False).fit(X[:100], y[:100])
    truth = model.decision_function(X)
    before = signal.getsignal(signal.SIGINT)
    model.set_params(kernel=Interrupting(5, times=2), n_jobs=1)
    with small_tiles(), pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert signal.getsignal(signal.SIGINT) is before
    assert np.array_equal(model.decision_function(X), truth)


def test_an_interrupted_chunk_says_so_and_leaves_the_model_as_it_was():
    X, y = integers(2, 300, 3, 3)
    kernel = Interrupting(10**9)
    with small_tiles():
        model = VotedPerceptron(kernel=kernel, n_jobs=1, epochs=1, shuffle=False)
        model.partial_fit(X[:100], y[:100], classes=[0, 1, 2])
        before = mistakes_of(model)
        kernel.at = kernel.calls + 5
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X[100:], y[100:])
        assert mistakes_of(model) == before
        assert model.trace_.n_steps == model.trace_.epoch_length == 100
        model.partial_fit(X[100:], y[100:])
    assert mistakes_of(model) == train(power(X, 2), signs_of(y))


@pytest.mark.full
def test_interrupted_from_outside():
    """The fit waits for it, at its third block of kernel values."""
    program = """
        import signal, time, warnings
        import numpy as np
        from largemargin import VotedPerceptron
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(5000, 20)), rng.integers(0, 10, 5000)
        calls = []

        def kernel(A, B):
            calls.append(1)
            if len(calls) == 3:
                print("go", flush=True)
                while signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
                    time.sleep(0.01)
            return (A @ B.T + 1) ** 2

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = VotedPerceptron(kernel=kernel, epochs=100000, n_jobs=1, shuffle=False).fit(X, y)
        assert [w.category.__name__ for w in caught] == ["ConvergenceWarning"], caught
        assert 0 < model.trace_.n_steps < 5000 * 100000
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
    X, y = integers(2, 300, 3, 3)
    VotedPerceptron(epochs=2, verbose=1, shuffle=False).fit(X, y)
    out, err = capfd.readouterr()
    assert out == ""
    assert "voted perceptron" in err
    VotedPerceptron(epochs=2, shuffle=False).fit(X, y)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_fit_that_fails_leaves_the_model_as_it_was(jobs):
    X, y = integers(2, 300, 3, 3)

    def failing(A, B):
        failing.calls += 1
        if failing.calls > 10:
            raise RuntimeError("no more values")
        return A @ B.T

    failing.calls = 0
    model = VotedPerceptron(degree=2, gamma=1.0, epochs=1, shuffle=False).fit(X[:100], y[:100])
    truth, mistakes = model.decision_function(X), mistakes_of(model)
    model.set_params(kernel=failing, n_jobs=jobs)
    with small_tiles(), pytest.raises(RuntimeError, match="no more values"):
        model.fit(X, y)
    assert np.array_equal(model.decision_function(X), truth)
    assert mistakes_of(model) == mistakes


def test_a_last_chunk_without_a_mistake_is_not_the_stream():
    X, y = [[1.0], [2.0], [-3.0]], [1, 0, 1]
    model = VotedPerceptron(kernel="linear", method="last", epochs=1, shuffle=False)
    model.partial_fit(X[:2], y[:2], classes=[0, 1]).partial_fit(X[2:], y[2:])
    assert not model.converged_
    found = model.certificate(X, y)["training to convergence"]
    assert not found.applies
    assert "until an epoch had no mistake" in found.sentence


def test_a_fit_that_has_converged_stays_so_until_a_mistake():
    X, y = np.array([[1.0], [2.0], [-3.0]]), [1, 1, 0]
    model = VotedPerceptron(kernel="linear", epochs=5, method="last", shuffle=False).fit(X, y)
    assert model.converged_
    model.partial_fit([[4.0]], [1])
    assert model.converged_
    model.partial_fit([[5.0]], [0])
    assert not model.converged_
    model.partial_fit([[-6.0]], [0])
    assert not model.converged_


def test_an_older_file_of_a_stream(tmp_path):
    model = VotedPerceptron(kernel="linear", method="last", epochs=1, shuffle=False)
    model.partial_fit([[1.0], [2.0]], [1, 0], classes=[0, 1]).partial_fit([[-3.0]], [1])
    save(model, tmp_path / "m")
    header, arrays = parts_of(tmp_path / "m")
    forge(tmp_path / "old", changed(header, ["model", "facts", "converged"], True), arrays)
    assert not load(tmp_path / "old").converged_


@pytest.mark.parametrize("method", ["last", "holdout"])
def test_a_file_of_a_fit_that_has_converged(method, tmp_path):
    X = np.arange(1.0, 21.0)[:, None] * np.where(np.arange(20) % 2, 1, -1)[:, None]
    model = VotedPerceptron(kernel="linear", epochs=2, method=method, random_state=0, shuffle=False)
    assert model.fit(X, X[:, 0] > 0).converged_
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").converged_


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_what_says_it_has_converged_is_right_on_everything(data):
    n = data.draw(st.integers(3, 9))
    X = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=2 * n, max_size=2 * n)), float)
    y = np.array([0, 1, *data.draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))])
    X, model = (
        X.reshape(n, 2),
        VotedPerceptron(kernel="linear", method="last", epochs=4, shuffle=False),
    )
    if data.draw(st.booleans()):
        start = data.draw(st.integers(2, n))
        model.fit(X[:start], y[:start])
    else:
        start = data.draw(st.integers(1, n))
        model.partial_fit(X[:start], y[:start], classes=[0, 1])
        assert not model.converged_
    while start < n:
        size = data.draw(st.integers(1, n - start))
        model.partial_fit(X[start : start + size], y[start : start + size])
        start += size
    if model.converged_:
        assert ((2 * y - 1) * model.decision_function(X) > 0).all()
