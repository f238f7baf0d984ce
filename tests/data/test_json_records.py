import json

import numpy as np
import pytest

from largemargin.data import DataError, read, stream

from .writers import put

ROWS = [
    {"age": 39, "job": "clerk", "old": True, "pay": "12", "class": 1},
    {"age": None, "job": "?", "old": False, "class": 0},
    {"age": 4.5, "old": True, "job": 3, "more": "x", "class": 0},
]
LINES = "\n".join(map(json.dumps, ROWS))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", LINES),
        ("a.json", json.dumps(ROWS, indent=2)),
        ("a", f"\n\n{LINES}\n\n"),
        ("a.txt", json.dumps(ROWS)),
        ("a.json.gz", "\ufeff" + LINES),
        ("a.ndjson", LINES.encode("utf-16")),
    ],
)
def test_mixed_columns(tmp_path, name, content):
    data = read(put(tmp_path / name, content), mixed=True)
    assert data.X.kinds == {
        "age": "number", "job": "text", "old": "bool", "pay": "number", "more": "text",
    }  # fmt: skip
    np.testing.assert_array_equal(data.X.column("age"), [39, np.nan, 4.5])
    assert data.X.column("job").tolist() == ["clerk", None, "3"]
    assert data.X.column("more").tolist() == [None, None, "x"]
    assert data.y.tolist() == [1, 0, 0]
    assert data.label_name == "class"


def test_numbers(tmp_path):
    path = put(tmp_path / "a.jsonl", '{"a": 1, "y": "u"}\n{"y": "v", "a": 2.5}\n')
    assert read(path).X.tolist() == read(path, mixed=True).X.tolist() == [[1], [2.5]]
    assert [part.y.tolist() for part in stream(path, 1)] == [["u"], ["v"]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": 1, "y": 2}\n{"a": }', r"line 2: expected a JSON object in each line"),
        ('{"a": 1, "y": 2}\n[3]', r'line 2: expected an object such as {"age": 39}, saw \[3\]'),
        ("[1, 2]", r"row 1: expected an array of objects, saw 1"),
        ('[{"a": 1}, ', r"line 1: expected an array of JSON objects"),
        ("5", r'line 1: expected an object such as {"age": 39}, saw 5'),
        ("[]", "expected at least one example"),
        ("{}\n{}", "expected at least one example"),
        ('{"y": 1}\n{"y": 2}', "saw a single name in all objects"),
        ('{"a": [1], "y": 1}', r"row 1, column a: expected a number.*leave it out"),
        ('{"a": Infinity, "b": "x", "y": 1}', r"row 1, column a: expected a finite number"),
        ('{"a": "1e999", "b": "x", "y": 1}', r"row 1, column a: expected a finite number"),
        ('{"a": 1%s, "b": "x", "y": 1}' % ("0" * 400), r"column a: expected finite numbers"),
        ('{"a": ' + "[" * 100_000, r"line 1: expected a JSON object"),
    ],
)
def test_what_is_refused(tmp_path, content, message):
    with pytest.raises(DataError, match=message) as caught:
        read(put(tmp_path / "a.json", content), mixed=True)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": null, "y": 1}', r"row 1, column a: expected a number, saw no value"),
        ('{"a": 1, "y": 1}\n{"y": 2}', r"row 2, column a: expected a number, saw no value"),
        ('{"a": "b", "y": 1}', r"row 1, column a: expected a number, saw 'b'"),
        ('{"a": 1, "y": null}', r"row 1, column y: expected a label"),
    ],
)
def test_what_numbers_alone_refuse(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        read(put(tmp_path / "a.jsonl", content))
