"""Whole streams in this process: full disks, folders that vanish, input that changes, signals."""

import json
import os
import resource
import shutil
import signal

import numpy as np
import pytest

from largemargin import MIRA
from largemargin.streaming import driver as module
from largemargin.streaming.checkpoint import read_checkpoint
from largemargin.streaming.driver import Driver
from largemargin.streaming.input import SignalWatch
from largemargin.streaming.output import Output
from largemargin.streaming.schema import Schema


def events(n, seed=0):
    X = np.random.default_rng(seed).integers(-3, 4, size=(n, 3)).tolist()
    return [json.dumps({"x": x, "y": "ab"[x[0] > x[1]], "id": i}) for i, x in enumerate(X)]


def write(path, lines, end="\n"):
    path.write_text("\n".join(lines) + end)
    return path


class Stream:
    """A stream from a file to another one, with a checkpoint."""

    def __init__(self, folder, every=10):
        self.source, self.out, self.checkpoint = (folder / name for name in ("in", "out", "c"))
        self.every = every
        self.reports = []

    def run(self, resume=False, stopping=None):
        model, schema, place = MIRA(kernel="linear", budget=8), Schema(9), None
        if resume:
            model, place = read_checkpoint(str(self.checkpoint))
            schema = Schema(9, width=3, classes=model.classes_)
        output = Output(str(self.out), place and place.written, overwrite=not resume)
        self.driver = Driver(
            model, schema, output, place=place, classes=None, scores=True,
            checkpoint=str(self.checkpoint), every=self.every, report=self.reports.append,
        )  # fmt: skip
        source = os.open(self.source, os.O_RDONLY)
        try:
            with stopping or SignalWatch() as stops:
                self.driver.run(source, stops)
        finally:
            os.close(source)
        return self.out.read_bytes()


@pytest.fixture
def stream(tmp_path):
    return Stream(tmp_path)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What an undisturbed stream of a hundred events writes."""
    calm = Stream(tmp_path_factory.mktemp("calm"))
    write(calm.source, events(100))
    return calm.run()


@pytest.fixture
def limit():
    """Give files a largest size, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_is_full_of_answers(stream, limit):
    write(stream.source, events(300))
    expected = stream.run()
    small = 2 * stream.checkpoint.stat().st_size  # so that checkpoints have room
    assert small < len(expected)
    limit(small)
    with pytest.raises(OSError, match=r"cannot write .*out: File too large; make room"):
        stream.run()
    limit(resource.getrlimit(resource.RLIMIT_FSIZE)[1])
    assert stream.out.read_bytes() == expected[:small]
    assert 0 < read_checkpoint(str(stream.checkpoint))[1].output < small
    assert stream.run(resume=True) == expected


def test_a_disk_without_room_for_a_checkpoint(stream, expected, limit):
    write(stream.source, events(35))
    stream.run()
    before = stream.checkpoint.read_bytes()
    write(stream.source, events(100))
    limit(len(before) - 100)  # beyond the answers to forty lines
    with pytest.raises(ValueError, match=r"cannot write .*c: File too large; the file that was"):
        stream.run(resume=True)
    limit(resource.getrlimit(resource.RLIMIT_FSIZE)[1])
    assert stream.checkpoint.read_bytes() == before
    assert not [name for name in os.listdir(stream.out.parent) if name.startswith(".")]
    assert stream.run(resume=True) == expected


def test_a_folder_that_vanishes(stream, expected, monkeypatch):
    """The answers are there, up to the checkpoint that could not be written."""
    folder = stream.out.parent / "folder"
    folder.mkdir()
    stream.checkpoint = folder / "c"
    write(stream.source, events(100))

    def vanish(*args, write=module.write_checkpoint):
        write(*args)
        if read_checkpoint(str(stream.checkpoint))[1].counts.lines == 40:
            shutil.rmtree(folder)

    monkeypatch.setattr(module, "write_checkpoint", vanish)
    with pytest.raises(ValueError, match=r"folder .* does not exist; create it first"):
        stream.run()
    assert stream.out.read_bytes().splitlines() == expected.splitlines()[:50]


