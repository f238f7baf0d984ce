"""The tutorial and the pages on tables, files, probabilities and other tools run as they stand."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from largemargin.cli.app import app

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize(
    "page",
    [
        "tutorial", "model_file", "files", "tables", "probabilities", "interchange",
        "coming_from_sklearn",
    ],
)  # fmt: skip
def test_code_of_a_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(DOCS / f"{page}.rst"), module_relative=False)
    assert found.attempted > 0
    assert found.failed == 0


def test_commands_of_the_tutorial(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^   \$ largemargin (.*)$", (DOCS / "tutorial.rst").read_text(), re.M)
    assert len(commands) >= 5
    for command in commands:
        found = CliRunner().invoke(app, shlex.split(command))
        assert found.exit_code == 0, (command, found.output)
    assert {"digits.safetensors", "digits.html", "labels.txt", "again.html"} <= {
        path.name for path in tmp_path.iterdir()
    }


def test_every_example_is_in_the_gallery():
    shown = set(re.findall(r"^\.\. example:: (\w+)$", (DOCS / "gallery.rst").read_text(), re.M))
    assert shown == {path.stem for path in (DOCS.parent / "examples").glob("*.py")}
