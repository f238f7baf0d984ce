"""A file read for a model: by names or by order, with the label or without it."""

import itertools

import numpy as np
import pytest

from largemargin.data import DataError, read, read_like

from .files_as_they_are import json_lines, parquet, table, text, things
from .writers import put

NAMES = ("size", "colour")
KINDS = {"size": "number", "colour": "text"}
ROWS = {name: values[:6] for name, values in things().items()}


@pytest.mark.parametrize("order", list(itertools.permutations([*ROWS, "extra"])))
def test_columns_in_any_order(tmp_path, order):
    columns = {**ROWS, "extra": list(range(6))}
    path = put(tmp_path / "a.csv", text({name: columns[name] for name in order}))
    data = read_like(path, NAMES, "class", kinds=KINDS)
    assert data.X.names == NAMES
    assert data.X.column("size").tolist() == ROWS["size"]
    assert data.X.column("colour").tolist() == ROWS["colour"]
    assert data.y.tolist() == ROWS["class"]
    assert data.notes == ("the column 'extra' is not used",)


@pytest.mark.parametrize(("name", "write"), [
    ("a.csv", table), ("a.jsonl", json_lines), ("a.parquet", parquet),
])  # fmt: skip
def test_with_the_label_and_without(tmp_path, name, write):
    plain = {key: ROWS[key] for key in NAMES}
    for columns, y in ((ROWS, ROWS["class"]), (plain, None)):
        path = put(tmp_path / name, write(columns))
        data = read_like(path, NAMES, "class", kinds=KINDS)
        assert data.X.kinds == KINDS
        assert (None if data.y is None else data.y.tolist()) == y
        assert data.label_name == "class"
    with pytest.raises(DataError, match="the column of the labels, 'class', is missing; add it"):
        read_like(path, NAMES, "class", kinds=KINDS, need_labels=True)


@pytest.mark.parametrize("label", [0, 1, 2])
def test_without_names(tmp_path, label):
    order = ["size", "colour"]
    order.insert(label, "class")
    columns = {name: ROWS[name] for name in order}
    path = put(tmp_path / "a.csv", text(columns, header=False))
    data = read(path, mixed=True, label=label, header=False)
    assert data.label_name == f"x{label}"
    again = read_like(path, data.X.names, data.label_name, kinds=data.X.kinds)
    assert np.asarray(again.X).tolist() == np.asarray(data.X).tolist()
    assert again.y.tolist() == data.y.tolist()
    columns.pop("class")
    put(path, text(columns, header=False))
    bare = read_like(path, data.X.names, data.label_name, kinds=data.X.kinds)
    assert np.asarray(bare.X).tolist() == np.asarray(data.X).tolist()
    assert bare.y is None


def test_one_row_without_names(tmp_path):
    path = put(tmp_path / "a.csv", "red,round\n")
    kinds = {"x0": "text", "x1": "text"}
    assert read_like(path, ["x0", "x1"], "x2", kinds=kinds).X.column("x0").tolist() == ["red"]
    path = put(tmp_path / "a.csv", "1.5,red\n")
    assert read_like(path, NAMES, "class", kinds=KINDS).X.column("size").tolist() == [1.5]
    with pytest.raises(DataError, match=r"expected 2 columns without names.*saw 3 .*header line"):
        read_like(put(path, "1.5,red,3\n"), NAMES, "class", kinds=KINDS)


def test_missing_columns_are_named(tmp_path):
    path = put(tmp_path / "a.csv", "Size,weight,class\n1,2,big\n3,4,small\n")
    with pytest.raises(DataError, match=r"columns 'size', 'colour' are missing.*did you mean "
                       r"'Size' by 'size'\?; the file has 'Size', 'weight', 'class'"):  # fmt: skip
        read_like(path, NAMES, "class")
    path = put(tmp_path / "a.csv", "size,weight\n1,2\n3,4\n")
    with pytest.raises(DataError, match=r"column 'colour' is missing, on which the model was"):
        read_like(path, NAMES, "class")


@pytest.mark.parametrize(("name", "write"), [
    ("a.csv", table), ("a.jsonl", json_lines), ("a.parquet", parquet),
])  # fmt: skip
def test_kinds_are_those_of_training(tmp_path, name, write):
    columns = {"code": ["1", "2", "2"], "size": ["3", "4.5", "?"], "new": ["true", "True", "FALSE"]}
    kinds = {"code": "text", "size": "number", "new": "bool"}
    data = read_like(put(tmp_path / name, write(columns)), list(columns), kinds=kinds)
    assert data.X.kinds == kinds
    assert data.X.column("code").tolist() == ["1", "2", "2"]
    np.testing.assert_array_equal(data.X.column("size"), [3, 4.5, np.nan])
    assert data.X.column("new").tolist() == [True, True, False]
    columns["size"][1] = "much"
    with pytest.raises(DataError, match=r"column size: expected a number, .*saw 'much'"):
        read_like(put(tmp_path / name, write(columns)), list(columns), kinds=kinds)


def test_numbers_and_truths_become_what_they_were(tmp_path):
    columns = {"code": [1, 2, None], "new": [1, 0, 1], "size": [True, False, True]}
    kinds = {"code": "text", "new": "bool", "size": "number"}
    for name, write in (("a.parquet", parquet), ("a.jsonl", json_lines)):
        X = read_like(put(tmp_path / name, write(columns)), list(columns), kinds=kinds).X
        assert X.column("code").tolist() == ["1", "2", None]
        assert X.column("new").tolist() == [True, False, True]
        assert X.column("size").tolist() == [1, 0, 1]


def test_empty_labels(tmp_path):
    path = put(tmp_path / "a.csv", "size,colour,class\n1,red,\n2,blue,\n")
    data = read_like(path, NAMES, "class", kinds=KINDS)
    assert data.y is None
    assert "have no label" in data.notes[0]
    with pytest.raises(DataError, match="column class: 2 of 2 rows have no label"):
        read_like(path, NAMES, "class", kinds=KINDS, need_labels=True)


def test_a_format_of_numbers(tmp_path):
    with pytest.raises(DataError, match="expected a table of named columns"):
        read_like(put(tmp_path / "a.svm", "1 1:2\n"), NAMES, "class")
