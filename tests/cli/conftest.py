"""Running commands in this process, small data files, and a model trained from one of them."""

import numpy as np
import pytest
from typer.testing import CliRunner

from largemargin.cli.app import app

from .processes import Commands

PLAIN = ("--scale", "none", "--test-size", 0)  # a machine alone, of all rows


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run a command in an empty folder; returns the result with exit_code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def invoke(*args):
        result = CliRunner().invoke(app, [str(arg) for arg in args])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return invoke


@pytest.fixture
def fails(run):
    """Run a command that must end with exit code 2 and one line on stderr; returns the line."""

    def invoke(*args):
        result = run(*args)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        lines = result.stderr.splitlines()
        assert len(lines) == 1, result.stderr
        assert lines[0].startswith("error: ")
        return lines[0]

    return invoke


def table(path, n=90, seed=0, labels=("ant", "bee", "cat"), header=True):
    """A CSV file of three clusters, the label last."""
    numbers = np.random.default_rng(seed)
    y = numbers.permutation(np.arange(n) % len(labels))
    X = numbers.normal(size=(n, 3)) + 3 * np.eye(3)[y % 3]
    lines = ["length,width,height,kind"] if header else []
    lines += [
        ",".join([*map(repr, row), str(labels[k])]) for row, k in zip(X.tolist(), y, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def animals(tmp_path):
    return table(tmp_path / "animals.csv")


@pytest.fixture
def model(run, animals):
    assert run("train", animals, *PLAIN, "-q", "--epochs", 3, "-o", "animals.model").exit_code == 0
    return animals.parent / "animals.model"


@pytest.fixture(scope="session")
def commands():
    """Commands as processes of their own, started quickly."""
    started = Commands()
    yield started
    started.close()
