"""The estimator contract of scikit-learn, without exceptions to it."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from largemargin import VotedPerceptron


@parametrize_with_checks(
    [
        VotedPerceptron(),
        VotedPerceptron(kernel="linear", epochs=3, method="average", fit_intercept=True),
        VotedPerceptron(kernel="rbf", epochs=3, method="last", shuffle=True, random_state=0),
        VotedPerceptron(kernel="laplacian", method="longest"),
        VotedPerceptron(kernel="poly", epochs=2, method="average", normalize=True),
    ]
)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:500] / 16, y[:500], X[500:900] / 16, y[500:900]


@pytest.mark.full
def test_works_inside_scikit_learn(digits):
    X, y, X_test, y_test = digits
    pipeline = make_pipeline(StandardScaler(), VotedPerceptron(epochs=2))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.8
    search = GridSearchCV(VotedPerceptron(), {"degree": [2, 3]}, cv=3, n_jobs=2).fit(X, y)
    assert search.best_params_["degree"] in (2, 3)
    calibrated = CalibratedClassifierCV(VotedPerceptron(method="average"), cv=3).fit(X, y)
    assert np.allclose(calibrated.predict_proba(X_test).sum(axis=1), 1)
    assert calibrated.score(X_test, y_test) > 0.7


def test_clone_has_the_parameters_and_not_the_fit(digits):
    X, y, *_ = digits
    model = VotedPerceptron(degree=2, epochs=3, memory="50MB").fit(X, y)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "trace_")


@pytest.mark.parametrize("labels", [list("abcdefghij"), np.arange(10) - 5, np.arange(10) * 1.0])
def test_labels_of_any_type(digits, labels):
    X, y, X_test, _ = digits
    names = np.array(labels)
    expected = VotedPerceptron().fit(X, y).predict(X_test)
    assert np.array_equal(VotedPerceptron().fit(X, names[y]).predict(X_test), names[expected])


def test_data_frames(digits):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    X, y, X_test, _ = digits
    expected = VotedPerceptron().fit(X, y).predict(X_test)
    names = [f"pixel{j}" for j in range(X.shape[1])]
    frame = pandas.DataFrame(X, columns=names)
    model = VotedPerceptron().fit(frame, pandas.Series(y))
    assert list(model.feature_names_in_) == names
    assert np.array_equal(model.predict(pandas.DataFrame(X_test, columns=names)), expected)
    model = VotedPerceptron().fit(polars.DataFrame(X, schema=names), y)
    assert np.array_equal(model.predict(polars.DataFrame(X_test, schema=names)), expected)
