"""Nothing is lost by a slip: wrong files, options that have changed, a second process, signals."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import asdict

import pytest

from largemargin import save
from largemargin.streaming.checkpoint import model_info, read_checkpoint
from largemargin.streaming.files import locked

from .test_stream_kills import wait_for_a_moment

MIRA = ("stream", "mira", "--kernel", "linear", "--budget", "9")
FILES = ("--checkpoint", "c", "-o", "o")


def events(n, seed=0):
    numbers = random.Random(seed)
    X = [[numbers.randint(-3, 3) for _ in range(4)] for _ in range(n)]
    return [json.dumps({"x": x, "y": "abc"[(x[0] > x[1]) + (x[2] > 1)], "id": 1}) for x in X]


class Runner:
    """Streams of a hundred events, or of the first of them."""

    def __init__(self, commands, folder):
        self.commands, self.folder = commands, folder
        self.lines = events(100)

    def __call__(self, *args, first=100):
        (self.folder / "e").write_text("".join(f"{line}\n" for line in self.lines[:first]))
        return self.commands.run(self.folder, *MIRA, *args, stdin=self.folder / "e")

    def refused(self, *args):
        """What is said by a command that must change nothing."""
        before = self.files()
        result = self(*args)
        assert (result.returncode, result.stdout) == (2, ""), result
        assert len(result.stderr.splitlines()) == 1
        assert self.files() == before
        return result.stderr

    def files(self):
        return {
            path.name: path.read_bytes()
            for path in self.folder.iterdir()
            if path.name not in ("e", "stdout", "stderr")
        }


@pytest.fixture
def run(commands, tmp_path):
    return Runner(commands, tmp_path)


def test_nothing_that_exists_is_written_over_unasked(run, tmp_path):
    (tmp_path / "empty").touch()
    assert run(*FILES, first=60).returncode == 0
    assert run("-o", "empty", "-m", "m", "-q").returncode == 0
    whole = (tmp_path / "empty").read_bytes()
    said = run.refused(*FILES)
    assert said.startswith("error: c exists: ")
    assert "--resume" in said
    assert "--overwrite" in said
    said = run.refused("-o", "o")
    assert said.startswith("error: o exists: ")
    assert "--resume" in said
    assert "--overwrite" in said
    assert "o exists" in run.refused("--checkpoint", "new", "-o", "o")
    assert "m exists: give --save another file" in run.refused("-m", "m")
    assert "c exists" in run.refused("-m", "c")
    assert run(*FILES, "--overwrite", "-m", "m").returncode == 0
    assert (tmp_path / "o").read_bytes() == whole
    assert read_checkpoint(tmp_path / "c")[1].counts.lines == 100


def test_a_foreign_file_is_no_output_to_go_on_with(run, tmp_path):
    assert run(*FILES, "-m", "m", first=60).returncode == 0
    assert run("-o", "whole", "-m", "n").returncode == 0
    (tmp_path / "foreign").write_bytes(os.urandom(1 << 20))
    (tmp_path / "other").write_bytes((tmp_path / "o").read_bytes().replace(b'"a"', b'"b"', 1))
    (tmp_path / "notes").write_bytes((tmp_path / "o").read_bytes() + b"my notes\n")
    for name in ("foreign", "other"):
        said = run.refused("--checkpoint", "c", "-o", name, "--resume")
        assert f"of {name} are not those that had been written when the checkpoint was" in said
    said = run.refused("--checkpoint", "c", "-o", "notes", "--resume")
    assert "has 9 that are not answers" in said
    assert "n exists, and this stream has not written it" in run.refused(
        *FILES, "--resume", "-m", "n"
    )
    # what it had been given itself, and what has come after, is written anew
    with open(tmp_path / "o", "ab") as file:
        file.write(b'{"id": 1, "prediction": "a"}\n{"id": ')
    assert run(*FILES, "-m", "m", "--resume").returncode == 0
    assert (tmp_path / "o").read_bytes() == (tmp_path / "whole").read_bytes()
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()
    assert run(*FILES, "-m", "n", "--resume").returncode == 0  # the same model
    redirected = run("--checkpoint", "d", first=50)
    (tmp_path / "d.out").write_text(redirected.stdout)
    assert run("--checkpoint", "d", "--resume", "-o", "d.out").returncode == 0
    assert (tmp_path / "d.out").read_bytes() == (tmp_path / "whole").read_bytes()


def test_threads_and_memory_may_change(run):
    assert run("--checkpoint", "whole", "-o", "answers").returncode == 0
    assert run(*FILES, "--every", 9, "--n-jobs", 2, first=50).returncode == 0
    result = run(*FILES, "--resume", "--n-jobs", 1, "--memory", "300MB")
    assert result.returncode == 0, result.stderr
    assert (run.folder / "o").read_bytes() == (run.folder / "answers").read_bytes()
    model, _ = read_checkpoint(str(run.folder / "c"))
    assert (model.n_jobs, model.memory) == (1, "300MB")


def test_options_that_cannot_change(run):
    given = ("--classes", "a,b,c", "--max-features", 8, "--scores")
    assert run(*FILES, *given, first=60).returncode == 0
    for changed, words in (
        (given[:4], "its --scores is on, and off was asked for"),
        (("--classes", "a,b", "--scores"), "its --classes is a,b,c, and a,b was asked for"),
        (("--max-features", 7, "--scores"), "its --max-features is 8, and 7 was asked for"),
        ((*given, "--gamma", 2), "its gamma is stream, and 2.0 was asked for"),
    ):
        said = run.refused(*FILES, "--resume", *changed)
        assert words in said
        assert "resume with the model and the options that it began with" in said
    assert run(*FILES, "--resume", "--scores", first=70).returncode == 0  # as it was
    assert "its --max-features is 8" in run.refused(
        *FILES, "--resume", "--scores", "--max-features", 1000
    )
    assert run(*FILES, "--resume", *given).returncode == 0


def make_old(path):
    """Make a checkpoint what an earlier version would have written."""
    model, place = read_checkpoint(path)
    found = asdict(place)
    for name in ("output_checksum", "options"):
        del found[name]
    save(model, path, info={"checkpoint": found, **model_info(place)})


def test_a_checkpoint_of_an_earlier_version(run, tmp_path):
    assert run("-o", "whole").returncode == 0
    assert run(*FILES, first=60).returncode == 0
    make_old(tmp_path / "c")
    output = (tmp_path / "o").read_bytes()
    for content in (b"x" * 10**6, b"\n" + output, output[1:] + b"}"):
        (tmp_path / "wrong").write_bytes(content)
        assert "are not those" in run.refused("--checkpoint", "c", "-o", "wrong", "--resume")
    (tmp_path / "wrong").unlink()
    assert run(*FILES, "--resume", first=80).returncode == 0
    assert read_checkpoint(tmp_path / "c")[1].output_checksum is not None
    assert run(*FILES, "--resume").returncode == 0
    assert (tmp_path / "o").read_bytes() == (tmp_path / "whole").read_bytes()


def test_what_another_process_holds(run, tmp_path):
    for name in ("c", "o", "m"):
        with locked(str(tmp_path / name)):
            said = run.refused(*FILES, "-m", "m")
            assert f"{name} is in use by process {os.getpid()} on" in said
    assert run(*FILES, "-m", "m").returncode == 0
    # a lock and a file that a killed process has left
    (tmp_path / ".c.lock").write_text("process 1 on earth\n")
    (tmp_path / ".largemargin-0123.tmp").write_text("half")
    assert run(*FILES, "--resume", "-q").returncode == 0
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_input_and_devices(run, tmp_path):
    for option in ("-o", "--checkpoint", "--save"):
        for more in ((), ("--overwrite",)):
            run.lines = events(100)
            assert run(option, "e", *more).returncode == 2
            assert len((tmp_path / "e").read_text().splitlines()) == 100
    assert len(run("-o", "/dev/stdout").stdout.splitlines()) == 100
    assert run("-o", os.devnull).returncode == 0
    result = run("-o", "/dev/full")
    assert result.returncode == 2
    assert "cannot write /dev/full: No space left on device" in result.stderr


def start(commands, folder, *args):
    """A stream that reads a pipe, and the pipe's other end."""
    if not (folder / "pipe").exists():
        os.mkfifo(folder / "pipe")
    running = commands.start(folder, *MIRA, *args, stdin=folder / "pipe")
    return running, os.open(folder / "pipe", os.O_WRONLY)


