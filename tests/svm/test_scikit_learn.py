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

from largemargin.svm import SVC, KernelAdatron, NuSVC

from .problems import product


@parametrize_with_checks(
    [SVC(), SVC(multiclass="crammer-singer"), NuSVC(nu=0.3), KernelAdatron(C=1.0)]
)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.full
@parametrize_with_checks(
    [
        SVC(kernel="linear", slack="squared", multiclass="ovo"),
        SVC(slack="squared-sum", class_weight="balanced"),
        SVC(kernel="poly", fit_intercept=False),
        NuSVC(nu=0.3, kernel="laplacian", multiclass="ovo"),
    ]
)
def test_estimator_checks_of_other_settings(estimator, check):
    check(estimator)


MACHINES = [
    SVC(gamma=0.02, C=3.0), SVC(slack="squared-sum", kernel="poly", degree=2), NuSVC(nu=0.1),
    SVC(multiclass="crammer-singer"), SVC(multiclass="ovo", kernel="linear"), KernelAdatron(C=5.0),
]  # fmt: skip


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=4, return_X_y=True)
    return X[:160] / 16, y[:160], X[160:400] / 16, y[160:400]


@pytest.mark.parametrize("machine", MACHINES)
def test_works_inside_scikit_learn(digits, machine):
    X, y, X_test, y_test = digits
    pipeline = make_pipeline(StandardScaler(), clone(machine))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.8
    calibrated = CalibratedClassifierCV(clone(machine), cv=3).fit(X, y)
    assert np.allclose(calibrated.predict_proba(X_test).sum(axis=1), 1)
    assert calibrated.score(X_test, y_test) > 0.8


@pytest.mark.full
def test_grid_search_on_processes(digits):
    X, y, X_test, y_test = digits
    grid = {"C": [1e-4, 10.0], "slack": ["linear", "squared"]}
    search = GridSearchCV(SVC(gamma=0.1), grid, cv=2, n_jobs=2).fit(X, y)
    assert search.best_params_["C"] == 10.0
    assert search.score(X_test, y_test) > 0.85
    search = GridSearchCV(NuSVC(gamma=0.1), {"nu": [0.05, 0.15]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.85


def test_cross_validation_of_a_precomputed_kernel(digits):
    X, y, *_ = digits
    K = np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    found = cross_val_score(SVC(kernel="precomputed"), K, y, cv=3)
    assert np.allclose(found, cross_val_score(SVC(gamma=0.1), X, y, cv=3))


@pytest.mark.parametrize("machine", [*MACHINES, SVC(kernel=product), SVC(C=np.inf)])
def test_pickle_and_clone(digits, machine):
    X, y, X_test, _ = digits
    model = clone(machine).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.decision_function(X_test), model.decision_function(X_test))
    assert np.array_equal(copy.support_, model.support_)
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "classes_")


def test_refits_are_the_same_bits(digits):
    X, y, X_test, _ = digits
    for machine in MACHINES:
        one, two = clone(machine).fit(X, y), clone(machine).fit(X, y)
        assert np.array_equal(one.decision_function(X_test), two.decision_function(X_test))


@pytest.mark.parametrize("machine", MACHINES)
def test_data_frames(digits, machine):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    X, y, X_test, _ = digits
    expected = clone(machine).fit(X, y).predict(X_test)
    names = [f"pixel{j}" for j in range(X.shape[1])]
    model = clone(machine).fit(pandas.DataFrame(X, columns=names), pandas.Series(y))
    assert list(model.feature_names_in_) == names
    assert np.array_equal(model.predict(pandas.DataFrame(X_test, columns=names)), expected)
    model = clone(machine).fit(polars.DataFrame(X, schema=names), polars.Series(y))
    assert np.array_equal(model.predict(polars.DataFrame(X_test, schema=names)), expected)


def test_frames_of_kernel_values():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    K = X @ X.T
    names = [f"row{j}" for j in range(60)]
    model = SVC(kernel="precomputed").fit(pandas.DataFrame(K, columns=names), y)
    expected = SVC(kernel="precomputed").fit(K, y).decision_function(K)
    assert np.array_equal(model.decision_function(pandas.DataFrame(K, columns=names)), expected)
    narrow = pandas.DataFrame(K, columns=names).iloc[:, model.support_]
    assert np.array_equal(model.decision_function(narrow), expected)
