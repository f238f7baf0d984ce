import json
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from largemargin import VotedPerceptron, describe, load

from .conftest import table


def test_digits(run, tmp_path):
    result = run("train", "digits")
    assert result.exit_code == 0
    assert result.stderr == ""
    for words in (
        "1347 x 64",
        "test error",
        "of 450 rows",
        "support vectors",
        "digits.safetensors",
    ):
        assert words in result.stdout
    assert load(tmp_path / "digits.safetensors").epochs == 10


def test_defaults_are_those_of_the_estimator(run, animals, tmp_path):
    assert run("train", animals, "-q", "-o", "m").exit_code == 0
    given = {"epochs": 10, "random_state": 0}
    assert load(tmp_path / "m")[-1].get_params() == {**VotedPerceptron().get_params(), **given}


def test_options_reach_the_estimator(run, animals, tmp_path):
    options = "--kernel rbf --gamma 0.5 --epochs 2 --method average --normalize --fit-intercept"
    options += (
        " --shuffle --seed 3 --n-jobs 1 --memory 1GB --precision float32 --coef0 2 --degree 5"
        " --matern-nu 0.5 --calibrate"
    )
    assert run("train", animals, "-q", "-o", "m", *options.split()).exit_code == 0
    found = load(tmp_path / "m")[-1].get_params()
    assert found == {
        "kernel": "rbf", "gamma": 0.5, "epochs": 2, "method": "average", "normalize": True,
        "fit_intercept": True, "shuffle": True, "random_state": 3, "n_jobs": 1, "memory": "1GB",
        "precision": "float32", "coef0": 2.0, "degree": 5, "max_seconds": None, "verbose": 0,
        "validation_fraction": 0.1, "matern_nu": 0.5, "calibrate": True,
    }  # fmt: skip


def test_json_and_quiet(run, animals, tmp_path):
    result = run("train", animals, "--json", "--test", table(tmp_path / "test.csv", seed=1))
    found = json.loads(result.stdout)
    assert found["rows"] == 90
    assert found["test_rows"] == 90
    assert found["test_error"] < 0.3
    assert found["file"] == "animals.safetensors"
    assert (tmp_path / "animals.safetensors").exists()
    assert run("train", animals, "--quiet").output == ""


def test_labels_that_do_not_occur_in_training(run, animals, tmp_path):
    file = table(tmp_path / "more.csv", labels=("ant", "bee", "dog"))
    assert json.loads(run("train", animals, "--json", "--test", file).stdout)["test_error"] >= 1 / 3
    numbers = table(tmp_path / "numbers.csv", labels=(0, 1, 2))
    halves = table(tmp_path / "halves.csv", labels=(0, 1, 2.5))
    found = json.loads(run("train", numbers, "--json", "--test", halves).stdout)
    assert found["test_error"] >= 1 / 3


def test_no_test_data_is_said(run, animals):
    assert "no test data" in run("train", animals, "--test-size", 0).stdout


@pytest.mark.parametrize("scale", ["standard", "minmax"])
@pytest.mark.parametrize("sparse", [False, True])
def test_scale_is_part_of_the_model(scale, sparse, run, animals, tmp_path):
    if sparse:
        X = sp.random(60, 5, density=0.5, random_state=np.random.default_rng(0), format="csr")
        data = tmp_path / "data.svm"
        dump_svmlight_file(X, np.arange(60) % 2, str(data), zero_based=False)
    else:
        data = animals
    assert run("train", data, "--scale", scale, "-q", "-o", "m").exit_code == 0
    model = load(tmp_path / "m")
    assert [name for name, _ in model.steps] == ["scale", "model"]
    assert run("predict", "m", data).exit_code == 0
    assert "Scaler (" in run("inspect", "m").stdout
    assert run("evaluate", "m", data).exit_code == 0


def test_cross_validation(run, animals, tmp_path):
    args = ("train", animals, "--cv", "degree=1,2", "--cv", "fit-intercept=true,false", "-o", "m")
    result = run(*args, "--scale", "standard")
    assert result.exit_code == 0
    assert "mean error" in result.stdout
    assert "5 folds" in result.stdout
    info = describe(tmp_path / "m")["info"]
    rows = info["cv"]["table"]
    assert [row["parameters"] for row in rows] == [
        {"degree": d, "fit_intercept": i} for d in (1, 2) for i in (True, False)
    ]
    best = min(rows, key=lambda row: row["mean"])
    assert info["cv"]["chosen"] == best["parameters"]
    assert {n: load(tmp_path / "m")[-1].get_params()[n] for n in best["parameters"]} == (
        best["parameters"]
    )
    assert "mean error" in run("inspect", "m").stdout
    assert json.loads(run(*args, "--json").stdout)["cv"]["folds"] == 5


def test_max_seconds_warns_and_writes(run, tmp_path):
    result = run("train", "digits", "--epochs", 500, "--max-seconds", 0.001, "-o", "m")
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: stopped after")
    assert len(result.stderr.splitlines()) == 1
    assert describe(tmp_path / "m")["info"]["warnings"]


