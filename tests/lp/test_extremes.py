"""Data at the ends of float64: the right machine or a sentence, never one that is no number."""

import warnings

import numpy as np
import pytest

from largemargin import (
    LPSVC,
    AdaptiveMarginSVC,
    LeaveOneOutSVC,
    MaxMarginHyperplane,
    NuLPSVC,
    load,
    save,
)
from largemargin.boosting import RBFNetwork
from tests.svm.problems import separable

X, Y = separable(0, n=12)
MODELS = [
    *(
        kind(kernel=kernel, **({} if kernel == "linear" else {"gamma": 1.0}))
        for kind in (LPSVC, NuLPSVC, LeaveOneOutSVC, AdaptiveMarginSVC)
        for kernel in ("linear", "rbf", "poly")
    ),
    RBFNetwork(4, random_state=0),
    *(MaxMarginHyperplane(norm=p, C=C) for p in (1, np.inf) for C in (1.0, np.inf)),
    MaxMarginHyperplane(norm=1.5),
]
SHAPES = {
    "plain": lambda A: A,
    "constant": lambda A: np.c_[A[:, :1], np.full((len(A), 1), np.abs(A).max())],
    "copies": lambda A: np.r_[A[:6], A[:6]],
}
NUMBERS = ("dual_coef_", "intercept_", "coef_", "centers_", "widths_")


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_numbers_or_a_sentence(model, tmp_path):
    for scale in (5e-324, 1e-320, 1e-308, 1e-200, 1e-155, 1e100, 1e155, 1e300):
        data = np.sign(X) * 5e-324 if scale == 5e-324 else X * scale
        for shape in SHAPES.values():
            check(type(model)(**model.get_params()), shape(data), tmp_path / "model")


def check(model, data, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        refusal = ""
        try:
            model.fit(data, Y)
        except ValueError as error:
            refusal = str(error)
        if refusal:
            assert "\n" not in refusal
            assert "scale the data" in refusal
            assert not hasattr(model, "classes_")
            return
        for name in NUMBERS:
            if hasattr(model, name):
                assert np.isfinite(getattr(model, name)).all()
        for name in ("objective_", "dual_gap_"):
            assert not np.isnan(getattr(model, name, 0.0)).any()
        save(model, path)
        np.testing.assert_array_equal(load(path).predict(data), model.predict(data))


def test_a_refused_fit_leaves_the_estimator_as_it_was():
    model = NuLPSVC(kernel="linear").fit(X, Y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="than float64 can compute with"):
        model.fit(X * 1e-155, Y)
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_denormal_numbers_have_a_sentence():
    with pytest.raises(ValueError, match=r"X has no number larger than .*: scale the data"):
        MaxMarginHyperplane(norm=1).fit(np.sign(X) * 1e-310, Y)
