"""Lines as they arrive on a pipe."""

import os
import threading

import pytest

from largemargin.streaming import input as module
from largemargin.streaming.input import LineReader, TooLong, add_checksum


@pytest.fixture
def pipe():
    """A descriptor to write to, and the lines of the other end."""
    source, target = os.pipe()
    alarm, ring = os.pipe()
    lines = LineReader(source, alarm)
    lines.ring = ring
    yield target, lines
    for descriptor in (source, alarm, ring):
        os.close(descriptor)


def test_what_is_there_is_taken_at_once(pipe):
    target, lines = pipe
    os.write(target, b"a\n\nb\nc")
    assert lines.take(2) == [b"a", b""]
    assert lines.take(9) == [b"b"]
    os.write(target, b"d\ne")
    assert lines.take(9) == [b"cd"]
    os.close(target)
    assert lines.take(9) == [b"e"]
    assert lines.take(9) == lines.take(9) == []
    assert lines.taken == 5


def test_waits_for_the_end_of_a_line(pipe):
    target, lines = pipe
    os.write(target, b"ab")
    timer = threading.Timer(0.2, os.write, (target, b"c\n"))
    timer.start()
    assert lines.take(1) == [b"abc"]
    timer.join()
    os.close(target)


def test_an_alarm_comes_before_the_end_that_it_causes(pipe):
    target, lines = pipe
    os.write(target, b"half a line")
    timer = threading.Timer(0.2, lambda: (os.write(lines.ring, b"!"), os.close(target)))
    timer.start()
    assert lines.take(1) == []
    assert lines.alarmed
    timer.join()


def test_of_a_line_that_is_too_long_nothing_is_kept(pipe, monkeypatch):
    monkeypatch.setattr(module, "MAX_LINE", 10)
    target, lines = pipe
    for part in (b"12345678", b"9012", b"3456\n1234567890\n12345678901"):
        os.write(target, part)
    assert lines.take(9) == [TooLong(16), b"1234567890"]
    assert not lines.cut
    assert not lines._unfinished
    os.close(target)
    assert lines.take(9) == [TooLong(11)]
    assert lines.cut


def test_checksum_tells_where_lines_end():
    assert add_checksum(0, [b"ab", b"c"]) != add_checksum(0, [b"a", b"bc"])
    assert add_checksum(add_checksum(0, [b"ab"]), [b"c"]) == add_checksum(0, [b"ab", b"c"])
