"""Text in named events: a column a category, by first appearance, beside a slow obvious twin."""

import json
import random

import numpy as np
import pytest

from largemargin.streaming.events import BadLine, by_category, read_event
from largemargin.streaming.schema import Schema

N_EVENTS = 60


def events(seed, n=N_EVENTS):
    numbers = random.Random(seed)
    found = []
    for _ in range(n):
        x = {}
        for name in numbers.sample(["color", "size", "town", "new"], numbers.randint(1, 4)):
            x[name] = {
                "color": numbers.choice("rgbcmyk"), "size": numbers.gauss(0, 1),
                "town": str(numbers.randint(0, 30)), "new": numbers.random() < 0.5,
            }[name]  # fmt: skip
        found.append(x)
    return found


def one_hot_twin(rows, width):
    """What the rule says, word by word: a dense row each, or None where a line is refused."""
    names, made = [], []
    for x in rows:
        before, row = list(names), {}
        for name, value in x.items():
            if not isinstance(value, str):
                row[name] = float(value)
                if name not in names:
                    names.append(name)
                continue
            own, other = f"{name}={value}", f"{name}=(other)"
            wanted = [new for new in (own, other) if new not in names]
            if own not in names and len(names) + len(wanted) <= width:
                names += wanted
            elif own not in names and other not in names:
                names.append(other)
            row[own if own in names else other] = 1.0
        if len(names) > width:
            names = before
            made.append(None)
        else:
            made.append([row.get(name, 0.0) for name in [*names, *[""] * (width - len(names))]])
    return names, made


@pytest.mark.parametrize("width", [1, 3, 8, 12, 60])
@pytest.mark.parametrize("seed", range(3))
def test_columns_are_those_of_the_twin(width, seed):
    rows, schema, made = events(seed), Schema(width), []
    for x in rows:
        event = read_event(json.dumps({"x": x}).encode())
        try:
            made.append(schema.rows([(event, schema.admit(event))]).toarray()[0].tolist())
        except BadLine:
            made.append(None)
    names, expected = one_hot_twin(rows, width)
    assert (schema.names or []) == names
    assert made == expected


@pytest.mark.parametrize("chunk", [1, 7, N_EVENTS])
def test_columns_do_not_depend_on_chunks(chunk):
    rows, schema, whole = events(5), Schema(10), Schema(10)
    for start in range(0, N_EVENTS, chunk):
        for x in rows[start : start + chunk]:
            event = read_event(json.dumps({"x": x}).encode())
            try:
                schema.admit(event)
            except BadLine:
                continue
        again = Schema(10, width=10, names=schema.names, sparse=True)  # as from a checkpoint
        assert again.names == schema.names
        schema = again
    for x in rows:
        event = read_event(json.dumps({"x": x}).encode())
        try:
            whole.admit(event)
        except BadLine:
            continue
    assert whole.names == schema.names


def test_what_is_one_column_twice_is_refused():
    with pytest.raises(BadLine, match="twice, as a name and as a category"):
        by_category({"a": "b", "a=b": 1})
    schema = Schema(2)
    for x in ({"a": "b"}, {"a": "c"}):
        schema.admit(read_event(json.dumps({"x": x}).encode()))
    assert schema.names == ["a=b", "a=(other)"]
    both = read_event(b'{"x": {"a": "z", "a=(other)": 3}}')
    with pytest.raises(BadLine, match="are one column: rename one"):
        schema.admit(both)
    with pytest.raises(BadLine, match='"new", which is unknown, and all 2 columns'):
        schema.admit(read_event(b'{"x": {"new": 1}}'))


def test_names_with_categories_have_a_largest_length():
    with pytest.raises(BadLine, match="use a shorter one"):
        read_event(json.dumps({"x": {"a": "b" * 70_000}}).encode())
    with pytest.raises(BadLine, match="give finite numbers, or text for a category"):
        read_event(b'{"x": {"a": null}}')
    np.testing.assert_array_equal(read_event(b'{"x": {"a": true, "b": false}}').values, [1, 0])
