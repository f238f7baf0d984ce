"""A machine that learns without labels, from the command line."""

import json

import numpy as np
import pytest

from largemargin import OneClassSVM, describe, load


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(60, 3)).round(3)


@pytest.fixture
def files(tmp_path, X):
    """The same rows alone, with a column of words, and with one of numbers first."""
    lines = [",".join(map(str, row)) for row in X.tolist()]
    (tmp_path / "rows.csv").write_text("\n".join(["u,v,w", *lines]) + "\n")
    words = [f"{line},{'odd' if i < 3 else 'usual'}" for i, line in enumerate(lines)]
    (tmp_path / "words.csv").write_text("\n".join(["u,v,w,kind", *words]) + "\n")
    numbers = [f"{i % 2},{line}" for i, line in enumerate(lines)]
    (tmp_path / "numbers.csv").write_text("\n".join(["kind,u,v,w", *numbers]) + "\n")
    sparse = [f"{i % 2} 1:{a} 2:{b} 3:{c}" for i, (a, b, c) in enumerate(X.tolist())]
    (tmp_path / "rows.svm").write_text("\n".join(sparse) + "\n")
    return tmp_path


TRAIN = ("--model", "one-class-svm", "--nu", 0.3, "-o", "model")
PLAIN = (*TRAIN, "--scale", "none")


@pytest.mark.parametrize(
    ("file", "label"), [("rows.csv", []), ("words.csv", ["--label", "kind"]),
                        ("numbers.csv", ["--label", "kind"]), ("rows.svm", [])],
)  # fmt: skip
def test_train_predict_and_inspect(run, files, X, file, label):
    result = run("train", file, *PLAIN, *label, "--json")
    expected = OneClassSVM(nu=0.3).fit(X)
    model = load(files / "model")
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-9)
    found = json.loads(result.stdout)
    assert found["outliers"] == np.mean(expected.predict(X) == -1)
    assert found["features"] == 3
    assert "classes" not in found
    assert describe(files / "model")["steps"][0]["labels"] is None
    answers = run("predict", "model", file, *label).stdout.split()
    assert answers == [str(answer) for answer in expected.predict(X)]
    scores = run("predict", "model", file, *label, "--scores").stdout.splitlines()
    assert scores[0] == "label,score"
    assert [line.split(",")[0] for line in scores[1:]] == answers
    shown = run("inspect", "model").stdout
    assert "OneClassSVM" in shown
    assert "nu 0.3" in shown


def test_what_train_prints(run, files):
    shown = run("train", "rows.csv", *TRAIN, "--scale", "standard").stdout
    assert "of the training rows" in shown
    assert "test error" not in shown
    assert "classes" not in shown
    assert "test" not in run("train", "digits", *TRAIN).stdout


@pytest.mark.parametrize("option", ["--cv nu=0.1,0.2", "--test rows.csv"])
def test_what_compares_with_labels(fails, files, option):
    words = fails("train", "rows.csv", *TRAIN, *option.split())
    assert f"{option.split()[0]} compares with labels, and one-class-svm learns without" in words
    assert not (files / "model").exists()


def test_the_page(run, files, X):
    run("train", "rows.csv", *TRAIN, "--report", "page.html")
    of_training = (files / "page.html").read_text()
    outside = int((load(files / "model").decision_function(X) < 0).sum())
    assert f"{outside} of {len(X)} rows are outside" in of_training
    assert "nu-property, outliers" in of_training
    run("report", "model", "rows.csv", "-o", "again.html")
    assert "nu-property, outliers" in (files / "again.html").read_text()


def test_what_is_for_other_models(run, fails, files):
    run("train", "rows.csv", *TRAIN)
    words = fails("evaluate", "model", "words.csv", "--label", "kind")
    assert "model holds a OneClassSVM, which learns without labels" in words
    assert "does not learn from a stream" in fails("stream", "model")
    assert "does not learn from a stream" in fails("stream", "one-class-svm")
    assert "--stream is for models that" in fails("train", "rows.csv", *TRAIN, "--stream")
    assert "only classifiers are compared" in fails("compare", "digits", "--only", "one-class-svm")
    assert (
        "the columns that training did not have" not in run("predict", "model", "rows.csv").stderr
    )
    assert "'kind'" in run("predict", "model", "numbers.csv").stderr
    (files / "bare.csv").write_text("0,1,2,3\n1,2,3,4\n")
    run("train", "bare.csv", *TRAIN, "--label", 0)
    assert "name it with --label" in fails("predict", "model", "bare.csv")
