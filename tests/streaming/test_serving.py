"""Files for the model of a named stream: cells find their columns."""

import gzip

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline

from largemargin import MIRA
from largemargin.streaming.checkpoint import schema_of
from largemargin.streaming.schema import Schema
from largemargin.streaming.serving import read_for_stream

NAMES = ["size", "color=red", "color=(other)", "new", "zip=007", "zip=(other)"]


def schema():
    return Schema(8, width=8, names=NAMES, sparse=True)


def rows_of(path, **options):
    found = read_for_stream(path, schema(), **options)
    return found.X.toarray(), found


def write(path, text):
    path.write_text(text)
    return path


def test_cells_find_their_columns(tmp_path):
    X, found = rows_of(
        write(tmp_path / "a.csv", "zip,color,kind,size\n007,red,x,2\n7,,y,\n08,blue,x,1e2\n")
    )
    # an unknown category has a free column if there is one, as it would have in the stream
    expected = np.zeros((3, 8))
    expected[0, [0, 1, 4]] = [2, 1, 1]
    expected[1, 6] = 1
    expected[2, [0, 6, 7]] = [100, 1, 1]
    np.testing.assert_array_equal(X, expected)
    assert (found.labels, found.label_name) == (["x", "y", "x"], "kind")
    assert (found.missing, found.extra) == (["new"], [])


@pytest.mark.parametrize(
    "text",
    [
        "size;color;new;y\n2;red;true;1\n",
        "y\tnew\tcolor\tsize\n1\t1\tred\t2.0\n",
        '\ufeff"size","color","new","y"\r\n"2","red","TRUE","1"\r\n',
        '{"size": 2, "color": "red", "new": true, "y": 1}\n',
        '{"x": {"color": "red", "new": 1, "size": 2.0}, "y": 1, "id": 5}\n\n',
        '[{"size": 2, "color": "red", "new": true, "y": 1}]',
    ],
)
def test_tables_and_json_say_the_same(text, tmp_path):
    path = tmp_path / "rows.gz"
    path.write_bytes(gzip.compress(text.encode()))
    X, found = rows_of(path)
    np.testing.assert_array_equal(X, [[2, 1, 0, 1, 0, 0, 0, 0]])
    assert [str(label) for label in found.labels] == ["1"]
    assert found.extra == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n", "none of its columns, 'a', 'b', is one that the model knows"),
        ("size,color\nbig,red\n", "line 2: 'size' is 'big': give finite numbers"),
        ("size,color\n1,red\n1\n", "line 3: expected 2 cells, saw 1"),
        ("size,size\n1,2\n", "two columns have one name"),
        ("size,color\n", "there are no rows"),
        ("size,label\n1,a\n1,\n", "line 3: the label is missing"),
        ('{"size": 1}\n{"size"\n', "line 2: is not JSON"),
        ('{"x": [1, 2]}\n', "none of its columns"),
        ("[1]", "expected an object of named values"),
    ],
)
def test_mistakes_are_a_sentence(text, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        rows_of(write(tmp_path / "a.csv", text))
    with pytest.raises(ValueError, match="label='no' is not a column"):
        rows_of(write(tmp_path / "b.csv", "size\n1\n"), label="no")


def test_what_prepares_a_table_does_not_go_on_in_a_stream():
    X, y = np.arange(12.0).reshape(6, 2) % 5, [0, 1, 0, 1, 0, 1]
    model = Pipeline([("prepare", PCA(1)), ("model", MIRA())]).fit(X, y)
    with pytest.raises(ValueError, match="prepares the columns of a table before it learns"):
        schema_of(model, {}, "m")
