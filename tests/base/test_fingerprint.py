"""Fingerprints of data: the same for the same values in any form and in any chunks, another for
anything else.
"""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from largemargin import SVC
from largemargin.base.fingerprint import PARTS, Fingerprint, fingerprint, hash_label
from largemargin.base.hashing import FIRST, GOLDEN, OTHER_LANE, SECOND

MASK = (1 << 64) - 1
CLASSES = np.array(["no", "yes"])


def mixed(x):
    x = (x ^ x >> 33) * int(FIRST) & MASK
    x = (x ^ x >> 33) * int(SECOND) & MASK
    return x ^ x >> 33


def total(hashes, start):
    """The twin of the compiled sum, in integers of any length."""
    sum_ = 0
    for i, h in enumerate(hashes, start + 1):
        place = mixed(i * int(GOLDEN) & MASK)
        sum_ += mixed(h ^ place) | mixed((h * int(OTHER_LANE) + place) & MASK) << 64
    return sum_ % (1 << 128)


def twin(X, y, weights, start=0):
    """The fingerprint by its definition, from Python numbers."""
    rows = [
        sum(
            mixed(int(np.float64(v).view(np.uint64)) ^ (j * int(GOLDEN) & MASK))
            for j, v in enumerate(row, 1)
            if v != 0
        )
        & MASK
        for row in X.tolist()
    ]
    bits = [int(np.float64(w).view(np.uint64)) for w in weights]
    sums = (total(h, start) for h in (rows, [hash_label(label) for label in y], bits))
    return Fingerprint(len(rows), *sums)


def taken(X, y=None, weights=None, start=0):
    y = np.zeros(X.shape[0], int) if y is None else y
    return fingerprint(X, CLASSES, y, weights, start)


values = st.floats(allow_nan=False, allow_infinity=False, width=32) | st.sampled_from([0.0, -0.0])
tables = st.tuples(st.integers(1, 6), st.integers(1, 5)).flatmap(
    lambda shape: arrays.arrays(np.float64, shape, elements=values)
)


@settings(deadline=None, max_examples=30)
@given(tables, st.integers(0, 2**40), st.randoms(use_true_random=False))
def test_the_definition_whatever_the_form_and_the_chunks(X, start, random):
    y = np.array([random.randint(0, 1) for _ in X])
    weights = np.array([random.choice([0.0, 1.0, 2.5]) for _ in X])
    found = fingerprint(X, CLASSES, y, weights, start)
    assert found == twin(X, CLASSES[y], weights, start)
    stored = sp.coo_array(X)  # zeros are entries of it as any other
    stored = sp.csr_array(
        (np.append(stored.data, 0.0), (np.append(stored.coords[0], 0), [*stored.coords[1], 0])),
        shape=X.shape,
    )
    padded = np.zeros((2 * len(X), X.shape[1] + 1))
    padded[::2, 1:] = X
    frozen = X.copy()
    frozen.setflags(write=False)
    forms = [
        X.astype(np.float32), np.asfortranarray(X), np.asfortranarray(X.astype(np.float32)),
        padded[::2, 1:], frozen, sp.csr_array(X), sp.csr_matrix(X), sp.csc_array(X), stored,
    ]  # fmt: skip
    for form in forms:
        assert fingerprint(form, CLASSES, y, weights, start) == found
    cut = random.randint(0, len(X))
    one, other = slice(0, cut), slice(cut, None)
    assert found == fingerprint(X[one], CLASSES, y[one], weights[one], start) + fingerprint(
        X[other], CLASSES, y[other], weights[other], start + cut
    )


def test_entries_of_one_place_are_summed_in_any_order():
    whole = np.array([[0.0, 3.0, 0.0], [1.0, 0.0, 4.0]])
    rows = sp.csr_array(
        ([1.0, 2.0, 4.0, 5.0, -4.0, 0.5, -0.5], [1, 1, 2, 0, 0, 1, 1], [0, 2, 7]), shape=(2, 3)
    )
    entries = rows.data.copy(), rows.indices.copy()
    assert taken(rows) == taken(whole)
    np.testing.assert_array_equal(rows.data, entries[0])  # what was given stays as it was
    np.testing.assert_array_equal(rows.indices, entries[1])


