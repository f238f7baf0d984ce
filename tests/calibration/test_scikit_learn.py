"""The estimator contract of scikit-learn, for classifiers with probabilities."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import VotingClassifier
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import estimator_checks_generator

from largemargin import LPSVC, SVC, AdaBoost, KernelAdatron, MaxMarginHyperplane, NuSVC, RBFNetwork

# Two checks ask for other things than are promised here: that the largest probability is always
# that of the largest score, and that a class of one row, several times, can be held out. What
# is promised in their place is tested in test_calibrate.py and test_quality.py.
OTHERS = ("check_classifiers_train", "check_sample_weight_equivalence")
MACHINES = [
    SVC(calibrate=True), SVC(multiclass="ovo", calibrate=True), NuSVC(nu=0.3, calibrate=True),
    KernelAdatron(C=1.0, calibrate=True), LPSVC(calibrate=True),
    MaxMarginHyperplane(calibrate=True), AdaBoost(n_rounds=10, calibrate=True),
    RBFNetwork(calibrate=True, random_state=0),
]  # fmt: skip
IN_THE_USUAL_RUN = (
    "check_methods_subset_invariance", "check_methods_sample_order_invariance",
    "check_dict_unchanged", "check_fit_idempotent", "check_decision_proba_consistency",
    "check_classifiers_one_label", "check_supervised_y_2d",
)  # fmt: skip


def checks():
    for machine in MACHINES:
        for estimator, check in estimator_checks_generator(machine):
            name = check.func.__name__
            usual = machine is MACHINES[0] and name in IN_THE_USUAL_RUN
            if not name.startswith(OTHERS):
                marks = () if usual else pytest.mark.full
                label = f"{type(machine).__name__}-{name}"
                yield pytest.param(estimator, check, marks=marks, id=label)


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_estimator_checks(estimator, check):
    check(estimator)


def test_works_inside_scikit_learn():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = scale(X)[:200], y[:200]
    model = SVC(calibrate=True)
    assert cross_val_score(model, X, y, scoring="neg_log_loss", cv=3).mean() > -0.3
    votes = VotingClassifier([("a", model), ("b", clone(model).set_params(C=0.1))], voting="soft")
    assert votes.fit(X, y).predict_proba(X).shape == (200, 2)
    found = model.fit(X, y).predict_proba(X)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), found)
