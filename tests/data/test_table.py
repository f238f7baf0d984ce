import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from largemargin.data import DataError, read, stream
from largemargin.data.table import _parse_whole_numbers, find_layout

from .writers import put, table_text


@settings(max_examples=50, deadline=None)
@given(
    X=hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    ),
    delimiter=st.sampled_from([",", ";", "\t", " "]),
    chunk=st.integers(1, 7),
)
def test_round_trip(tmp_path_factory, X, delimiter, chunk):
    text = table_text(X, np.arange(len(X)), delimiter)
    path = put(tmp_path_factory.mktemp("csv") / "a.csv", text)
    data = read(path)
    np.testing.assert_array_equal(data.X, X)
    assert data.y.tolist() == list(range(len(X)))
    np.testing.assert_array_equal(np.vstack([part.X for part in stream(path, chunk)]), X)


@pytest.mark.parametrize("position", [0, 1, 2, -1, -3])
@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("delimiter", [",", " "])
def test_label_anywhere(tmp_path, position, quote, delimiter):
    rows = [["1", "2"], ["3", "4"]]
    names = [f"{quote}a{quote}", f"{quote}b{quote}"]
    for row, name in zip(rows, names, strict=True):
        row.insert(position if position >= 0 else 3 + position, name)
    path = put(tmp_path / "a.csv", "".join(delimiter.join(row) + "\n" for row in rows))
    data = read(path, label=position)
    assert data.X.tolist() == [[1, 2], [3, 4]]
    assert data.y.tolist() == ["a", "b"]


def test_quoted_numbers_and_delimiters_inside_quotes(tmp_path):
    path = put(tmp_path / "a.csv", '"1","2.5","red, dark"\n3,"4", "blue"\n')
    data = read(path)
    assert data.X.tolist() == [[1, 2.5], [3, 4]]
    assert data.y.tolist() == ["red, dark", "blue"]


def test_header_blank_lines_and_line_ends(tmp_path):
    text = "\ufeff# made by hand\r\n\r\nclass,width\r\n\r\n1,2.5\r\n\r\n0,3\r\n"
    data = read(put(tmp_path / "a.csv", text))
    assert data.feature_names == ("width",)
    assert data.X.tolist() == [[2.5], [3]]
    assert data.y.tolist() == [1, 0]


def test_columns_between_runs_of_blanks(tmp_path):
    data = read(put(tmp_path / "a.txt", "  1.0   2.0  0\n3  4   1  \n"))
    assert data.X.tolist() == [[1, 2], [3, 4]]
    assert data.y.tolist() == [0, 1]


def test_quoted_blanks_between_blanks(tmp_path):
    data = read(put(tmp_path / "a.txt", '1.0  2  "old car"\n3 4 "new \tcar"\n'), label=2)
    assert data.X.tolist() == [[1, 2], [3, 4]]
    assert data.y.tolist() == ["old car", "new \tcar"]


def test_label_by_name(tmp_path):
    data = read(put(tmp_path / "a.csv", "a,kind,b\n1,x,2\n3,y,4\n"), label="kind")
    assert data.feature_names == ("a", "b")
    assert data.y.tolist() == ["x", "y"]


def test_without_labels(tmp_path):
    data = read(put(tmp_path / "a.csv", "1,2\n3,4\n"), label=False)
    assert data.X.tolist() == [[1, 2], [3, 4]]
    assert data.y is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("7,8", r"line 4: expected 3 columns, saw 2"),
        ("7", r"line 4: expected 3 columns, saw 1"),
        ("7,8,9,0", r"line 4: expected 3 columns, saw 4"),
        ("7,,1", r"line 4, column 2: expected a number, saw the missing value ''; remove the row"),
        ("?,8,1", r"line 4, column 1: expected a number, saw the missing value '\?'"),
        ("7,NaN,1", r"line 4, column 2: expected a number, saw the missing value 'NaN'"),
        ("7,-inf,1", r"line 4, column 2: expected a finite number, saw '-inf'"),
        ("7,1e999,1", r"line 4, column 2: expected a finite number, saw '1e999'"),
        ("7,1_0,1", r"line 4, column 2: expected a number, saw '1_0'"),
        ("7,red,1", r"line 4, column 2: expected a number, saw 'red'; .* pass label=1 if"),
        ("7,8,", r"line 4, column 3: expected a label, saw ''"),
        ("7,8,nan", r"line 4, column 3: expected a label, saw 'nan'"),
        ('7,"8,1', r"line 4: expected 3 columns, saw 2; a quote is not closed"),
    ],
)
@pytest.mark.parametrize("rows", [1, 2, 100])
def test_bad_line(tmp_path, line, message, rows):
    path = put(tmp_path / "a.csv", f"1,2,0\n3,4,1\n\n{line}\n5,6,1\n")
    with pytest.raises(DataError, match=rf"a\.csv, {message}"):
        list(stream(path, rows))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.text("0129-,", min_size=1, max_size=24), min_size=1, max_size=3),
    st.sampled_from(",;\t"),
)
def test_whole_numbers_are_read_as_by_loadtxt(rows, delimiter):
    rows = [row.replace(",", delimiter) for row in rows]
    X = _parse_whole_numbers(rows, delimiter)
    if X is not None:
        expected = np.loadtxt(rows, delimiter=delimiter, ndmin=2)
        assert X.tobytes() == expected.tobytes()
        assert X.shape == expected.shape


