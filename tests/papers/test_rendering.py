"""A report in the terminal, as JSON, as Markdown, as a page; earlier and committed ones."""

import importlib.util
import io
import json
import platform
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from largemargin.cli.app import app
from largemargin.papers import PAPERS, figures, rendering, scatter
from largemargin.papers.cells import Cell, Published
from largemargin.papers.figures import Bars, Conic, Figure, Gaussians, Panel, Plane
from largemargin.papers.report import Group, Report, Row
from largemargin.report.charts import Curve, log_ticks
from largemargin.report.machine import describe_machine, duration

ROOT = Path(__file__).parents[2]
COMMITTED = ROOT / "docs" / "reproduction"
VOID = {"meta", "link", "br", "img", "hr", "input"}


class Checker(HTMLParser):
    """Keeps what is open, and everything that a browser would fetch."""

    def __init__(self):
        super().__init__()
        self.open, self.fetched, self.ids, self.text = [], [], [], []

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.fetched += [v for k, v in attributes if k in ("src", "href", "xlink:href", "srcset")]
        self.ids += [named["id"]] if "id" in named else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture
def html(report):
    return rendering.as_page(report, {f.id: figures.svg(f) for f in report.figures})


def test_page_is_whole_and_needs_nothing_else(html):
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    assert len(checker.ids) == len(set(checker.ids))
    assert checker.fetched
    inside = [target for target in checker.fetched if target.startswith("#")]
    assert {*checker.fetched} - {*inside} == {"data:,", "paper.json"}
    assert {target[1:] for target in inside} <= {*checker.ids}
    assert {*re.findall(r"https?://[^\"]*", html)} == {
        "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink",
    }  # fmt: skip
    for forbidden in ("<script", "@import", "url(http", 'src="http', 'href="http'):
        assert forbidden not in html


def test_page_says_what_must_be_said(html, report):
    checker = Checker()
    checker.feed(html)
    text = " ".join(" ".join(checker.text).split())
    for expected in (
        "2 permutations in place of 10", "Other seeds.", "a processor, 2 cores",
        "2 of 4 published numbers are within two standard errors", "2026-01-01 to 2026-01-02",
        "1 h 7 min", "at a commit that was not recorded", "No verdict", "+0.41 worse", "-40 fewer",
    ):  # fmt: skip
        assert expected in text
    assert html.count('<td class="higher"') == html.count('<td class="lower"') == 1
    assert html.count('<td class="within"') == 2
    assert html.count('<span class="source">recalled</span>') == 1 + 3
    assert "<errors>" not in html
    # every table and figure says that the run was reduced, and so does the head of the page
    assert html.count('class="warn reduced"') == 3


def test_the_scatter_shows_every_pair(report, html):
    errors, counts = scatter.scatters(report)
    assert [len(errors.points), len(counts.points)] == [2, 2]
    assert errors.states == {"higher": 1, "within": 1}
    assert html.count('<path class="mark within" transform') == 2
    assert html.count('class="identity"') == 2
    assert "d = 1 Vote T = 2: 2.61 against 2.2, z = +4.1; worse" in html
    for x, y in re.findall(r"translate\(([\d.]+) ([\d.]+)\)\" d", scatter.draw(errors)):
        assert scatter.LEFT <= float(x) <= scatter.SIZE
        assert 0 <= float(y) <= scatter.SIZE - scatter.BOTTOM


def test_the_page_links_back_if_told(report):
    assert 'href="../all.html"' in rendering.as_page(replace(report, figures=()), {}, "../all.html")


def test_pictures_have_the_colours_of_the_page(report):
    picture = figures.svg(report.figures[0])
    page = figures.of_page(picture)
    assert "var(--f0, #0072b2)" in page
    assert "fill: #ffffff" in picture
    assert "fill: #ffffff" not in page
    ET.fromstring(page)


def test_full_run_has_no_warning(report):
    html = rendering.as_page(replace(report, reduced=(), figures=()), {})
    assert 'class="warn reduced"' not in html


def test_markdown(report):
    text = rendering.as_markdown(report, {"figure2": "figure2.svg"})
    assert "![Figure 2](figure2.svg)" in text
    assert "| Vote | 2.21 ± 0.04<br>2.2 [recalled]<br>+0.01 |" in text
    assert "**+0.41 worse**" in text
    assert "**-40 fewer**" in text
    assert text.count("educed run") == 3
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in rows} == {6}


