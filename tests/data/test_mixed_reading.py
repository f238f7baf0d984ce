"""Tables of mixed columns, beside what pandas reads, and options that the strict way shares."""

import csv
import io
import string

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largemargin.data import DataError, Table, column_builder, read, stream, table

from .files_as_they_are import text, things
from .writers import put

MARKS = ["", "?", "NA", "N/A", "nan", "NULL", "None"]
WORDS = ("na", "nat", "nan", "null", "none", "inf", "infinity")  # that are no text
number = st.floats(allow_nan=False, allow_infinity=False).map(repr)
word = st.text(string.ascii_letters + "éß ,;|\"'\n%-", min_size=1, max_size=8).filter(
    lambda t: t.strip() == t and t.lower().lstrip("-") not in WORDS
)
truth = st.sampled_from(["true", "False"])
kind = st.sampled_from(
    [
        st.one_of(number, st.sampled_from(MARKS)),
        st.one_of(word, st.sampled_from(MARKS)),
        st.one_of(word, number),
        truth,
    ]
)
column = kind.flatmap(lambda cells: st.lists(cells, min_size=12, max_size=12))


@settings(max_examples=20, deadline=None)
@given(
    columns=st.lists(column, min_size=1, max_size=4),
    sep=st.sampled_from([",", ";", "\t", "|"]),
    rows=st.integers(2, 12),
    block=st.sampled_from([3, 1000]),
)
def test_pandas_reads_the_same(tmp_path_factory, columns, sep, rows, block):
    cells = {f"column {j}": values[:rows] for j, values in enumerate(columns)}
    cells["label"] = ["a", "b"] * rows
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    content = text({name: values[:rows] for name, values in cells.items()}, sep)
    path.write_text(content, newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "_COLUMN_ROWS", block)
        data = read(path, mixed=True, sep=sep, header=True)
    expected = pd.read_csv(
        io.StringIO(content), sep=sep, dtype=str, keep_default_na=False,
        na_values=[*MARKS, *map(str.lower, MARKS)], skip_blank_lines=False,
    )  # fmt: skip
    assert data.y.tolist() == cells["label"][:rows]
    if not isinstance(data.X, Table):
        assert not expected.isna().to_numpy().any()
        np.testing.assert_array_equal(data.X, expected.iloc[:, :-1].astype(np.float64))
        return
    for name, found in data.X.columns.items():
        told = expected[name]
        if found.dtype == np.float64:
            np.testing.assert_array_equal(found, told.astype(np.float64))
        elif found.dtype == bool:
            assert found.tolist() == (told.str.lower() == "true").tolist()
        else:
            assert found.tolist() == [None if v != v else v for v in told]


def test_words_that_come_late(tmp_path, monkeypatch):
    """A column of numbers in which a word comes in a later block is text from its beginning."""
    monkeypatch.setattr(table, "_COLUMN_ROWS", 4)
    columns = {"a": ["01"] * 9 + ["x"], "b": ["?"] * 9 + ["y"], "c": ["1.50"] * 10}
    data = read(put(tmp_path / "a.csv", text({**columns, "class": [0, 1] * 5})), mixed=True)
    assert data.X.column("a").tolist() == columns["a"]
    assert data.X.column("b").tolist() == [None] * 9 + ["y"]
    assert data.X.column("c").tolist() == [1.5] * 10
    assert data.X.names == ("a", "b", "c")


def test_a_bad_cell_in_a_later_block(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "_COLUMN_ROWS", 3)
    content = 'a,b,class\n1,"x\ny",0\n2,z,1\n\n' + "3,z,0\n" * 4
    with pytest.raises(DataError, match=r"line 10, column a: expected a finite .* saw '1e999'"):
        read(put(tmp_path / "a.csv", content + "1e999,z,1\n"), mixed=True)
    with pytest.raises(DataError, match=r"line 10: expected 3 columns between ',', .* saw 2"):
        read(put(tmp_path / "a.csv", content + "1,z\n"), mixed=True)
    with pytest.raises(DataError, match=r"line 10: expected text, saw a zero byte"):
        read(put(tmp_path / "a.csv", content + "1,z\0,1\n"), mixed=True)


@pytest.mark.parametrize("mixed", [False, True])
def test_numbers_are_the_same_array(tmp_path, mixed):
    path = put(tmp_path / "a.csv", "a,b,y\n1,2.5,0\n3,4,1\n")
    data = read(path, mixed=mixed)
    assert data.X.tolist() == [[1, 2.5], [3, 4]]
    assert data.feature_names == ("a", "b")
    assert data.label_name == ("y" if mixed else None)


