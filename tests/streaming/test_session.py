"""Blocks of lines: what is wrong with one of them leaves no trace, wherever the block was cut."""

import json

import numpy as np
import pytest

from largemargin import MIRA
from largemargin.runtime.threads import Workers
from largemargin.streaming.schema import Schema
from largemargin.streaming.session import LineCounts, Session

from .bad_lines import BAD


def good_lines(n):
    X = np.random.default_rng(0).integers(-3, 4, size=(n, 4)).tolist()
    return [
        json.dumps({"x": x, "y": ["ant", "bee", "cat"][(x[0] > 0) + (x[1] > 0)]}).encode()
        for x in X
    ]


def make_session(reports, **schema):
    classes = np.array(["ant", "bee", "cat"])
    return Session(
        MIRA(kernel="poly"), Schema(5, classes=classes, given=True, **schema), LineCounts(),
        classes=classes, scores=True, report=None if reports is None else reports.append,
    )  # fmt: skip


def encoded(line):
    return line.encode(errors="surrogateescape")


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
def test_a_bad_line_ends_the_stream_before_it(bad):
    good = good_lines(9)
    session, twin = make_session(None), make_session(None)
    processed = session.process([*good[:4], encoded(bad), *good[4:]], Workers(1))
    assert processed.failure.startswith("line 5: ")
    assert BAD[bad] in processed.failure
    assert processed.text == twin.process(good[:4], Workers(1)).text
    assert session.counts == twin.counts
    assert session.process(good[4:], Workers(1)) == twin.process(good[4:], Workers(1))


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_bad_lines_leave_no_trace(size):
    good, mixed = good_lines(2 * len(BAD)), []
    for i, bad in enumerate(BAD):
        mixed += [good[2 * i], b"", encoded(bad), good[2 * i + 1]]
    reports = []
    session, twin = make_session(reports), make_session(None)
    text = "".join(
        session.process(mixed[i : i + size], Workers(1)).text for i in range(0, len(mixed), size)
    )
    expected = twin.process(good, Workers(1)).text
    answers = text.splitlines(keepends=True)
    assert (
        "".join(
            line
            for line in answers
            if not line.startswith('{"error"') and '"error": "line' not in line
        )
        == expected
    )
    assert len(answers) == 3 * len(BAD)
    for number, (words, report) in enumerate(zip(BAD.values(), reports, strict=True)):
        assert report.startswith(f"line {4 * number + 3}: ")
        assert words in report
    assert session.counts.skipped == len(BAD)
    assert session.counts.learned == twin.counts.learned == len(good)
    np.testing.assert_array_equal(session.model.dual_coef_, twin.model.dual_coef_)


def test_names_of_a_line_that_cannot_be_learned_are_forgotten():
    reports = []
    session = make_session(reports)
    events = [
        {"x": {"a": 1}, "y": "ant"},
        {"x": {"b": 1e200}, "y": "ant"},
        {"x": {"c": 1}, "y": "bee"},
        {"x": {"d": 1, "a": 2}, "y": "dog"},
    ]
    session.process([json.dumps(event).encode() for event in events], Workers(1))
    assert session.schema.names == ["a", "c"]
    assert session.counts.learned == 2
    assert len(reports) == 2