def wait_until(true):
    deadline = time.monotonic() + 120
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGHUP,
        pytest.param(signal.SIGTERM, marks=pytest.mark.full),
        pytest.param(signal.SIGINT, marks=pytest.mark.full),
    ],
)
def test_signals(number, run, commands, tmp_path):
    assert run("-o", "whole", "-m", "n").returncode == 0
    running, pipe = start(commands, tmp_path, *FILES, "-m", "m", "--every", 7)
    os.write(pipe, "".join(f"{line}\n" for line in run.lines[:40]).encode() + b'{"x": [1')
    wait_until(lambda: (tmp_path / "o").exists() and len((tmp_path / "o").read_bytes()) > 100)
    running.kill(number)
    result = running.wait()
    os.close(pipe)
    assert result.returncode == 128 + number
    n = len((tmp_path / "o").read_bytes().splitlines())
    assert result.stderr.startswith(f"{n} lines, {n} learned")
    assert read_checkpoint(tmp_path / "c")[1].counts.lines == n
    assert run(*FILES, "-m", "m", "--resume").returncode == 0
    for one, other in (("o", "whole"), ("m", "n")):
        assert (tmp_path / one).read_bytes() == (tmp_path / other).read_bytes()


def test_a_signal_before_there_is_a_model(run, commands, tmp_path):
    running, pipe = start(commands, tmp_path, *FILES, "-m", "m")
    os.write(pipe, b'{"x": [1, 2, 3, 4]}\n')
    wait_until(lambda: (tmp_path / "o").exists() and (tmp_path / "o").read_bytes())
    running.kill(signal.SIGTERM)
    assert running.wait().returncode == 128 + signal.SIGTERM
    os.close(pipe)
    assert not (tmp_path / "m").exists()


