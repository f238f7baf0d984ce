"""The gap and the distances of hyperplanes in any norm."""

import numpy as np
import pytest

from largemargin import SVC, MaxMarginHyperplane
from largemargin.certificates import vc_bound
from tests.certificates.problems import blobs, says_why, separable


@pytest.mark.parametrize("norm", [1, 1.5, 2, np.inf])
def test_distances_in_a_norm_and_in_the_usual_one(norm):
    X, y = separable(0)
    model = MaxMarginHyperplane(norm=norm, C=np.inf).fit(X, y)
    found = model.certificate(X, y)
    outputs = np.where(y == "yes", 1, -1) * (X @ model.coef_[0] + model.intercept_[0])
    by_hand = outputs.min() / np.linalg.norm(model.coef_[0], norm)
    assert found["distance in the norm"].value == pytest.approx(by_hand)
    usual = outputs.min() / np.linalg.norm(model.coef_[0])
    assert found["smallest geometric margin"].value == pytest.approx(usual)
    assert found["VC bound"].value == pytest.approx(vc_bound(0.0, 30, 4))
    assert found["duality gap"].value == max(model.dual_gap_.max(), 0.0)
    assert found["margin bound, no margin error"].applies


def test_other_rows_have_another_margin():
    X, y = blobs(0)
    model = MaxMarginHyperplane(norm=1).fit(X, y)
    assert model.certificate(X, y)["VC bound"].applies
    says_why(model.certificate(X, 1 - y)["VC bound"], "not the rows")


def test_no_hyperplane():
    X, y = np.array([[0.0], [1.0], [2.0]]), [0, 1, 0]
    with pytest.warns(Warning, match="cannot be separated"):
        model = MaxMarginHyperplane(C=np.inf).fit(X, y)
    found = model.certificate(X, y)
    says_why(found["distance in the norm"], "w = 0")
    says_why(found["margin bound"], "w = 0")


def test_an_optimum_to_a_tolerance_is_not_proof():
    X, y = blobs(0)
    model = SVC().fit(X, y)

    def optimal():
        (found,) = [
            a.holds
            for a in model.certificate(X, y)["support vectors, leave-one-out"].assumptions
            if a.text.startswith("the fit is optimal")
        ]
        return found

    assert optimal() is True
    model.dual_gap_ = np.array([1e-3])
    assert optimal() is None
    model.converged_ = False
    assert optimal() is False