def test_no_weights_are_weights_of_one():
    X = np.eye(3)
    assert taken(X) == taken(X, weights=np.ones(3))
    assert taken(X).differences(taken(X, weights=np.full(3, 2.0))) == ["weights"]
    assert taken(X, weights=np.zeros(3)) == taken(X, weights=np.full(3, -0.0))


@settings(deadline=None, max_examples=50)
@given(tables, st.data())
def test_any_one_change_shows_where_it_is(X, data):
    y = np.arange(len(X)) % 2
    found = taken(X, y)
    i = data.draw(st.integers(0, len(X) - 1))
    j = data.draw(st.integers(0, X.shape[1] - 1))
    other = X.copy()
    other[i, j] = data.draw(values.filter(lambda v: v != X[i, j]))
    assert found.differences(taken(other, y)) == ["rows"]
    other[i, j] = np.nextafter(X[i, j], np.inf)
    assert found.differences(taken(other, y)) == ["rows"]
    labels, weights = y.copy(), np.ones(len(X))
    labels[i], weights[i] = 1 - y[i], np.nextafter(1.0, 2.0)
    assert found.differences(taken(X, labels)) == ["labels"]
    assert found.differences(taken(X, y, weights)) == ["weights"]
    assert found.differences(taken(X, y, start=1)) == list(PARTS)
    turned = np.roll(np.arange(len(X)), 1)
    if not np.array_equal(X[turned], X):
        assert "rows" in found.differences(taken(X[turned], y))
    across = np.roll(X, 1, axis=1)
    if not np.array_equal(across, X):
        assert found.differences(taken(across, y)) == ["rows"]


def test_changes_do_not_cancel():
    # values of few bits, changed in pairs that a sum could miss
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (200, 6)).astype(float)
    seen = {taken(X).rows}
    for k in range(1, 200):
        flipped = X.copy()
        flipped[[0, k]] *= -1
        swapped = X.copy()
        swapped[[0, k]] = X[[k, 0]]
        moved = X.copy()
        moved[0] += k
        moved[k] -= k
        seen |= {taken(flipped).rows, taken(swapped).rows, taken(moved).rows}
    same = sum(np.array_equal(X[0], X[k]) for k in range(1, 200))
    assert len(seen) == 1 + 3 * 199 - same


def test_equal_labels_are_equal_in_any_type():
    kinds = ([0, 1], [0.0, 1.0], [False, True], np.array([0, 1], np.uint8), np.float32([0, 1]))
    found = [fingerprint(np.eye(2), np.asarray(kind), np.array([0, 1])) for kind in kinds]
    assert len(set(found)) == 1
    texts = (np.array(["a", "b"]), np.array(["a", "b"], object), np.array(["a", "b"], "<U9"))
    texts += (np.array(["a", "b"], np.dtypes.StringDType()),)
    assert len({fingerprint(np.eye(2), text, np.array([0, 1])) for text in texts}) == 1
    others = (1, 2, 0.5, "1", "0.5", b"1", "b'1'", 2**53, 2**53 + 1, 2**64, -1, "\udc80", "ä", "")
    assert len({hash_label(label) for label in others}) == len(others)


def test_a_class_that_comes_later_changes_no_label_before_it():
    early = fingerprint(np.eye(2), np.array(["b", "d"]), np.array([0, 1]))
    late = fingerprint(np.eye(2), np.array(["a", "b", "c", "d"]), np.array([1, 3]))
    assert early == late


def test_nothing_is_the_beginning_of_everything():
    X = np.eye(3)
    found = Fingerprint().then(X[:1], CLASSES, np.array([1]))
    found = found.then(X[1:1], CLASSES, np.array([], int)).then(X[1:], CLASSES, np.array([0, 1]))
    assert found == fingerprint(X, CLASSES, np.array([1, 0, 1]))


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint16, np.int64, bool, np.float16, np.float32, ">f8"]
)
def test_what_fit_is_given_in_any_type(dtype):
    X, y = np.array([[0, 1], [1, 1], [1, 0], [0, 0]]), [0, 0, 1, 1]
    wanted = SVC().fit(X.astype(float), y)._record.data
    assert SVC().fit(X.astype(dtype), y)._record.data == wanted
    if dtype not in (np.float16, ">f8"):
        table = X.astype(dtype)
        assert SVC().fit(pd.DataFrame(table, columns=["a", "b"]), y)._record.data == wanted
        frame = pl.DataFrame(table, schema=["a", "b"])
        assert SVC().fit(frame, pl.Series(y))._record.data == wanted
