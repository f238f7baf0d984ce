"""Online learners from the command line."""

import json

import numpy as np
import pytest

from largemargin import ALMA, MIRA, ROMMA, AggressivePerceptron, data, load

from .conftest import PLAIN

MODELS = {
    "aggressive-perceptron": (AggressivePerceptron(margin=0.1), ["--margin", 0.1]),
    "mira": (MIRA(budget=20, policy="random"), ["--budget", 20, "--policy", "random"]),
    "romma": (ROMMA(aggressive=False, policy="keep"), ["--mistakes-only", "--policy", "keep"]),
    "alma": (
        ALMA(alpha=0.8, B=3.0, C=1.0, average=True),
        ["--alpha", 0.8, "--B", 3, "--C", 1, "--average"],
    ),
}


def test_inspect_says_what_auto_was(run, animals):
    run("train", animals, *PLAIN, "--model", "mira", "--budget", 20, "-o", "m")
    shown = run("inspect", "m").stdout
    assert "policy           projectron" in shown
    assert "averages         yes" in shown


@pytest.mark.parametrize("name", MODELS)
def test_train_is_fit(name, run, animals):
    X, y = data.read(animals)
    estimator, options = MODELS[name]
    estimator.set_params(random_state=0)
    result = run("train", animals, *PLAIN, "--model", name, *options, "-o", "m")
    for words in ("online errors", "margin errors", "removed again", "support vectors", name):
        assert words in result.stdout
    loaded = load(animals.parent / "m")
    assert loaded.get_params() == estimator.get_params()
    estimator.fit(X, y)
    np.testing.assert_array_equal(loaded.decision_function(X), estimator.decision_function(X))
    shown = run("inspect", "m").stdout
    for words in ("online errors", "margin errors", "removals", "seen"):
        assert words in shown
    assert "converged" not in shown
    found = json.loads(run("evaluate", "m", animals, "--json").stdout)
    assert found["error"] == np.mean(estimator.predict(X) != y)


def test_options_of_other_models(fails, animals):
    for args in (("mira", "--alpha", 0.5), ("romma", "--margin", 1), ("svc", "--budget", 5)):
        assert "is not an option of" in fails("train", animals, "--model", *args, "-o", "m")
    line = fails("train", animals, "--model", "mira", "--policy", "margin", "-o", "m")
    assert "needs a budget" in line
