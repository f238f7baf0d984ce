"""Every example runs as a reader would run it, says something and draws a picture."""

import runpy
from pathlib import Path

import matplotlib
import pytest
from matplotlib import pyplot
from sklearn.base import BaseEstimator

import largemargin

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))


@pytest.mark.full  # the documentation is built with all of them
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example, tmp_path, monkeypatch, capsys):
    matplotlib.use("Agg")
    monkeypatch.setattr("sys.argv", [str(example), str(tmp_path)])
    runpy.run_path(str(example), run_name="__main__")
    pyplot.close("all")
    assert capsys.readouterr().out.strip()
    assert (tmp_path / f"{example.stem}.png").read_bytes().startswith(b"\x89PNG")


def test_every_machine_has_an_example():
    text = "".join(path.read_text() for path in EXAMPLES)
    named = [getattr(largemargin, name) for name in largemargin.__all__]
    machines = {m.__name__ for m in named if isinstance(m, type) and issubclass(m, BaseEstimator)}
    assert len(machines) >= 15
    assert {name for name in machines if f"{name}(" not in text} == set()
