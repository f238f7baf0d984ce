"""`largemargin reproduce`, as a command."""

import json

import pytest
from typer.testing import CliRunner

from largemargin.cli.app import app
from largemargin.data.errors import DataError
from largemargin.reproduce import freund_schapire


@pytest.fixture
def run(small_mnist, tmp_path, monkeypatch):
    monkeypatch.setattr("largemargin.data.load", lambda name: small_mnist)

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


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["cortes-vapnik"], "there is no paper 'cortes-vapnik'; the papers are freund-schapire"),
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
