"""Machines of linear programs from the command line."""

import json

import numpy as np
import pytest

from largemargin import LPSVC, AdaptiveMarginSVC, LeaveOneOutSVC, NuLPSVC, data, load

from .conftest import PLAIN

MODELS = {
    "lp-svc": (LPSVC(C=3.0), ["--C", 3], "C 3"),
    "nu-lp-svc": (NuLPSVC(nu=0.05), ["--nu", 0.05], "nu 0.05"),
    "leave-one-out-svc": (LeaveOneOutSVC(), [], "rbf"),
    "adaptive-margin-svc": (AdaptiveMarginSVC(lam=2.0), ["--lam", 2], "lam 2"),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore:nu=0.05:UserWarning")
def test_train_is_fit(name, run, animals, tmp_path):
    machine, options, words = MODELS[name]
    shown = run("train", animals, *PLAIN, "--model", name, *options, "-o", "m")
    assert shown.exit_code == 0
    for expected in (name, words, "problems         3", "duality gap", "support vectors"):
        assert expected in shown.stdout
    X, y = data.read(animals)
    loaded = load(tmp_path / "m")
    assert loaded.get_params() == machine.get_params()
    np.testing.assert_array_equal(
        loaded.decision_function(X), machine.fit(X, y).decision_function(X)
    )
    assert words in run("inspect", "m").stdout
    found = json.loads(run("evaluate", "m", animals, "--json").stdout)
    assert found["error"] == np.mean(loaded.predict(X) != y)


def test_lambda_by_cross_validation(run, animals, tmp_path):
    args = ("train", animals, *PLAIN, "--model", "adaptive-margin-svc", "-o", "m")
    assert run(*args, "--cv", "lam=1,1e6").exit_code == 0
    assert load(tmp_path / "m").lam in (1.0, 1e6)


def test_an_option_of_another_model(run, animals):
    result = run("train", animals, "--model", "lp-svc", "--lam", 2)
    assert result.exit_code == 2
    assert result.stderr.strip() == (
        "error: --lam is not an option of lp-svc: it belongs to adaptive-margin-svc"
    )
    result = run("train", animals, "--model", "nu-lp-svc", "--nu", 2)
    assert result.exit_code == 2
    assert "nu must lie between 0 and 1, got 2.0" in result.stderr
