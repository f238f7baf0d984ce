"""The contract of the rooms in `.importlinter` holds, and a violation of it is found."""

import os
import shutil
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]


def lint(folder):
    code = "import sys; from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", code, "--no-cache", "--config", str(folder / ".importlinter")],
        cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(folder / "src")},
    )  # fmt: skip


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("house")
    keep = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src" / "largemargin", folder / "src" / "largemargin", ignore=keep)
    shutil.copy(ROOT / ".importlinter", folder)
    return folder


def test_the_contract_holds(copy):
    found = lint(copy)
    assert found.returncode == 0, found.stdout
    assert "0 broken" in found.stdout


@pytest.mark.parametrize(
    ("module", "planted", "contract"),
    [
        (
            "kernels/engine.py",
            "def upwards():\n    from largemargin.svm import SVC\n\n    return SVC\n",
            "a room imports from the rooms below it",
        ),
        (
            "perceptron/voted_perceptron.py",
            "from largemargin.svm.svc import SVC\n",
            "a room imports from the rooms below it",
        ),
        ("svm/svc.py", "import matplotlib\n", "report and papers draw and make pages"),
        ("data/named.py", "import dask\n", "its own room knows of a cluster"),
        ("report/decision.py", "import flask\n", "its own room knows of the web"),
        ("svm/state.py", "import onnx\n", "its own room knows of other tools"),
        ("streaming/driver.py", "import typer\n", "the command line knows of its framework"),
    ],
)
def test_a_violation_is_found(copy, module, planted, contract):
    file = copy / "src" / "largemargin" / module
    whole = file.read_text()
    file.write_text(f"{whole}\n\n{planted}")
    try:
        found = lint(copy)
    finally:
        file.write_text(whole)
    assert found.returncode == 1, found.stdout
    broken = [line for line in found.stdout.splitlines() if " BROKEN" in line]
    assert [line for line in broken if line.startswith(contract)] == broken != []


def test_modules_do_not_import_each_other_in_a_circle():
    graph = grimp.build_graph("largemargin", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(imports) > 100
    TopologicalSorter(imports).prepare()  # raises CycleError, which names the circle


def test_a_new_room_must_be_given_its_place(copy):
    room = copy / "src" / "largemargin" / "attic"
    room.mkdir()
    (room / "__init__.py").touch()
    found = lint(copy)
    shutil.rmtree(room)
    assert found.returncode == 1
    assert "attic" in found.stdout
