"""Hyperplanes of largest margin from the command line."""

import json

import numpy as np
import pytest

from largemargin import MaxMarginHyperplane, data, load

from .conftest import PLAIN


@pytest.mark.parametrize(
    ("options", "model"),
    [
        ("--norm 1 --C 0.5", MaxMarginHyperplane(norm=1, C=0.5)),
        ("", MaxMarginHyperplane()),
        ("--norm inf --no-intercept", MaxMarginHyperplane(norm=np.inf, fit_intercept=False)),
        (
            "--norm 1.5 --tol 1e-5 --min-margin 0.1 --max-seconds 60 --class-weight balanced",
            MaxMarginHyperplane(
                norm=1.5, tol=1e-5, min_margin=0.1, max_seconds=60, class_weight="balanced"
            ),
        ),
    ],
)
def test_train_is_fit(options, model, run, animals, tmp_path):
    args = (
        "train",
        animals,
        *PLAIN,
        "--model",
        "max-margin-hyperplane",
        *options.split(),
        "-o",
        "m",
    )
    shown = run(*args)
    assert shown.exit_code == 0
    assert shown.stderr == ""
    words = ("max-margin-hyperplane, norm ", "problems", "duality gap", "features used")
    for expected in (*words, "smallest margin"):
        assert expected in shown.stdout
    assert "support vectors" not in shown.stdout
    X, y = data.read(animals)
    loaded = load(tmp_path / "m")
    assert loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(loaded.decision_function(X), model.fit(X, y).decision_function(X))
    found = json.loads(run(*args, "--json").stdout)
    assert found["margin"] == loaded.margin_.min()
    assert found["dual_gap"] == loaded.dual_gap_.max()
    assert found["converged"] is True
    assert f"norm {model.norm:g}" in run("inspect", "m").stdout
    assert run("predict", "m", animals).stdout.splitlines() == loaded.predict(X).tolist()


def test_the_norm_by_cross_validation(run, animals, tmp_path):
    args = ("train", animals, "--model", "max-margin-hyperplane", "--scale", "standard", "-o", "m")
    assert run(*args, "--cv", "norm=1,2,inf", "--cv", "C=0.01,1").exit_code == 0
    assert load(tmp_path / "m")[-1].norm in (1, 2, np.inf)


def test_data_that_cannot_be_separated(run, tmp_path):
    (tmp_path / "mixed.csv").write_text("x,y\n0,a\n1,b\n0,b\n1,a\n")
    args = ("train", "mixed.csv", "--model", "max-margin-hyperplane", "--norm", 1, "--C", "inf")
    result = run(*args, "-o", "m")
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: the training data cannot be separated")
    assert len(result.stderr.splitlines()) == 1
    assert "separable" in run("inspect", "m").stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ("--model max-margin-hyperplane --norm 0.5", "norm must be a number from 1 to inf"),
        ("--model max-margin-hyperplane --norm nan", "norm must be a number from 1 to inf"),
        ("--model max-margin-hyperplane --norm one", "--norm"),
        ("--model max-margin-hyperplane --kernel rbf", "--kernel is not an option"),
        ("--model max-margin-hyperplane --C 0", "C must be positive"),
        (
            "--model svc --norm 1",
            "--norm is not an option of svc: it belongs to max-margin-hyperplane",
        ),
    ],
)
def test_mistakes_are_one_line(args, words, fails, animals, tmp_path):
    assert words in fails("train", animals, *args.split())
    assert not list(tmp_path.glob("*.safetensors"))
