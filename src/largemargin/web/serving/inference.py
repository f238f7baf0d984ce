"""The Open Inference Protocol, version 2, over REST: tensors in JSON."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from largemargin.data import Table
from largemargin.runtime.showing import shown
from largemargin.web.problems import Problem
from largemargin.web.serving.models import Served
from largemargin.web.serving.rows import (
    check_count,
    check_names,
    check_width,
    checked,
    rows_of_records,
)

NUMBERS = {
    "BOOL": bool, "UINT8": np.uint8, "UINT16": np.uint16, "UINT32": np.uint32, "UINT64": np.uint64,
    "INT8": np.int8, "INT16": np.int16, "INT32": np.int32, "INT64": np.int64,
    "FP32": np.float32, "FP64": np.float64,
}  # fmt: skip
INPUT, LABEL, DECISION = "X", "label", "decision"
MOST_AXES, LARGEST = 8, 1 << 40  # of the shape of a tensor


def metadata(served: Served) -> dict[str, Any]:
    """What the protocol tells of a model."""
    classes = served.classes
    columns = 1 if len(classes) == 2 else len(classes)
    inputs = [{"name": INPUT, "datatype": "FP64", "shape": [-1, served.n_features]}]
    if served.takes_table and served.names:
        inputs = [{"name": name, "datatype": "BYTES", "shape": [-1]} for name in served.names]
    return {
        "name": served.name,
        "versions": [served.version],
        "platform": "largemargin",
        "inputs": inputs,
        "outputs": [
            {"name": LABEL, "datatype": _datatype(classes), "shape": [-1]},
            {"name": DECISION, "datatype": "FP64", "shape": [-1, columns]},
        ],
    }


def rows_of_tensors(served: Served, content: Any, most: int) -> np.ndarray | Table:
    """The rows of a request: one tensor of rows and columns, or one tensor for each column."""
    if not isinstance(content, dict) or not isinstance(content.get("inputs"), list):
        raise Problem(400, 'expected an object with "inputs", a list of tensors')
    if not content["inputs"]:
        raise Problem(400, '"inputs" is empty: send at least one tensor')
    tensors = [_tensor(entry) for entry in content["inputs"]]
    if len(tensors) == 1 and served.names != (tensors[0][0],):
        name, values = tensors[0]
        if values.ndim == 1 and values.dtype != object:
            values = values[None, :]
        if values.ndim != 2:
            raise Problem(
                400,
                f"the input {shown(name)} has shape {list(values.shape)}: give rows and columns",
            )
        check_count(len(values), most)
        if values.dtype != object and not served.takes_table:
            check_width(served, 0, values.shape[1])
            return checked(values.astype(np.float64))
        return rows_of_records(served, [_plain(served, row) for row in values], most)
    columns = dict(tensors)
    if len(columns) != len(tensors):
        raise Problem(400, "two inputs have the same name")
    check_names(served, set(columns))
    lengths = {values.size for values in columns.values()}
    if len(lengths) != 1:
        raise Problem(400, f"the inputs have different numbers of values: {sorted(lengths)}")
    check_count(lengths.pop(), most)
    names = served.names or ()
    lists = [_plain(served, columns[name].ravel()) for name in names]
    return rows_of_records(served, [list(row) for row in zip(*lists, strict=True)], most)


def _plain(served: Served, values: np.ndarray) -> list[Any]:
    """Numbers as JSON has them; for a model of numbers truth values are 0 and 1."""
    if values.dtype == bool and not served.takes_table:
        values = values.astype(np.float64)
    return [float(value) if type(value) is int else value for value in values.tolist()]


def _tensor(entry: Any) -> tuple[str, np.ndarray]:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise Problem(400, 'every input must be an object with "name", "shape", "datatype", "data"')
    name, kind = entry["name"], entry.get("datatype")
    shape: Any = entry.get("shape")
    whole = isinstance(shape, list) and all(type(n) is int and 0 <= n <= LARGEST for n in shape)
    if not whole or len(shape) > MOST_AXES:
        raise Problem(400, f"the shape of the input {shown(name)} must be a list of whole numbers")
    if not isinstance(kind, str) or (kind != "BYTES" and kind not in NUMBERS):
        raise Problem(
            400,
            f"the datatype of the input {shown(name)} is {shown(kind)}: use one of "
            f"{', '.join([*NUMBERS, 'BYTES'])}",
        )
    values = _flat(entry.get("data"), name)
    if len(values) != math.prod(shape):
        raise Problem(
            400,
            f"the input {shown(name)} has {len(values)} values, and its shape is {shown(shape)}",
        )
    if kind == "BYTES":
        found = np.empty(len(values), object)
        found[:] = values
        return name, found.reshape(shape)
    if not set(map(type, values)) <= {int, float, bool}:
        raise Problem(400, f"the input {shown(name)} has a value that is not a number")
    try:
        with np.errstate(over="ignore"):  # an infinity is refused by its place
            found = np.array(values, NUMBERS[kind])
    except (OverflowError, ValueError):
        raise Problem(400, f"a value of the input {shown(name)} does not fit {kind}") from None
    if not kind.startswith("FP") and found.tolist() != values:
        raise Problem(400, f"a value of the input {shown(name)} is not a value of {kind}")
    return name, found.reshape(shape)


def _flat(data: Any, name: str) -> list[Any]:
    """The values of nested lists in row-major order."""
    if not isinstance(data, list):
        raise Problem(400, f'the input {shown(name)} has no "data": send its values as a list')
    while any(isinstance(value, list) for value in data):
        if not all(isinstance(value, list) for value in data):
            raise Problem(400, f"the data of the input {shown(name)} mixes lists and values")
        data = [value for part in data for value in part]
    return list(data)


def answer(served: Served, content: dict[str, Any], values: np.ndarray) -> dict[str, Any]:
    """The outputs that a request asks for; all of them if it names none."""
    labels = served.labels(values)
    columns = values[:, None] if values.ndim == 1 else values
    outputs = {
        LABEL: {"datatype": _datatype(served.classes), "shape": [len(labels)],
                "data": _labels(labels)},
        DECISION: {"datatype": "FP64", "shape": list(columns.shape),
                   "data": columns.ravel().tolist()},
    }  # fmt: skip
    wanted = content.get("outputs")
    names = list(outputs)
    if wanted is not None:
        if not isinstance(wanted, list) or not all(isinstance(entry, dict) for entry in wanted):
            raise Problem(400, '"outputs" must be a list of objects with "name"')
        names = [entry.get("name") for entry in wanted]
        unknown = [name for name in names if not isinstance(name, str) or name not in outputs]
        if unknown:
            raise Problem(400, f"there is no output {shown(unknown[0])}: use {', '.join(outputs)}")
    found: dict[str, Any] = {"model_name": served.name, "model_version": served.version}
    if isinstance(content.get("id"), str):
        found["id"] = content["id"]
    found["outputs"] = [{"name": name, **outputs[name]} for name in names]
    return found


def _datatype(classes: np.ndarray) -> str:
    kind = classes.dtype.kind
    if kind == "b":
        return "BOOL"
    if kind in "iu":
        return "INT64"
    return "FP64" if kind == "f" else "BYTES"


def _labels(labels: np.ndarray) -> list[Any]:
    return [str(label) for label in labels] if _datatype(labels) == "BYTES" else labels.tolist()
