"""The estimator contract of scikit-learn, without exceptions to it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from largemargin import LPSVC, AdaptiveMarginSVC, LeaveOneOutSVC, NuLPSVC

MACHINES = [LPSVC(), NuLPSVC(), LeaveOneOutSVC(), AdaptiveMarginSVC(lam=2.0)]


@parametrize_with_checks(MACHINES[:2])
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.full
@parametrize_with_checks(
    [
        *MACHINES[2:], LPSVC(kernel="poly", class_weight="balanced"),
        AdaptiveMarginSVC(lam=0.5, kernel="laplacian"),
    ]
)  # fmt: skip
def test_estimator_checks_of_other_settings(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_works_inside_scikit_learn(iris, machine):
    X, y = iris
    assert cross_val_score(make_pipeline(StandardScaler(), machine), X, y, cv=3).mean() > 0.9
    calibrated = CalibratedClassifierCV(clone(machine), cv=3).fit(X, y)
    assert calibrated.score(X, y) > 0.9
    model = pickle.loads(pickle.dumps(clone(machine).fit(X, y)))
    np.testing.assert_array_equal(model.predict(X), clone(machine).fit(X, y).predict(X))


def test_grid_search(iris):
    X, y = iris
    grid = GridSearchCV(AdaptiveMarginSVC(), {"lam": [1.0, 1e6]}, cv=3).fit(X, y)
    assert grid.best_score_ > 0.9


def test_labels_and_columns_have_names(iris):
    X, y = iris
    frame = pd.DataFrame(X, columns=list("abcd"))
    names = np.array(["setosa", "versicolor", "virginica"], dtype=object)[y]
    model = LeaveOneOutSVC().fit(frame, names)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert set(model.predict(frame)) == set(names)
    (on_path,) = AdaptiveMarginSVC().path(frame, names, [1.0])
    assert on_path.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_array_equal(on_path.predict(frame), model.predict(frame))


def test_the_linear_kernel_has_weights(iris):
    X, y = iris
    model = LPSVC(kernel="linear").fit(X, y)
    assert np.allclose(model.decision_function(X), X @ model.coef_.T + model.intercept_)
    assert not model.intercept_.any()