@pytest.mark.parametrize("cut", [1, 9, "blank"])
def test_input_that_was_read_before_its_last_line_was_whole(cut, stream, expected):
    """A line without its end that is no event may still grow: no checkpoint includes it."""
    lines = events(100)
    half = "  " if cut == "blank" else lines[47][:-cut]
    if cut == "blank":
        lines[47] = half + lines[47]
    write(stream.source, [*lines[:47], half], end="")
    out = stream.run().splitlines()
    assert out[:47] == expected.splitlines()[:47]
    assert ["error" in json.loads(line) for line in out[47:]] == [True] * (cut != "blank")
    assert read_checkpoint(str(stream.checkpoint))[1].counts.lines == 47
    write(stream.source, lines)
    assert stream.run(resume=True) == expected


def test_a_last_event_without_its_end_is_an_event(stream, expected):
    write(stream.source, events(100)[:50], end="")
    stream.run()
    assert read_checkpoint(str(stream.checkpoint))[1].counts.lines == 50
    write(stream.source, events(100))
    assert stream.run(resume=True) == expected


def test_input_that_grows_while_it_is_read(stream, expected, monkeypatch):
    write(stream.source, events(100)[:20])
    secure, lines = Driver._secure, events(100)[20:]

    def grow(self):
        secure(self)
        with open(stream.source, "a") as file:
            file.write("".join(f"{lines.pop(0)}\n" for _ in range(min(len(lines), 10))))

    monkeypatch.setattr(Driver, "_secure", grow)
    assert stream.run() == expected


@pytest.mark.parametrize("change", ["edited", "replaced", "cut", "shifted"])
def test_input_that_has_changed_is_refused(change, stream):
    lines = events(60)
    write(stream.source, lines)
    out = stream.run()
    changed = {
        "edited": [*lines[:30], lines[30].replace("3", "2").replace("1", "0"), *lines[31:]],
        "replaced": events(80, seed=1), "cut": lines[:59], "shifted": lines[1:] + events(5),
    }[change]  # fmt: skip
    assert changed[:60] != lines
    write(stream.source, changed)
    with pytest.raises(ValueError, match="same input again"):
        stream.run(resume=True)
    assert stream.out.read_bytes() == out


@pytest.mark.parametrize(
    ("number", "at"),
    [(signal.SIGINT, 37), (signal.SIGHUP, 37), *((signal.SIGTERM, at) for at in (1, 37, 100))],
)
def test_a_signal_ends_it_between_two_blocks(number, at, stream, expected, monkeypatch):
    """All that was consumed is answered and in the checkpoint, and nothing else."""
    monkeypatch.setattr(module, "BLOCK_LINES", 7)
    write(stream.source, events(100))
    process = Driver._process

    def interrupted(self, block, team):
        if self._counts.lines + len(block) >= at > self._counts.lines:
            os.kill(os.getpid(), number)
        process(self, block, team)

    monkeypatch.setattr(Driver, "_process", interrupted)
    stopping = SignalWatch()
    before = signal.signal(number, signal.default_int_handler)  # nohup has one of them ignored
    try:
        out = stream.run(stopping=stopping)
    finally:
        signal.signal(number, before)
    assert stopping.signal == number
    lines = read_checkpoint(str(stream.checkpoint))[1].counts.lines
    assert at <= lines < at + 7
    assert out == b"".join(expected.splitlines(keepends=True)[:lines])
    monkeypatch.undo()
    assert stream.run(resume=True) == expected


def test_a_second_interrupt_is_obeyed_at_once(stream, expected, monkeypatch):
    write(stream.source, events(100))
    write_answers = Output.write

    def interrupted(self, text):
        if self.length > 1000:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
        write_answers(self, text)

    monkeypatch.setattr(Output, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stream.run()
    monkeypatch.undo()
    assert stream.run(resume=True) == expected


def test_a_signal_that_was_ignored_stays_so():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with SignalWatch() as stopping:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not stopping.signal
            os.kill(os.getpid(), signal.SIGTERM)
            assert stopping.signal == signal.SIGTERM
    finally:
        signal.signal(signal.SIGHUP, before)
