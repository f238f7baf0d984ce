"""The kernel machines beside scikit-learn's own, attribute by attribute."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from largemargin import dropin

X, y = load_iris(return_X_y=True)
X = X + 0.01 * np.random.default_rng(0).normal(size=X.shape)  # no two rows alike
EXACT = {"tol": 1e-8}
SETTINGS = [
    ("SVC", {}),
    ("SVC", {"kernel": "poly", "coef0": 0.5, "C": 0.2, "class_weight": "balanced"}),
    ("SVC", {"kernel": "linear", "decision_function_shape": "ovo"}),
    ("NuSVC", {"nu": 0.31, "class_weight": {0: 9.0}}),
    ("NuSVC", {"nu": 0.31, "kernel": "linear", "break_ties": True}),
    ("OneClassSVM", {"nu": 0.15}),
    ("OneClassSVM", {"nu": 0.33, "kernel": "sigmoid", "gamma": 0.01}),
]


def pair(name, **settings):
    """The machine of scikit-learn and ours."""
    return getattr(svm, name)(**EXACT | settings), getattr(dropin, name)(**EXACT | settings)


def dense(values):
    return values.toarray() if sp.issparse(values) else values


def coefs_of_all(model):
    """LIBSVM's table, with a column for every row of the data: some coefficients are about zero."""
    table = np.zeros((model.dual_coef_.shape[0], len(X)))
    table[:, model.support_] = dense(model.dual_coef_)
    return table


@pytest.mark.crossing
@pytest.mark.parametrize(("name", "settings"), SETTINGS)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_attributes_and_answers(name, settings, kind):
    peer, model = pair(name, **settings)
    weights = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
    for sample_weight in (None, weights):
        peer.fit(kind(X), y, sample_weight=sample_weight)
        model.fit(kind(X), y, sample_weight=sample_weight)
        assert np.allclose(coefs_of_all(model), coefs_of_all(peer), atol=1e-3)
        assert np.array_equal(dense(model.support_vectors_), X[model.support_])
        assert (np.diff(model.support_) > 0).sum() >= len(model.support_) - 3
        assert np.allclose(model.intercept_, peer.intercept_, atol=1e-4)
        assert np.allclose(
            model.decision_function(kind(X)), peer.decision_function(kind(X)), atol=1e-4
        )
        assert (model.predict(kind(X)) == peer.predict(kind(X))).mean() > 0.99
        for kept in ("dual_coef_", "support_vectors_", "support_", "intercept_", "n_support_"):
            ours, theirs = getattr(model, kept), getattr(peer, kept)
            assert type(ours) is type(theirs)
            assert ours.dtype == theirs.dtype
            assert ours.ndim == theirs.ndim
        assert model.shape_fit_ == peer.shape_fit_
        assert type(model.n_iter_) is type(peer.n_iter_)
    assert set(vars(peer)) - set(vars(model)) <= {"_probA", "_probB"}


def test_support_is_where_the_rows_are():
    weights = (np.arange(len(X)) % 3 > 0).astype(float)  # LIBSVM counts those of weight above 0
    model = dropin.SVC().fit(X, y, sample_weight=weights)
    assert (weights[model.support_] > 0).all()
    assert np.array_equal(model.support_vectors_, X[model.support_])
    kept = weights > 0
    alone = dropin.SVC(gamma=model._gamma).fit(X[kept], y[kept])
    assert np.array_equal(model.dual_coef_, alone.dual_coef_)
    assert np.array_equal(model.support_, np.flatnonzero(kept)[alone.support_])


def test_the_kernel_as_values():
    K = X @ X.T
    peer, model = pair("SVC", kernel="precomputed")
    peer.fit(K, y)
    model.fit(K, y)
    assert np.array_equal(model.support_, peer.support_)
    assert np.allclose(model.decision_function(K), peer.decision_function(K), atol=1e-4)
    assert model.support_vectors_.shape == peer.support_vectors_.shape
    by_function = dropin.SVC(kernel=lambda a, b: a @ b.T, **EXACT).fit(X, y)
    assert np.array_equal(by_function.decision_function(X), model.decision_function(K))
    with pytest.raises(ValueError, match="square matrix"):
        dropin.SVC(kernel=lambda a, b: a).fit(X, y)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid"])
def test_a_kernel_of_gamma_zero(kernel):
    peer, model = pair("SVC", gamma=0.0, coef0=1.0, kernel=kernel)
    assert np.allclose(
        model.fit(X[:100], y[:100]).decision_function(X),
        peer.fit(X[:100], y[:100]).decision_function(X), atol=1.0,
    )  # fmt: skip


def test_predictions_follow_the_attributes():
    model = dropin.SVC(kernel="rbf").fit(X, y)
    before = model.decision_function(X)
    model._dual_coef_ = 2 * model._dual_coef_
    model._intercept_ = 2 * model._intercept_
    model.decision_function_shape = "ovo"
    doubled = model.decision_function(X)
    model._dual_coef_ = model.dual_coef_
    model._intercept_ = model.intercept_
    assert np.allclose(doubled, 2 * model.decision_function(X))
    model.decision_function_shape = "ovr"
    assert np.array_equal(model.decision_function(X), before)


def test_a_fit_after_a_fit():
    model = dropin.SVC().fit(X, y)
    model.fit(X[:100], y[:100])
    fresh = dropin.SVC().fit(X[:100], y[:100])
    assert np.array_equal(model.decision_function(X), fresh.decision_function(X))


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_pickles_answer_alike():
    model = dropin.SVC(probability=True).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again._scorer is not None


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_probabilities_are_the_same_on_every_thread():
    def probabilities(_):
        return dropin.SVC(probability=True).fit(X, y).predict_proba(X)

    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(probabilities, range(4))
    assert all(np.array_equal(first, other) for other in others)
    other = dropin.SVC(probability=True, random_state=5).fit(X, y).predict_proba(X)
    assert not np.array_equal(first, other)
    peer = svm.SVC(probability=True, random_state=0).fit(X, y).predict_proba(X)
    assert np.abs(first - peer).mean() < 0.02


def test_memory_does_not_change_a_bit():
    tight, plenty = (dropin.SVC(cache_size=size).fit(X, y) for size in (0.001, 1000))
    assert np.array_equal(tight.dual_coef_, plenty.dual_coef_)


def test_the_limit_of_iterations_is_told():
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3"):
        model = dropin.SVC(max_iter=3).fit(X, y)
    assert model.fit_status_ == 1
    assert (model.n_iter_ <= 3).all()


def test_bad_weights():
    with pytest.raises(ValueError, match="one number per row"):
        dropin.SVC().fit(X, y, sample_weight=np.ones((len(X), 2)))
    with pytest.raises(ValueError, match="all samples of class 2 have zero"):
        dropin.SVC().fit(X, y, sample_weight=y != 2)
    with pytest.raises(ValueError, match=r"nu=0\.9 is more than 0\.666667"):
        dropin.NuSVC(nu=0.9).fit(X[:75], y[:75])


def test_signatures_are_those_of_the_installed_version():
    for name in ("SVC", "NuSVC", "OneClassSVM", "LinearSVC"):
        peer, model = getattr(svm, name)(), getattr(dropin, name)()
        assert model.get_params() == peer.get_params()
        assert isinstance(model, type(peer))
        assert type(clone(model)) is type(model)
