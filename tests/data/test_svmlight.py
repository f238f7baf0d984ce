import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from largemargin.data import DataError, read, stream

from .writers import put, svmlight_text


@settings(max_examples=50, deadline=None)
@given(
    X=hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.one_of(st.just(0.0), st.floats(allow_nan=False, allow_infinity=False)),
    ),
    chunk=st.integers(1, 7),
)
def test_round_trip(tmp_path_factory, X, chunk):
    path = put(tmp_path_factory.mktemp("svm") / "a.svm", svmlight_text(X, np.arange(len(X))))
    data = read(path, n_features=X.shape[1])
    np.testing.assert_array_equal(data.X.toarray(), X)
    assert data.y.tolist() == list(range(len(X)))
    parts = [part.X for part in stream(path, chunk, n_features=X.shape[1])]
    np.testing.assert_array_equal(sp.vstack(parts).toarray(), X)


def test_same_as_scikit_learn(tmp_path):
    rng = np.random.default_rng(0)
    X = sp.random(300, 40, density=0.2, format="csr", random_state=0)
    path = str(tmp_path / "a.svm")
    dump_svmlight_file(X, rng.integers(0, 3, 300), path, zero_based=False, comment="made up")
    theirs, labels = load_svmlight_file(path, n_features=40)
    data = read(path, n_features=40)
    np.testing.assert_array_equal(data.X.toarray(), theirs.toarray())
    np.testing.assert_array_equal(data.y, labels)


def test_blanks_comments_queries_and_line_ends(tmp_path):
    text = b"# head\r\n\r\n+1\t1:2  3:4 \r\n-1 qid:7 2:1e-3 # tail 9:9\r\n\n 1 \n2 3:5"
    data = read(put(tmp_path / "a.svm", text))
    assert data.X.toarray().tolist() == [[2, 0, 4], [0, 1e-3, 0], [0, 0, 0], [0, 0, 5]]
    assert data.y.tolist() == [1, -1, 1, 2]


def test_labels_that_are_words(tmp_path):
    assert read(put(tmp_path / "a.svm", "cat 1:1\ndog 2:1\n")).y.tolist() == ["cat", "dog"]


@pytest.mark.parametrize("text", ["1:1 3:2\n2:5\n", "7 1:1 3:2\n7 2:5\n"])
def test_without_labels(tmp_path, text):
    data = read(put(tmp_path / "a.svm", text), label=False)
    assert data.y is None
    assert data.X.toarray().tolist() == [[1, 0, 2], [0, 5, 0]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 2:3 x", "expected index:value, saw 'x'"),
        ("1 2:3 4", "expected index:value, saw '4'"),
        ("1 2:3 4:", "expected index:value, saw '4:'"),
        ("1 2:3 :4", "expected index:value, saw ':4'"),
        ("1 2:3 4:5:6", "expected index:value, saw '4:5:6'"),
        ("1 2:3 4 :5", "expected index:value, saw '4'"),
        ("1 2:3 4:0x10", "expected index:value, saw '4:0x10'"),
        ("1 2:3 4:1_0", "expected index:value, saw '4:1_0'"),
        ("1 2.0:3", "expected index:value, saw '2.0:3'"),
        ("1 -2:3", "expected indices from 1, saw '-2:3'"),
        ("1 0:3", "expected indices from 1, saw '0:3'; add 1 to every index"),
        ("1 3:1 2:1", "increasing order, saw '2:1' after index 3"),
        ("1 3:1 3:1", "increasing order, saw '3:1' after index 3"),
        ("1 3:nan", "expected a finite number, saw '3:nan'"),
        ("1 3:-inf", "expected a finite number, saw '3:-inf'"),
        ("1 3:1e999", "expected a finite number, saw '3:1e999'"),
        ("2:3 4:5", "expected a label first, saw '2:3'; pass label=False"),
        ("nan 2:3", "expected a label first, saw 'nan'"),
        ("1,2 2:3", "expected one label, saw '1,2'"),
    ],
)
@pytest.mark.parametrize("lead", ["", "# comment\n\n"])
def test_bad_line(tmp_path, line, message, lead):
    path = put(tmp_path / "a.svm", f"{lead}1 1:1 2:2\n2 3:3\n\n{line}\n1 1:1\n")
    number = 4 + lead.count("\n")
    with pytest.raises(DataError, match=rf"a\.svm, line {number}: .*{message}"):
        read(path)
    with pytest.raises(DataError, match=rf"a\.svm, line {number}: .*{message}"):
        list(stream(path, 2))


def test_bad_bytes(tmp_path):
    path = put(tmp_path / "a.svm", b"1 1:1\n1 2:\xff\n")
    with pytest.raises(DataError, match=r"a\.svm, line 2: expected text in UTF-8"):
        read(path)


def test_only_comments(tmp_path):
    with pytest.raises(DataError, match=r"a\.svm: expected at least one example"):
        read(put(tmp_path / "a.svm", "# nothing\n\n"))


def test_more_features_than_given(tmp_path):
    path = put(tmp_path / "a.svm", "1 1:1\n1 1:1 9:2\n")
    with pytest.raises(DataError, match=r"line 2: expected indices up to n_features=5, saw 9"):
        read(path, n_features=5)


def test_label_column_makes_no_sense(tmp_path):
    with pytest.raises(ValueError, match="label must be None or False, got 0"):
        read(put(tmp_path / "a.svm", "1 1:1\n"), label=0)
