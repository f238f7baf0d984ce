"""Whether the probabilities are good ones: against known probabilities, and against a peer."""

import numpy as np
import pytest
import sklearn.svm
from scipy.special import softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import StratifiedKFold

from largemargin import MIRA, SVC, AdaBoost, MaxMarginHyperplane, VotedPerceptron, calibrated

MACHINES = [
    SVC(kernel="linear"),
    *(
        pytest.param(machine, marks=pytest.mark.full)
        for machine in (
            MIRA(average=True, gamma=0.3), AdaBoost(n_rounds=50), MaxMarginHyperplane(norm=1),
            VotedPerceptron(degree=2, epochs=3, shuffle=True, random_state=0), SVC(gamma=0.1),
        )
    ),
]  # fmt: skip


def known(n, seed):
    """Rows of which the probability of the second class is known."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    p = 1 / (1 + np.exp(-(X @ [1.5, -1.0, 0.0] + 0.5)))
    return X, (rng.random(n) < p).astype(int), p


@pytest.mark.parametrize("machine", MACHINES)
def test_they_are_close_to_known_probabilities(machine):
    X, y, _ = known(600, 0)
    machine.set_params(calibrate=True).fit(X, y)
    X_test, y_test, p_test = known(2000, 1)
    found = machine.predict_proba(X_test)[:, 1]
    assert np.abs(found - p_test).mean() < 0.09
    # in each tenth of the answers, the share of the class is what they say
    for part in np.array_split(np.argsort(found), 10):
        assert abs(found[part].mean() - p_test[part].mean()) < 0.12
    # one number for all rows says less, and scores as they are say it worse
    share = np.full(len(y_test), y.mean())
    naive = 1 / (1 + np.exp(-10 * machine.decision_function(X_test) / machine.score_unit))
    assert log_loss(y_test, found) < 0.9 * log_loss(y_test, share)
    assert log_loss(y_test, found) < log_loss(y_test, naive)


@pytest.mark.parametrize(
    "multiclass", ["ovr", "ovo", pytest.param("crammer-singer", marks=pytest.mark.full)]
)
def test_several_classes_beat_the_softmax_of_scores(multiclass):
    X, y = make_classification(
        700, 6, n_informative=4, n_classes=3, flip_y=0.1, class_sep=2.0, random_state=0
    )
    model = SVC(multiclass=multiclass, calibrate=True).fit(X[:350], y[:350])
    found = model.predict_proba(X[350:])
    raw = softmax(model.decision_function(X[350:]), axis=1)
    guess = np.tile(np.bincount(y[:350]) / 350, (350, 1))
    assert log_loss(y[350:], found) < 0.9 * min(log_loss(y[350:], raw), log_loss(y[350:], guess))
    assert (model.classes_[found.argmax(axis=1)] == model.predict(X[350:])).mean() > 0.9


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.full)])
def test_the_brier_score_is_that_of_scikit_learn(seed):
    X, y = make_classification(800, 8, n_informative=5, flip_y=0.15, random_state=seed)
    ours = SVC(coef0=0.0, calibrate=True).fit(X[:400], y[:400]).predict_proba(X[400:])
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    peer = CalibratedClassifierCV(sklearn.svm.SVC(), cv=folds, ensemble=False).fit(X[:400], y[:400])
    theirs = peer.predict_proba(X[400:])
    mine, other = (brier_score_loss(y[400:], p[:, 1]) for p in (ours, theirs))
    assert abs(mine - other) < 0.01
    assert np.abs(ours - theirs).mean() < 0.03


def test_class_weights_do_not_shift_probabilities():
    """They are about errors, and probabilities about the rows as they are."""
    X, y, _ = known(500, 2)
    rare = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:40]]
    for class_weight in (None, "balanced"):
        model = SVC(class_weight=class_weight, calibrate=True).fit(X[rare], y[rare])
        assert abs(model.predict_proba(X[rare])[:, 1].mean() - y[rare].mean()) < 0.04


def test_rows_that_are_in_both_classes():
    """Of few different rows, a part would be scored by machines that know them as the other class,
    were the classes parted one by one.
    """
    rng = np.random.default_rng(5)
    X = rng.integers(0, 4, (400, 2)).astype(float)
    p = 1 / (1 + np.exp(-(X[:, 0] - X[:, 1])))
    y = (rng.random(400) < p).astype(int)
    model = SVC(calibrate=True).fit(X, y)
    assert np.abs(model.predict_proba(X)[:, 1] - p).mean() < 0.1


def test_training_scores_would_be_too_sure():
    """Why they are refused: a machine that knows its rows by heart is right on all of them."""
    X, y, _ = known(200, 3)
    model = SVC(C=100.0, gamma=5.0).fit(X, y)
    X_new, y_new, _ = known(600, 4)
    honest = calibrated(model, X_new[:300], y_new[:300])
    model.training_record = None
    sure = calibrated(model, X, y)
    assert log_loss(y_new[300:], honest.predict_proba(X_new[300:])) < log_loss(
        y_new[300:], sure.predict_proba(X_new[300:])
    )
