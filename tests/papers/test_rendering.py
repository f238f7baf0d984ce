"""Pages from results: those of an earlier run, and those that are committed."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from largemargin.cli.app import app
from largemargin.papers import PAPERS, files
from largemargin.papers.figures import Bars, Conic, Figure, Gaussians, Plane
from largemargin.papers.report import Report

ROOT = Path(__file__).parents[2]
COMMITTED = ROOT / "docs" / "reproduction"


def reproduce(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


@pytest.fixture
def earlier(report, tmp_path):
    """A folder with what an earlier run wrote."""
    bars = Figure("bars", "Bars", "", "error", (Bars("b", ("x", "y"), (1.0, None), (None, 2)),))
    files.write(replace(report, slug="budget-noise", figures=(bars,)), tmp_path / "earlier")
    return tmp_path / "earlier"


def test_an_earlier_run_is_rendered_to_the_byte(earlier, tmp_path):
    out = tmp_path / "out"
    rendered = reproduce("budget", "noise", "--render", "--results", earlier, "-o", out)
    assert rendered.exit_code == 0, rendered.output
    assert "A paper <again>" in rendered.stdout
    assert "2.31 ±0.04" in rendered.stdout
    names = sorted(path.name for path in earlier.iterdir())
    assert sorted(path.name for path in out.iterdir()) == names
    assert len(names) == 5
    assert all((out / name).read_bytes() == (earlier / name).read_bytes() for name in names)


@pytest.mark.parametrize("quick", [[], ["--quick"]])
def test_results_are_looked_for_where_the_output_goes(report, quick, tmp_path):
    files.write(replace(report, slug="budget-reduced", figures=()), tmp_path)
    (tmp_path / "budget-reduced.html").unlink()
    found = reproduce("budget", "--render", "-o", tmp_path, "--json", *quick)
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["report"] == "budget-reduced"
    assert (tmp_path / "budget-reduced.html").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--render"], "error: there is no budget.json or budget-reduced.json in {}: leave out"),
        (["noise", "--quick", "--render"], "there is no budget-noise-reduced.json in {}: leave"),
        (["--render", "--results", "{}/none.json"], "error: cannot read {}/none.json: No such"),
        (["--render", "--results", "{}/a.json"], "{}/a.json does not hold the results of large"),
        (["--render", "--results", "{}/b.json"], "{}/b.json does not hold the results of large"),
        (["--render", "--results", "{}/c.json"], "c.json holds the results of paper, not of"),
        (["--render", "--permutations", "3"], "--permutations is for running experiments, not"),
        (["--render", "--work", "x"], "--work is for running experiments, not for --render: leave"),
        (["--results", "{}"], "error: --results is for --render: give both"),
    ],
)
def test_bad_results_are_told_in_one_line(report, arguments, sentence, tmp_path):
    (tmp_path / "a.json").write_text("{")
    (tmp_path / "b.json").write_text('{"report": "budget", "tables": [[]]}')
    (tmp_path / "c.json").write_text(json.dumps(report.as_json()))
    arguments = [one.format(tmp_path) for one in arguments]
    found = reproduce("budget", *arguments, "-o", tmp_path)
    assert found.exit_code == 2
    assert sentence.format(tmp_path) in found.stderr
    assert found.stderr.count("\n") == 1
    assert found.stdout == ""


def test_every_kind_of_panel_comes_back(report):
    plane = Plane("p", ((0.0, 0.5), (1.0, 1.0)), (-1, 1), (0,), (1,), Conic((1.0,) * 6), 0.0)
    around = Gaussians(0.5, ((0.0, 0.0),), (-1.0,), 0.1)
    more = (
        Figure("planes", "P", "", "", (plane, replace(plane, decision=around))),
        Figure("bars", "B", "", "error", (Bars("b", ("x", "y"), (1.0, None), (None, 2)),)),
    )
    whole = replace(report, figures=(*report.figures, *more), ours="ours")
    assert Report.from_json(json.loads(json.dumps(whole.as_json()))) == whole


@pytest.mark.parametrize("paper", PAPERS)
def test_what_is_committed_is_what_the_results_give(paper):
    """Regenerate with `largemargin reproduce PAPER --render -o docs/reproduction`."""
    file = COMMITTED / f"{paper}.json"
    report = files.read(file)
    assert file.read_text(encoding="utf-8") == json.dumps(report.as_json()) + "\n"
    text = files.as_markdown(report, files.picture_names(report))
    assert (COMMITTED / f"{paper}.md").read_text(encoding="utf-8") == text
    assert files.as_page(report, dict.fromkeys(files.picture_names(report), "")).count(
        "<figure>"
    ) == len(report.figures)


def test_no_link_to_the_committed_files_is_broken():
    texts = [ROOT / "README.md", *(ROOT / "docs").glob("*.rst"), *COMMITTED.glob("*.md")]
    found = []
    for text in texts:
        links = re.findall(r"\]\(([^)#:]+)\)|\.\. image:: (\S+)", text.read_text(encoding="utf-8"))
        found += [(text.parent / (link or image)) for link, image in links]
    inside = [path for path in found if COMMITTED in path.resolve().parents]
    assert len(inside) > 15
    assert [str(path) for path in inside if not path.exists()] == []
