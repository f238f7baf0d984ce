"""The estimator contract of scikit-learn, without exceptions to it."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from largemargin.online import ALMA, MIRA, ROMMA, AggressivePerceptron

LEARNERS = [
    AggressivePerceptron(), MIRA(), ROMMA(), ALMA(),
    AggressivePerceptron(policy="keep", kernel="poly", average=True),
    MIRA(kernel="linear", average=True), MIRA(budget=50, policy="forgetron", average=True),
    ROMMA(budget=40, policy="projectron"), ROMMA(aggressive=False, policy="keep"),
    ALMA(budget=50, policy="random", random_state=0, average=True),
]  # fmt: skip


@parametrize_with_checks(LEARNERS[:4])
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.full
@parametrize_with_checks(LEARNERS[4:])
def test_estimator_checks_of_other_settings(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16, y[:600], X[600:1000] / 16, y[600:1000]


@pytest.mark.parametrize("learner", LEARNERS[:4])
def test_works_inside_scikit_learn(digits, learner):
    X, y, X_test, y_test = digits
    pipeline = make_pipeline(StandardScaler(), clone(learner))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.7
    grid = {"gamma": [0.02, 0.05], "budget": [None, 200]}
    search = GridSearchCV(clone(learner), grid, cv=3).fit(X, y)
    assert search.score(X_test, y_test) > 0.75
    calibrated = CalibratedClassifierCV(clone(learner), cv=3).fit(X, y)
    assert np.allclose(calibrated.predict_proba(X_test).sum(axis=1), 1)


@pytest.mark.parametrize("learner", LEARNERS[:4])
def test_pickles_go_on(digits, learner):
    X, y, X_test, _ = digits
    model = clone(learner).set_params(gamma=0.05).partial_fit(X[:300], y[:300])
    copy = pickle.loads(pickle.dumps(model))
    model.partial_fit(X[300:], y[300:])
    copy.partial_fit(X[300:], y[300:])
    assert np.array_equal(copy.decision_function(X_test), model.decision_function(X_test))


@pytest.mark.parametrize("labels", [list("abcdefghij"), np.arange(10) - 5, np.arange(10) * 1.0])
def test_labels_of_any_type(digits, labels):
    X, y, X_test, _ = digits
    names = np.array(labels)
    expected = MIRA().fit(X, y).predict(X_test)
    assert np.array_equal(MIRA().fit(X, names[y]).predict(X_test), names[expected])


def test_data_frames(digits):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    X, y, X_test, _ = digits
    expected = MIRA(shuffle=False).fit(X, y).predict(X_test)
    names = [f"pixel{j}" for j in range(X.shape[1])]
    for frame in (pandas.DataFrame(X, columns=names), polars.DataFrame(X, schema=names)):
        model = MIRA()
        for start in range(0, len(y), 200):
            rows = slice(start, start + 200)
            model.partial_fit(frame[rows], y[rows], classes=np.arange(10))
        assert list(model.feature_names_in_) == names
        test = pandas.DataFrame(X_test, columns=names)
        assert np.array_equal(model.predict(test), expected)