@pytest.mark.parametrize("width", [100, 120])
def test_terminal_fits(report, width):
    out = io.StringIO()
    rendering.show(report, Console(file=out, width=width))
    text = out.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    assert "REDUCED RUN: 2 permutations in place of 10" in text
    assert "2.21 ±0.04" in text
    assert "2.2 [r]" in text
    assert "+0.41 !" in text
    assert "-40 *" in text
    assert "d = 1, error at epochs = 10: vote 2.00" in text


def test_terminal_says_a_shared_label_once(report):
    (table,) = report.tables
    rows = tuple(replace(row, cells=row.cells[2:]) for row in table.groups[0].rows[1:])
    out = io.StringIO()
    table = replace(table, columns=("3", "4"), groups=(replace(table.groups[0], rows=rows),))
    rendering.show_table(table, (), Console(file=out, width=100))
    assert out.getvalue().splitlines()[4].split() == ["published", "[d]", "-", "7"]


def test_json_round_trip(report):
    found = json.loads(json.dumps(report.as_json()))
    cell = found["tables"][0]["groups"][0]["rows"][0]["cells"][1]
    assert cell["published"] == 2.2
    assert cell["label"] == "print"
    assert cell["agrees"] is False


def test_svg_is_one_element_and_always_the_same(report):
    (figure,) = report.figures
    picture = figures.svg(figure)
    assert picture.startswith("<svg")
    ET.fromstring(picture)
    assert figures.svg(figure) == picture
    assert figures.png(figure).startswith(b"\x89PNG")


@pytest.fixture
def pictures():
    plane = Plane(
        "two points", ((0.0, 0.0), (1.0, 1.0), (0.9, 0.2)), (-1, 1, -1), (0, 1), (2,),
        Conic((-1.0, 1.0, 1.0, 0.0, 0.0, 0.0)),
    )  # fmt: skip
    expansion = Gaussians(0.5, ((0.0, 0.0), (1.0, 1.0)), (-1.0, 1.0), 0.1)
    bars = Bars("data", ("linear", "LeNet", "tree"), (8.0, None, 17.25), (8.4, 1.7, None))
    alone = Bars("data", ("linear", "tree"), (8.0, 17.25), (None, None))
    return {
        "plane": Figure("planes", "In the plane", "", "", (plane, plane)),
        "gaussians": Figure(
            "planes", "In the plane", "", "", (replace(plane, decision=expansion, margin=0.0),)
        ),
        "bars": Figure("bars", "Benchmark", "", "test error", (bars,)),
        "alone": Figure("alone", "Benchmark", "", "test error", (alone,)),
    }


@pytest.mark.parametrize("kind", ["plane", "gaussians", "bars", "alone"])
def test_other_kinds_of_figures(report, pictures, kind):
    figure = pictures[kind]
    picture = figures.svg(figure)
    ET.fromstring(picture)
    assert figures.svg(figure) == picture
    html = rendering.as_page(replace(report, figures=(figure,)), {figure.id: picture})
    assert f'<section id="{figure.id}">' in html
    assert json.loads(json.dumps(figure.as_json()))["panels"][0]["title"] == figure.panels[0].title


def test_lines_for_other_kinds_of_figures(pictures):
    out = io.StringIO()
    console = Console(file=out, width=100)
    for figure in pictures.values():
        rendering.show_figure(figure, (), console)
    text = out.getvalue()
    assert "two points: 3 points, 2 support vectors, 1 errors" in text
    assert "test error: linear 8.00, tree 17.25" in text


def test_plane_is_drawn_with_rings_and_crosses(pictures):
    drawn = figures.draw(pictures["plane"])
    texts = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert texts == ["class -1", "class 1", "support vector", "error", "decision line", "margin"]
    marked = [len(c.get_offsets()) for c in drawn.axes[0].collections if c.get_offsets().any()]
    assert {1, 2} <= set(marked)


def test_a_panel_may_say_its_own_line():
    curve = Curve("bound", (1.0, 2.0), (3.0, 4.0))
    assert Panel("d = 1", (curve,), "never exceeded").line("x", "y") == "d = 1: never exceeded"


def test_spread_and_several_kinds_of_points_are_drawn():
    curves = (
        Curve("line", (1.0, 10.0), (5.0, 3.0), spread=(0.5, 0.1)),
        Curve("one", (4.0,), (4.0,), marks=True, spread=(0.2,)),
        Curve("two", (6.0,), (4.5,), marks=True),
    )
    assert [set(c.as_json()) - {"name", "x", "y"} for c in curves] == [
        {"spread"},
        {"spread"},
        set(),
    ]
    axes = figures.draw(Figure("f", "f", "x", "y", (Panel("p", curves),))).axes[0]
    assert len({line.get_marker() for line in axes.lines}) == 3
    assert len({line.get_markeredgecolor() for line in axes.lines[1:]}) == 2
    (line, one) = (bars.get_segments() for bars in axes.collections)
    assert line[0].tolist() == [[1.0, 4.5], [1.0, 5.5]]
    assert one[0].tolist() == [[4.0, 3.8], [4.0, 4.2]]


