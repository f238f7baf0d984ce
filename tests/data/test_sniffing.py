"""What the first records of a table tell."""

import pytest

from largemargin.data import DataError
from largemargin.data.formats import ReadOptions
from largemargin.data.sniffing import tell_layout


def layout(text, suffix=".csv", **options):
    return tell_layout("a.csv", suffix, text.splitlines(), ReadOptions(mixed=True, **options))


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("1,2,a\n3,4,b", ","),
        ("1;2;a\n3;4;b", ";"),
        ("1,5;2,5\n3,5;4,5", ";"),
        ("1|a, b|c\n3|d|e", "|"),
        ("Smith, John\t3\nHill, Jane\t4", "\t"),
        ('1,"x; y",2\n3,"z; w",4', ","),
        ("1 2  a\n3 4 b", None),
        ('1,5" pipe,2\n3,6" pipe; old,4', ","),
        ('a;b\n"1,\n2";3\n"4,\n5,";6', ";"),
        ("hello\nworld", ","),
        ("a wise word\nshort", ","),
        ("sep=|\n1|2,3|a\n3|4|b", "|"),
    ],
)
def test_delimiter(text, delimiter):
    assert layout(text, header=False).delimiter == delimiter


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("size,colour\n1,red\n2,blue", True),
        ("39, State-gov, 1\n50, Private, 0\n38, Private, 1", False),
        ("colour,shape\nred,round\nred,square\nblue,round\nblue,round", True),
        ("red,round\nred,square\nblue,round\nblue,round", False),
        ("y,n\ny,n\nn,y\nn,n", False),
        ("n,y\n1,2\n3,4", True),
        ("day,kind\n2024-01-01,a\n2024-01-02,b\n2024-01-03,c", True),
        ("2024-01-01,a\n2024-01-02,b\n2024-01-03,c", False),
        ("?,red\n1,red\n2,blue", False),
        (",size,kind\n0,1.5,a\n1,2.5,b", True),
        ("0,1,label\n3,4,a\n5,6,b", True),
        ("a,b\nc,d", True),
        ("1,b", False),
    ],
)
def test_header(text, names):
    assert (layout(text).names is not None) == names


def test_a_header_that_could_be_an_example():
    with pytest.raises(DataError, match=r"line 1, column 1: does this line name the columns\?"):
        layout("n.a.,3,a\n1,2,b\n2,3,a")
    assert layout("town,2019,2020\n1,2,3\n2,3,4", header=True).names == ("town", "2019", "2020")
    assert layout("n.a.,3,a\n1,2,b\n2,3,a", header=False).names is None


def test_known_names_tell_a_header():
    text = "a,b\nc,d\na,d"
    assert layout(text).names is None
    assert layout(text, names=("b", "e")).names == ("a", "b")
    assert layout("u,v\na,b\na,c\na,d", names=("x0", "x1")).names is None


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        ("1,5;a\n2,5;b", ","),
        ("1,234;a\n2,345;b", "."),  # thousands as well as thousandths
        ("1,234;1,5\n2,345;2,5", ","),
        ("1.234,5;a\n2;b", ","),
        ("0,123;a\n1;b", ","),
        ("1,5;1.5\n2,5;2.5", "."),
        ("1,5;1.500\n2,5;2.500", ","),
        ("12,5%;a\n8 %;b", ","),
        ("x, y;3\nz, w;4", "."),
        ("1.5;2\n2.5;3", "."),
        ('"1,5","2,5"\n"3,5","4,5"', "."),
    ],
)
def test_decimal(text, decimal):
    assert layout(text, header=False).decimal == decimal


def test_lines_above_the_table():
    found = layout("Sales of May\n\nin thousands\na,b,c\n1,2,x\n3,4,y\n5,6,x\n7,8,y\n9,1,x")
    assert found.names == ("a", "b", "c")
    assert found.first_line == 5
    assert [note.split(",")[0] for note in found.notes] == ["line 1", "line 3"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sep": "ab"}, "sep must be a single character"),
        ({"sep": "x"}, "sep must be a single character"),
        ({"sep": ""}, "sep must be a single character"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        layout("1,2\n3,4", **options)
