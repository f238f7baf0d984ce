"""Boosting and networks from the command line."""

import json
import re

import numpy as np
import pytest

from largemargin import AdaBoost, RBFNetwork, data, load

from .conftest import PLAIN

MODELS = {
    "stumps": AdaBoost(n_rounds=20, random_state=0),
    "networks": AdaBoost(RBFNetwork(), n_rounds=3, regularization=10.0, random_state=0),
    "network": RBFNetwork(6, max_iter=5, regularization=1e-4, random_state=0),
}
OPTIONS = {
    "stumps": "adaboost --n-rounds 20",
    "networks": "adaboost --estimator rbf-network --n-rounds 3 --regularization 10",
    "network": "rbf-network --n-centers 6 --max-iter 5 --regularization 1e-4",
}
WORDS = {
    "stumps": ["adaboost, estimator stumps, n_rounds 20", "rounds          20", "at first 0."],
    "networks": ["adaboost, estimator RBFNetwork, n_rounds 3, regularization 10", "rounds"],
    "network": ["rbf-network, n_centers 6", "centres        6", "objective"],
}


@pytest.fixture(params=MODELS)
def name(request):
    return request.param


def test_train_predict_evaluate_inspect(name, run, animals, tmp_path):
    args = (
        "train",
        animals,
        *PLAIN,
        "--model",
        *OPTIONS[name].split(),
        "-o",
        "m",
        "--test",
        animals,
    )
    result = run(*args)
    assert (result.exit_code, result.stderr) == (0, "")
    for words in (*WORDS[name], "of 90 rows"):
        assert words in result.stdout
    for words in ("kernel", "support vectors"):
        assert words not in result.stdout
    X, y = data.read(animals)
    model, expected = load(tmp_path / "m"), MODELS[name].fit(X, y)
    assert repr(model) == repr(expected)
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    predicted = expected.predict(X)
    assert run("predict", "m", animals).stdout.splitlines() == predicted.tolist()
    found = json.loads(run("evaluate", "m", animals, "--json").stdout)
    assert found["error"] == np.mean(predicted != y)
    shown = run("inspect", "m").stdout
    words = "centres" if name == "network" else f"ended by +{re.escape(expected.ended_)}"
    assert re.search(words, shown)
    assert "kernel" not in shown
    found = json.loads(run("inspect", "m", "--json").stdout)["steps"][0]
    assert found["class"] == type(expected).__name__


def test_json(run, animals):
    args = ("train", animals, *PLAIN, "--model", "adaboost", "--estimator", "rbf-network")
    found = json.loads(run(*args, "--n-rounds", 2, "--json").stdout)
    assert (found["rounds"], found["ended"]) == (1, "zero error")  # the animals are easy
    assert found["first_error"] == found["last_error"] == 0
    assert found["parameters"]["estimator"]["class"] == "RBFNetwork"
    found = json.loads(run("train", animals, *PLAIN, "--model", "rbf-network", "--json").stdout)
    assert found["centers"] == 10


def test_digits(run):
    found = json.loads(run("train", "digits", "--model", "adaboost", "--json").stdout)
    assert found["rounds"] == 500
    assert found["test_error"] < 0.1


def test_choosing_by_cross_validation(run, animals, tmp_path):
    args = ("train", animals, *PLAIN, "--model", "adaboost", "--n-rounds", 2, "-q", "-o", "m")
    assert run(*args, "--cv", "regularization=0,10").exit_code == 0
    options = ("--estimator", "rbf-network", "--cv", "estimator__n_centers=1,8")
    assert run(*args, *options, "--scale", "standard").exit_code == 0
    assert load(tmp_path / "m")[-1].estimator.n_centers == 8


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("adaboost --estimator trees", "--estimator must be stumps or rbf-network, got 'trees'"),
        (
            "adaboost --n-centers 3",
            "--n-centers is not an option of adaboost: it belongs to rbf-net",
        ),
        ("adaboost --kernel rbf", "--kernel is not an option of adaboost"),
        ("adaboost --n-rounds 0", "n_rounds must be a positive integer, got 0"),
        ("rbf-network --n-rounds 5", "--n-rounds is not an option of rbf-network"),
        ("rbf-network --n-centers 0", "n_centers must be an integer of at least 1, got 0"),
        ("svc --regularization 1", "it belongs to adaboost, rbf-network"),
    ],
)
def test_mistakes(options, words, fails, animals, tmp_path):
    assert words in fails("train", animals, "--model", *options.split())
    assert not list(tmp_path.glob("*.safetensors"))


def test_help(run):
    shown = run("train", "--help").stdout
    for words in ("adaboost", "rbf-network", "--estimator", "--n-rounds", "--n-centers"):
        assert words in shown
