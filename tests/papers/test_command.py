"""`largemargin reproduce`, as a command."""

import json

import pytest
from typer.testing import CliRunner

from largemargin.cli.app import app
from largemargin.data.errors import DataError
from largemargin.papers import freund_schapire


@pytest.fixture
def run(small_mnist, small_usps, tmp_path, monkeypatch):
    monkeypatch.setattr("largemargin.data.load", {"mnist": small_mnist, "usps": small_usps}.get)

    def call(*arguments):
        folders = ["--work", str(tmp_path / "work"), "-o", str(tmp_path / "out")]
        return CliRunner().invoke(app, ["reproduce", *arguments, *folders])

    return call


def test_terminal(run, tmp_path):
    found = run("freund-schapire", "table1", "--quick", "--degrees", "1,3")
    assert found.exit_code == 0, found.output
    assert "Table 1" in found.stdout
    assert "Table 2" not in found.stdout
    assert (
        "REDUCED RUN: degrees 1, 3 in place of 1 to 6; 1 permutation in place of 10" in found.stdout
    )
    assert "written to" in found.stderr
    assert (tmp_path / "out" / "freund-schapire-table1-reduced.html").exists()


def test_json_is_one_object(run):
    found = run("freund-schapire", "--quick", "--degrees", "4", "--permutations", "2", "--json")
    assert found.exit_code == 0, found.output
    report = json.loads(found.stdout)
    assert [table["id"] for table in report["tables"]] == ["table1", "table2", "table3"]
    assert [figure["id"] for figure in report["figures"]] == ["figure2"]
    assert report["settings"]["permutations"] == 2
    assert len(report["files"]) == 5
    assert report["tables"][0]["groups"][0]["rows"][0]["cells"][0]["deviation"] is not None


def test_the_second_paper(run, tmp_path):
    found = run("cortes-vapnik", "table2", "--quick", "--degrees", "2")
    assert found.exit_code == 0, found.output
    assert "Table 2: USPS" in found.stdout
    assert "Table 3" not in found.stdout
    assert "REDUCED RUN: a quick run; degree 2 in place of 1 to 7" in found.stdout
    assert (tmp_path / "out" / "cortes-vapnik-table2-reduced.html").exists()


def test_the_points_in_the_plane_need_no_data(run, monkeypatch):
    monkeypatch.delattr("largemargin.data.load")
    monkeypatch.setattr("largemargin.data.load", None, raising=False)
    found = run("cortes-vapnik", "planes", "--json")
    assert found.exit_code == 0, found.output
    report = json.loads(found.stdout)
    assert report["reduced"] == []
    assert [len(panel["errors"]) > 0 for panel in report["figures"][0]["panels"]] == [
        False, False, True,
    ]  # fmt: skip


def test_the_fourth_paper(run, tmp_path):
    found = run("budget", "noise", "--quick", "--permutations", "1")
    assert found.exit_code == 0, found.output
    assert "Label noise on USPS: test error in percent" in found.stdout
    assert "Nine panels" not in found.stdout
    assert "REDUCED RUN: a quick run; 1 permutation in place of 5 or 11" in found.stdout
    assert (tmp_path / "out" / "budget-noise-reduced.html").exists()
    report = json.loads((tmp_path / "out" / "budget-noise-reduced.json").read_text())
    assert report["command"] == "largemargin reproduce budget noise --quick --permutations 1"
    assert [figure["id"] for figure in report["figures"]] == ["noise"]


@pytest.mark.full
def test_the_bound_needs_no_data(run, monkeypatch):
    monkeypatch.setattr("largemargin.data.load", None)
    found = run("budget", "bound", "--quick", "--permutations", "1", "--json")
    assert found.exit_code == 0, found.output
    report = json.loads(found.stdout)
    assert [len(panel["curves"]) for panel in report["figures"][0]["panels"]] == [3, 3, 3]


def test_the_pictures_of_the_third_paper_need_no_data(run, monkeypatch):
    monkeypatch.setattr("largemargin.data.load", None)
    monkeypatch.setattr("largemargin.papers.adaptive_margin.count_workers", lambda _: 1)
    # nothing is drawn
    monkeypatch.setattr("largemargin.papers.rendering.find_spec", lambda _: None)
    found = run("adaptive-margin", "planes", "--json")
    assert found.exit_code == 0, found.output
    report = json.loads(found.stdout)
    assert report["reduced"] == []
    assert [len(figure["panels"]) for figure in report["figures"]] == [3, 3, 4, 4, 4]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["vapnik"],
            "there is no paper 'vapnik'; the papers are freund-schapire, cortes-vapnik, "
            "adaptive-margin, budget",
        ),
        (["adaptive-margin", "x"], "its parts are table, planes, width, lambda, margins"),
        (["adaptive-margin", "--splits", "101"], "splits must be from 1 to 100, got 101"),
        (["adaptive-margin", "--epochs", "3"], "--epochs is not for adaptive-margin: leave it out"),
        (["budget", "--splits", "3"], "--splits is not for budget: leave it out"),
        (["budget", "table1"], "its parts are panels, one-pass, bound, noise"),
        (["budget", "--degrees", "9"], "--degrees is not for budget: leave it out"),
        (["budget", "--permutations", "0"], "permutations must be at least 1, got 0"),
        (["cortes-vapnik", "table1"], "its parts are planes, table2, table3, benchmark, bound"),
        (["cortes-vapnik", "--epochs", "3"], "--epochs is not for cortes-vapnik: leave it out"),
        (["cortes-vapnik", "--degrees", "8"], "degrees must be some of 1 to 7, got 8"),
        (["freund-schapire", "table7"], "its parts are table1, table2, table3, figure2"),
        (["freund-schapire", "--degrees", "1;2"], "such as 1,2,4; got '1;2'"),
        (["freund-schapire", "--degrees", "7"], "degrees must be some of 1 to 6, got 7"),
        (["freund-schapire", "--epochs", "0"], "epochs must be from 1 to 30, got 0"),
        (["freund-schapire", "table2", "--degrees", "1"], "table 2 is about degree 4"),
    ],
)
def test_bad_usage_is_one_line(run, arguments, sentence):
    found = run(*arguments)
    assert found.exit_code == 2
    assert sentence in found.stderr
    assert found.stderr.count("\n") == 1
    assert found.stdout == ""


def test_missing_data_is_one_line(run, monkeypatch):
    def missing(name):
        raise DataError(f"the data set {name} is not there: put it there")

    monkeypatch.setattr("largemargin.data.load", missing)
    found = run("freund-schapire", "--quick")
    assert found.exit_code == 2
    assert found.stderr == "error: the data set mnist is not there: put it there\n"


@pytest.mark.parametrize("folder", ["work", "out"])
def test_a_folder_that_cannot_be_made_is_one_line(run, tmp_path, folder):
    (tmp_path / folder).write_text("a file")
    found = run("freund-schapire", "--quick")
    assert found.exit_code == 2
    assert found.stderr.startswith("error: cannot make the folder ")
    assert found.stderr.count("\n") == 1


def test_interruption_says_how_to_go_on(run, monkeypatch):
    def interrupted(experiment):
        raise KeyboardInterrupt

    monkeypatch.setattr(freund_schapire, "run_experiment", interrupted)
    found = run("freund-schapire", "--quick")
    assert found.exit_code == 130
    assert "the same command goes on from there" in found.stderr
    assert found.stderr.count("\n") == 1
