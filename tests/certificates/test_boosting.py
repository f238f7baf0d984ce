"""Theorems 1.10 and 1.12 against boosting and brute force."""

from itertools import product
from math import log, sqrt

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from largemargin import AdaBoost
from largemargin.certificates import (
    adaboost_margin_bound,
    convex_combination_bound,
    stump_dimension,
)
from tests.certificates.problems import blobs, says_why, three


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rho", [0.0, 0.1, 0.3])
def test_theorem_1_12_holds_and_is_what_it_says(seed, rho):
    X, y = blobs(seed, n=60, width=4)
    model = AdaBoost(n_rounds=12).fit(X, y)
    found = model.certificate(X, y, rhos=[rho])
    eps = model.weighted_errors_
    by_hand = 2 ** len(eps) * np.prod(np.sqrt(eps ** (1 - rho) * (1 - eps) ** (1 + rho)))
    bound = found[f"margin error bound at {rho:g}"]
    assert bound.value == pytest.approx(by_hand) == pytest.approx(adaboost_margin_bound(eps, rho))
    share = np.mean((2 * y - 1) * model.decision_function(X) < rho)
    assert found[f"margin error at {rho:g}"].value == share <= bound.value
    assert bound.kind == "always"


def test_several_classes_have_the_bound_of_the_same_proof():
    X, y = three(0)
    model = AdaBoost(n_rounds=10).fit(X, y)
    found = model.certificate(X, y)
    assert found["margin error at 0.1"].value <= found["margin error bound at 0.1"].value
    says_why(found["margin bound"], "two classes")


def test_theorem_1_10():
    X, y = blobs(0, n=80, width=2)
    model = AdaBoost(n_rounds=8).fit(X, y)
    found = model.certificate(X, y, constant=0.01)["margin bound"]
    values = (2 * y - 1) * model.decision_function(X)

    def formula(rho):
        capacity = 3 * log(80 / 3) ** 2 / rho**2 + log(20)
        return np.mean(values < rho) + sqrt(0.01 / 80 * capacity)

    assert convex_combination_bound(values, 3, rho=0.2, constant=0.01) == pytest.approx(
        formula(0.2)
    )
    assert found.value == pytest.approx(min(formula(r) for r in [*values[values > 0], 1.0]))
    assert found.value <= min(formula(r) for r in np.linspace(0.01, 1, 500)) + 1e-12


def shattered(points):
    """Whether stumps label these points in every way."""
    labels = set()
    for column in points.T:
        for theta in [-np.inf, *column]:
            low = column <= theta
            labels |= {tuple(low), tuple(~low)}
    return len(labels) == 2 ** len(points)


@pytest.mark.parametrize("n", [1, 2])
def test_stumps_shatter_as_many_points_as_said_and_not_one_more(n):
    d = stump_dimension(n)

    def some(count):  # orders of the points along each feature are all that matters
        orders = list(product(*[permutations_of(count)] * n))
        return any(shattered(np.array(order).T) for order in orders)

    assert some(d)
    assert not some(d + 1)


def permutations_of(count):
    from itertools import permutations

    return list(permutations(range(count)))


def test_what_theorem_1_12_is_not_about():
    X, y = blobs(0, n=40)
    regularised = AdaBoost(n_rounds=5, regularization=10.0).fit(X, y).certificate(X, y)
    says_why(regularised["margin error bound at 0.1"], "not AdaBoost_Reg")
    assert regularised["margin bound"].applies
    trees = AdaBoost(DecisionTreeClassifier(max_depth=2), n_rounds=3, random_state=0).fit(X, y)
    says_why(trees.certificate(X, y)["margin bound"], "base learner is not known")
    assert trees.certificate(X, y)["margin error bound at 0.1"].applies


def test_theorem_1_10_needs_more_examples_than_the_dimension():
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), [0, 0, 1]
    found = AdaBoost(n_rounds=2).fit(X, y).certificate(X, y)["margin bound"]
    says_why(found, "3 examples are not more than the VC dimension 3")


def test_chance_in_the_first_round():
    X, y = np.array([[0.0], [0.0], [0.0], [0.0]]), [0, 1, 0, 1]
    with pytest.warns(Warning, match="no better than chance"):
        model = AdaBoost().fit(X, y)
    says_why(model.certificate(X, y)["margin error bound at 0.1"], "no better than chance")


@pytest.mark.parametrize("regularization", [0.0, 50.0])
def test_other_rows_labels_and_weights(regularization):
    X, y = blobs(0, n=40)
    model = AdaBoost(n_rounds=5, regularization=regularization).fit(X, y)
    assert model.certificate(X, y)["margin bound"].applies
    for rows, labels in ((X[:30], y[:30]), (X, 1 - y), (X + 1, y)):
        found = model.certificate(rows, labels)
        says_why(found["margin error bound at 0.1"], "these are not the rows")
        says_why(found["margin bound"], "these are not the rows")
        assert found["error"].value == pytest.approx(1 - model.score(rows, labels))
    weighted = AdaBoost(n_rounds=5).fit(X, y, sample_weight=np.arange(40) + 1.0)
    says_why(weighted.certificate(X, y)["margin bound"], "equal weights")


def test_an_error_of_one_half():
    with pytest.raises(ValueError, match="between 0 and 1/2"):
        adaboost_margin_bound([0.1, 0.5], 0.1)
