"""The code of the pages runs as it stands, and what they show is there."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from largemargin.cli.app import app

DOCS = Path(__file__).parents[1] / "docs"


PAGES = sorted(path for path in DOCS.rglob("*.rst") if "generated" not in path.parts)
WITH_CODE = [
    path.relative_to(DOCS).with_suffix("").as_posix()
    for path in PAGES
    if re.search(r"^ *>>> ", path.read_text(), re.M)
]


def test_pages_that_have_code():
    assert {"index", "tutorial", "recipes", "theory", "machines/svm"} <= set(WITH_CODE)


@pytest.mark.parametrize("page", WITH_CODE)
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
    text = (DOCS / "gallery.rst").read_text()
    blocks = re.findall(r"^\.\. thumbnails::\n\n((?:   \w+\n)+)", text, re.M)
    shown = [name for block in blocks for name in block.split()]
    assert sorted(shown) == sorted(path.stem for path in (DOCS.parent / "examples").glob("*.py"))


def test_every_picture_is_drawn_and_shown():
    text = "".join(path.read_text() for path in PAGES)
    shown = re.findall(r"^\.\. picture:: (\S+)$", text, re.M)
    scripts = (DOCS / "pictures" / "__main__.py").read_text()
    drawn = re.findall(r'^    "([\w-]+)": \(', scripts, re.M)
    assert sorted(shown) == sorted(drawn)
    for name in drawn:
        picture = (DOCS / "images" / f"{name}.svg").read_text()
        assert len(picture) < 150_000
        assert "currentColor" in picture  # the ink of the page, in both schemes
