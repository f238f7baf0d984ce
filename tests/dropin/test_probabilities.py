"""Scores of rows that were held out, against machines of scikit-learn that never saw them."""

import numpy as np
import pytest
from sklearn import svm
from sklearn.datasets import load_iris

from largemargin import SVC as OwnSVC
from largemargin import NuSVC
from largemargin.dropin.probabilities import cross_fitted_scores, folds_of

X, y = load_iris(return_X_y=True)
X = X + 0.01 * np.random.default_rng(0).normal(size=X.shape)
PAIRS = [(0, 1), (0, 2), (1, 2)]


def scores_of(model, X, y):
    data = model.training_set(X, y)
    with model.session(data, 1) as (session, watch):
        return cross_fitted_scores(model, session, data, watch, seed=3)


@pytest.mark.parametrize(
    ("model", "peer"),
    [
        (OwnSVC(gamma=0.3, C=0.7, multiclass="ovo", tol=1e-8), svm.SVC(gamma=0.3, C=0.7)),
        (OwnSVC(kernel="linear", multiclass="ovo", tol=1e-8), svm.SVC(kernel="linear")),
        (NuSVC(gamma=0.3, nu=0.2, multiclass="ovo", tol=1e-8), svm.NuSVC(gamma=0.3, nu=0.2)),
    ],
)  # fmt: skip
def test_scores_are_those_of_machines_without_the_fold(model, peer):
    found, folds = scores_of(model, X, y), folds_of(y, 3)
    for fold in range(5):
        for column, pair in enumerate(PAIRS):
            of_pair = np.isin(y, pair)
            held_out = of_pair & (folds == fold)
            trained = peer.set_params(tol=1e-8).fit(
                X[of_pair & (folds != fold)], y[of_pair & (folds != fold)]
            )
            expected = trained.decision_function(X[held_out])
            assert np.allclose(found[held_out, column], expected, atol=1e-4)


def test_folds_are_stratified():
    labels = np.repeat([0, 1, 2], [50, 3, 11])
    folds = folds_of(labels, 0)
    counts = np.array([np.bincount(folds[labels == c], minlength=5) for c in range(3)])
    assert (np.ptp(counts, axis=1) <= 1).all()


def test_a_class_that_is_not_left_has_a_score_all_the_same():
    found = scores_of(OwnSVC(gamma=0.3, multiclass="ovo"), X[[0, 60, 61, 62]], y[[0, 60, 61, 62]])
    assert found[0, 0] == 1.0  # only the other class was there
    assert np.isfinite(found).all()
