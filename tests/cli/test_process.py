"""The command line as a process: start, exit codes, Ctrl-C, broken pipes."""

import errno
import os
import signal
import subprocess
import sys
import time

import pytest

import largemargin
from largemargin import load

from .conftest import table

COMMAND = [sys.executable, "-m", "largemargin"]


def process(*args, cwd, **options):
    return subprocess.run(
        [*COMMAND, *args], cwd=cwd, capture_output=True, text=True, timeout=120, **options
    )


def test_starts_without_the_heavy_libraries(tmp_path):
    code = (
        "import sys; from largemargin.cli.app import app\n"
        "try: app(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "heavy = ('numpy', 'sklearn', 'scipy', 'numba', 'safetensors')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, "train", "--help"], capture_output=True, text=True, check=True
    )
    assert "largemargin train digits" in result.stdout
    assert result.stdout.splitlines()[-1] == "[]"


def test_import_is_light():
    code = (
        "import sys, largemargin; print([n for n in ('safetensors', 'typer', 'numba', 'sklearn') "
    )
    code += "if n in sys.modules]); largemargin.data.load; largemargin.kernels.make_kernel"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "[]\n"


def test_help_of_every_command_has_an_example(run):
    for command in ("train", "predict", "evaluate", "inspect", "stream"):
        result = run(command, "--help")
        assert result.exit_code == 0
        assert f"largemargin {command} " in result.stdout.split("Example")[1]
    assert "train" in run("--help").stdout
    assert run().exit_code == 0
    assert run("--version").stdout == f"largemargin {largemargin.__version__}\n"


def test_unknown_command(fails):
    assert "fly" in fails("fly")


def test_exit_codes(tmp_path):
    table(tmp_path / "animals.csv")
    good = process(
        "train", "animals.csv", cwd=tmp_path, env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert (good.returncode, good.stderr) == (0, "")
    bad = process("predict", "animals.safetensors", "nothing.csv", cwd=tmp_path)
    assert bad.returncode == 2
    assert bad.stdout == ""
    assert len(bad.stderr.splitlines()) == 1


def train_for_long(folder, *args):
    """Start a long training, and wait until it has begun."""
    started = folder / "started"
    code = (
        "import pathlib, signal, sys, time\n"
        "from largemargin.runtime import progress as module\n"
        "look, looks = module.Watch.look, []\n"
        "def told(self):\n"
        "    looks.append(1)\n"
        "    if len(looks) == 5:\n"  # well on its way, and waits for what is to come
        f"        pathlib.Path({str(started)!r}).touch()\n"
        "        while signal.getsignal(signal.SIGINT) is not signal.default_int_handler:\n"
        "            time.sleep(0.01)\n"
        "    return look(self)\n"
        "module.Watch.look = told\n"
        "from largemargin.cli import main\n"
        "main()\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code, "train", "long.csv", "-o", "m", *args],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 600
    while not started.exists():
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return running


@pytest.fixture
def long_data(tmp_path):
    """Labels that no linear rule can learn: every epoch has mistakes."""
    table(tmp_path / "long.csv", n=3000)
    text = (tmp_path / "long.csv").read_text().splitlines()
    rows = [line.rsplit(",", 1)[0] + f",{'ab'[i % 2]}" for i, line in enumerate(text[1:])]
    (tmp_path / "long.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def test_ctrl_c_leaves_a_usable_model(long_data):
    running = train_for_long(long_data, "--kernel", "linear", "--epochs", "10000000")
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=600)
    assert running.returncode == 130, err
    assert err.startswith("warning: stopped after")
    assert len(err.splitlines()) == 1
    assert "of the 2250 rows that were not held out, since it was interrupted" in out
    assert "model file" in out
    assert load(long_data / "m")[-1].n_mistakes_.sum() > 0


def test_ctrl_c_leaves_a_usable_machine(long_data):
    running = train_for_long(long_data, "--model", "svc", "--kernel", "linear", "--C", "1e9")
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=600)
    assert running.returncode == 130, err
    assert "because it was interrupted" in err
    assert len(err.splitlines()) == 1
    assert "(not converged)" in out
    assert load(long_data / "m")[-1].n_support_ > 0


@pytest.mark.full
def test_broken_pipe_is_quiet_and_no_success(tmp_path):
    table(tmp_path / "animals.csv", n=6000)
    assert process("train", "animals.csv", "-q", "--epochs", "1", cwd=tmp_path).returncode == 0
    running = subprocess.Popen(
        [*COMMAND, "predict", "animals.safetensors", "animals.csv", "--scores"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    running.stdout.readline()
    running.stdout.close()
    assert running.stderr.read() == ""
    running.stderr.close()
    assert running.wait(60) == 141


def test_a_full_disk_is_told_in_a_sentence(fails, monkeypatch):
    def full(text):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("largemargin.cli.app.emit", full)
    told = (
        "the output cannot be written: No space left on device; make room on the disk, or write it "
        "elsewhere"
    )
    assert fails("--version") == f"error: {told}"
