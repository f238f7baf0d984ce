"""The block algorithm makes the mistakes of the one-by-one algorithm, all of them and no other."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel, sigmoid_kernel

from largemargin import VotedPerceptron
from largemargin.kernels.functions import Linear
from largemargin.perceptron.kernel_pass import SlotBook

from .twin import mistakes_of, signs_of, small_tiles, train


def integers(seed, n, width, n_classes, high=3):
    """Integer rows, some repeated with the same label and some with another."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-high, high + 1, (n, width))
    y = rng.integers(0, n_classes, n)
    y[: min(n, n_classes)] = np.arange(min(n, n_classes))
    for _ in range(n // 8):
        i, j = rng.integers(0, n, 2)
        X[i] = X[j]
    return X.astype(np.float64), y


def power(X, degree, coef0=1):
    """The exact Gram matrix of (a.b + coef0)^degree."""
    return (X.astype(np.int64) @ X.astype(np.int64).T + coef0) ** degree


@st.composite
def problems(draw):
    n_classes = draw(st.sampled_from([2, 3, 5, 10]))
    n = draw(st.integers(n_classes, 90))
    X, y = integers(draw(st.integers(0, 10**6)), n, draw(st.integers(1, 4)), n_classes)
    return X, y


@st.composite
def tilings(draw):
    unit = draw(st.sampled_from([1, 2, 4]))
    guesses = unit * draw(st.integers(1, 4))
    return {
        "unit": unit,
        "rows": unit * draw(st.integers(8 // unit, 12)),
        "slots": unit * draw(st.integers(8 // unit, 16 // unit)),
        "guesses": guesses,
        "known": guesses * draw(st.integers(1, 3)),
        "ahead": draw(st.integers(1, 4)),
        "regular": draw(st.integers(1, 3)),
        "sparse": draw(st.integers(1, 4)),
        "few": draw(st.integers(1, 8)),
        "kept": draw(st.booleans()),
    }


@settings(max_examples=50, deadline=None)
@given(
    problem=problems(),
    tiling=tilings(),
    degree=st.integers(1, 4),
    coef0=st.sampled_from([0, 1]),
    epochs=st.integers(1, 4),
    sparse=st.booleans(),
    precision=st.sampled_from(["float32", "float64"]),
)
def test_polynomial(problem, tiling, degree, coef0, epochs, sparse, precision):
    X, y = problem
    expected = train(power(X, degree, coef0), signs_of(y), epochs)
    data = sp.csr_array(X) if sparse else X
    with small_tiles(**tiling):
        model = VotedPerceptron(
            degree=degree,
            gamma=1.0,
            coef0=coef0,
            epochs=epochs,
            precision=precision,
            n_jobs=1,
            shuffle=False,
        ).fit(data, y)
    assert mistakes_of(model) == expected
    assert model.trace_.n_steps == epochs * len(y)


@settings(max_examples=15, deadline=None)
@given(problem=problems(), tiling=tilings(), epochs=st.integers(1, 3), jobs=st.integers(1, 3))
def test_precomputed_and_callable(problem, tiling, epochs, jobs):
    X, y = problem
    K = power(X, 2)
    expected = train(K, signs_of(y), epochs)
    with small_tiles(**tiling):
        model = VotedPerceptron(kernel="precomputed", epochs=epochs, n_jobs=jobs, shuffle=False)
        assert mistakes_of(model.fit(K, y)) == expected
        model = VotedPerceptron(
            kernel=lambda A, B: (A @ B.T + 1) ** 2, epochs=epochs, shuffle=False, n_jobs=jobs
        )
        assert mistakes_of(model.fit(X, y)) == expected


@pytest.mark.crossing
@pytest.mark.parametrize("n_classes", [2, 3, 5, 10, 26])
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_many_blocks_of_the_default_shape(n_classes, degree):
    X, y = integers(n_classes, 2600, 8, n_classes, high=2)
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] > 0, y // 2, y)
    expected = train(power(X, degree), signs_of(y), 2)
    model = VotedPerceptron(degree=degree, gamma=1.0, epochs=2, shuffle=False).fit(X, y)
    assert mistakes_of(model) == expected


@pytest.mark.parametrize("kept", [False, True])
def test_default_shape_with_look_ahead_and_regulars(kept):
    X, y = integers(0, 3000, 6, 2)
    expected = train(power(X, 2), signs_of(y), 6)
    shape = {"rows": 256, "slots": 512, "unit": 16, "ahead": 6, "guesses": 64, "known": 256}
    with small_tiles(**shape, regular=3, kept=kept):
        model = VotedPerceptron(degree=2, gamma=1.0, epochs=6, n_jobs=2, shuffle=False).fit(X, y)
    assert mistakes_of(model) == expected


@pytest.mark.parametrize("kept", [False, True])
def test_columns_that_are_zero_in_a_block_are_left_out(kept):
    rng = np.random.default_rng(1)
    X = np.zeros((200, 40))
    for block in range(7):  # blocks of 32 rows, each with a few columns of its own
        rows = slice(32 * block, 32 * (block + 1))
        X[rows, 5 * block : 5 * block + 9] = rng.integers(-2, 3, X[rows, :9].shape)
    X[64:96] = 0
    y = rng.integers(0, 3, 200)
    with small_tiles(few=1, kept=kept):
        model = VotedPerceptron(degree=2, gamma=1.0, epochs=4, shuffle=False).fit(X, y)
    assert mistakes_of(model) == train(power(X, 2), signs_of(y), 4)


@pytest.mark.parametrize(
    ("kernel", "gram", "params"),
    [
        ("rbf", rbf_kernel, {"gamma": 0.3}),
        ("laplacian", laplacian_kernel, {"gamma": 0.3}),
        ("sigmoid", sigmoid_kernel, {"gamma": 0.2, "coef0": 0.1}),
    ],
)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kept", [False, True])
def test_kernels_with_real_values(kernel, gram, params, sparse, kept):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 5)) * (rng.random((400, 5)) < 0.7)
    X = X[X.any(axis=1)]
    y = np.where(rng.random(len(X)) < 0.2, rng.integers(0, 3, len(X)), (X[:, 0] > 0).astype(int))
    expected = train(gram(X, **params), signs_of(y), 4)
    # away from zero rounding cannot change a decision; the score of the zero vector is exact
    assert min(abs(m.score) for m in expected if m.step > 0) > 1e-10
    with small_tiles(kept=kept):
        model = VotedPerceptron(kernel=kernel, epochs=4, shuffle=False, **params)
        found = mistakes_of(model.fit(sp.csr_array(X) if sparse else X, y))
    assert [(m.example, m.problem, m.sign, m.step) for m in found] == [
        (m.example, m.problem, m.sign, m.step) for m in expected
    ]
    assert np.allclose([m.score for m in found], [m.score for m in expected], atol=1e-10)


def test_a_score_of_zero_is_a_mistake():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    model = VotedPerceptron(degree=1, gamma=1.0, coef0=0.0, epochs=1, shuffle=False).fit(
        X, [1, 1, 1, 0]
    )
    assert model.trace_.step.tolist() == [0, 1, 3]
    assert model.trace_.score.tolist() == [0, 0, 1]


@pytest.mark.parametrize("n", range(2, 20))
def test_few_rows(n):
    X, y = integers(n, n, 2, 2)
    model = VotedPerceptron(degree=2, gamma=1.0, epochs=3, shuffle=False).fit(X, y)
    assert mistakes_of(model) == train(power(X, 2), signs_of(y), 3)


def test_shuffle_visits_in_one_drawn_order():
    X, y = integers(5, 100, 3, 3)
    order = np.random.RandomState(7).permutation(100)
    expected = train(power(X, 2), signs_of(y), 3, order)
    for kernel, data in (("poly", X), ("precomputed", power(X, 2))):
        model = VotedPerceptron(
            kernel=kernel, degree=2, gamma=1.0, epochs=3, shuffle=True, random_state=7
        )
        assert mistakes_of(model.fit(data, y)) == expected


def test_threshold_is_a_constant_coordinate():
    X, y = integers(6, 150, 3, 3)
    for kernel in ("linear", "poly"):
        model = VotedPerceptron(
            kernel=kernel,
            degree=2,
            gamma=1.0,
            coef0=0.0,
            epochs=3,
            fit_intercept=True,
            shuffle=False,
        )
        K = power(X, 1 if kernel == "linear" else 2, 0) + 1
        assert mistakes_of(model.fit(X, y)) == train(K, signs_of(y), 3)


def test_slots_are_given_out_in_the_order_of_first_mistakes():
    from largemargin.kernels.basis import Basis

    X = np.arange(10.0).reshape(5, 2)
    basis = Basis(Linear(), np.dtype(np.float64))
    book = SlotBook(X, basis, np.arange(100, 105))
    assert book.slots_of(np.array([3, 1, 3, 0])).tolist() == [0, 1, 0, 2]
    assert book.slots_of(np.array([0, 4, 3])).tolist() == [2, 3, 0]
    assert basis.examples.tolist() == [103, 101, 100, 104]
    assert np.array_equal(basis.vectors, X[[3, 1, 0, 4]])
