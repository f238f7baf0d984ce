"""When the last vector of a perceptron is known to be right on all that it was trained on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largemargin import VotedPerceptron, load, save
from tests.model_file.models import changed, forge, parts_of


def test_a_last_chunk_without_a_mistake_is_not_the_stream():
    X, y = [[1.0], [2.0], [-3.0]], [1, 0, 1]
    model = VotedPerceptron(kernel="linear", method="last")
    model.partial_fit(X[:2], y[:2], classes=[0, 1]).partial_fit(X[2:], y[2:])
    assert not model.converged_
    found = model.certificate(X, y)["training to convergence"]
    assert not found.applies
    assert "until an epoch had no mistake" in found.sentence


def test_a_fit_that_has_converged_stays_so_until_a_mistake():
    X, y = np.array([[1.0], [2.0], [-3.0]]), [1, 1, 0]
    model = VotedPerceptron(kernel="linear", epochs=5, method="last").fit(X, y)
    assert model.converged_
    model.partial_fit([[4.0]], [1])
    assert model.converged_
    model.partial_fit([[5.0]], [0])
    assert not model.converged_
    model.partial_fit([[-6.0]], [0])
    assert not model.converged_


def test_an_older_file_of_a_stream(tmp_path):
    model = VotedPerceptron(kernel="linear", method="last")
    model.partial_fit([[1.0], [2.0]], [1, 0], classes=[0, 1]).partial_fit([[-3.0]], [1])
    save(model, tmp_path / "m")
    header, arrays = parts_of(tmp_path / "m")
    forge(tmp_path / "old", changed(header, ["model", "facts", "converged"], True), arrays)
    assert not load(tmp_path / "old").converged_


@pytest.mark.parametrize("method", ["last", "holdout"])
def test_a_file_of_a_fit_that_has_converged(method, tmp_path):
    X = np.arange(1.0, 21.0)[:, None] * np.where(np.arange(20) % 2, 1, -1)[:, None]
    model = VotedPerceptron(kernel="linear", epochs=2, method=method, random_state=0)
    assert model.fit(X, X[:, 0] > 0).converged_
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").converged_


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_what_says_it_has_converged_is_right_on_everything(data):
    n = data.draw(st.integers(3, 9))
    X = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=2 * n, max_size=2 * n)), float)
    y = np.array([0, 1, *data.draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))])
    X, model = X.reshape(n, 2), VotedPerceptron(kernel="linear", method="last", epochs=4)
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
