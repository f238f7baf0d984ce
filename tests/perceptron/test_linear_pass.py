"""The pass with explicit vectors: the same mistakes, and no kernel values."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from largemargin import VotedPerceptron
from largemargin.kernels.tiles import Gram
from largemargin.perceptron.linear_pass import weights_of

from .test_kernel_pass import integers, power
from .twin import mistakes_of, signs_of, small_tiles, train


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(10, 200),
    width=st.integers(1, 20),
    n_classes=st.sampled_from([2, 3, 5, 10]),
    threshold=st.booleans(),
    sparse=st.booleans(),
    jobs=st.integers(1, 3),
    precision=st.sampled_from(["float32", "float64"]),
)
def test_linear(seed, n, width, n_classes, threshold, sparse, jobs, precision):
    X, y = integers(seed, n, width, n_classes)
    expected = train(power(X, 1, int(threshold)), signs_of(y), 3)
    model = VotedPerceptron(
        kernel="linear",
        epochs=3,
        fit_intercept=threshold,
        n_jobs=jobs,
        precision=precision,
        shuffle=False,
    )
    with small_tiles():
        model.fit(sp.csr_array(X) if sparse else X, y)
    assert mistakes_of(model) == expected
    squares = (X**2).sum(axis=1) + threshold
    assert np.array_equal(model.trace_.square, squares[[m.example for m in expected]])


@pytest.mark.parametrize("n_classes", [2, 26])
@pytest.mark.parametrize("sparse", [False, True])
def test_several_blocks(n_classes, sparse):
    X, y = integers(n_classes, 1500, 10, n_classes)
    with small_tiles(rows=512):
        model = VotedPerceptron(kernel="linear", epochs=2, shuffle=False)
        model.fit(sp.csr_array(X) if sparse else X, y)
    assert mistakes_of(model) == train(power(X, 1, 0), signs_of(y), 2)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("threshold", [False, True])
def test_weights_are_those_of_the_trace(sparse, threshold):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 7)), rng.integers(0, 4, 300)
    model = VotedPerceptron(kernel="linear", epochs=2, fit_intercept=threshold, shuffle=False)
    model.fit(sp.csr_array(X) if sparse else X, y)
    run = model._state
    again = weights_of(run.trace, run.basis, 7, threshold)
    assert np.array_equal(again, run._weights)
    assert np.allclose(again[:, :7], model.coef_)
    assert np.allclose(again[:, 7], model.intercept_)


def test_training_makes_no_kernel_values(monkeypatch):
    def refuse(*args):
        raise AssertionError("kernel values were asked for")

    monkeypatch.setattr(Gram, "fill", refuse)
    X, y = integers(0, 200, 5, 3)
    model = VotedPerceptron(kernel="linear", epochs=2, memory=1, shuffle=False).fit(X, y)
    assert len(model.trace_) > 0
    assert model.predict(X, method="average").shape == (200,)