def test_answers_that_nobody_reads_are_no_success(run, commands, tmp_path):
    whole = run("-m", "n").stdout.splitlines()
    os.mkfifo(tmp_path / "answers")
    reader = os.open(tmp_path / "answers", os.O_RDONLY | os.O_NONBLOCK)
    files = ("--checkpoint", "c", "-m", "m", "--every", 10)
    running, pipe = start(commands, tmp_path, *files, "-o", "answers")
    os.write(pipe, "".join(f"{line}\n" for line in run.lines[:25]).encode())
    wait_until((tmp_path / "c").exists)
    wait_until(lambda: read_checkpoint(tmp_path / "c")[1].counts.lines == 20)
    os.close(reader)
    os.write(pipe, "".join(f"{line}\n" for line in run.lines[25:]).encode())
    result = running.wait()
    os.close(pipe)
    assert (result.returncode, result.stderr) == (128 + signal.SIGPIPE, "")
    assert not (tmp_path / "m").exists()
    lines = read_checkpoint(tmp_path / "c")[1].counts.lines
    assert lines in (20, 25)
    result = run(*files, "--resume")
    assert result.stdout.splitlines() == whole[lines:]
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()


@pytest.mark.full
def test_many_processes_at_once(tmp_path):
    """Of all that want one checkpoint, one has it; its answers are whole."""
    lines = "".join(f"{line}\n" for line in events(2000))
    (tmp_path / "e").write_text(lines)
    command = [sys.executable, "-m", "largemargin", *MIRA, *FILES, "--every", "50", "--overwrite"]
    processes = []
    for _ in range(5):
        with open(tmp_path / "e") as file:
            processes.append(
                subprocess.Popen(
                    command, cwd=tmp_path, stdin=file, stderr=subprocess.PIPE, text=True
                )
            )
    said = [process.communicate(timeout=300)[1] for process in processes]
    codes = [process.returncode for process in processes]
    assert codes.count(0) >= 1
    for process, code, text in zip(processes, codes, said, strict=True):
        if code:
            assert code == 2
            assert "is in use by process " in text
            assert f"process {process.pid} " not in text
    assert len((tmp_path / "o").read_bytes().splitlines()) == 2000
    place = read_checkpoint(tmp_path / "c")[1]
    assert (place.counts.lines, place.output) == (2000, (tmp_path / "o").stat().st_size)


@pytest.mark.full
def test_signals_at_any_moment(run, commands, tmp_path):
    """Interrupted again and again, once or twice, a stream ends as one that was not."""
    numbers = random.Random(0)
    run.lines = events(1500)
    assert run("-o", "whole", "-m", "n", first=1500).returncode == 0
    expected = (tmp_path / "whole").read_bytes(), (tmp_path / "n").read_bytes()
    codes = []
    for _ in range(60):
        how = "--resume" if (tmp_path / "c").exists() else "--overwrite"
        before = (tmp_path / "o").stat() if (tmp_path / "o").exists() else None
        running = commands.start(
            tmp_path, *MIRA, *FILES, "-m", "m", "--every", 20, how, stdin=tmp_path / "e"
        )
        wait_for_a_moment(tmp_path / "o", before, len(expected[0]), numbers)
        for _ in range(numbers.randint(1, 2)):
            running.kill(numbers.choice([signal.SIGTERM, signal.SIGHUP, signal.SIGINT]))
            time.sleep(numbers.choice([0, 0.002]))
        result = running.wait()
        codes.append(result.returncode)
        assert result.returncode in (0, 129, 130, 143, -1, -15), result.stderr
        if not result.returncode:
            assert ((tmp_path / "o").read_bytes(), (tmp_path / "m").read_bytes()) == expected
            for name in "com":
                (tmp_path / name).unlink()
    how = "--resume" if (tmp_path / "c").exists() else "--overwrite"
    assert run(*FILES, "-m", "m", how, first=1500).returncode == 0
    assert ((tmp_path / "o").read_bytes(), (tmp_path / "m").read_bytes()) == expected
    assert codes.count(0) < 40


@pytest.mark.full
def test_answers_appended_to_their_own_input(commands, tmp_path):
    events = tmp_path / "stdout"  # where the commands of these tests write
    events.write_text('{"x": [1, 2], "y": 0}\n{"x": [2, 1], "y": 1}\n')
    from largemargin.streaming.input import is_one_file

    with events.open() as one, events.open("a") as other, (tmp_path / "x").open("w") as third:
        assert is_one_file(one.fileno(), other.fileno())
        assert not is_one_file(one.fileno(), third.fileno())
    command = [sys.executable, "-m", "largemargin", "stream", "mira", "-q"]
    with events.open() as source, events.open("a") as sink:
        done = subprocess.run(command, stdin=source, stdout=sink, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert "standard input and output are the same file" in done.stderr
    assert len(events.read_text().splitlines()) == 2
