"""The estimator contract of scikit-learn, without exceptions to it."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from largemargin.boosting import AdaBoost, RBFNetwork

MODELS = [
    AdaBoost(n_rounds=60),
    AdaBoost(n_rounds=60, regularization=50.0),
    AdaBoost(RBFNetwork(5, max_iter=3), n_rounds=3),
    RBFNetwork(),
]


@parametrize_with_checks([AdaBoost(n_rounds=20), RBFNetwork()])
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.full
@parametrize_with_checks(
    [
        AdaBoost(n_rounds=10, regularization=50.0),
        AdaBoost(RBFNetwork(5, max_iter=3), n_rounds=3),
        AdaBoost(DecisionTreeClassifier(max_depth=2), n_rounds=3),
    ]
)
def test_estimator_checks_of_other_settings(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=4, return_X_y=True)
    return X[:160] / 16, y[:160], X[160:400] / 16, y[160:400]


@pytest.mark.parametrize("model", MODELS)
def test_works_inside_scikit_learn(digits, model):
    X, y, X_test, y_test = digits
    pipeline = make_pipeline(StandardScaler(), clone(model))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.7
    calibrated = CalibratedClassifierCV(clone(model), cv=3).fit(X, y)
    assert np.allclose(calibrated.predict_proba(X_test).sum(axis=1), 1)
    assert calibrated.score(X_test, y_test) > 0.7


def test_grid_search(digits):
    X, y, *_ = digits
    base = RBFNetwork(max_iter=2)
    grid = {"estimator__n_centers": [2, 12], "regularization": [0.0, 100.0]}
    search = GridSearchCV(AdaBoost(base, n_rounds=3, random_state=0), grid, cv=2).fit(X, y)
    assert search.best_params_["estimator__n_centers"] == 12


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", ["text", "object", "bool", "float"])
def test_labels_of_any_type(digits, model, kind):
    X, y, X_test, _ = digits
    names = {
        "text": np.array(["nought", "one", "two", "three"]),
        "object": np.array(["a", "b", "c", "d"], object),
        "bool": np.array([False, True, True, False]),
        "float": np.array([-1.0, 0.0, 2.0, 1e9]),
    }[kind]
    model = clone(model).set_params(random_state=0).fit(X, names[y])
    answers = model.predict(X_test)
    assert answers.dtype == names.dtype
    assert set(answers.tolist()) <= set(names.tolist())
    assert np.mean(model.predict(X) == names[y]) > 0.8
    if isinstance(model, AdaBoost):
        right = model.margins(X, names[y]) > 0
        assert not (right & (model.predict(X) != names[y])).any()


@pytest.mark.parametrize("model", MODELS)
def test_data_frames_and_sparse(digits, model):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    X, y, X_test, _ = digits
    model = clone(model).set_params(random_state=0)
    expected = model.fit(X, y).predict(X_test)
    for form in (sp.csr_array, sp.csc_matrix, sp.coo_array):
        assert np.array_equal(model.fit(form(X), y).predict(form(X_test)), expected)
    names = [f"pixel{j}" for j in range(X.shape[1])]
    model.fit(pandas.DataFrame(X, columns=names), pandas.Series(y))
    assert list(model.feature_names_in_) == names
    assert np.array_equal(model.predict(pandas.DataFrame(X_test, columns=names)), expected)
    model.fit(polars.DataFrame(X, schema=names), polars.Series(y))
    assert np.array_equal(model.predict(polars.DataFrame(X_test, schema=names)), expected)


@pytest.mark.parametrize("model", MODELS)
def test_pickle_clone_and_refit(digits, model):
    X, y, X_test, _ = digits
    model = clone(model).set_params(random_state=0).fit(X, y)
    scores = model.decision_function(X_test)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).decision_function(X_test), scores)
    fresh = clone(model)
    assert not hasattr(fresh, "classes_")
    assert np.array_equal(fresh.fit(X, y).decision_function(X_test), scores)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_scikit_learn_boosts_its_own_trees_the_same_way(n_classes):
    """The same seeds are drawn, so that even ties are broken alike."""
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    X = X[:, 24:40]  # hard enough for 20 rounds
    tree = DecisionTreeClassifier(max_depth=1, max_features=6)
    theirs = AdaBoostClassifier(tree, n_estimators=20, random_state=0).fit(X, y)
    ours = AdaBoost(tree, n_rounds=20, random_state=0).fit(X, y)
    assert ours.n_iter_ == 20
    assert np.allclose(ours.weighted_errors_, theirs.estimator_errors_, atol=1e-12)
    assert np.allclose(2 * ours.alphas_, theirs.estimator_weights_)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
