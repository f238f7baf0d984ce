"""What a model knows of its training goes through a file, and older files have nothing to know."""

import json

import numpy as np
import pytest
from sklearn.datasets import make_classification

import largemargin
from largemargin import ModelFileError, describe, load, save

from .models import changed, forge, parts_of

MODELS = [
    largemargin.VotedPerceptron(degree=2), largemargin.SVC(), largemargin.NuSVC(nu=0.2),
    largemargin.KernelAdatron(C=1.0), largemargin.LPSVC(), largemargin.NuLPSVC(nu=0.2),
    largemargin.LeaveOneOutSVC(), largemargin.AdaptiveMarginSVC(),
    largemargin.MaxMarginHyperplane(), largemargin.AggressivePerceptron(), largemargin.MIRA(),
    largemargin.ROMMA(), largemargin.ALMA(), largemargin.AdaBoost(n_rounds=2),
    largemargin.RBFNetwork(2, random_state=0),
]  # fmt: skip


def small():
    return make_classification(24, 3, n_informative=3, n_redundant=0, random_state=0)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_every_family_through_a_file_and_from_an_older_one(model, tmp_path):
    X, y = small()
    model.fit(X, y)
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded._record == model._record
    assert loaded._record.data.n_rows == 24
    header, arrays = parts_of(tmp_path / "m")
    assert len(json.dumps(header["model"]["training"])) < 250
    forge(tmp_path / "old", changed(header, ["model", "training"], KeyError), arrays)
    old = load(tmp_path / "old")
    assert old._record is None
    np.testing.assert_array_equal(old.predict(X), model.predict(X))
    told = [
        a.holds
        for s in old.certificate(X, y, leave_one_out=False)
        for a in s.assumptions
        if a.text == "these are the training data"
    ]
    assert told
    assert set(told) == {None}
    save(old, tmp_path / "again")
    assert "training" not in parts_of(tmp_path / "again")[0]["model"]
    assert describe(tmp_path / "old")["steps"] == describe(tmp_path / "m")["steps"]


def test_a_stream_goes_on_after_a_file(tmp_path):
    X, y = small()
    for model in (largemargin.MIRA(), largemargin.VotedPerceptron()):
        save(model.partial_fit(X[:10], y[:10], classes=[0, 1]), tmp_path / "m")
        loaded = load(tmp_path / "m").partial_fit(X[10:], y[10:])
        assert loaded._record == model.partial_fit(X[10:], y[10:])._record
        assert loaded.certificate(X, y, leave_one_out=False)["VC bound"].assumptions[0].holds


@pytest.mark.parametrize(
    ("way", "value"),
    [
        (["n_rows"], 23), (["n_rows"], -1), (["n_rows"], 1.5), (["n_rows"], True),
        (["rows"], "0" * 31), (["labels"], "g" * 32), (["weights"], 5), (["weights"], KeyError),
        (["changed"], []), (["changed", "nonsense"], 1), (["changed", "C"], {"$strange": 1}),
        (["more"], 1), ([], 3), ([], {}),
    ],
    ids=str,
)  # fmt: skip
def test_records_that_are_none(way, value, tmp_path):
    X, y = small()
    save(largemargin.SVC().fit(X, y), tmp_path / "m")
    header, arrays = parts_of(tmp_path / "m")
    forge(tmp_path / "bad", changed(header, ["model", "training", *way], value), arrays)
    with pytest.raises(ModelFileError, match="is not a valid model"):
        load(tmp_path / "bad")
