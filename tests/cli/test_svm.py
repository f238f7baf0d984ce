"""Support vector machines from the command line."""

import json

import numpy as np
import pytest

from largemargin import SVC, KernelAdatron, NuSVC, data, describe, load
from largemargin.kernels import Matern

from .conftest import PLAIN, table

MODELS = {"svc": SVC(), "nu-svc": NuSVC(nu=0.1), "kernel-adatron": KernelAdatron(C=10.0)}
OPTIONS = {"svc": [], "nu-svc": ["--nu", 0.1], "kernel-adatron": ["--C", 10]}


@pytest.fixture(params=MODELS)
def name(request):
    return request.param


@pytest.fixture
def machine(name, run, animals):
    args = ("train", animals, *PLAIN, "--model", name, *OPTIONS[name])
    assert run(*args, "-q", "-o", "machine").output == ""
    return animals.parent / "machine"


def test_train_is_fit(name, machine, animals):
    X, y = data.read(animals)
    loaded = load(machine)
    assert loaded.get_params() == MODELS[name].get_params()
    expected = MODELS[name].fit(X, y).decision_function(X)
    np.testing.assert_array_equal(loaded.decision_function(X), expected)


def test_predict_evaluate_and_inspect(name, run, machine, animals):
    X, y = data.read(animals)
    predicted = load(machine).predict(X)
    assert run("predict", machine, animals).stdout.splitlines() == predicted.tolist()
    assert run("predict", machine, animals, "--scores").stdout.startswith("label,score ant")
    result = run("evaluate", machine, animals, "--json")
    found = json.loads(result.stdout)
    assert found["error"] == np.mean(predicted != y)
    assert found["rules"] == []
    shown = run("evaluate", machine, animals).stdout
    assert "confusions" in shown
    assert "every rule" not in shown
    shown = run("inspect", machine).stdout
    nu_or_C = {"svc": "C 1, slack linear", "nu-svc": "nu 0.1", "kernel-adatron": "C 10"}[name]
    for words in (nu_or_C, "multiclass ovr", "rbf, gamma 0.", "support vectors", "duality gap"):
        assert words in shown
    for words in ("mistakes", "epochs", "separable"):
        assert words not in shown
    facts = json.loads(run("inspect", machine, "--json").stdout)["steps"][0]["facts"]
    assert facts["n_support"] == load(machine).n_support_


def test_what_train_prints(name, run, animals, tmp_path):
    args = ("train", animals, *PLAIN, "--model", name, *OPTIONS[name])
    result = run(*args, "--test", table(tmp_path / "test.csv", seed=1))
    assert result.exit_code == 0
    assert result.stderr == ""
    for words in (f"{name}, ", "problems         3", "duality gap", "iterations", "of 90 rows"):
        assert words in result.stdout
    found = json.loads(run(*args, "--json").stdout)
    model = load(tmp_path / "animals.safetensors")
    assert found["model"] == name
    assert found["support_vectors"] == model.n_support_
    assert found["dual_gap"] == model.dual_gap_.max()
    assert found["parameters"]["kernel"] == "rbf"
    assert found["converged"] is True


def test_options_reach_the_estimator(run, animals, tmp_path):
    options = "--C 2 --slack squared --multiclass ovo --class-weight balanced --kernel poly"
    options += " --degree 2 --gamma 0.5 --coef0 2 --no-intercept --tol 1e-4 --min-margin 1e-5"
    options += " --max-iter 100000 --max-seconds 100 --memory 1GB --n-jobs 1 --precision float32"
    options += " --matern-nu 2.5 --calibrate"
    args = ("train", animals, *PLAIN, "--model", "svc", "-q", "-o", "m")
    assert run(*args, *options.split()).exit_code == 0
    assert load(tmp_path / "m").get_params() == {
        "C": 2.0, "slack": "squared", "multiclass": "ovo", "class_weight": "balanced",
        "kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 2.0, "fit_intercept": False,
        "tol": 1e-4, "min_margin": 1e-5, "max_iter": 100000, "max_seconds": 100.0,
        "memory": "1GB", "n_jobs": 1, "precision": "float32", "verbose": 0, "warm_start": False,
        "matern_nu": 2.5, "calibrate": True,
    }  # fmt: skip


def test_the_smoothness_of_a_matern_kernel(run, animals, tmp_path):
    args = (
        "train",
        animals,
        *PLAIN,
        "--model",
        "svc",
        "--kernel",
        "matern",
        "--matern-nu",
        2.5,
        "-o",
        "m",
    )
    result = run(*args, "--gamma", 0.5)
    assert result.exit_code == 0
    assert "matern, matern_nu 2.5, gamma 0.5" in result.stdout
    X, y = data.read(animals)
    expected = SVC(kernel=Matern(nu=2.5, gamma=0.5)).fit(X, y).decision_function(X)
    np.testing.assert_array_equal(load(tmp_path / "m").decision_function(X), expected)
    assert "matern, nu 2.5, gamma 0.5" in run("inspect", tmp_path / "m").stdout


def test_learning_rate(run, animals, tmp_path):
    args = ("train", animals, *PLAIN, "--model", "kernel-adatron", "--C", 1, "-q", "-o", "m")
    assert run(*args, "--learning-rate", "0.5").exit_code == 0
    assert load(tmp_path / "m").learning_rate == 0.5


def test_infinite_C(run, animals, tmp_path):
    args = ("train", animals, *PLAIN, "--model", "svc", "--C", "inf", "--gamma", 10, "-o", "m")
    assert "svc, C inf" in run(*args).stdout
    assert np.isinf(load(tmp_path / "m").C)
    assert json.loads(run(*args, "--json").stdout)["parameters"]["C"] == "inf"
    assert "C inf" in run("inspect", "m").stdout


