"""A file is written whole or not at all."""

import os
import signal
import subprocess
import sys
import time

import pytest

from largemargin import ModelFileError, load, save
from largemargin.runtime.files import write_atomically
from tests.model_file.models import small_model


def test_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def parts():
        yield b"new"
        raise RuntimeError("the disk is on fire")

    with pytest.raises(RuntimeError):
        write_atomically(path, parts())
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_disk_full(tmp_path, monkeypatch):
    path = tmp_path / "model"
    save(small_model(), path)
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ModelFileError, match="No space left on device") as error:
        save(small_model(epochs=1), path)
    assert str(path) in str(error.value)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model"]


def test_permissions_and_links(tmp_path):
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_atomically(link, [b"new"])
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(("name", "words"), [("", "folder"), ("none/m", "does not exist")])
def test_where_no_file_can_be(name, words, tmp_path):
    with pytest.raises(ModelFileError, match=words) as error:
        save(small_model(), tmp_path / name)
    assert "\n" not in str(error.value)


def test_a_pipe_stays_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="a device or a pipe; give the name of a file"):
        write_atomically(pipe, [b"new"])
    assert pipe.is_fifo()


SAVE_FOR_EVER = """
import sys
from largemargin.model_file.container import read, write
model = read(sys.argv[1])
while True:
    write(sys.argv[2], {k: v for k, v in model.header.items() if k != "format"}, model.arrays)
    print("saved", flush=True)
"""


@pytest.mark.full
def test_save_kill_load(tmp_path):
    """Killed in the middle of writing, again and again, the file is always a whole model."""
    source, path = tmp_path / "source", tmp_path / "model.safetensors"
    save(small_model(), source, info={"filling": "x" * 3_000_000})
    for pause in (0.003, 0.06):
        process = subprocess.Popen(
            [sys.executable, "-c", SAVE_FOR_EVER, str(source), str(path)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout.readline() == "saved\n"
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert len(load(path).classes_) == 3