@pytest.mark.parametrize(
    ("rows", "short"),
    [
        (["1,-2", "30,4"], True),
        (["-7"], True),
        (["9007199254740991,1"], True),
        (["9007199254740992,1"], False),
        (["99999999999999999999,1"], False),
        (["1,2", "3"], False),
        (["1,2,3", "4"], False),
        (["1,,2"], False),
        (["1,2,"], False),
        ([",1"], False),
        (["1-2,3"], False),
        (["-,3"], False),
        (["3,-"], False),
        (["-0,1"], False),
        (["1,2.5"], False),
        (["1, 2"], False),
        (["1,\u0663"], False),
    ],
)
def test_which_rows_are_whole_numbers(rows, short):
    assert (_parse_whole_numbers(rows, ",") is not None) == short


def test_bad_line_names_the_column(tmp_path):
    path = put(tmp_path / "a.csv", "height,class\n1,0\nx,1\n")
    with pytest.raises(DataError, match=r"a\.csv, line 3, column 1 \(height\): .* saw 'x'"):
        read(path)


def test_label_first_gives_a_hint(tmp_path):
    path = put(tmp_path / "letter.data", "T,2,8\nI,5,12\n")
    with pytest.raises(DataError, match=r"line 1, column 1: .*'T'.*label=0 if this column"):
        read(path)


def test_bad_bytes(tmp_path):
    path = put(tmp_path / "a.csv", b"1,2,caf\xc3\xa9\n3,4,caf\xe9\n")
    with pytest.raises(DataError, match=r"a\.csv, line 2: expected text in UTF-8.*0xe9"):
        read(path)


def test_a_label_alone(tmp_path):
    with pytest.raises(DataError, match=r"line 1: expected features beside the label"):
        read(put(tmp_path / "a.csv", "1\n2\n"))


@pytest.mark.parametrize("text", ["\n\n", "# only a comment\n"])
def test_no_rows(tmp_path, text):
    with pytest.raises(DataError, match=r"a\.csv: expected at least one example"):
        read(put(tmp_path / "a.csv", text))


def layout(text, header=None, label=None, suffix=".csv"):
    return find_layout("a.csv", suffix, text.splitlines(), header, label)


@pytest.mark.parametrize(
    ("line", "delimiter"),
    [
        ("1,2,3", ","),
        ("1;2;3", ";"),
        ("1,5;2,5;3", ";"),
        ("1\t2\t3", "\t"),
        ("1 2  3", None),
        ('"a;b",2,3', ","),
        ("1", ","),
    ],
)
def test_delimiter(line, delimiter):
    assert layout(line).delimiter == delimiter


def test_tsv_is_tabs_even_with_commas():
    assert layout("1,5\t2", suffix=".tsv").delimiter == "\t"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("1,2\n3,4", None),
        ("a,b\n1,2", ("a", "b")),
        ("a,b\n1,x", ("a", "b")),
        ("1,x\n2,y", None),
        ("T,1\nI,2", None),
        ("?,2\n3,4", None),
        ("0,1,label\n5,6,1", ("0", "1", "label")),
        ("1,2", None),
    ],
)
def test_header_is_told(text, names):
    assert layout(text).names == names


def test_label_name_makes_a_header():
    assert layout("0,1,kind\n5,6,1", label="kind").names == ("0", "1", "kind")


def test_header_is_forced():
    assert layout("0,1\n2,3", header=True).names == ("0", "1")
    assert layout("a,b\n2,3", header=False).names is None


def test_first_line_counts_comments_and_blanks():
    assert layout("# a\n\n1,2").first_line == 3
    assert layout("# a\n\nx,y\n\n1,2").first_line == 4


def test_a_slip_in_the_first_row_is_not_a_header():
    with pytest.raises(DataError, match=r"a\.csv, line 1, column 1: .*'1\.2x'.*header=True"):
        layout("1.2x,3,0\n1,2,1")


@pytest.mark.parametrize("text", ["a,b", "a,label\n\n"])
def test_header_alone(text):
    with pytest.raises(DataError, match=r"a\.csv, line 2: expected an example below the header"):
        layout(text)
