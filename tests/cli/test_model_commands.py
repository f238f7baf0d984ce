"""predict, evaluate and inspect."""

import csv
import json

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file
from sklearn.metrics import confusion_matrix, precision_score, recall_score

from largemargin import VotedPerceptron, data, load, save

from ..model_file.models import forge, parts_of
from .conftest import table


def test_predict_prints_a_label_a_line(run, model, animals):
    result = run("predict", model, animals)
    X, _ = data.read(animals)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == load(model).predict(X).tolist()


def test_predict_without_labels(run, fails, model, animals, tmp_path):
    rows = [line.rsplit(",", 1)[0] for line in animals.read_text().splitlines()]
    (tmp_path / "bare.csv").write_text("\n".join(rows) + "\n")
    expected = run("predict", model, animals).stdout
    assert run("predict", model, "bare.csv", "--no-label").stdout == expected
    assert run("predict", model, "bare.csv").stdout == expected  # the label is remembered
    assert "bare.csv has no labels" in fails("evaluate", model, "bare.csv")
    assert run("predict", model, "bare.csv", "--no-label", "-o", "out.txt").output == ""
    assert (tmp_path / "out.txt").read_text() == expected


def test_predict_scores(run, model, animals):
    rows = list(csv.reader(run("predict", model, animals, "--scores").stdout.splitlines()))
    assert rows[0] == ["label", "score ant", "score bee", "score cat"]
    X, _ = data.read(animals)
    scores = load(model).decision_function(X)
    np.testing.assert_array_equal(np.array([row[1:] for row in rows[1:]], float), scores)
    assert [row[0] for row in rows[1:]] == load(model).predict(X).tolist()


def test_predict_scores_of_two_classes(run, tmp_path):
    file = table(tmp_path / "two.csv", labels=(-1, 1), header=False)
    run("train", file, "-q", "-o", "m")
    rows = list(csv.reader(run("predict", "m", file, "--scores").stdout.splitlines()))
    assert rows[0] == ["label", "score"]
    assert all((float(score) > 0) == (label == "1") for label, score in rows[1:])


def test_named_set_is_its_test_set(run):
    run("train", "digits", "-q", "--epochs", 2)
    assert len(run("predict", "digits.safetensors", "digits").stdout.splitlines()) == 450
    assert (
        json.loads(run("evaluate", "digits.safetensors", "digits", "--json").stdout)["rows"] == 450
    )


def test_svmlight_that_does_not_use_the_last_feature(run, tmp_path):
    X, y = np.eye(4)[np.arange(20) % 4], np.arange(20) % 2
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False)
    dump_svmlight_file(X[:, :2], y, str(tmp_path / "b.svm"), zero_based=False)
    assert run("train", "a.svm", "-q", "-o", "m").exit_code == 0
    assert len(run("predict", "m", "b.svm").stdout.splitlines()) == 20


def test_evaluate(run, model, tmp_path):
    file = table(tmp_path / "test.csv", seed=5)
    found = json.loads(run("evaluate", model, file, "--json").stdout)
    X, y = data.read(file)
    fitted = load(model)
    predicted = fitted.predict(X)
    assert found["error"] == np.mean(predicted != y)
    assert found["confusion"] == confusion_matrix(y, predicted).tolist()
    for name, score in (("precision", precision_score), ("recall", recall_score)):
        expected = score(y, predicted, average=None)
        np.testing.assert_allclose([row[name] for row in found["classes"]], expected)
    assert [row["label"] for row in found["classes"]] == ["ant", "bee", "cat"]
    rules = {(row["method"], row["normalize"]): row["error"] for row in found["rules"]}
    for (method, unit), error in rules.items():
        assert error == np.mean(fitted.predict(X, method, unit) != y)
    assert {"vote", "average", "last", "random", "longest"} == {method for method, _ in rules}
    shown = run("evaluate", model, file).stdout
    for words in ("precision", "confusions", "every rule", "longest"):
        assert words in shown


@pytest.mark.parametrize("method", ["pocket", "holdout"])
def test_evaluate_has_the_rule_that_looked(method, run, animals):
    run("train", animals, "-q", "--method", method, "-o", "m", "--scale", "standard")
    found = json.loads(run("evaluate", "m", animals, "--json").stdout)
    assert [row["method"] for row in found["rules"] if row["own"]] == [method]


def test_evaluate_with_labels_of_other_types(run, fails, tmp_path):
    file = table(tmp_path / "zero-one.csv", labels=(0, 1))
    X, y = data.read(file)
    model = VotedPerceptron(random_state=0).fit(X, y == 1)
    save(model, tmp_path / "m")
    error = json.loads(run("evaluate", "m", file, "--json").stdout)["error"]
    assert error == np.mean(model.predict(X) != y)
    text = table(tmp_path / "text.csv", labels=("False", "True"))
    assert json.loads(run("evaluate", "m", text, "--json").stdout)["error"] == error
    save(VotedPerceptron(random_state=0).fit(X, y.astype(str)), tmp_path / "m")
    assert json.loads(run("evaluate", "m", file, "--json").stdout)["error"] == error
    save(VotedPerceptron(random_state=0).fit(X, y), tmp_path / "m")
    assert "not those the model knows" in fails("evaluate", "m", table(tmp_path / "x.csv"))


def test_evaluate_counts_unknown_labels(run, model, tmp_path):
    file = table(tmp_path / "more.csv", labels=("ant", "bee", "dog"))
    result = run("evaluate", model, file, "--json")
    assert "30 rows have labels that the model does not know" in result.stderr
    assert json.loads(result.stdout)["unknown_labels"] == 30


