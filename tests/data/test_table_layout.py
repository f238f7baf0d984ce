import pytest

from largemargin.data import DataError
from largemargin.data.table_layout import find_layout


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
