"""Lines, names and labels that are too long are bad lines like others, and so are those with which
names or labels would no longer fit into a model file."""

import json

import numpy as np
import pytest

from largemargin import MIRA
from largemargin.data.errors import MAX_LABEL, MAX_LINE, MAX_NAME
from largemargin.runtime.threads import Workers
from largemargin.streaming import schema as module
from largemargin.streaming.checkpoint import StreamPosition, read_checkpoint, write_checkpoint
from largemargin.streaming.events import BadLine, read_event
from largemargin.streaming.input import TooLong
from largemargin.streaming.schema import Schema
from largemargin.streaming.session import LineCounts, Session


def line(x, y="a"):
    return json.dumps({"x": x, "y": y, "id": 7}).encode()


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (
            TooLong(MAX_LINE + 5),
            f"has {MAX_LINE + 5} bytes, and {MAX_LINE} are the most: send less",
        ),
        (line({"n" * (MAX_NAME + 1): 1}), f"of {MAX_NAME + 1} characters, and {MAX_NAME} are"),
        (line({"a": 1, "é" * 27_000_000: 1}), f"of 27000000 characters, and {MAX_NAME} are"),
        (line({"a": 1}, "L" * (MAX_LABEL + 1)), f"{MAX_LABEL + 1} characters, and {MAX_LABEL} are"),
        (line([1], "L" * 20_000_000), f"of 20000000 characters, and {MAX_LABEL} are the most"),
        (json.dumps({f"k{i}": 1 for i in range(10**5)}).encode(), 'there is no "x", only "k0"'),
    ],
    ids=range(6),
)
def test_too_long(bad, words):
    with pytest.raises(BadLine) as error:
        read_event(bad)
    assert words in str(error.value)
    assert len(str(error.value)) < 200
    assert error.value.id in ("7", None)


def test_as_long_as_it_may_be():
    assert len(read_event(line({"n" * MAX_NAME: 1})).names[0]) == MAX_NAME
    assert len(read_event(line([1], "é" * MAX_LABEL)).label) == MAX_LABEL


def session_of(reports, **options):
    return Session(
        MIRA(kernel="linear"), Schema(1000, **options), LineCounts(), report=reports.append
    )


@pytest.mark.parametrize("size", [1, 100])
def test_names_that_would_not_fit_into_a_file(size, monkeypatch):
    monkeypatch.setattr(module, "MAX_NAMES", 60)
    reports = []
    session = session_of(reports)
    # as JSON the names take 4, 4, 34, 8 and 8 characters
    names = ["n1", "n2", "x" * 32, "x" * 40, "é", "y", "ü"]
    lines = [line({name: 1}, "ab"[i % 2]) for i, name in enumerate(names)]
    lines.insert(4, line({"long": 1e200, "n1": 1}))  # what cannot be learned takes no room
    for start in range(0, len(lines), size):
        session.process(lines[start : start + size], Workers(1))
    assert session.schema.names == ["n1", "n2", "x" * 32, "é", "y"]
    assert len(reports) == 3
    assert "with it the names take 84 characters, where 60 are the most" in reports[0]
    assert "names take 61 characters" in reports[2]


@pytest.mark.parametrize("size", [1, 100])
def test_labels_that_would_not_fit_into_a_file(size, monkeypatch):
    monkeypatch.setattr(module, "MAX_LABELS", 60)
    reports = []
    session = session_of(reports)
    labels = ["a", "b", "x" * 20, "c", "y" * 17, "d", "a" * 10, "e", "b"]
    lines = [line([i, 1], label) for i, label in enumerate(labels)]
    for start in range(0, len(lines), size):
        session.process(lines[start : start + size], Workers(1))
    # 3 labels of 22 characters, 4 of 19 and 5 of 12 were too many or just as many as may be
    assert session.model.classes_.tolist() == ["a", "a" * 10, "b", "c", "d"]
    assert (
        "the label number 3, and the longest has 22 characters: 3 times 22 is more than 60"
        in (reports[0])
    )
    assert len(reports) == 3
    going_on = session_of([], width=2, classes=session.model.classes_)
    with pytest.raises(BadLine, match="label number 6"):
        going_on.schema.admit(read_event(line([1, 1], "f")))


@pytest.mark.full
def test_the_largest_that_is_accepted_can_be_written(tmp_path):
    """No line that was learned keeps a checkpoint from being written."""
    reports = []
    session = Session(MIRA(kernel="linear"), Schema(1000), LineCounts(), report=reports.append)
    lines = []
    for i in range(1000):
        names = {f"{'é' * (MAX_NAME - 10)}{i}": 1.0} if i % 10 == 0 else {}
        lines.append(line(names, f"{'ü' * (MAX_LABEL - 4)}{i:04}"))
    for start in range(0, 1000, 250):
        session.process(lines[start : start + 250], Workers(1))
    assert session.counts.skipped == len(reports) > 100
    assert 10 < len(session.schema.names) < 100
    assert 300 < len(session.model.classes_) < 1000
    schema = session.schema
    write_checkpoint(
        tmp_path / "c",
        session.model,
        StreamPosition(session.counts, sparse=True, names=schema.names),
    )
    model, place = read_checkpoint(tmp_path / "c")
    assert place.names == schema.names
    np.testing.assert_array_equal(model.classes_, session.model.classes_)


@pytest.mark.full
def test_a_million_names(tmp_path):
    session = Session(MIRA(kernel="linear", budget=5), Schema(10**6), LineCounts())
    for start in range(0, 10**6, 5000):
        x = {f"feature number {i}": 1.0 for i in range(start, start + 5000)}
        assert not session.process([line(x, "ab"[start % 3 % 2])], Workers(1)).failure
    assert len(session.schema.names) == 10**6
    failure = session.process([line({"one more": 1})], Workers(1)).failure
    assert "all 1000000 columns have their names" in failure
    names = session.schema.names
    write_checkpoint(
        tmp_path / "c", session.model, StreamPosition(session.counts, sparse=True, names=names)
    )
    assert read_checkpoint(tmp_path / "c")[1].names == names