@pytest.mark.parametrize(
    ("low", "high", "steps", "ticks"),
    [
        (60.0, 100.0, (), [60, 70, 80, 90, 100]),
        (1.0, 20.0, (), [1, 1.5, 2, 3, 5, 7, 10, 15, 20]),
        (100.0, 2000.0, (1, 2, 5), [100, 200, 500, 1000, 2000]),
        (1.0, 1000.0, (), [1, 10, 100, 1000]),
    ],
)
def test_ticks(low, high, steps, ticks):
    assert log_ticks(low, high, steps) == pytest.approx(ticks)


def test_wide_tables_have_short_differences(report):
    (table,) = report.tables
    cells = (Cell(1443.0, 10.0, Published(1000, "print"), "count", 10),) * 11
    row = Row("Train errors", "count", cells)
    wide = replace(table, columns=("class",) * 11, groups=(Group("all", (row,)),))
    out = io.StringIO()
    rendering.show_table(wide, (), Console(file=out, width=100))
    assert "…" not in out.getvalue()
    assert out.getvalue().count("+443!") == 11


def test_files_without_the_report_packages(report, tmp_path, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        rendering, "find_spec", lambda name: None if name == "jinja2" else find(name)
    )
    written = rendering.write(report, tmp_path)
    assert {path.name for path in written.paths} == {"paper.json", "paper.md"}
    assert 'pip install "largemargin[report]"' in written.missing
    assert "\n" not in written.missing


def test_duration():
    assert [duration(s) for s in (48.2, 99, 600, 3900)] == ["48 s", "99 s", "10 min", "1 h 5 min"]


def test_machine_names_no_host():
    text = describe_machine()
    assert "Python" in text
    assert "NumPy" in text
    assert not platform.node() or platform.node() not in text


def test_plain_axes_may_have_zeros():
    curves = (Curve("error", (0.0, 1.0, 2.0), (0.0, 5.0, 2.0)),)
    panel = Panel("banana", curves, log_x=False, log_y=False)
    (axes,) = figures.draw(Figure("lambda", "Lambda", "lambda", "error", (panel,))).axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "linear")


def test_gaussians_against_their_sum():
    decision = Gaussians(0.5, ((0.0, 1.0), (2.0, 0.0)), (1.5, -2.0), 0.25)
    found = decision.values(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    assert found == pytest.approx(
        [0.25 + 1.5 * np.exp(-2) - 2 * np.exp(-4), 0.25 + 1.5 * np.exp(-10) - 2]
    )


def reproduce(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


@pytest.fixture
def earlier(report, tmp_path):
    """A folder with what an earlier run wrote."""
    bars = Figure("bars", "Bars", "", "error", (Bars("b", ("x", "y"), (1.0, None), (None, 2)),))
    rendering.write(replace(report, slug="budget-noise", figures=(bars,)), tmp_path / "earlier")
    return tmp_path / "earlier"


def test_an_earlier_run_is_rendered_to_the_byte(earlier, tmp_path):
    out = tmp_path / "out"
    rendered = reproduce("budget", "noise", "--render", "--results", earlier, "-o", out)
    assert rendered.exit_code == 0, rendered.output
    assert "A paper <again>" in rendered.stdout
    assert "2.21 ±0.04" in rendered.stdout
    names = sorted(path.name for path in earlier.iterdir())
    assert sorted(path.name for path in out.iterdir()) == names
    assert len(names) == 5
    assert all((out / name).read_bytes() == (earlier / name).read_bytes() for name in names)


@pytest.mark.parametrize("quick", [[], ["--quick"]])
def test_results_are_looked_for_where_the_output_goes(report, quick, tmp_path):
    rendering.write(replace(report, slug="budget-reduced", figures=()), tmp_path)
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
        (["--results", "{}"], "error: --results is for --render: give both options"),
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
    report = rendering.read(file)
    assert file.read_text(encoding="utf-8") == json.dumps(rendering.as_json(report)) + "\n"
    text = rendering.as_markdown(report, rendering.picture_names(report))
    assert (COMMITTED / f"{paper}.md").read_text(encoding="utf-8") == text
    assert rendering.as_page(report, dict.fromkeys(rendering.picture_names(report), "")).count(
        '<figure class="card drawn"'
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