def test_columns_in_another_order(run, model, animals, tmp_path):
    rows = [line.split(",") for line in animals.read_text().splitlines()]
    (tmp_path / "turned.csv").write_text("".join(f"{k},{w},{h},{n}\n" for n, w, h, k in rows))
    assert run("predict", model, "turned.csv").stdout == run("predict", model, animals).stdout
    error = json.loads(run("evaluate", model, "turned.csv", "--json").stdout)["error"]
    assert error == json.loads(run("evaluate", model, animals, "--json").stdout)["error"]


def test_columns_that_are_missing_or_new(run, fails, model, animals, tmp_path):
    text = animals.read_text()
    (tmp_path / "renamed.csv").write_text(text.replace("width", "breadth"))
    for command in ("predict", "evaluate"):
        told = fails(command, model, "renamed.csv")
        assert "the column 'width' is missing" in told
        assert "did you mean 'breadth' by 'width'?" in told or "'breadth'" in told
    lines = [f"{i},{line}" for i, line in enumerate(text.splitlines()[1:])]
    (tmp_path / "wide.csv").write_text("\n".join(["id,length,width,height,kind", *lines]) + "\n")
    result = run("predict", model, "wide.csv")
    assert result.stdout == run("predict", model, animals).stdout
    assert "the column 'id' is not used" in result.stderr


def test_inspect(run, model):
    shown = run("inspect", model).stdout
    for words in ("VotedPerceptron", "poly, degree 4, gamma 0.333333", "ant", "support vectors"):
        assert words in shown
    for words in ("length, width, height", "sha256", "scikit-learn", "bytes"):
        assert words in shown
    found = json.loads(run("inspect", model, "--json").stdout)
    assert found["steps"][0]["labels"] == ["ant", "bee", "cat"]
    assert found["info"]["rows"] == 90


def test_inspect_models_made_in_python(run, tmp_path):
    """With notes of all sorts, or none, two classes, a threshold, and infinite parameters."""
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    model = VotedPerceptron(fit_intercept=True, max_seconds=float("inf")).fit(X, y)
    for info in (None, {"cv": 5}, {"cv": {"table": []}, "[bold]": "[red]x", "deep": [{"a": [1]}]}):
        save(model, tmp_path / "m", info=info)
        result = run("inspect", "m")
        assert result.exit_code == 0
        assert "1 against 0" in result.stdout
        assert "plus 1 for the threshold" in result.stdout
    assert "[bold]" in result.stdout
    parameters = json.loads(run("inspect", "m", "--json").stdout)["steps"][0]["parameters"]
    assert parameters["max_seconds"] == "inf"


@pytest.mark.parametrize("facts", [{}, [], {"kernel": 3}, {"n_mistakes": 3}, {"n_mistakes": ["a"]}])
def test_inspect_a_forged_file(facts, run, tmp_path):
    model = VotedPerceptron().fit(np.eye(4), np.array([0, 1, 0, 1]))
    save(model, tmp_path / "good")
    header, arrays = parts_of(tmp_path / "good")
    header["model"]["facts"] = facts
    forge(tmp_path / "m", header, arrays)
    result = run("inspect", "m")
    assert result.exit_code in (0, 2)
    assert len(result.stderr.splitlines()) == (result.exit_code == 2)


@pytest.mark.parametrize("command", ["predict", "evaluate", "inspect"])
def test_bad_model_files(command, fails, model, animals, tmp_path):
    rest = [] if command == "inspect" else [animals]
    raw = model.read_bytes()
    (tmp_path / "short").write_bytes(raw[:500])
    (tmp_path / "altered").write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    for name, words in {
        "none": "there is no file",
        "short": "not a whole model file",
        "altered": "damaged",
        "animals.csv": "not a whole model file",
        ".": "folder",
    }.items():
        assert words in fails(command, name, *rest)


def test_bad_data_for_a_model(fails, model, animals, tmp_path):
    (tmp_path / "wide.csv").write_text("1,2,3,4,5\n1,2,3,4,6\n")
    (tmp_path / "nan.csv").write_text("1,2,nan,ant\n1,2,3,bee\n")
    for command in ("predict", "evaluate"):
        assert "features" in fails(command, model, "wide.csv")
        assert "missing value" in fails(command, model, "nan.csv")
        assert "features" in fails(command, model, "digits")
        assert "no file and no data set" in fails(command, model, "nothing.csv")
    assert "contradict" in fails("predict", model, animals, "--label", "kind", "--no-label")
    assert "does not exist" in fails("predict", model, animals, "-o", "none/out.txt")


def test_no_command_writes_over_a_file_that_it_reads(fails, animals, model):
    before = animals.read_bytes(), model.read_bytes()
    for command in (
        ("train", animals, "-o", animals),
        ("train", animals, "--report", animals),
        ("train", animals, "--test", animals, "-o", f"./{animals.name}"),
        ("predict", model, animals, "-o", animals),
        ("predict", model, animals, "-o", model),
        ("evaluate", model, animals, "--report", animals),
        ("report", model, animals, "-o", animals),
        ("report", model, animals, "-o", model),
        ("compare", animals, "--report", animals),
    ):
        assert "one of the command's other files; name another one" in fails(*command)
    assert (animals.read_bytes(), model.read_bytes()) == before


def test_what_a_reader_says_is_told_in_options(fails, animals, model, tmp_path):
    words = tmp_path / "words.csv"
    words.write_text("kind,size\n" + "".join(f"ant,{k / 7}\nbee,{k / 9}\n" for k in range(40)))
    assert "give --label NAME, or the position of the column from 0" in fails("train", words)
    assert "--label 17 is not a column" in fails("train", animals, "--label", 17)
    assert "the columns 'length', 'width', 'height' are missing" in fails(
        "predict", model, words, "--label", "kind"
    )
