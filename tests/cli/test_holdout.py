"""A quarter of the rows is held out, measured and known again; then the model is of all rows."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from largemargin import SVC, describe, load
from largemargin.base.strata import held_out
from largemargin.data import read

from .conftest import PLAIN, table

SVM = ("--model", "svc", "-o", "m")


def test_the_error_is_of_rows_that_were_not_seen(run, animals):
    found = json.loads(run("train", animals, *SVM, "--seed", 3, "--json").stdout)
    X, y = read(animals)
    rows, others = held_out(y, 0.25, 3)
    first = make_pipeline(StandardScaler(), SVC()).fit(X[rows], y[rows])
    assert found["test_rows"] == len(others) == 24
    assert found["test_error"] == np.mean(first.predict(X[others]) != y[others])
    assert found["guess_error"] == pytest.approx(2 / 3)
    assert found["rows"] == 90
    last = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    np.testing.assert_array_equal(load("m").decision_function(X), last.decision_function(X))


def test_it_is_said(run, animals):
    shown = run("train", animals, *SVM).stdout
    for words in ("24 of 90 rows, drawn by class with --seed 0", "of 24 held-out rows",
                  "fitted again on all 90 rows", "always answering 'ant'", "kind (it is the last",
                  "standard (the default for tables)"):  # fmt: skip
        assert words in shown
    noted = describe("m")["info"]["held_out"]
    assert (noted["fraction"], noted["seed"], noted["rows"]) == (0.25, 0, 24)
    assert noted["refitted"] is True
    assert "a share of 0.25, with seed 0" in run("inspect", "m").stdout


def test_the_first_model_can_be_kept(run, animals):
    shown = run("train", animals, *SVM, "--no-refit").stdout
    assert "of the 66 rows that were not held out (--no-refit)" in shown
    noted = describe("m")["info"]["held_out"]
    found = json.loads(run("evaluate", "m", animals, "--json").stdout)
    assert (found["rows"], found["error"]) == (24, noted["error"])
    assert found["training_rows"] == "some"
    assert "that the model was not trained on" in run("evaluate", "m", animals).stdout
    assert run("report", "m", animals, "-o", "a.html").exit_code == 0
    assert "The true error lies between" in Path("a.html").read_text()


def test_rows_of_training_are_known_again(run, animals, tmp_path):
    run("train", animals, *SVM)
    shown = run("evaluate", "m", animals).stdout
    assert "training error" in shown
    assert "interval" not in shown
    assert "The model was trained on these rows" in shown
    assert "measured before it was fitted on all rows" in shown
    assert run("evaluate", "m", animals, "--report", "a.html").exit_code == 0
    page = Path("a.html").read_text()
    assert "The true error" not in page
    assert "rows that were held out at first" in page
    other = table(tmp_path / "other.csv", seed=1)
    assert json.loads(run("evaluate", "m", other, "--json").stdout)["training_rows"] == "none"


def test_the_page_is_of_the_model_that_was_measured(run, animals):
    run("train", animals, *SVM, "--report", "a.html")
    page = Path("a.html").read_text()
    assert "24 rows of" in page
    assert "The true error lies between" in page
    assert "fitted again with the same settings on all 90 rows" in page
    assert "--test-size 0.25" in page


@pytest.mark.parametrize(
    ("n", "rare", "words"),
    [(12, 6, "12 rows are too few"), (40, 1, "only one class has more than one row")],
)
def test_too_few_rows(n, rare, words, run, tmp_path):
    lines = [f"{k % 7},{k % 5},{'ab'[k < rare]}\n" for k in range(n)]
    (tmp_path / "few.csv").write_text("u,v,kind\n" + "".join(lines))
    result = run("train", "few.csv", *SVM)
    assert result.exit_code == 0
    assert f"no test data, {words}" in result.stdout


def test_the_only_row_of_a_class_stays(run, animals, tmp_path):
    (tmp_path / "one.csv").write_text(animals.read_text() + "9,9,9,zebra\n")
    result = run("train", "one.csv", *SVM)
    assert "of 24 held-out rows" in result.stdout
    assert "classes of one row only: 'zebra'" in result.stdout


def test_kernel_values_lose_columns_too(run, tmp_path):
    X, y = read(table(tmp_path / "a.csv", labels=(0, 1, 2)))
    np.savez(tmp_path / "gram.npz", X=X @ X.T, y=y)
    found = json.loads(run("train", "gram.npz", *SVM, "--kernel", "precomputed", "--json").stdout)
    rows, others = held_out(y, 0.25, 0)
    model = SVC(kernel="linear").fit(X[rows], y[rows])
    assert found["scale"] == "none"
    assert found["test_error"] == np.mean(model.predict(X[others]) != y[others])


def test_a_time_limit_is_shared(run, animals, monkeypatch):
    """A first fit that takes more than half of the time leaves none for a second."""
    given = []
    fit = SVC.fit

    def slow(self, X, y):
        given.append(self.max_seconds)
        monkeypatch.setattr("largemargin.cli.fitting.time.perf_counter", clock(6.0))
        return fit(self, X, y)

    def clock(now):
        return lambda: now

    monkeypatch.setattr("largemargin.cli.fitting.time.perf_counter", clock(0.0))
    monkeypatch.setattr(SVC, "fit", slow)
    shown = run("train", animals, *SVM, "--max-seconds", 10).stdout
    assert given == [10.0]
    assert "--max-seconds leaves no time to fit again on all" in shown
    assert load("m")[-1].max_seconds == 10.0


def test_ctrl_c_in_the_second_fit_keeps_the_first(run, animals, monkeypatch):
    fit, fits = SVC.fit, []

    def interrupted(self, X, y):
        fits.append(len(y))
        if len(fits) == 2:
            raise KeyboardInterrupt
        return fit(self, X, y)

    monkeypatch.setattr(SVC, "fit", interrupted)
    result = run("train", animals, *SVM)
    assert result.exit_code == 130
    assert "since fitting again was interrupted" in result.stdout
    assert describe("m")["info"]["held_out"]["refitted"] is False


def test_going_on_with_a_model(run, fails, animals, tmp_path):
    whole = ("train", animals, *SVM, "--C", 1000, "--gamma", 2)
    assert run(*whole, "-o", "whole").exit_code == 0
    for options, rows in (((), 90), (("--no-refit",), 90), (("--test-size", 0), 90)):
        stopped = run(*whole, *options, "--max-iter", 3)
        assert "train again with --resume" in stopped.stderr
        assert run(*whole, "--resume", "--seed", 5).exit_code == 0
        model = load("m")
        assert model[-1].converged_
        assert not model[-1].warm_start
        X = read(animals).X
        np.testing.assert_allclose(
            model.decision_function(X), load("whole").decision_function(X), atol=1e-4
        )
        assert describe("m")["info"]["rows"] == rows
    other = table(tmp_path / "other.csv", seed=1)
    assert "was not trained on the rows of" in fails("train", other, *SVM, "--resume")
    assert "begins anew each time" in fails("train", animals, "-o", "m", "--resume")
    assert "holds a SVC" in fails("train", animals, "--model", "nu-svc", "-o", "m", "--resume")
    assert "there is no model file" in fails("train", animals, "--model", "svc", "--resume")


def test_pictures_and_sparse_data_are_not_scaled(run, animals, tmp_path):
    (tmp_path / "a.svm").write_text("".join(f"{k % 2} 1:{k % 2} 2:{k}\n" for k in range(30)))
    assert json.loads(run("train", "a.svm", "--json", "-o", "m").stdout)["scale"] == "none"
    assert "the default for pictures" in run("train", "digits", "--epochs", 1, "-o", "m").stdout
    assert json.loads(run("train", animals, *PLAIN, "--json").stdout)["scale"] == "none"


def test_the_label_is_named(run, fails, animals, tmp_path):
    run("train", animals, *SVM)
    assert "label           kind" in run("evaluate", "m", animals).stdout
    assert "label            kind" in run("inspect", "m").stdout
    lines = animals.read_text().splitlines()
    (tmp_path / "other.csv").write_text("\n".join([lines[0], *(f"{x}s" for x in lines[1:])]))
    assert "in the column 'kind', are not those the model knows" in fails(
        "evaluate", "m", "other.csv"
    )
    (tmp_path / "none.csv").write_text("\n".join(x.rsplit(",", 1)[0] for x in lines))
    assert "is called 'kind'" in fails("evaluate", "m", "none.csv")