def test_a_file_is_overwritten(run, animals, tmp_path):
    for degree in (2, 3):
        assert run("train", animals, "-q", "--degree", degree).exit_code == 0
    assert load(tmp_path / "animals.safetensors")[-1].degree == 3


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["no-such"], "no file and no data set"),
        (["digts"], "did you mean digits"),
        (["digits", "--label", "x"], "for files"),
        (["animals.csv", "--label", "sort"], "no column called"),
        (["animals.csv", "--label", "9"], "not a column"),
        (["animals.csv", "--kernel", "cosine"], "kernel must be one of"),
        (["animals.csv", "--gamma", "big"], "gamma must be"),
        (["animals.csv", "--gamma", "nan"], "gamma must be"),
        (["animals.csv", "--degree", "-1"], "degree must be"),
        (["animals.csv", "--degree", "x"], "degree"),
        (["animals.csv", "--epochs", "0"], "epochs must be"),
        (["animals.csv", "--method", "guess"], "method must be"),
        (["animals.csv", "--memory", "much"], "memory must be"),
        (["animals.csv", "--precision", "half"], "precision must be"),
        (["animals.csv", "--n-jobs", "0"], "n_jobs must be"),
        (["animals.csv", "--max-seconds", "-1"], "max_seconds must be"),
        (["animals.csv", "--scale", "log"], "--scale must be one of"),
        (["animals.csv", "--model", "svm"], "--model must be one of voted-perceptron, svc, nu-svc"),
        (["animals.csv", "--C", "1"], "belongs to svc, kernel-adatron"),
        (["animals.csv", "--tol", "1e-3"], "--tol is not an option of voted-perceptron"),
        (["animals.csv", "--cv", "degree"], "NAME=V1,V2"),
        (["animals.csv", "--cv", "degree=1,,2"], "NAME=V1,V2"),
        (["animals.csv", "--cv", "depth=1,2"], "no such parameter"),
        (["animals.csv", "--cv", "degree=1", "--cv", "degree=2"], "twice"),
        (["animals.csv", "--cv", "degree=1,x"], "degree must be"),
        (
            ["animals.csv", "--test", "narrow.csv"],
            "the columns 'length', 'width', 'height' are missing",
        ),
        (["animals.csv", "--test-size", "1"], "--test-size must be a share of the rows"),
        (["animals.csv", "--scoring", "balanced"], "--scoring says what --cv makes small"),
        (["animals.csv", "--scoring", "luck", "--cv", "degree=1,2"], "--scoring must be one of"),
        (["animals.csv", "--missing", "ignore"], "--missing must be one of impute, drop, refuse"),
        (["animals.csv", "--drop", "weight"], "--drop: there is no column 'weight'"),
        (["animals.csv", "--categorical", "9"], "--categorical: there is no column '9'"),
        (["animals.csv", "--test", "no-such"], "no file and no data set"),
        (["animals.csv", "-o", "none/m"], "does not exist"),
        (["animals.csv", "-o", "."], "folder"),
        (["animals.csv", "--frobnicate"], "train --help"),
        ([], "Missing argument"),
        (["one.csv"], "only one class"),
        (["nan.csv", "--missing", "refuse"], "the column 'a' has no value in row 1"),
        (["empty.csv"], "empty"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_mistakes_are_one_line(args, words, fails, animals, tmp_path):
    (tmp_path / "narrow.csv").write_text("a,b\n1,ant\n2,bee\n")
    (tmp_path / "one.csv").write_text("a,b\n1,ant\n2,ant\n")
    (tmp_path / "nan.csv").write_text("a,b\n1,ant\nnan,bee\n")
    (tmp_path / "empty.csv").touch()
    assert words in fails("train", *args)
    assert not list(tmp_path.glob("*.safetensors"))


def test_interrupted_search_goes_on_with_the_best(run, animals, monkeypatch, tmp_path):
    fits = []
    fit = VotedPerceptron.fit

    def interrupted(self, X, y):
        fits.append(self.degree)
        if len(fits) == 8:
            raise KeyboardInterrupt
        return fit(self, X, y)

    monkeypatch.setattr(VotedPerceptron, "fit", interrupted)
    result = run("train", animals, "--cv", "degree=1,2,3", "-o", "m")
    assert result.exit_code == 130
    assert "after 1 of 3 settings" in result.stderr
    assert "since it was interrupted" in result.stdout
    assert load(tmp_path / "m")[-1].degree == 1


def test_interrupted_hard(run, animals, monkeypatch, tmp_path):
    def interrupted(self, X, y):
        raise KeyboardInterrupt

    monkeypatch.setattr(VotedPerceptron, "fit", interrupted)
    for args in ([], ["--cv", "degree=1,2"]):
        result = run("train", animals, *args)
        assert result.exit_code == 130
        assert "Traceback" not in result.output
    assert not list(tmp_path.glob("*.safetensors"))


def test_warnings_are_left_as_they_were(run, animals):
    shown = warnings.showwarning
    run("train", animals, "-q")
    assert warnings.showwarning is shown
