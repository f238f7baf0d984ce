"""`train --calibrate` and `predict --proba`."""

import csv
import json

import numpy as np

from largemargin import SVC, calibrated, data, load, save


def test_probabilities_beside_labels(run, animals, tmp_path):
    shown = run("train", animals, "--model", "svc", "--calibrate", "--scale", "standard", "-o", "m")
    assert shown.exit_code == 0
    model, (X, y) = load(tmp_path / "m"), data.read(animals)
    head, *rows = csv.reader(run("predict", "m", animals, "--proba").stdout.splitlines())
    assert head == ["label", "probability ant", "probability bee", "probability cat"]
    assert [row[0] for row in rows] == model.predict(X).tolist()
    np.testing.assert_array_equal(np.array(rows)[:, 1:].astype(float), model.predict_proba(X))
    assert run("predict", "m", animals, "--proba", "-o", "out.csv").exit_code == 0
    assert (tmp_path / "out.csv").read_text().startswith("label,probability ant")
    assert f"from {len(y)} training rows in 5 folds" in run("inspect", "m").stdout
    told = json.loads(run("inspect", "m", "--json").stdout)["steps"][-1]
    assert told["calibration"]["n_folds"] == 5


def test_a_model_without_probabilities_says_so(run, fails, animals, tmp_path):
    run("train", animals, "--model", "svc", "-o", "m")
    assert "probabilities" not in run("inspect", "m").stdout
    told = "error: m has no probabilities: train it with --calibrate, or give the model to "
    assert fails("predict", "m", animals, "--proba") == f"{told}largemargin.calibrated"
    assert "give one of them" in fails("predict", "m", animals, "--proba", "--scores")
    X, y = data.read(animals)
    save(calibrated(SVC().fit(X[::2], y[::2]), X[1::2], y[1::2]), tmp_path / "c")
    assert run("predict", "c", animals, "--proba").exit_code == 0
    assert "sigmoids of scores, from 45 other rows" in run("inspect", "c").stdout


def test_a_search_is_not_calibrated_and_a_stream_cannot_be(run, fails, animals, tmp_path):
    args = ("train", animals, "--model", "svc", "--calibrate", "--cv", "C=1,10", "-o", "m")
    assert run(*args).exit_code == 0
    assert load(tmp_path / "m")[-1].calibration.n_rows == 90
    assert "it does not change a prediction" in fails(
        "train", animals, "--model", "svc", "--cv", "calibrate=true,false"
    )
    told = fails("train", animals, "--model", "mira", "--stream", "--calibrate")
    assert "leave it out" in told
    assert "--calibrate" not in run("stream", "--help").stdout
