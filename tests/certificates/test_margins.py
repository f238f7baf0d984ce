"""Margins against their definitions."""

import numpy as np
import pytest

from largemargin import (
    LPSVC,
    MIRA,
    SVC,
    AdaBoost,
    AggressivePerceptron,
    RBFNetwork,
    VotedPerceptron,
)
from largemargin.certificates import margin_error, margins
from tests.certificates.problems import blobs, says_why, three


@pytest.mark.parametrize(
    "model",
    [
        SVC(kernel="linear"), SVC(kernel="linear", fit_intercept=False), LPSVC(kernel="linear"),
        AggressivePerceptron(kernel="linear"),
        VotedPerceptron(kernel="linear", method="last", epochs=3, shuffle=False),
        VotedPerceptron(kernel="linear", method="average", epochs=1, shuffle=False),
    ],
    ids=str,
)  # fmt: skip
def test_distances_to_a_hyperplane(model):
    X, y = blobs(1, n=20)
    model.fit(X, y)
    found = margins(model, X, y)
    w, b = model.coef_[0], model.intercept_[0]
    by_hand = (2 * y - 1) * (X @ w + b) / np.linalg.norm(w)
    assert found.geometric[0] == pytest.approx(by_hand)
    assert found.functional[0] == pytest.approx((2 * y - 1) * model.decision_function(X))
    assert found.radius == pytest.approx(np.linalg.norm(X, axis=1).max())
    certificate = model.certificate(X, y, rhos=[0.05, 0.2])
    assert certificate["smallest geometric margin"].value == pytest.approx(by_hand.min())
    assert certificate["median geometric margin"].value == pytest.approx(np.median(by_hand))
    share = np.mean(by_hand < 0.2 * found.radius)
    assert certificate["margin error at 0.2"].value == share == found.error(0.2 * found.radius)
    assert certificate["margin error at 0.05"].value <= share


def test_the_constant_of_a_threshold_is_part_of_the_vector():
    X, y = blobs(1, n=20)
    model = VotedPerceptron(
        kernel="linear", method="last", fit_intercept=True, epochs=1, shuffle=False
    ).fit(X, y)
    w = np.append(model.coef_[0], model.intercept_[0])
    by_hand = (2 * y - 1) * (np.column_stack([X, np.ones(20)]) @ w) / np.linalg.norm(w)
    assert margins(model, X, y).geometric[0] == pytest.approx(by_hand)


def test_norms_in_a_feature_space():
    X, y = blobs(2, n=20)
    model = SVC(kernel="poly", degree=2, gamma=1.0).fit(X, y)
    c, K = model.dual_coef_[0], (model.support_vectors_ @ model.support_vectors_.T + 1) ** 2
    by_hand = (2 * y - 1) * model.decision_function(X) / np.sqrt(c @ K @ c)
    assert margins(model, X, y).geometric[0] == pytest.approx(by_hand)
    assert model.margin_[0] == pytest.approx(1 / np.sqrt(c @ K @ c))


def test_pairs_have_the_examples_of_two_classes():
    X, y = three(0)
    model = SVC(kernel="linear", multiclass="ovo").fit(X, y)
    found = margins(model, X, y)
    assert [len(one) for one in found.geometric] == [16, 16, 16]
    mine = y != 0
    f = X[mine] @ model.coef_[2] + model.intercept_[2]
    by_hand = np.where(y[mine] == 2, f, -f) / np.linalg.norm(model.coef_[2])
    assert found.geometric[2] == pytest.approx(by_hand)


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (VotedPerceptron(epochs=1, shuffle=False), "many vectors"),
        (MIRA(), "a vector each"),
        (SVC(multiclass="crammer-singer"), "a vector each"),
    ],
    ids=str,
)
def test_where_there_is_no_distance(model, why):
    X, y = three(0)
    found = model.fit(X, y).certificate(X, y)
    says_why(found["smallest geometric margin"], why)
    says_why(found["margin error at 0.1"], why)
    with pytest.raises(ValueError, match=why):
        margins(model, X, y).error(0.1)


@pytest.mark.parametrize("model", [MIRA(), AdaBoost(n_rounds=5), RBFNetwork(n_centers=3)], ids=str)
def test_the_lead_of_the_true_class(model):
    X, y = three(0)
    scores = model.fit(X, y).decision_function(X)
    by_hand = [s[k] - np.delete(s, k).max() for s, k in zip(scores, y, strict=True)]
    assert margins(model, X, y).functional[0] == pytest.approx(by_hand)
    assert model.certificate(X, y)["smallest margin"].value == pytest.approx(min(by_hand))


def test_a_margin_of_exactly_rho_is_no_error():
    assert margin_error(np.array([1.0, 2.0]), 1.0) == 0.0
    assert margin_error(np.array([1.0, 2.0]), np.nextafter(1.0, 2.0)) == 0.5
