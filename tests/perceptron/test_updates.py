"""What mistakes do to the scores of other examples, against a plain sum."""

import numpy as np
import pytest
import scipy.sparse as sp

from largemargin.kernels.basis import Basis
from largemargin.kernels.functions import Laplacian, Polynomial
from largemargin.kernels.tiles import Gram
from largemargin.perceptron.trace import Trace
from largemargin.perceptron.updates import Regulars, Updates, net_updates

from .twin import small_tiles


def setting(sparse, seed=0, kernel=None):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (70, 6)).astype(float)
    X[:32, 3:] = 0  # columns to leave out
    V = rng.integers(-2, 3, (40, 6)).astype(float)
    kernel = kernel or Polynomial(degree=2)
    basis = Basis(kernel, np.dtype(np.float64))
    basis.add(sp.csr_array(V) if sparse else V, np.arange(40))
    trace = Trace(3)
    slots = np.sort(rng.integers(0, 40, 150))
    trace.extend(
        {
            "slot": rng.permutation(slots),
            "problem": rng.integers(0, 3, 150),
            "sign": rng.choice([-1, 1], 150),
            "step": np.arange(150),
            "score": np.zeros(150),
            "square": np.ones(150),
        }
    )
    return sp.csr_array(X) if sparse else X, kernel(V, X), basis, trace


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("since", [0, 100, 149, 150])
@pytest.mark.parametrize("budget", [0, 8 * 8 * 32 * 3, 10**6])
@pytest.mark.parametrize("kernel", [Polynomial(degree=2), Laplacian(gamma=0.5)])
def test_updates_add_up(sparse, since, budget, kernel):
    with small_tiles():
        X, K, basis, trace = setting(sparse, kernel=kernel)
        regulars = Regulars(basis)
        for _ in range(2):
            regulars.note_visits(np.arange(5, 35))
        gram = Gram(X, regulars.basis, budget)
        scores = np.zeros((3, gram.n_tiles * gram.width))
        for _ in range(2):  # computed, then as far as they were kept
            for r in range(gram.n_tiles):
                Updates(net_updates(trace, since, regulars), basis).apply(gram, r, scores)
    expected = np.zeros((3, 70))
    for p, slot, sign in zip(
        trace.problem[since:], trace.slot[since:], trace.sign[since:], strict=True
    ):
        expected[p] += 2 * sign * K[slot]
    assert np.allclose(scores[:, :70], expected, atol=1e-12)


def test_updates_are_those_known_when_they_were_taken():
    X, K, basis, trace = setting(False)
    regulars = Regulars(basis)
    gram = Gram(X, regulars.basis, 0)
    updates = Updates(net_updates(trace, 148, regulars), basis)
    slots, problems, signs = trace.slot[148:], trace.problem[148:], trace.sign[148:]
    expected = np.zeros((3, 70))
    for p, slot, sign in zip(problems, slots, signs, strict=True):
        expected[p] += sign * K[slot]
    basis.add(np.ones((100, 6)), np.arange(40, 140))
    trace.extend({name: values[:50] for name, values in trace.arrays().items()})
    scores = np.zeros((3, gram.width))
    updates.apply(gram, 0, scores)
    assert np.array_equal(scores[:, :70], expected)


def test_an_example_that_errs_in_enough_visits_is_a_regular():
    with small_tiles(regular=3, slots=4):
        _, _, basis, _ = setting(False)
        regulars = Regulars(basis)
        for slots in ([1, 2, 3], [1, 2, 4], [2, 4, 7], [1, 7, 9], [4, 5, 7]):
            regulars.note_visits(np.array(slots))
        assert regulars.basis.examples.tolist() == [2, 1, 4, 7]
        assert np.array_equal(regulars.basis.vectors, basis.vectors[[2, 1, 4, 7]])
        places = regulars.places()
        assert places[[2, 1, 4, 7]].tolist() == [0, 1, 2, 3]
        assert (np.delete(places, [2, 1, 4, 7]) == -1).all()


def test_regulars_count_from_the_first_full_tile():
    with small_tiles(regular=1, slots=4):
        _, _, basis, _ = setting(False)
        regulars = Regulars(basis)
        regulars.note_visits(np.arange(6))
        assert regulars.places()[:7].tolist() == [0, 1, 2, 3, -1, -1, -1]
