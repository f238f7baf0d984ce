"""The one-class machine against its definition, scikit-learn's, and what nu promises."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import largemargin as lm
from largemargin import AdaBoost, OneClassSVM, load, save
from largemargin.certificates import margins
from largemargin.report import fit_report
from largemargin.svm.one_class_svm import quantile

from .extended import LONG, readings
from .problems import KERNELS
from .twin import box, solve_qp

PEERS = [
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0},
]


def rows(n=60, seed=0, centre=2.0):
    rng = np.random.default_rng(seed)
    return rng.normal(centre, 1.0, size=(n, 3))


def one_class(K, s, nu):
    """1/2 w.w - nu S rho + sum s xi: the coefficients and rho of the dual as it is written down."""
    n, size = len(s), np.abs(K).max()
    coefs, _, multiplier = solve_qp(
        K / size, np.zeros(n), *box(n, s), np.ones((1, n)), np.array([nu * s.sum()])
    )
    return coefs, -multiplier[0] * size


def true_gap(model, X, s=None):
    """The primal less the dual objective, relative to w.w, in extended precision."""
    s = np.ones(X.shape[0]) if s is None else s
    total, found = LONG(model.nu) * s.sum(), []
    for read in readings(model, X):
        f, square = read(np.asarray(model.dual_coef_[0], LONG))
        rho = LONG(model.offset_)
        found.append((square + s @ np.maximum(0, rho - f) - total * rho) / square)
    return max(found)


@parametrize_with_checks([OneClassSVM(), OneClassSVM(nu=0.1, kernel="poly")])
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("nu", [0.03, 0.47, 0.93])
def test_twin(kernel, nu):
    parameters, function = KERNELS[kernel]
    X = rows(30)
    K = function(X, X)
    s = np.random.default_rng(1).choice([0.5, 1.0, 3.0], 30)
    model = OneClassSVM(nu=nu, tol=1e-8, **parameters)
    model.fit(K if kernel == "precomputed" else X, sample_weight=s)
    coefs, rho = one_class(K, s, nu)
    scores = model.score_samples(K if kernel == "precomputed" else X)
    np.testing.assert_allclose(scores, K @ coefs, atol=1e-6 * np.abs(scores).max())
    np.testing.assert_allclose(model.objective_, -coefs @ K @ coefs / 2, rtol=1e-6)
    np.testing.assert_allclose(model.offset_, rho, rtol=1e-6)


@pytest.mark.parametrize("parameters", PEERS, ids=lambda one: one["kernel"])
@pytest.mark.parametrize("weighted", [False, True])
def test_peer(parameters, weighted):
    X, Z = rows(157), rows(50, seed=1, centre=1.0)
    s = np.random.default_rng(2).uniform(0.5, 2.0, 157) if weighted else None
    ours = OneClassSVM(nu=0.2, tol=1e-8, **parameters).fit(X, sample_weight=s)
    theirs = svm.OneClassSVM(nu=0.2, tol=1e-11, **parameters).fit(X, sample_weight=s)
    size = np.abs(ours.score_samples(X)).max()
    for method in ("score_samples", "decision_function"):
        found, expected = getattr(ours, method)(Z), getattr(theirs, method)(Z)
        np.testing.assert_allclose(found, expected, atol=1e-6 * size)
    np.testing.assert_allclose(ours.offset_, theirs.offset_[0], rtol=1e-6)
    total = 157 if s is None else s.sum()
    np.testing.assert_allclose(ours.dual_coef_.sum(), 0.2 * total, rtol=1e-12)
    assert (ours.dual_coef_[0] <= (1.0 if s is None else s[ours.support_])).all()
    np.testing.assert_array_equal(ours.intercept_, [-ours.offset_])
    inside = np.abs(theirs.decision_function(X)) > 1e-6 * size
    np.testing.assert_array_equal(ours.predict(X)[inside], theirs.predict(X)[inside])
    if parameters["kernel"] == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5)


@pytest.mark.parametrize("limits", [{}, {"max_iter": 5}, {"precision": "float32"}])
@pytest.mark.parametrize("nu", [0.004, 0.1, 0.5, 0.9, 1.0])
def test_nu_property(limits, nu):
    """Of every fit, whether it converged or not."""
    X = rows(200, centre=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = OneClassSVM(nu=nu, **limits).fit(X)
    assert (model.predict(X) == -1).sum() <= nu * 200 * (1 + 1e-12)
    assert model.n_support_ >= nu * 200 * (1 - 1e-12)
    assert 0 <= float(true_gap(model, X)) <= model.dual_gap_[0]


def test_quantile():
    f = np.random.default_rng(0).permutation(10).astype(float)
    s = np.ones(10)
    assert quantile(f, s, 0.05) == 0.0
    assert quantile(f, s, 0.1) == 0.5
    assert quantile(f, s, 0.3) == 2.5  # though 0.3 * 10 is not 3 in floating point
    assert quantile(f, s, 1.0) == 9.0
    assert quantile(f, np.where(f == 9, 10.0, 1.0), 0.5) == 9.0


def test_weights_are_repetitions():
    X = rows(40)
    s = np.random.default_rng(3).integers(0, 4, 40)
    one = OneClassSVM(nu=0.31).fit(X, sample_weight=s)
    other = OneClassSVM(nu=0.31, gamma=one.expansion.basis.kernel.gamma).fit(X.repeat(s, axis=0))
    np.testing.assert_allclose(one.score_samples(X), other.score_samples(X), rtol=1e-9)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    assert (s[one.support_] > 0).all()
    assert 0 <= float(true_gap(one, X, s)) <= one.dual_gap_[0]


def test_forms_of_the_rows():
    pandas = pytest.importorskip("pandas")
    X = np.where(rows(80) > 2, rows(80), 0.0)
    model = OneClassSVM(nu=0.2).fit(X)
    expected = model.decision_function(X)
    sparse = OneClassSVM(nu=0.2).fit(sp.csr_array(X))
    np.testing.assert_allclose(sparse.decision_function(sp.csr_array(X)), expected, atol=1e-9)
    assert sp.issparse(sparse.support_vectors_)
    gamma = model.expansion.basis.kernel.gamma
    K = np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    values = OneClassSVM(nu=0.2, kernel="precomputed").fit(K)
    np.testing.assert_allclose(values.decision_function(K), expected, atol=1e-9)
    np.testing.assert_allclose(values.predict(K[:, values.support_]), model.predict(X))
    named = pandas.DataFrame(X, columns=["u", "v", "w"])
    framed = OneClassSVM(nu=0.2).fit(named)
    np.testing.assert_array_equal(framed.decision_function(named), expected)
    assert list(framed.feature_names_in_) == ["u", "v", "w"]
    single = OneClassSVM(nu=0.2, precision="float32").fit(X)
    np.testing.assert_allclose(single.decision_function(X), expected, atol=1e-2)
    assert 0 <= float(true_gap(single, X)) <= single.dual_gap_[0] < 1e-2


@pytest.mark.full
def test_more_rows():
    X = np.random.default_rng(0).normal(size=(3000, 4))
    model = OneClassSVM(nu=0.1).fit(X)
    assert model.converged_
    assert model.dual_gap_[0] < 1e-6
    assert (model.predict(X) == -1).mean() <= 0.1 <= model.n_support_ / 3000
    theirs = svm.OneClassSVM(nu=0.1, tol=1e-6).fit(X)
    np.testing.assert_allclose(model.score_samples(X), theirs.score_samples(X), rtol=1e-5)


def test_warm_start():
    X = rows(120)
    model = OneClassSVM(nu=0.3, warm_start=True, max_iter=3, tol=1e-8, precision="float32")
    with pytest.warns(ConvergenceWarning, match="max_iter=3 was reached"):
        model.fit(X)
    first = model.dual_gap_[0]
    model.set_params(max_iter=-1).fit(X)
    assert model.dual_gap_[0] < first
    expected = OneClassSVM(nu=0.3, tol=1e-8, precision="float32").fit(X).offset_
    np.testing.assert_allclose(model.offset_, expected, rtol=1e-5)


def test_the_origin_among_the_rows():
    """Nothing can be separated from it."""
    for X in (rows(50, centre=0.0), np.zeros((5, 2))):
        model = OneClassSVM(kernel="linear", nu=0.5)
        with pytest.warns(ConvergenceWarning, match="no hyperplane separates the training data"):
            model.fit(X)
        assert not model.converged_
        assert (model.predict(X) == 1).all()
        assert "stopped before" in model.certificate(X)["nu-property, outliers"].sentence


def test_one_row():
    model = OneClassSVM().fit([[1.0, 2.0]])
    assert model.predict([[1.0, 2.0], [9.0, 9.0]]).tolist() == [1, -1]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"nu": 0}, "nu must be above 0 and at most 1, got 0"),
        ({"nu": 1.5}, "nu must be above 0"),
        ({"nu": True}, "nu must be above 0"),
        ({"nu": np.nan}, "nu must be above 0"),
        ({"tol": 0}, "tol must be positive"),
        ({"max_iter": 0}, "max_iter must be a positive integer"),
        ({"warm_start": "yes"}, "warm_start must be True or False"),
        ({"kernel": "cubic"}, "kernel"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ValueError, match=words):
        OneClassSVM(**parameters).fit(rows())


def test_bad_input():
    X = rows(10)
    model = OneClassSVM()
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(ValueError, match="at least one non-zero"):
        model.fit(X, sample_weight=np.zeros(10))
    with pytest.raises(ValueError, match=r"must not be negative, got -1\.0 for example 9"):
        model.fit(X, sample_weight=np.append(np.ones(9), -1))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 3, np.nan, X))
    with pytest.raises(ValueError, match=r"must be square, got shape \(10, 3\)"):
        OneClassSVM(kernel="precomputed").fit(X)
    assert not hasattr(model, "n_features_in_")
    model.fit(X)
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.predict(X[:, :2])
    assert not hasattr(model, "classes_")


def test_what_is_for_classifiers():
    X, y = rows(20), np.arange(20) % 2
    model = OneClassSVM().fit(X)
    with pytest.raises(ValueError, match="margins are those of a classifier, and OneClassSVM"):
        margins(model, X, y)
    with pytest.raises(ValueError, match="OneClassSVM learns without labels: leave out y_test"):
        fit_report(model, X, y)
    with pytest.raises((ValueError, TypeError)):
        AdaBoost(OneClassSVM()).fit(X, y)
    with pytest.raises(ValueError, match="OneClassSVM is an outlier detector: only classifiers"):
        lm.machines.room("compare.candidates").candidates("rbf", 1.0, ["one-class-svm"])


@pytest.mark.parametrize("make", [clone, lambda model: make_pipeline(StandardScaler(), model)])
def test_round_trip(make, tmp_path):
    X = rows(60)
    model = make(OneClassSVM(nu=0.2)).fit(X)
    save(model, tmp_path / "m")
    for copy in (load(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))
        last, was = (one[-1] if hasattr(one, "steps") else one for one in (copy, model))
        for name in ("offset_", "objective_", "dual_gap_", "n_iter_", "converged_", "support_"):
            np.testing.assert_array_equal(getattr(last, name), getattr(was, name))
        assert not hasattr(last, "classes_")
    if hasattr(model, "certificate"):
        loaded = load(tmp_path / "m")
        assert loaded.certificate(X) == model.certificate(X)


def test_certificate():
    X = rows(80)
    model = OneClassSVM(nu=0.2).fit(X)
    found = model.certificate(X)
    assert [s.name for s in found] == [
        "outliers", "nu-property, outliers", "nu-property, support vectors", "duality gap",
    ]  # fmt: skip
    assert found["outliers"].value == np.mean(model.predict(X) == -1) <= 0.2
    assert found["nu-property, outliers"].value == found["nu-property, support vectors"].value
    assert found["duality gap"].value == model.dual_gap_[0]
    assert "times w.w" in found["duality gap"].sentence
    other = model.certificate(X[::-1])
    assert other["outliers"].value == found["outliers"].value
    assert "rows differ" in other["nu-property, outliers"].sentence
    assert not other["nu-property, support vectors"].applies
    weighted = OneClassSVM(nu=0.2).fit(X, sample_weight=np.arange(80))
    words = weighted.certificate(X)["nu-property, outliers"].sentence
    assert "not with equal weights of 1" in words
    model.nu = 0.1
    assert "nu was 0.2" in model.certificate(X)["nu-property, support vectors"].sentence


def test_certificate_of_a_kernel_that_may_be_indefinite():
    X = rows(30)
    K = X @ X.T
    assert OneClassSVM(kernel="precomputed").fit(K).certificate(K)["duality gap"].applies
    model = OneClassSVM(kernel="precomputed").fit(K)
    assert "not known to be positive" in model.certificate(K + 1)["duality gap"].sentence


def test_plot_decision():
    figure = pytest.importorskip("matplotlib.figure")
    X = rows(60)[:, :2]
    for model in (OneClassSVM(nu=0.2), svm.OneClassSVM(nu=0.2)):
        ax = lm.report.plot_decision(model.fit(X), X, ax=figure.Figure().subplots(), resolution=40)
        labels = ax.get_legend_handles_labels()[1]
        assert labels == ["class -1", "class 1", "support vector", "decision line"]
    with pytest.raises(ValueError, match="y must have one label a row"):
        lm.report.plot_decision(lm.SVC().fit(X, X[:, 0] > 2), X)
