"""Certificates of every estimator: what all of them say, and what they say of other data."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import largemargin
from largemargin.certificates.certificate import KINDS
from tests.certificates.problems import blobs, three

MODELS = [
    largemargin.VotedPerceptron(epochs=2, shuffle=False),
    largemargin.VotedPerceptron(method="pocket", epochs=1, shuffle=False),
    largemargin.VotedPerceptron(method="holdout", random_state=0, epochs=1, shuffle=False),
    largemargin.VotedPerceptron(method="longest", shuffle=True, random_state=0, epochs=1),
    largemargin.AggressivePerceptron(),
    largemargin.MIRA(),
    largemargin.ROMMA(),
    largemargin.ALMA(average=True),
    largemargin.SVC(),
    largemargin.SVC(C=np.inf, gamma=3.0),
    largemargin.SVC(multiclass="ovo", kernel="laplacian"),
    largemargin.NuSVC(nu=0.2),
    largemargin.KernelAdatron(C=1.0),
    largemargin.LPSVC(),
    largemargin.NuLPSVC(),
    largemargin.LeaveOneOutSVC(),
    largemargin.AdaptiveMarginSVC(),
    largemargin.MaxMarginHyperplane(),
    largemargin.MaxMarginHyperplane(norm=1),
    largemargin.AdaBoost(n_rounds=5),
    largemargin.RBFNetwork(n_centers=3, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("data", [blobs, three])
def test_every_estimator_has_a_certificate(model, data):
    X, y = data(0)
    names = np.array(["a", "b", "c"])[y]
    model.fit(X, names)
    found = model.certificate(X, names, leave_one_out=False)
    assert found["error"].value == pytest.approx(1 - model.score(X, names))
    assert found.n_examples == len(y)
    assert found.model == type(model).__name__
    for statement in found:
        assert statement.sentence.endswith(".")
        assert "{" not in statement.sentence
        assert statement.kind in KINDS
        assert statement.source
        if statement.applies:
            assert np.isfinite(statement.value)
            assert all(a.holds is not False for a in statement.assumptions)
        else:
            assert statement.sentence.startswith("Not applicable: ")
            assert len(statement.sentence) > len("Not applicable: .")
        if statement.by_problem:
            assert len(statement.by_problem) in (2, 3)
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False))["n_examples"] == len(y)
    assert "not the rows" not in str(found)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_other_data_are_only_measured(model):
    X, y = blobs(1, n=20)
    model.fit(X, y)
    others = [(X[:10], y[:10])]
    if not isinstance(model, largemargin.RBFNetwork):
        others.append((X + 0.5, y))
    for rows, labels in others:
        found = model.certificate(rows, labels)
        assert found["error"].value == pytest.approx(1 - model.score(rows, labels))
        assert found["smallest margin"].applies
        for statement in found:
            if statement.kind != "measured" and statement.name != "duality gap":
                assert not statement.applies, statement


@pytest.mark.parametrize(
    "model",
    [
        largemargin.SVC(), largemargin.VotedPerceptron(), largemargin.MIRA(), largemargin.LPSVC(),
        largemargin.AdaBoost(n_rounds=3),
    ],
    ids=str,
)  # fmt: skip
def test_other_labels_are_noticed(model):
    X, y = blobs(1, n=20)
    found = model.fit(X, y).certificate(X, 1 - y)
    assert found["error"].value == pytest.approx(model.score(X, y))
    for statement in found:
        assert statement.kind in ("measured", "always") or not statement.applies
    assert "these are not the rows that the model was trained on" in str(found)


@pytest.mark.parametrize("model", MODELS[:19], ids=str)
def test_sparse_rows_say_the_same(model):
    X, y = blobs(2, n=12)
    dense = model.fit(X, y).certificate(X, y)
    rows = sp.csr_array(X)
    sparse = model.fit(rows, y).certificate(rows, y)
    for one, other in zip(dense, sparse, strict=True):
        assert one.name == other.name
        assert one.applies == other.applies
        if one.applies and one.name != "duality gap":
            assert other.value == pytest.approx(one.value, rel=1e-4, abs=1e-9)
    mixed = model.certificate(X, y, leave_one_out=False)
    assert mixed["error"].value == pytest.approx(sparse["error"].value)
    assert "not the rows" not in str(mixed)


def test_a_model_from_a_file_says_the_same(tmp_path):
    X, y = blobs(3, n=20)
    for k, model in enumerate(
        (largemargin.SVC(), largemargin.VotedPerceptron(epochs=1, shuffle=False))
    ):
        largemargin.save(model.fit(X, y), tmp_path / f"{k}")
        again = largemargin.load(tmp_path / f"{k}")
        assert again.certificate(X, y) == model.certificate(X, y)


def test_a_certificate_changes_nothing():
    X, y = blobs(3, n=20)
    model = largemargin.SVC().fit(X, y)
    before = set(vars(model))
    model.certificate(X, y, leave_one_out=True)
    assert set(vars(model)) == before


def test_bad_arguments():
    X, y = blobs(0)
    model = largemargin.SVC()
    with pytest.raises(NotFittedError):
        model.certificate(X, y)
    model.fit(X, y)
    with pytest.raises(ValueError, match="delta must lie between 0 and 1, got 0"):
        model.certificate(X, y, delta=0)
    with pytest.raises(ValueError, match="constant must be a positive number, got -1"):
        model.certificate(X, y, constant=-1)
    with pytest.raises(ValueError, match="leave_one_out must be True, False or 'auto'"):
        model.certificate(X, y, leave_one_out="yes")
    with pytest.raises(ValueError, match="rhos must be finite"):
        model.certificate(X, y, rhos=[np.nan])
    with pytest.raises(ValueError, match="label 2, which is none of the model's classes"):
        model.certificate(X, np.full(16, 2))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.certificate(X, y[:5])
    with pytest.raises(ValueError, match="features"):
        model.certificate(X[:, :1], y)


def test_names_can_be_asked_for():
    X, y = blobs(0)
    found = largemargin.SVC().fit(X, y).certificate(X, y)
    with pytest.raises(KeyError, match="no statement 'nonsense': there are error"):
        found["nonsense"]
    assert len(found) == len({statement.name for statement in found})
