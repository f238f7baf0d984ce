"""An array that grows at its end, against a list."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from largemargin.kernels.basis import Growing

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("extend"), st.integers(0, 200)),
        st.tuples(st.just("truncate"), st.floats(0, 1)),
    ),
    max_size=12,
)


@given(steps=STEPS, width=st.sampled_from([None, 1, 3]))
def test_growing_is_a_list(steps, width):
    shape = () if width is None else (width,)
    array, expected, number = Growing(np.int64, width), [], 0
    for what, amount in steps:
        if what == "extend":
            rows = np.arange(number, number + amount).repeat(width or 1).reshape(amount, *shape)
            array.extend(rows)
            expected += rows.tolist()
            number += amount
        else:
            keep = int(amount * len(expected))
            array.truncate(keep)
            expected = expected[:keep]
        assert len(array) == len(expected)
        assert array.values.tolist() == expected
        assert array.values.dtype == np.int64


def test_what_was_read_before_stays():
    array = Growing(np.float64)
    array.extend([1.0, 2.0])
    before = array.values
    array.extend(np.arange(1000))
    assert before.tolist() == [1, 2]
    assert array.values[:3].tolist() == [1, 2, 0]


def test_appending_one_by_one_moves_the_array_rarely():
    array, buffers = Growing(np.int64), set()
    for i in range(5000):
        array.extend([i])
        buffers.add(array.values.ctypes.data)
    assert array.values.tolist() == list(range(5000))
    assert len(buffers) < 12
