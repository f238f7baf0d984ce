import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import largemargin as lm
from largemargin.data import DataError
from largemargin.data.features import check_finite, checked_sparse, float_type, join_features


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.float16, np.float32])
def test_float32_where_exact(dtype):
    assert float_type(dtype) is np.float32


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint64, np.float64])
def test_float64_elsewhere(dtype):
    assert float_type(dtype) is np.float64


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
def test_not_finite(bad, convert):
    X = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, bad]])
    with pytest.raises(DataError, match=rf"a, row 12, column 3: .* saw {bad}"):
        check_finite("a", convert(X), first_row=11)


def test_a_sum_that_overflows_is_still_finite():
    check_finite("a", np.full((2, 2), 1e308))


def test_infinities_that_cancel_are_found():
    with pytest.raises(DataError, match="column height"):
        check_finite("a", np.array([[np.inf], [-np.inf]]), names=["height"])


def test_joined_sparse_blocks_take_the_largest_width():
    X = join_features([sp.csr_matrix(np.eye(2)), sp.csr_matrix(np.ones((1, 4)))])
    assert X.shape == (3, 4)
    assert X.toarray().tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 1, 1]]


MODELS = [
    lm.VotedPerceptron(),
    lm.SVC(),
    lm.NuSVC(nu=0.2),
    lm.KernelAdatron(C=1.0),
    lm.LPSVC(),
    lm.NuLPSVC(),
    lm.LeaveOneOutSVC(),
    lm.AdaptiveMarginSVC(),
    lm.MaxMarginHyperplane(),
    lm.AggressivePerceptron(),
    lm.MIRA(),
    lm.ROMMA(),
    lm.ALMA(),
    lm.AdaBoost(n_rounds=2),
    lm.RBFNetwork(n_centers=2, max_iter=2),
]
Y = np.array([0, 1] * 4)


def sound(format="csr"):
    X = sp.random_array((8, 4), density=0.6, rng=np.random.default_rng(0), format="csr")
    return X.asformat(format)


def outside(format="csr", index=10**6):
    X = sound(format)
    (X.col if format == "coo" else X.indices)[3] = index
    return X


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_every_method_of_every_estimator(model):
    with pytest.raises(ValueError, match="has the column index 1000000, but 4 columns"):
        model.fit(outside(), Y)
    model.fit(sound(), Y)
    before = model.predict(sound())
    for bad in (outside(), outside("csc"), outside("coo", -1)):
        for method in (model.predict, model.decision_function):
            with pytest.raises(ValueError, match="make it anew"):
                method(bad)
        for method in (model.score, model.certificate):
            with pytest.raises(ValueError, match="make it anew"):
                method(bad, Y)
        if hasattr(model, "partial_fit"):
            with pytest.raises(ValueError, match="make it anew"):
                model.partial_fit(bad, Y)
    assert (model.predict(sound()) == before).all()


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
def test_sound_matrices_are_as_they_were(format):
    X = sound(format)
    assert (checked_sparse(X).toarray() == X.toarray()).all()
    assert checked_sparse(X) is X or format in ("lil", "dok", "dia")


def test_room_for_more_entries_is_not_read():
    X = sound()
    dense = X.toarray()
    X.data = np.append(X.data, [np.nan])
    X.indices = np.append(X.indices, [99]).astype(X.indices.dtype)
    assert (checked_sparse(X).toarray() == dense).all()
    lm.MIRA().fit(X, Y)


def test_other_formats():
    X = sound("lil")
    X.rows[2].append(77)
    X.data[2].append(1.0)
    with pytest.raises(ValueError, match="index 77"):
        checked_sparse(X)
    X = sound("dok")
    X._dict[(50, 1)] = 1.0
    with pytest.raises(ValueError, match="index 50"):
        checked_sparse(X)


def spoil_indptr_back(X):
    X.indptr[2] = X.indptr[-1] + 5


def spoil_indptr_end(X):
    X.indptr[-1] += 7


def spoil_indptr_start(X):
    X.indptr[0] = 1


def spoil_indptr_sign(X):
    X.indptr[1] = -(2**31)


def spoil_indptr_length(X):
    X.indptr = X.indptr[:-1]


def spoil_lengths(X):
    X.data = X.data[:-1]


def spoil_type(X):
    X.indices = X.indices.astype(float)


@pytest.mark.parametrize("format", ["csr", "csc", "bsr"])
@pytest.mark.parametrize(
    "spoil",
    [
        spoil_indptr_back, spoil_indptr_end, spoil_indptr_start, spoil_indptr_sign,
        spoil_indptr_length, spoil_lengths, spoil_type,
    ],
)  # fmt: skip
def test_parts_that_do_not_fit(format, spoil):
    X = sound(format)
    spoil(X)
    with pytest.raises(ValueError, match=r"the sparse matrix X .*: make it anew"):
        lm.VotedPerceptron().fit(X, Y)


@settings(max_examples=40, deadline=None)
@given(
    format=st.sampled_from(["csr", "csc", "bsr"]),
    part=st.sampled_from(["indices", "indptr"]),
    place=st.integers(0, 100),
    value=st.integers(-(2**31), 2**31 - 1),
)
def test_whatever_the_indices(format, part, place, value):
    X = sound(format)
    array = getattr(X, part)
    array[place % len(array)] = value
    message = "the sparse matrix X is sound"
    try:
        lm.VotedPerceptron(kernel="linear").fit(X, Y).predict(X)
    except ValueError as error:
        message = str(error)
    assert "the sparse matrix X" in message
