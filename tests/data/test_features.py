import numpy as np
import pytest
import scipy.sparse as sp

from largemargin.data import DataError
from largemargin.data.features import check_finite, float_type, join_features


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
