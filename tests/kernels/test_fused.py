"""Kernel values that are computed, used and forgotten: against extended precision, and each the
same bits wherever it is computed.
"""

import numpy as np
import pytest
import scipy.sparse as sp

from largemargin.kernels import fused
from largemargin.kernels.functions import (
    UNIT,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Sigmoid,
    squared_norms,
)
from largemargin.kernels.fused import FusedRows, form_of, is_computed_again
from largemargin.runtime.threads import workers

from .test_rounding import LONG, bound_of, exact

SINGLE = 2.0**-24
KERNELS = {
    "linear": lambda gamma, coef0: Linear(),
    **{
        f"poly {degree}": lambda gamma, coef0, degree=degree: Polynomial(degree, gamma, coef0)
        for degree in range(6)
    },
    "rbf": lambda gamma, coef0: Gaussian(gamma),
    "laplacian": lambda gamma, coef0: Laplacian(gamma),
    **{f"matern {nu}": lambda gamma, coef0, nu=nu: Matern(nu, gamma) for nu in (0.5, 1.5, 2.5)},
    "sigmoid": lambda gamma, coef0: Sigmoid(gamma, coef0),
}
COLUMNS = (1, 2, 3, 7, 8, 17, 33, 64, 111, 160, 512)
COUNTS = (1, 2, 5, 6, 7, 12, 13, 31, 33, 50)
TYPES = ["float32", "float64"]


@pytest.fixture
def team():
    with workers(1) as team:
        yield team


def computed(kernel, X, dtype, team, vectors, columns, coefs=None):
    """Values of some rows of X (down) against others (across), or their sums."""
    rows = FusedRows(kernel, X, team, np.dtype(dtype))
    across, down = rows.columns(np.asarray(columns)), rows.vectors(np.asarray(vectors))
    return across.values(down) if coefs is None else across.sums(down, coefs)


def allowed(kernel, X, unit, values):
    """How far the values among all rows of X may be off, with products below the range of the type
    counted as rounding, as `svm.evaluation` counts them.
    """
    terms = np.count_nonzero(X, axis=1).astype(float)
    squares = np.zeros(len(X))
    if kernel.on_products:
        tiny = float(np.finfo(np.float64 if unit == UNIT else np.float32).tiny)
        squares = squared_norms(X) * (1 + 4 * unit) + terms * tiny / unit
    return 1.01 * bound_of(kernel, squares, terms, unit, values)


def random_case(rng, k, name):
    """Rows of any scale, some entries zero, and a kernel for which values are neither 0 nor 1."""
    n, d = COUNTS[k % len(COUNTS)], COLUMNS[rng.integers(len(COLUMNS))]
    scale = 10 ** rng.uniform(-3, 3)
    power = 1 if name == "laplacian" else 2
    gamma = 10 ** rng.uniform(-2, 1) / (np.sqrt(d) * scale) ** power
    X = scale * (rng.normal(size=(n + COUNTS[rng.integers(len(COUNTS))], d)) + rng.choice([0, 3]))
    X[rng.random(X.shape) < rng.choice([0.2, 0.8])] = 0.0
    return n, X, KERNELS[name](gamma, float(rng.normal()))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", KERNELS)