@pytest.mark.parametrize("read", [read, lambda path, **how: next(stream(path, **how))])
def test_options_of_the_strict_way(tmp_path, read):
    path = put(tmp_path / "a.csv", "1,5|2|a\n3,25|4|b\n")
    assert read(path, decimal=",").X.tolist() == [[1.5, 2], [3.25, 4]]
    with pytest.raises(DataError, match=r"line 1, column 1: expected a number, saw"):
        read(path)
    with pytest.raises(DataError, match=r"line 1, column 1: expected a number, saw '1,5'"):
        read(put(path, "1.5;2;a\n"), decimal=",")
    path = put(tmp_path / "b.csv", "1:2:é\n3:4:b\n".encode("cp1252"))
    assert read(path, sep=":", encoding="cp1252").y.tolist() == ["é", "b"]
    path = put(tmp_path / "c.csv", "1,2,é\n3,4,b\n".encode("utf-16"))
    assert read(path, encoding="utf-16").X.tolist() == [[1, 2], [3, 4]]
    path = put(tmp_path / "d.svm", "1 1:2\n-1 2:3\n".encode("utf-16"))
    assert read(path, encoding="utf-16").X.toarray().tolist()[0] == [2, 0]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("1,2\n", {"encoding": "klingon"}, "encoding must be one that Python knows.* 'klingon'"),
        ("1,2\n", {"encoding": "hex"}, "encoding must be one that Python knows"),
        ("1,2\n", {"decimal": "x"}, "decimal must be '.', ',' or None, got 'x'"),
        ("1,2\n", {"sep": "::"}, "sep must be a single character"),
        ("1 1:2\n", {"sep": ";", "format": "svmlight"}, "sep= and decimal= are for tables in text"),
        (b"PAR1 and more", {"encoding": "latin-1"}, "encoding= is for text"),
        ("1,2,é\n".encode("latin-1"), {"encoding": "ascii"}, r"byte 4: expected text in ascii"),
        (b"\xff\xfe1\0,", {"encoding": "utf-16"}, "expected text in utf-16, saw other bytes"),
        ("1,2,é\n".encode("latin-1"), {"encoding": "utf-8"}, "line 1: expected text in UTF-8"),
    ],
)
@pytest.mark.parametrize("mixed", [False, True])
def test_wrong_options(tmp_path, content, options, message, mixed):
    with pytest.raises(ValueError, match=message):
        read(put(tmp_path / "a.csv", content), mixed=mixed, **options)


def test_formats_of_numbers_are_read_as_they_are(tmp_path):
    data = read(put(tmp_path / "a.svm", "1 1:2\n-1 2:3\n"), mixed=True)
    assert data.X.toarray().tolist() == [[2, 0], [0, 3]]
    assert data.y.tolist() == [1, -1]


def test_width_is_checked(tmp_path):
    path = put(tmp_path / "a.csv", text(things(5)))
    assert read(path, mixed=True, n_features=2).X.shape == (5, 2)
    with pytest.raises(DataError, match="expected n_features=3 features, saw 2"):
        read(path, mixed=True, n_features=3)


def test_without_labels(tmp_path):
    data = read(put(tmp_path / "a.csv", text(things(5))), mixed=True, label=False)
    assert data.y is None
    assert data.label_name is None
    assert data.X.names == ("size", "colour", "class")


@pytest.mark.parametrize("size", [1 << 17, 1 << 18])
def test_long_cells_between_quotes(tmp_path, size):
    long = 'a, "b" ' * (size // 7)
    file = io.StringIO()
    csv.writer(file).writerows([["n", "story", "class"], [1, long, "u"], [2, "short", "v"]])
    data = read(put(tmp_path / "a.csv", file.getvalue()), mixed=True)
    assert data.X.column("story").tolist() == [long.strip(), "short"]


def test_a_column_that_is_all_but_numbers_is_said(tmp_path):
    build = column_builder.ColumnBuilder("a.csv", ["a", "b"], {})
    build.add([[str(i), f"b{i}"] for i in range(20)] + [["unknown", "c"]], list(range(21)))
    assert build.late_texts() == []
    assert build.notes() == [
        "the column 'a' is read as text, since it holds 'unknown' beside numbers"
    ]
