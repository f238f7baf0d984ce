"""What is read off a trace, on traces small enough to work out by hand."""

import numpy as np
import pytest

from largemargin.perceptron import Trace


@pytest.fixture
def trace():
    """Two problems over two epochs of three examples with k(x, x) = 4, 9 and 1."""
    made = Trace(2)
    made.extend(
        {
            "slot": np.array([0, 0, 1, 2, 0]),
            "problem": np.array([0, 1, 1, 0, 1]),
            "sign": np.array([1, -1, 1, -1, -1]),
            "step": np.array([0, 0, 1, 2, 3]),
            "score": np.array([0.0, 0.0, -3.0, 1.0, 2.0]),
            "square": np.array([4.0, 4.0, 9.0, 1.0, 4.0]),
        }
    )
    made.n_steps, made.epoch_length = 6, 3
    return made


def test_mistakes_and_support(trace):
    assert len(trace) == 5
    assert trace.n_mistakes().tolist() == [2, 3]
    assert trace.n_mistakes(1).tolist() == [1, 1]
    assert trace.n_mistakes(0).tolist() == [0, 0]
    assert trace.n_support() == 3
    assert trace.n_support(2) == 2
    assert trace.n_support_of().tolist() == [2, 2]
    assert trace.n_support_of(2).tolist() == [1, 2]
    assert trace.n_support_of(0).tolist() == [0, 0]


def test_survival_counts_the_step_that_made_the_vector(trace):
    assert trace.survival().tolist() == [2, 1, 2, 4, 3]
    assert trace.survival(3).tolist() == [2, 1, 2, 1]
    assert trace.survival(0).tolist() == []
    for until in range(1, 7):
        counts, made = trace.survival(until), trace.mistakes_by(until)
        for p in range(2):
            assert counts[trace.problem[:made] == p].sum() == until


def test_norms(trace):
    assert np.allclose(trace.norms() ** 2, [4, 4, 4 + 2 * -3 + 9, 4 - 2 * 1 + 1, 7 - 4 + 4])


def test_a_norm_that_rounding_made_negative_is_zero():
    trace = Trace(1)
    trace.extend(
        {
            "slot": np.array([0, 1, 2]),
            "problem": np.zeros(3, int),
            "sign": np.array([1, -1, 1]),
            "step": np.arange(3),
            "score": np.array([0.0, 1.0 + 1e-9, 0.0]),
            "square": np.ones(3),
        }
    )
    assert trace.norms().tolist() == [1, 0, 1]


def test_steps_at_fractions_of_an_epoch(trace):
    assert [trace.step_at(e) for e in (0, 1 / 3, 1, 1.67, 2)] == [0, 1, 3, 5, 6]
    for wrong in (-0.5, 2.5, 100):
        with pytest.raises(ValueError, match=f"at must lie between 0 and the 2 epochs.*{wrong}"):
            trace.step_at(wrong)


def test_going_back(trace):
    before = {name: values.copy() for name, values in trace.arrays().items()}
    trace.extend({name: values[:2] for name, values in before.items()})
    assert len(trace) == 7
    trace.truncate(5, 6)
    for name, values in trace.arrays().items():
        assert np.array_equal(values, before[name])
    assert trace.n_steps == 6


def test_an_empty_trace():
    trace = Trace(3)
    assert trace.n_mistakes().tolist() == [0, 0, 0]
    assert trace.n_support() == 0
    assert len(trace.norms()) == len(trace.survival()) == 0
