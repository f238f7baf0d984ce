"""What several files of the project say, they say alike, and from one place where that can be."""

import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import largemargin

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
TEXT = ("", ".py", ".md", ".rst", ".toml", ".yml", ".yaml", ".cff")
SHIPPED = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]


def files():
    """The text files that are in the source distribution, and pyproject.toml, which always is."""
    for name in [*SHIPPED, "pyproject.toml"]:
        for path in [ROOT / name, *(ROOT / name).rglob("*")]:
            if path.is_file() and path.suffix in TEXT and "__pycache__" not in path.parts:
                yield path


def test_the_version_is_said_once():
    assert "version" not in PROJECT["project"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/largemargin/_version.py"
    home = ROOT / PROJECT["tool"]["hatch"]["version"]["path"]
    assert f'__version__ = "{largemargin.__version__}"\n' in home.read_text()
    told = [path for path in files() if re.search(r'^__version__ = "', path.read_text(), re.M)]
    assert told == [home]


def test_the_citation_has_the_version():
    found = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert found is not None
    assert found[1] == largemargin.__version__


def test_the_changelog_has_the_version():
    assert f"\n## {largemargin.__version__} " in (ROOT / "CHANGELOG.md").read_text()


def test_the_version_needs_no_heavy_import():
    code = "import sys, largemargin; print(largemargin.__version__, 'numpy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == [largemargin.__version__, "False"]


def test_the_address_is_in_one_place():
    (address,) = PROJECT["project"]["urls"].values()
    told = [path.relative_to(ROOT) for path in files() if address in path.read_text()]
    assert told == [Path("pyproject.toml")]
    assert (ROOT / "pyproject.toml").read_text().count(address) == 1


def test_a_group_lists_nothing_that_an_extra_lists():
    extras = PROJECT["project"]["optional-dependencies"]
    listed = {name(r) for extra in extras.values() for r in extra} - {"largemargin"}
    groups = [r for group in PROJECT["dependency-groups"].values() for r in group]
    assert listed.isdisjoint(name(r) for r in groups if isinstance(r, str))


def name(requirement):
    return re.match(r"[\w.-]+", requirement)[0]


def test_what_the_reference_lists_is_public():
    text = (ROOT / "docs" / "api.rst").read_text()
    listed = re.findall(r"^   ((?:\w+\.)?\w+)$", text, re.M)
    assert len(listed) > 40
    for dotted in listed:
        package, _, called = dotted.rpartition(".")
        home = importlib.import_module(f"largemargin.{package}".rstrip("."))
        assert called in getattr(home, "__all__", dir(home)), dotted
    public = {called for called in largemargin.__all__ if not is_package(called)}
    assert public <= set(listed)


def is_package(called):
    return inspect.ismodule(getattr(largemargin, called))
