"""Answers on their way, and the recognition of a file that goes on."""

import os
import select
import threading
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largemargin.streaming.checkpoint import WrittenOutput
from largemargin.streaming.output import Output, recognise

LINES = [b'{"id": 1, "prediction": "a"}\n', b'{"prediction": 3}\n', b'{"error": "line 3: bad"}\n']
TEXT = b"".join(LINES)
WRITTEN = WrittenOutput(len(TEXT), zlib.crc32(TEXT), 3)
OLD = WRITTEN._replace(checksum=None)


def file_of(folder, content):
    path = folder / "out"
    path.write_bytes(content)
    return str(path)


@pytest.mark.parametrize("written", [WRITTEN, OLD], ids=["new", "old"])
@pytest.mark.parametrize(
    "tail",
    [
        b"", LINES[0], LINES[0] * 9 + LINES[1][:12], b"{", b'{"pre', LINES[2] + b'{"err\0\0\0',
        b"\0" * 5000, LINES[0][:-3], LINES[0] + b"\0" * (1 << 21), b'{"id": "' + b"x" * (1 << 21),
    ],
)  # fmt: skip
def test_what_a_stream_has_written(tail, written, tmp_path):
    path = file_of(tmp_path, TEXT + tail)
    output = Output(path, written)
    assert os.path.getsize(path) == len(TEXT + tail)  # a look changes nothing
    output.open()
    output.write('{"prediction": 7}\n')
    output.close()
    expected = TEXT + b'{"prediction": 7}\n'
    assert (tmp_path / "out").read_bytes() == expected
    assert (output.length, output.checksum) == (len(expected), zlib.crc32(expected))


@pytest.mark.parametrize("written", [WRITTEN, OLD], ids=["new", "old"])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (TEXT[:-1], "has 71 bytes, and the checkpoint was written when it had 72"),
        (b"", "has 0 bytes, and the"),
        (b"x" * 100_000, "the first 72 bytes of .* are not those that had been written"),
        (b"x" + TEXT[1:], "the first 72 bytes"),
        (TEXT[:-1] + b" ", "the first 72 bytes"),
        (b"\n" + TEXT, "the first 72 bytes"),
        (TEXT + b"hello\n", "has 6 that are not answers: .* truncate -s 72"),
        (TEXT + LINES[0] + b"hello", "has 34 that are not answers"),
        (TEXT + b"\0\0hello", "has 7 that are not answers"),
        (TEXT + b"\n", "has 1 that are not answers"),
        (TEXT + b"{}\n" + LINES[0], "that are not answers"),
    ],
)
def test_a_foreign_file_is_left_alone(content, words, written, tmp_path):
    path = file_of(tmp_path, content)
    with pytest.raises(ValueError, match=words):
        Output(path, written)
    assert (tmp_path / "out").read_bytes() == content


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_edit_is_seen(tmp_path_factory, data):
    content = bytearray(TEXT)
    place = data.draw(st.integers(0, len(TEXT) - 1))
    if data.draw(st.booleans()):
        content[place] ^= data.draw(st.integers(1, 255))
    else:
        content[place:place] = data.draw(st.binary(min_size=1, max_size=200))
    if content[: len(TEXT)] == TEXT:
        return
    path = tmp_path_factory.getbasetemp() / "edited"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="the first 72 bytes"):
        recognise(str(path), WRITTEN)


def test_nothing_that_exists_is_written_over_unasked(tmp_path):
    path = file_of(tmp_path, b"precious")
    with pytest.raises(FileExistsError, match=r"--resume.*--overwrite"):
        Output(path)
    output = Output(path, overwrite=True)
    assert (tmp_path / "out").read_bytes() == b"precious"
    output.open()
    output.close()
    assert (tmp_path / "out").read_bytes() == b""
    output = Output(path)  # there is nothing in it to lose
    (tmp_path / "out").write_bytes(b"precious")
    with pytest.raises(FileExistsError, match="--overwrite"):
        output.open()
    assert (tmp_path / "out").read_bytes() == b"precious"


def test_pipes_and_devices(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for path in (str(pipe), os.devnull):
        output = Output(path)
        output.open()
        output.write("hello\n")
        output.secure()
        output.close()
        assert output.length == 6
    assert os.read(reader, 100) == b"hello\n"
    os.close(reader)
    assert pipe.is_fifo()
    output = Output("/dev/full")
    output.open()
    with pytest.raises(OSError, match="cannot write /dev/full: No space left on device; make room"):
        output.write("hello\n")
    assert output.length == 0
    output.close()


@pytest.mark.parametrize("blocking", [True, False])
def test_a_pipe_that_is_full(blocking, tmp_path):
    """Whoever set the pipe up may not let us wait in a write; all of it arrives all the same."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    output = Output(str(pipe))
    output.open()
    os.set_blocking(output._descriptor, blocking)
    text, read = "".join(f"{i}\n" for i in range(60_000)), []

    def slowly():
        while sum(map(len, read)) < len(text):
            assert select.select([reader], [], [], 60)[0]
            read.append(os.read(reader, 5000))

    thread = threading.Thread(target=slowly)
    thread.start()
    output.write(text)
    thread.join()
    assert b"".join(read) == text.encode()
    os.close(reader)
    with pytest.raises(BrokenPipeError):
        output.write(text)
    output.close()
