"""Every example of every `--help` runs, and an error that it prints beats guessing clearly."""

import json
import os
import re
import shlex
import shutil
from pathlib import Path

import pytest
import typer

from largemargin.cli.app import app

from .example_files import GUESS, write_files, write_parts

ROOT = Path(__file__).parents[2]
# Files that an example finds, and the commands that make each of them.
MADE = {
    "digits.safetensors": "train digits -q",
    "flowers.safetensors": "train flowers.csv --label species --scale standard -q",
    "heart.safetensors": "train heart.csv --model svc --scale standard -q",
    "theirs.model": "train letters.svm --model svc --multiclass ovo -q -o l.safetensors; "
    "convert l.safetensors theirs.model",
    "calibrated.safetensors": "train digits --model svc --calibrate -o calibrated.safetensors",
    "m.safetensors": "stream mira --gamma 0.5 --save m.safetensors -q -o - < events.jsonl",
    "c.safetensors": "stream mira --checkpoint c.safetensors -o out.jsonl -q < half.jsonl",
}
# Examples that take their time, need what is not everywhere, or say what others say too.
USUAL = ("clicks.svm.gz", "stream m.safetensors", "--overwrite")
NEEDS_DATA = ("mnist", "usps", "letter ", "thyroid", "reproduce")
CLUSTER = ("--dask",)
ENDLESS = ("serve", "playground")  # they run until they are stopped: tests/web
SLOW = ("mnist", "compare digits", "compare letter", "reproduce")


def examples():
    """What the help of every command gives as examples, without the word largemargin."""
    commands = typer.main.get_command(app).commands
    for name, command in commands.items():
        found = re.findall(r"^\s*largemargin (.*)$", command.help, re.M)
        assert found, f"{name} has no example"
        if name not in ENDLESS:
            yield from found


def marks(example):
    found = []
    if any(word in example for word in NEEDS_DATA):
        found.append(pytest.mark.data)
        there = "LARGEMARGIN_DATA" in os.environ
        found.append(pytest.mark.skipif(not there, reason="set LARGEMARGIN_DATA to their folder"))
    if any(word in example for word in CLUSTER):
        found.append(pytest.mark.cluster)
    elif any(word in example for word in SLOW):
        found.append(pytest.mark.slow)
    elif not any(word in example for word in USUAL):
        found.append(pytest.mark.full)
    return found


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    write_files(folder)
    events = (folder / "events.jsonl").read_text().splitlines(keepends=True)
    (folder / "half.jsonl").write_text("".join(events[:600]))
    return folder


@pytest.fixture
def shell(commands, files, tmp_path):
    """Run a line of a shell in a folder that has the files; returns the result."""
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)

    def run(line, *more):
        words, source = shlex.split(line), "/dev/null"
        if "<" in words:
            words, source = words[: words.index("<")], tmp_path / words[words.index("<") + 1]
        if "-" in words:  # standard output
            words = [word for word in words if word not in ("-o", "-")]
        return commands.run(tmp_path, *words, *more, stdin=source)

    return run


def prepare(example, shell):
    """Make the models that an example reads, in the order of the table."""
    words = shlex.split(example)
    written = {words[i + 1] for i, word in enumerate(words[:-1]) if word in ("--save", "-m")}
    new = "--checkpoint" in words and "--resume" not in words and "--overwrite" not in words
    for name, line in MADE.items():
        if name in words and name not in written and not (new and name == "c.safetensors"):
            for step in line.split("; "):
                made = shell(step)
                assert made.returncode == 0, made.stderr


@pytest.mark.parametrize("example", [pytest.param(e, marks=marks(e)) for e in examples()])
def test_an_example_runs_and_learns(example, shell, tmp_path):
    if "docs/reproduction" in example:
        example = example.replace("docs/reproduction", str(ROOT / "docs/reproduction"))
    if "tcp://" in example:
        example = re.sub(r"tcp://\S+", "local", example)
    if "parts/" in example:
        write_parts(tmp_path)
    prepare(example, shell)
    command, *words = shlex.split(example)
    tells = command in ("train", "evaluate", "compare")
    result = shell(example, *(["--json"] if tells else []))
    assert result.returncode == 0, result.stderr
    assert not re.search("^warning: .*(guess|never)", result.stderr, re.M), result.stderr
    if command == "stream":
        found = re.search(r"progressive error (\S+) %", result.stderr)
        assert float(found[1]) < 20, result.stderr
    if tells:
        check_errors(command, words, json.loads(result.stdout), shell)


def check_errors(command, words, told, shell):
    guess = GUESS.get(words[1 if command == "evaluate" else 0], 0.66)
    if command == "compare":
        errors = [row["error"]["error"] for row in told["results"] if row["error"] is not None]
        assert len(errors) >= 2
        assert min(errors) < 0.5 * guess
        return
    if "outliers" in told:
        assert 0 < told["outliers"] < 0.1
        return
    error = told.get("test_error", told.get("error"))
    if error is None:  # no rows to test on: those of training
        label = ["--label", words[words.index("--label") + 1]] if "--label" in words else []
        line = shlex.join(["evaluate", told["file"], words[0].replace("*", "0"), *label])
        error = json.loads(shell(line, "--json").stdout)["error"]
    assert error < 0.6 * guess


def test_the_usual_run_has_an_example_of_each_sort():
    for word in USUAL:
        assert any(word in example for example in examples()), word
