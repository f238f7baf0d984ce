"""Bad input gets a sentence that says what to do, and leaves the estimator as it was."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from largemargin.boosting import AdaBoost, RBFNetwork

from .problems import noisy

PARAMETERS = [
    (AdaBoost, {"n_rounds": 0}, "n_rounds must be a positive integer, got 0"),
    (AdaBoost, {"n_rounds": 2.5}, "n_rounds must be a positive integer, got 2.5"),
    (AdaBoost, {"n_rounds": True}, "n_rounds must be a positive integer, got True"),
    (AdaBoost, {"regularization": -1.0}, "at least 0, got -1.0"),
    (AdaBoost, {"regularization": np.inf}, "at least 0, got inf"),
    (AdaBoost, {"regularization": np.nan}, "at least 0, got nan"),
    (AdaBoost, {"regularization": "1"}, "at least 0, got '1'"),
    (AdaBoost, {"estimator": LinearRegression()}, "None, for stumps, or a classifier, got Linear"),
    (AdaBoost, {"estimator": "tree"}, "None, for stumps, or a classifier, got 'tree'"),
    (AdaBoost, {"estimator": DecisionTreeClassifier}, "or a classifier, got <class"),
    (AdaBoost, {"estimator": KNeighborsClassifier()}, "which KNeighborsClassifier does not"),
    (AdaBoost, {"estimator": make_pipeline(StandardScaler(), SVC())}, "which Pipeline does not"),
    (AdaBoost, {"max_seconds": -1}, "max_seconds must be None or a positive number, got -1"),
    (AdaBoost, {"verbose": "yes"}, "verbose must be 0 or 1, got 'yes'"),
    (AdaBoost, {"random_state": "x", "estimator": RBFNetwork()}, "cannot be used to seed"),
    (RBFNetwork, {"n_centers": 0}, "n_centers must be an integer of at least 1, got 0"),
    (RBFNetwork, {"n_centers": 1.5}, "n_centers must be an integer of at least 1, got 1.5"),
    (RBFNetwork, {"max_iter": -1}, "max_iter must be an integer of at least 0, got -1"),
    (RBFNetwork, {"regularization": 0}, "regularization must be a number of at least 1e-12"),
    (RBFNetwork, {"regularization": np.inf}, "regularization must be a number of at least"),
    (RBFNetwork, {"max_seconds": 0}, "max_seconds must be None or a positive number, got 0"),
    (RBFNetwork, {"verbose": None}, "verbose must be 0 or 1, got None"),
    (RBFNetwork, {"random_state": "x"}, "cannot be used to seed"),
]


@pytest.mark.parametrize(("cls", "parameters", "words"), PARAMETERS)
def test_parameters(cls, parameters, words):
    X, y = noisy(0)
    model = cls(**({"n_rounds": 3} if cls is AdaBoost else {"random_state": 0})).fit(X, y)
    scores = model.decision_function(X)
    before = {name: value for name, value in vars(model).items() if name.endswith("_")}
    model.set_params(**parameters)
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)
    after = {name: value for name, value in vars(model).items() if name.endswith("_")}
    assert all(after[name] is value for name, value in before.items())
    assert np.array_equal(model.decision_function(X), scores)


MODELS = [AdaBoost(n_rounds=3), RBFNetwork(3, random_state=0)]


def test_squares_that_overflow_are_refused():
    X, y = noisy(0)
    with pytest.raises(ValueError, match="more than float64 can compute with: scale the data"):
        RBFNetwork(3, random_state=0).fit(1e200 * X, y)
    model = RBFNetwork(3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="more than float64 can compute with: scale the data"):
        model.predict(1e200 * X)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X, y: (np.where(X > 1, np.nan, X), y, None), "NaN"),
        (lambda X, y: (np.where(X > 1, np.inf, X), y, None), "infinity"),
        (lambda X, y: (X[:0], y[:0], None), "0 sample"),
        (lambda X, y: (X, y[:-1], None), "inconsistent"),
        (lambda X, y: (X[:, 0], y, None), "1D array"),
        (lambda X, y: (X, np.ones(len(y), int), None), r"only one class: \[1\]"),
        (lambda X, y: (X, X[:, 0], None), "continuous"),
        (lambda X, y: (X, y, np.zeros(len(y))), "zero for every example|at least one non-zero"),
        (lambda X, y: (X, y, -np.ones(len(y))), "must not be negative, got -1.0 for example 0"),
        (lambda X, y: (X, y, np.ones(3)), "sample_weight.shape"),
        (lambda X, y: (X, y, np.full(len(y), np.nan)), "NaN"),
        (lambda X, y: (X, y, (y > 0).astype(float)), "one class with positive weight"),
    ],
)
def test_data(model, change, words):
    X, y, weight = change(*noisy(0))
    with pytest.raises(ValueError, match=words):
        model.fit(X, y, weight)


@pytest.mark.parametrize("model", MODELS)
def test_other_widths(model):
    X, y = noisy(0)
    model.fit(X, y)
    with pytest.raises(ValueError, match=r"2 features, but .* expecting 3"):
        model.predict(X[:, :2])


def test_margins():
    X, y = noisy(0)
    model = AdaBoost(n_rounds=3).fit(X, y)
    for label in (7, "1", None):
        with pytest.raises(ValueError, match=f"label {label!r}, which is not among those"):
            model.margins(X, [label] * len(y))
    with pytest.raises(ValueError, match="one label for each of 30 rows"):
        model.margins(X, y[:5])
    for rho in (np.nan, "a", None, True):
        with pytest.raises(ValueError, match="rho must be a number"):
            model.margin_error_bound(rho)
        with pytest.raises(ValueError, match="rho must be a number"):
            model.margin_error(X, y, rho)


def test_a_base_learner_that_fails_in_a_later_round_leaves_the_model_as_it_was():
    X, y = noisy(0)
    model = AdaBoost(n_rounds=3).fit(X, y)
    before = model.estimators_

    class Failing(DecisionTreeClassifier):
        fits = 0

        def fit(self, X, y, sample_weight=None):
            Failing.fits += 1
            if Failing.fits > 2:
                raise RuntimeError("no third round")
            return super().fit(X, y, sample_weight)

    model.set_params(estimator=Failing(max_depth=1))
    with pytest.raises(RuntimeError, match="no third round"):
        model.fit(X, y)
    assert model.estimators_ is before
