"""Errors stand beside that of a guess, and what they hide is said."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics

from largemargin import SVC, load
from largemargin.base.strata import held_out
from largemargin.cli.measuring import advice
from largemargin.data import read
from largemargin.report.intervals import ErrorRate
from largemargin.report.measures import Measures


@pytest.fixture
def rare(tmp_path):
    """Two columns, and a class of about three percent of the rows, which can be told in part."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = X @ [1.0, 0.5] + 0.3 * rng.normal(size=400) > 2.0
    lines = [f"{a:.4f},{b:.4f},{'yes' if c else 'no'}" for (a, b), c in zip(X, y, strict=True)]
    (tmp_path / "rare.csv").write_text("\n".join(["u,v,fraud", *lines]) + "\n")
    return tmp_path / "rare.csv"


@pytest.fixture
def noise(tmp_path):
    rng = np.random.default_rng(1)
    lines = [f"{rng.normal():.4f},{'ab'[rng.random() < 0.1]}" for _ in range(200)]
    (tmp_path / "noise.csv").write_text("\n".join(["u,kind", *lines]) + "\n")
    return tmp_path / "noise.csv"


def test_a_rare_class(run, rare):
    args = ("train", rare, "--model", "svc", "-o", "m")
    result = run(*args, "--no-refit", "--json")
    found = json.loads(result.stdout)
    X, y = read(rare)
    others = held_out(y, 0.25, 0)[1]
    scores = load("m").decision_function(X[others])
    answers = load("m").predict(X[others])
    assert found["imbalanced"]
    assert found["balanced_error"] == pytest.approx(
        1 - metrics.balanced_accuracy_score(y[others], answers)
    )
    assert found["auc"] == pytest.approx(metrics.roc_auc_score(y[others] == "yes", scores))
    recalls = metrics.recall_score(y[others], answers, average=None)
    assert found["recalls"] == pytest.approx(dict(zip(["no", "yes"], recalls, strict=True)))
    assert "--class-weight balanced" in result.stderr
    shown = run(*args, "--class-weight", "balanced", "--report", "a.html")
    assert "balanced error" in shown.stdout
    assert "AUC" in shown.stdout
    assert "look at the balanced error" not in shown.stderr
    assert "no better than a guess" not in shown.stderr
    page = Path("a.html").read_text()
    for words in ("hardly change the error above", "balanced error", "AUC"):
        assert words in page
    assert "recall" in run("evaluate", "m", rare).stdout


def test_no_better_than_a_guess(run, noise):
    result = run("train", noise, "--model", "svc", "-o", "m", "--report", "a.html")
    found = json.loads(run("evaluate", "m", noise, "--json").stdout)
    assert found["error"] == found["guess_error"]
    for told in (result.stderr, run("evaluate", "m", noise).stderr):
        assert "the model is no better than a guess" in told
        assert "--kernel linear" in told
        assert "--class-weight balanced" in told
    assert "no better than that" in Path("a.html").read_text()


def test_weights_that_were_asked_for_are_no_fault():
    counts = ErrorRate(12, 100), 0.05, "no", "yes", 0.05, True, 0.12
    found = Measures(*counts, {"no": 0.88, "yes": 0.8}, 0.9)
    [told] = advice(found, SVC(class_weight="balanced"), "")
    assert "finds 80.00 % of the class 'yes' instead; leave out --class-weight" in told
    [told] = advice(found, SVC(), "")
    assert "no better than a guess" in told


@pytest.mark.full
def test_compare_has_a_row_of_a_guess(run, rare):
    shown = run("compare", rare, "--only", "perceptron", "--folds", 2, "-q").stdout
    assert "(always answering no)" in shown
    assert "balanced error, %" in shown


@pytest.mark.parametrize(
    "scoring", ["auc", *(pytest.param(name, marks=pytest.mark.full) for name in ("balanced", "f1"))]
)
def test_what_a_search_goes_by(scoring, run, rare):
    args = ("train", rare, "--model", "svc", "--cv", "C=0.1,100", "-o", "m")
    found = json.loads(run(*args, "--scoring", scoring, "--json").stdout)["cv"]
    assert found["scoring"] == scoring
    assert found["chosen"] == min(found["table"], key=lambda row: row["mean"])["parameters"]
    plain = json.loads(run(*args, "--json").stdout)["cv"]
    assert plain["table"][0]["mean"] != found["table"][0]["mean"]
