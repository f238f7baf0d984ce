"""What docs/internals says of the code is true of it: rooms, files, functions and words."""

import ast
import configparser
import re
from functools import cache
from pathlib import Path

import pytest

from largemargin.cli.model_options import parameters_of
from largemargin.machines import CARDS
from largemargin.online.arrays import BOUNDED, UNBOUNDED
from largemargin.svm.svc import SLACKS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "largemargin"
DOCS = ROOT / "docs" / "internals"
CODE = re.compile(r"``([^`]+)``")


def page(name):
    return (DOCS / f"{name}.rst").read_text()


def rooms_of_the_contract():
    """The layers from top to bottom, without the rooms that may come and have not."""
    parser = configparser.ConfigParser()
    parser.read(ROOT / ".importlinter")
    lines = parser["importlinter:contract:rooms"]["layers"].split("\n")
    layers = [[name.strip(" ()") for name in line.split("|")] for line in lines if line.strip()]
    there = [[name for name in layer if files_of(name)] for layer in layers]
    return [layer for layer in there if layer]


def files_of(place):
    """The files of a room, or the one file that is named; none if there is no such thing."""
    if place == "tests":
        return sorted((ROOT / "tests").rglob("*.py"))
    path = SOURCE / place
    if path.is_dir():
        return sorted(path.rglob("*.py"))
    file = path if place.endswith(".py") else path.with_suffix(".py")
    return [file] if file.is_file() else []


@cache
def definitions(file):
    """All that a file defines, with the members of classes under the names of their classes."""
    found = set()

    def visit(body, prefix):
        for node in body:
            names = [getattr(node, "name", None)]
            if isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = [part.id for t in targets for part in ast.walk(t) if hasattr(part, "id")]
            found.update(prefix + name for name in names if name)
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{prefix}{node.name}.")

    visit(ast.parse(file.read_text()).body, "")
    return found


def places(text):
    """Pairs of a file or a room and a name in it: "``room/file.py``: ``name``, ``name``; ..."."""
    for part in re.split(r";|, and", " ".join(text.split())):
        place, colon, names = part.partition("``:")
        if colon:
            yield from ((place.split("``")[-1], name) for name in CODE.findall(names))


def cells(text, column=-1):
    """The cells of a column, the last by default, of the rows of all tables but their heads."""
    rows = re.split(r"^   \* - ", text, flags=re.M)[1:]
    ends = [re.split(r"^     - ", row, flags=re.M)[column].split("\n\n")[0] for row in rows]
    return [(row.split("\n")[0], end) for row, end in zip(rows, ends, strict=True) if "``" in end]


def test_the_picture_has_the_layers_of_the_contract():
    picture = page("index").split(":name: layers\n\n")[1].split("\n\n")[0]
    drawn = [re.split(r" {2,}", line.strip())[0].split(" | ") for line in picture.split("\n")]
    assert drawn == rooms_of_the_contract()


def test_every_room_has_a_paragraph():
    told = re.findall(r"^\*\*(\w+)\*\* ", page("index"), re.M)
    assert sorted(told) == sorted(room for layer in rooms_of_the_contract() for room in layer)


def test_every_answer_is_there():
    answers = [pair for _, cell in cells(page("index"), 1) for pair in places(cell)]
    assert len(answers) > 40
    for place, name in answers:
        files = files_of(place)
        assert files, place
        assert any(name in definitions(file) for file in files), (place, name)


def test_every_question_has_its_tests():
    questions, tests = cells(page("index"), 1), cells(page("index"))
    assert [question for question, _ in tests] == [question for question, _ in questions]
    for question, cell in tests:
        assert all(path.startswith("tests/") for path in CODE.findall(cell)), question


def test_every_term_of_the_glossary_is_in_the_source():
    terms = cells((ROOT / "docs" / "glossary.rst").read_text())
    assert len({term for term, _ in terms}) == len(terms) > 45
    for term, cell in terms:
        named = list(places(cell))
        assert named, term
        for place, name in named:
            word = re.compile(rf"\b{name}\b")
            assert any(word.search(file.read_text()) for file in files_of(place)), (term, name)


@pytest.mark.parametrize("name", ["index", "kernel_values", "adding"])
def test_every_file_that_is_named_is_there(name):
    text = page(name)
    named = {path for path in CODE.findall(text) if path.endswith((".py", ".md", ".rst"))}
    assert len(named) > 10
    for path in named:
        if not re.search(r"<\w+>", path) and "_scikit_learn" not in path:
            inside = SOURCE / path, ROOT / path
            assert any(file.is_file() for file in inside), path


def test_names_of_the_recipes_and_of_the_way_are_in_the_source():
    files = [*SOURCE.rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    files.remove(Path(__file__))
    source = "\n".join(file.read_text() for file in files)
    words = set(re.findall(r"\w+", source))
    for name in ("kernel_values", "adding"):
        for code in CODE.findall(page(name)):
            if re.fullmatch(r"[A-Za-z_.]+(\(.*\))?", code) and not code.endswith(
                (".md", ".rst", ".py")
            ):
                parts = re.findall(r"\w+", re.sub(r"\(.*", "", code))
                assert set(parts) <= words, code


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_docstrings_offer_all_policies_and_losses(card):
    told = parameters_of(card.name)
    if card.streams:
        assert set(told["policy"].choices) == {"auto", *BOUNDED, *UNBOUNDED}
    if card.name == "SVC":
        assert told["slack"].choices == SLACKS