def test_data_that_cannot_be_separated(run, tmp_path):
    (tmp_path / "mixed.csv").write_text("x,y\n0,a\n1,b\n0,b\n1,a\n")
    result = run("train", "mixed.csv", "--model", "svc", "--C", "inf", "-o", "m")
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: the training data cannot be separated")
    assert len(result.stderr.splitlines()) == 1
    shown = run("inspect", "m").stdout
    assert "separable" in shown


def test_stopping_early_is_one_line(run, animals, tmp_path):
    result = run(
        "train", animals, *PLAIN, "--model", "svc", "--C", 1000, "--max-iter", 2, "-o", "m"
    )
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: SVC stopped before it converged because max_iter=2")
    assert len(result.stderr.splitlines()) == 1
    assert "(not converged)" in result.stdout
    assert describe(tmp_path / "m")["info"]["warnings"]
    assert not load(tmp_path / "m").converged_


@pytest.mark.parametrize("scale", ["none", "standard"])
def test_cross_validation(scale, run, animals, tmp_path):
    args = ("train", animals, "--model", "svc", "--scale", scale, "-o", "m")
    result = run(*args, "--cv", "C=0.001,1,inf", "--cv", "gamma=0.1,scale")
    assert result.exit_code == 0
    assert "mean error" in result.stdout
    cv = describe(tmp_path / "m")["info"]["cv"]
    assert [row["parameters"]["C"] for row in cv["table"]] == [0.001, 0.001, 1, 1, np.inf, np.inf]
    model = load(tmp_path / "m")
    final = model if scale == "none" else model[-1]
    assert {name: final.get_params()[name] for name in ("C", "gamma")} == cv["chosen"]
    assert cv["chosen"] == min(cv["table"], key=lambda row: row["mean"])["parameters"]
    assert "mean error" in run("inspect", "m").stdout


def test_warnings_of_a_search_are_one_line(run, animals):
    args = ("train", animals, *PLAIN, "--model", "svc", "--max-iter", 1, "-q", "-o", "m")
    result = run(*args, "--cv", "C=1,10")
    assert result.exit_code == 0
    first, second = result.stderr.splitlines()
    assert first == "warning: 10 fits of the search stopped before they converged"
    assert second.startswith("warning: SVC stopped before")


def test_two_classes_and_capped_nu(run, fails, tmp_path):
    rows = ["x,y", *(f"{i % 7},{'rare' if i % 10 == 0 else 'often'}" for i in range(60))]
    (tmp_path / "rare.csv").write_text("\n".join(rows) + "\n")
    assert "infeasible" in fails("train", "rare.csv", "--model", "nu-svc", "--nu", 0.9)
    args = ("train", "rare.csv", "--model", "nu-svc", "--nu", 0.9)
    assert run(*args, "--class-weight", "balanced", "-q", "--test-size", 0).output == ""
    result = run("train", table(tmp_path / "three.csv"), "--model", "nu-svc", "--nu", 0.9)
    assert result.exit_code == 0
    assert "infeasible for 3 of 3 problems" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ("--model svc --nu 0.1", "--nu is not an option of svc: it belongs to nu-svc"),
        (
            "--model svc --epochs 3",
            "--epochs is not an option of svc: it belongs to voted-perceptron",
        ),
        ("--model svc --normalize", "belongs to voted-perceptron"),
        ("--model svc --shuffle", "belongs to voted-perceptron"),
        ("--model svc --learning-rate 1", "belongs to kernel-adatron"),
        ("--model nu-svc --C 1", "--C is not an option of nu-svc"),
        ("--model nu-svc --slack squared", "--slack is not an option of nu-svc: it belongs to svc"),
        ("--model kernel-adatron --class-weight balanced", "--class-weight is not an option"),
        ("--model kernel-adatron --min-margin 1", "belongs to svc, nu-svc"),
        ("--model svc --C 0", "C must be positive"),
        ("--model svc --C nan", "C must be positive"),
        ("--model svc --C much", "--C"),
        ("--model svc --class-weight heavy", "--class-weight must be balanced"),
        ("--model svc --slack cubed", "slack must be one of"),
        ("--model svc --multiclass all", "multiclass must be one of"),
        ("--model nu-svc --multiclass crammer-singer", "multiclass must be one of"),
        ("--model nu-svc --nu 1.5", "nu must"),
        ("--model svc --tol 0", "tol must be"),
        ("--model svc --max-iter 0", "max_iter must be"),
        ("--model svc --min-margin -1", "min_margin must be"),
        ("--model svc --memory much", "memory must be"),
        ("--model svc --gamma auto!", "gamma must be"),
        ("--model svc --matern-nu 1", "matern_nu must be 0.5, 1.5 or 2.5, got 1.0"),
        ("--model svc --matern-nu smooth", "--matern-nu"),
        ("--model kernel-adatron --learning-rate fast", "learning_rate must be"),
        ("--model svc --cv nu=0.1,0.2", "no such parameter"),
        ("--model svc --cv C=1,-1", "C must be positive"),
    ],
)
def test_mistakes_are_one_line(args, words, fails, animals, tmp_path):
    assert words in fails("train", animals, *args.split())
    assert not list(tmp_path.glob("*.safetensors"))


def test_help_names_the_models_and_their_options(run):
    shown = run("train", "--help").stdout
    for words in ("--model svc", "nu-svc", "kernel-adatron", "--C", "--no-intercept", "C=0.1,1,10"):
        assert words in shown
