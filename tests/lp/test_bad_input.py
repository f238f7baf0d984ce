"""Wrong input gets a sentence, and the estimator stays as it was."""

import numpy as np
import pytest

from largemargin import LPSVC, AdaptiveMarginSVC, LeaveOneOutSVC, NuLPSVC
from tests.svm.problems import noisy, several

X, Y = noisy(0)
WRONG = [
    (LPSVC(C=0), "C must be positive, got 0"),
    (LPSVC(C=-1.0), "C must be positive, got -1.0"),
    (LPSVC(C="1"), "C must be positive, got '1'"),
    (LPSVC(C=np.nan), "C must be positive, got nan"),
    (LPSVC(C=np.inf), "C must be finite, got inf: for the hard margin use NuLPSVC"),
    (NuLPSVC(nu=-0.1), "nu must lie between 0 and 1, got -0.1"),
    (NuLPSVC(nu=1.5), "nu must lie between 0 and 1, got 1.5"),
    (NuLPSVC(nu=True), "nu must lie between 0 and 1, got True"),
    (AdaptiveMarginSVC(lam=-1), "lam must be a finite number, 0 or more, got -1"),
    (AdaptiveMarginSVC(lam=np.inf), "lam must be a finite number, 0 or more, got inf"),
    (AdaptiveMarginSVC(lam=None), "lam must be a finite number, 0 or more, got None"),
    (LeaveOneOutSVC(tol=0), "tol must be positive, got 0"),
    (LeaveOneOutSVC(max_seconds=0), "max_seconds must be None or a positive number, got 0"),
    (LeaveOneOutSVC(verbose="much"), "verbose must be 0 or 1, got 'much'"),
    (LeaveOneOutSVC(kernel="cubic"), "kernel must be one of"),
    (LeaveOneOutSVC(gamma=-1.0), "gamma must be"),
    (LeaveOneOutSVC(memory="plenty"), "memory must be"),
    (LeaveOneOutSVC(n_jobs=0), "n_jobs must be"),
    (LeaveOneOutSVC(precision="half"), "precision must be"),
    (LeaveOneOutSVC(class_weight=3), "class_weight must be"),
    (LeaveOneOutSVC(kernel="precomputed"), "must be square"),
]


@pytest.mark.parametrize(("model", "words"), WRONG, ids=str)
def test_wrong_parameters(model, words):
    with pytest.raises(ValueError, match=words) as error:
        model.fit(X, Y)
    assert "\n" not in str(error.value)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize(
    ("lams", "words"),
    [
        ([], "lams must hold at least one"),
        ([1.0, -2.0], "lam must be a finite number, 0 or more, got -2.0"),
        ([np.nan], "lam must be a finite number"),
    ],
)
def test_wrong_paths(lams, words):
    with pytest.raises(ValueError, match=words):
        AdaptiveMarginSVC().path(X, Y, lams)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (-np.ones(len(Y)), "sample_weight must not be negative"),
        (np.zeros(len(Y)), "zero for every example|at least one non-zero"),
        (np.where(Y > 0, 1.0, 0.0), "only one class with positive weight"),
    ],
)
def test_wrong_weights(weights, words):
    with pytest.raises(ValueError, match=words):
        LPSVC().fit(X, Y, weights)


def test_an_infeasible_nu_names_the_largest_feasible_one():
    y = np.where(np.arange(len(Y)) < 3, 1, -1)
    with pytest.raises(ValueError, match=r"the largest feasible nu is 0\.25, twice the smaller"):
        NuLPSVC(nu=0.3).fit(X, y)
    assert NuLPSVC(nu=0.25).fit(X, y).converged_


def test_an_infeasible_nu_is_lowered_among_several_classes():
    data, y = several(0, n=40, n_classes=4)
    with pytest.warns(UserWarning, match="nu=0.8 is infeasible for 4 of 4 problems") as caught:
        model = NuLPSVC(nu=0.8).fit(data, y)
    assert len([w for w in caught if "infeasible" in str(w.message)]) == 1
    assert np.allclose(
        model.decision_function(data), NuLPSVC(nu=0.5).fit(data, y).decision_function(data)
    )
    with pytest.warns(UserWarning, match="nu=0.9 is infeasible for 1 of 1 problems"):
        NuLPSVC(nu=0.9, class_weight={1.0: 5.0, -1.0: 1.0}).fit(X, Y)


def test_a_failed_fit_leaves_the_estimator_as_it_was():
    model = NuLPSVC(nu=0.2).fit(X, Y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="infeasible"):
        model.set_params(nu=0.9).fit(X[:, :2], np.where(np.arange(len(Y)) < 2, 1, -1))
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_a_kernel_that_fails():
    def broken(A, B):
        return np.full((len(A), len(B)), np.nan)

    with pytest.raises(ValueError, match="broken"):
        LPSVC(kernel=broken).fit(X, Y)
