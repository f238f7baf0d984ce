"""The estimator contract of scikit-learn, without exceptions to it."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from largemargin import MaxMarginHyperplane


@parametrize_with_checks([MaxMarginHyperplane(norm=1), MaxMarginHyperplane()])
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.full
@parametrize_with_checks(
    [
        MaxMarginHyperplane(norm=np.inf, class_weight="balanced"),
        *(MaxMarginHyperplane(norm=p) for p in (1.5, 4)),
    ]
)
def test_estimator_checks_of_other_norms(estimator, check):
    check(estimator)


def test_works_inside_scikit_learn():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), MaxMarginHyperplane())
    grid = {"maxmarginhyperplane__norm": [1, 1.5, 2, np.inf], "maxmarginhyperplane__C": [0.01, 10]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    calibrated = CalibratedClassifierCV(MaxMarginHyperplane(norm=1), cv=3).fit(X, y)
    assert np.allclose(calibrated.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("norm", [1, 1.3, 2, 3, np.inf])
def test_pickle_and_refits_are_the_same_bits(norm):
    X, y = load_iris(return_X_y=True)
    model = MaxMarginHyperplane(norm=norm).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    again = clone(model).fit(X, y)
    for other in (copy, again):
        assert np.array_equal(other.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("norm", [1, 1.5])
def test_data_frames(norm):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    X, y = load_iris(return_X_y=True)
    words = np.array(["setosa", "versicolor", "virginica"])[y]
    expected = MaxMarginHyperplane(norm=norm).fit(X, words).predict(X)
    names = [f"part{j}" for j in range(X.shape[1])]
    for frame, series in ((pandas.DataFrame, pandas.Series), (polars.DataFrame, polars.Series)):
        table = frame({name: X[:, j] for j, name in enumerate(names)})
        model = MaxMarginHyperplane(norm=norm).fit(table, series(words))
        assert list(model.feature_names_in_) == names
        assert np.array_equal(model.predict(table), expected)