def test_values_and_sums_are_as_near_as_the_kernel_promises(name, dtype, team):
    unit = UNIT if dtype == "float64" else SINGLE
    for k in range(10):
        rng = np.random.default_rng(k)
        n, X, kernel = random_case(rng, k, name)
        given = sp.csr_array(X) if k % 2 else X
        every = np.arange(len(X))
        vectors, columns = rng.permutation(len(X))[:n], rng.permutation(len(X))[n // 2 :]
        values = computed(kernel, given, dtype, team, every, every)
        true = exact(kernel, X, X)
        bound = allowed(kernel, X, unit, values)
        assert values.dtype == (dtype if kernel.on_products else np.float64)
        assert (np.abs(values.astype(LONG) - true) <= bound).all()

        coefs = rng.normal(size=(1 + k % 4, n)) * (rng.random((1 + k % 4, n)) < 0.6)
        coefs[0, : n // 2] = 0.0  # whole groups of vectors that a problem does not use
        sums = computed(kernel, given, dtype, team, vectors, columns, coefs)
        assert sums.dtype == np.float64
        part, size = true[np.ix_(vectors, columns)], np.abs(coefs)
        off = np.abs(sums - coefs.astype(LONG) @ part)
        of_sum = (n + 8) * UNIT * (size @ np.abs(part).astype(float))
        assert (off <= size @ bound[np.ix_(columns, vectors)].T + of_sum).all()


@pytest.mark.bits
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", KERNELS)
def test_a_value_is_the_same_bits_wherever_it_is_computed(name, dtype, monkeypatch):
    """Alone and among others, as row and as column, sparse and dense, as a sum of one term, and
    with any number of threads; many features zero, or few.
    """
    monkeypatch.setattr(fused, "TASK", 100)
    rng = np.random.default_rng(0)
    for n, d, density in ((300, 160, 0.8), (77, 13, 0.9), (60, 1, 0.8), (130, 40, 0.1)):
        X = rng.normal(size=(n, d)) * (rng.random((n, d)) < density)
        kernel, every = KERNELS[name](1 / d, 0.3), np.arange(n)
        with workers(1) as team:
            values = computed(kernel, X, dtype, team, every, every)
            assert np.array_equal(values, values.T)
            for _ in range(6):
                vectors = rng.permutation(n)[: rng.integers(1, 40)]
                columns = rng.permutation(n)[: rng.integers(1, 90)]
                some = computed(kernel, sp.csr_array(X), dtype, team, vectors, columns)
                assert np.array_equal(some, values[np.ix_(vectors, columns)])
                terms = computed(kernel, X, dtype, team, vectors, columns, np.eye(len(vectors)))
                assert np.array_equal(terms, some)
        coefs = rng.normal(size=(3, n))
        sums = []
        for n_jobs in (1, 2, 3):
            with workers(n_jobs) as team:
                assert np.array_equal(computed(kernel, X, dtype, team, every, every), values)
                sums.append(computed(kernel, X, dtype, team, every, every, coefs))
        assert np.array_equal(sums[0], sums[1])
        assert np.array_equal(sums[0], sums[2])


@pytest.mark.bits
@pytest.mark.parametrize("dtype", TYPES)
def test_a_sum_depends_on_its_own_column_and_problem_alone(dtype, team):
    """On the vectors and their order, but on no other column and no other problem."""
    rng = np.random.default_rng(1)
    X, coefs = rng.normal(size=(131, 9)), rng.normal(size=(4, 47))
    coefs[rng.random(coefs.shape) < 0.3] = 0.0
    vectors, columns = rng.permutation(131)[:47], np.arange(131)
    kernel = Gaussian(0.2)
    together = computed(kernel, X, dtype, team, vectors, columns, coefs)
    for p in range(4):
        alone = computed(kernel, X, dtype, team, vectors, columns, coefs[[p]])
        assert np.array_equal(alone[0], together[p])
    for few in (columns[5:6], columns[::-3], rng.permutation(131)[:34]):
        some = computed(kernel, X, dtype, team, vectors, few, coefs)
        assert np.array_equal(some, together[:, few])


@pytest.mark.bits
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", KERNELS)
def test_sums_among_some_rows_are_those_of_all_values(name, dtype, monkeypatch):
    """Each value is computed once, for its row and its column; the same bits on any threads."""
    monkeypatch.setattr(fused, "TASK", 100)
    rng = np.random.default_rng(0)
    for n, d, density in ((1, 3, 1.0), (6, 2, 1.0), (77, 13, 0.9), (300, 9, 1.0), (130, 40, 0.1)):
        X = rng.normal(size=(n + 20, d)) * (rng.random((n + 20, d)) < density)
        rows, coefs = rng.permutation(n + 20)[:n], rng.normal(size=(3, n))
        kernel = KERNELS[name](1 / d, 0.3)
        with workers(1) as team:
            of = FusedRows(kernel, X, team, np.dtype(dtype))
            plain = computed(kernel, X, dtype, team, rows, rows, coefs)
            found = of.sums_among(rows, coefs)
            values = computed(kernel, X, dtype, team, rows, rows)
        sizes = np.abs(coefs) @ np.abs(values.astype(float))
        assert (np.abs(found - plain) <= 2 * UNIT * fused.roundings(n) * sizes).all()
        for n_jobs in (2, 3):
            with workers(n_jobs) as team:
                again = FusedRows(kernel, X, team, np.dtype(dtype)).sums_among(rows, coefs)
            assert np.array_equal(found, again)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["rbf", "laplacian", "matern 0.5", "matern 1.5", "matern 2.5"])
def test_equal_rows_and_rows_far_apart(name, dtype, team):
    """No value of a stationary kernel is above 1 or below 0, and none of the far ones is left."""
    unit = UNIT if dtype == "float64" else SINGLE
    rng = np.random.default_rng(2)
    for d in (1, 5, 40):
        X = np.repeat(rng.normal(size=(20, d)), 2, axis=0)
        X[-2:] = 0.0
        kernel, every = KERNELS[name](0.7, 0.0), np.arange(40)
        values = computed(kernel, X, dtype, team, every, every)
        assert (values <= 1).all()
        assert (values >= 0).all()
        near = values[np.arange(0, 40, 2), np.arange(1, 40, 2)]
        assert np.array_equal(near, np.diagonal(values)[::2])
        assert near[-1] == 1
        bound = allowed(kernel, X, unit, values)
        assert (1 - near <= np.diagonal(bound)[::2]).all()
        if name == "laplacian":
            assert (near == 1).all()
        for scale in (1e4, 1e8, 1e15):
            apart = scale * rng.permuted(np.tile(np.arange(20.0), (d, 1)), axis=1).T
            far = computed(kernel, apart, dtype, team, every[:20], every[:20])
            assert (far[~np.eye(20, dtype=bool)] == 0).all()


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("dtype", TYPES)
def test_numbers_at_the_ends_of_their_range(name, dtype, team):
    """Zeros, and rows whose squares or whose very entries are no normal numbers."""
    unit, tiny = (UNIT if dtype == "float64" else SINGLE), float(np.finfo(dtype).tiny)
    rng = np.random.default_rng(3)
    kernel, every = KERNELS[name](0.9, 0.4), np.arange(14)
    for scale in (0.0, tiny / 64, tiny, np.sqrt(tiny) / 8, np.sqrt(tiny)):
        X = scale * rng.normal(size=(14, 11))
        X[:3] = rng.normal(size=(3, 11))
        X[3] = 0.0
        X = X.astype(dtype).astype(float)
        values = computed(kernel, X, dtype, team, every, every)
        bound = allowed(kernel, X, unit, values)
        assert (np.abs(values.astype(LONG) - exact(kernel, X, X)) <= bound).all()


def test_a_sigmoid_ends_at_one(team):
    X = np.array([[0.0], [1.0], [-1.0], [30.0], [-1e4]])
    for dtype in TYPES:
        values = computed(Sigmoid(50.0, 0.0), X, dtype, team, np.arange(5), [1])
        assert values.ravel().tolist() == [0.0, 1.0, -1.0, 1.0, -1.0]


@pytest.mark.parametrize("dtype", TYPES)
def test_rows_of_zeros(dtype, team):
    """A group of vectors may have no feature at all, and all groups."""
    X, coefs = np.zeros((60, 30)), np.ones((1, 13))
    X[40:] = np.random.default_rng(5).normal(size=(20, 30))
    for kernel in (Gaussian(0.1), Linear(), Laplacian(0.1)):
        sums = computed(kernel, X, dtype, team, np.arange(13), np.arange(60), coefs)
        assert np.allclose(sums[0], 13 * kernel(X[:1], X)[0], rtol=1e-5)
        assert (sums[0, :40] == (0 if kernel == Linear() else 13)).all()


@pytest.mark.parametrize("dtype", TYPES)
def test_nothing_to_sum(dtype, team):
    X = np.random.default_rng(4).normal(size=(9, 3))
    none = np.empty(0, np.int64)
    assert computed(Gaussian(), X[:0], dtype, team, none, none, np.ones((2, 0))).shape == (2, 0)
    assert not computed(Gaussian(), X, dtype, team, none, np.arange(9), np.ones((2, 0))).any()
    rows = FusedRows(Gaussian(), X, team, np.dtype(dtype))
    assert rows.sums_among(none, np.ones((2, 0))).shape == (2, 0)
    assert computed(Gaussian(), X, dtype, team, [1, 2], none, np.ones((2, 2))).shape == (2, 0)
    assert not computed(Gaussian(), X, dtype, team, [1, 2], [4, 5, 6], np.zeros((3, 2))).any()


def test_only_kernels_that_the_loops_know_are_computed_again():
    class Other(Kernel):
        def from_products(self, products, a_squares, b_squares):
            return products

    X = np.zeros((5000, 3))
    assert form_of(Other()) is None
    assert not is_computed_again(Other(), X)
    assert all(form_of(make(0.5, 1.0)) is not None for make in KERNELS.values())


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["rbf", "linear", "laplacian", "matern 1.5", "poly 3"])
def test_a_corner_is_computed_by_halves(name, dtype):
    """And it is what the values of all rows against all are, bit by bit, for any number of rows."""
    kernel, rng = KERNELS[name](0.1, 0.5), np.random.default_rng(0)
    X = rng.normal(size=(900, 7))
    for n_threads in (1, 2):
        with workers(n_threads) as team:
            rows = FusedRows(kernel, X, team, np.dtype(dtype))
            for n in (1, 2, 7, 16, 63, 64, 65, 191, 193, 200, 389, 777):
                which = rng.permutation(900)[:n]
                expected = rows.columns(which).values(rows.vectors(which))
                room = np.empty(n * n, rows.dtype) if n % 2 else None
                found = rows.corner(which, room)
                assert np.array_equal(found, expected)
                assert np.array_equal(found, found.T)
                assert found.flags.c_contiguous
                assert room is None or np.shares_memory(found, room)


def test_a_corner_of_rows_with_many_zeros(team):
    """Vectors come in another order there, and all values are computed."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(70, 40)) * (rng.random((70, 40)) < 0.2)
    rows = FusedRows(Gaussian(0.1), X, team, np.dtype(float))
    assert not rows.in_order
    found = rows.corner(np.arange(70))
    assert found.flags.c_contiguous
    assert np.allclose(found, Gaussian(0.1)(X, X), rtol=1e-14, atol=0)
