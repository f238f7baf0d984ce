"""Calibrations in the model file: back to the last bit, and none that was made up."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from largemargin import (
    LPSVC,
    MIRA,
    SVC,
    AdaBoost,
    MaxMarginHyperplane,
    VotedPerceptron,
    calibrated,
    describe,
    load,
    save,
)
from largemargin.calibration import state


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return X / X.max(axis=0), np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize(
    "model",
    [
        SVC(calibrate=True), SVC(multiclass="ovo", calibrate=True), LPSVC(calibrate=True),
        MaxMarginHyperplane(calibrate=True), MIRA(calibrate=True),
        AdaBoost(n_rounds=5, calibrate=True),
        VotedPerceptron(degree=2, method="average", calibrate=True),
    ],
)  # fmt: skip
def test_a_file_gives_the_same_probabilities(model, wine, tmp_path):
    X, y = wine
    model.fit(X, y)
    save(model, tmp_path / "one")
    again = load(tmp_path / "one")
    assert again.calibrate is True
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    save(again, tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_calibrated_models_and_pipelines_are_saved(wine, tmp_path):
    X, y = wine
    model = make_pipeline(StandardScaler(), SVC()).fit(X[::2], y[::2])
    sure = calibrated(model, X[1::2], y[1::2])
    save(sure, tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").predict_proba(X), sure.predict_proba(X))
    told = describe(tmp_path / "model")["steps"][-1]["calibration"]
    assert told["n_folds"] == 0
    assert told["n_rows"] == len(y[1::2])
    assert told["slopes"] == sure[-1].calibration.slopes.tolist()
    save(model, tmp_path / "plain")
    assert "calibration" not in describe(tmp_path / "plain")["steps"][-1]
    assert not hasattr(load(tmp_path / "plain"), "predict_proba")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"slopes": [-1.0]}, "slopes of the calibration are not 3"),
        ({"offsets": [0.0, 0.0, float("nan")]}, "offsets of the calibration is not all finite"),
        ({"offsets": [0, 0, 0]}, "are not numbers"),
        ({"n_rows": -1}, "n_rows of the calibration is not a count"),
        ({"n_folds": 2.0}, "n_folds of the calibration is not a count"),
        ({"read_with": {"method": "vote"}}, "scores that this model does not have"),
        ({"more": 1}, "the calibration is malformed"),
    ],
)
def test_what_was_made_up_is_refused(change, message, wine):
    model = SVC(calibrate=True).fit(*wine)
    packed = json.loads(json.dumps(state.pack(model.calibration)))
    state.unpack(model, packed)
    with pytest.raises(ValueError, match=message):
        state.unpack(model, packed | change)
