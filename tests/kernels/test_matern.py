"""The Matern kernel: scikit-learn's values, its rounding where rows nearly coincide, and every
estimator with it.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.gaussian_process import kernels as peers
from sklearn.model_selection import GridSearchCV, cross_val_score

import largemargin as lm
from largemargin.kernels import Gaussian, Matern, make_kernel
from largemargin.kernels.engine import choose_dtype
from largemargin.kernels.functions import squared_norms

NUS = (0.5, 1.5, 2.5)
LONG = np.longdouble
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)) * (RNG.random((60, 4)) < 0.7)
Y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int) + (X[:, 2] > 1)


@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize("length", [0.2, 1.0, 7.0])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_are_scikit_learns(nu, length, form, dtype):
    A, B = X[:20].astype(dtype), np.vstack([X[10:25], X[:1] + 1e-3]).astype(dtype)
    kernel = Matern(nu=nu, gamma=1 / (2 * length**2))
    truth = peers.Matern(length_scale=length, nu=nu)(A.astype(float), B.astype(float))
    error = 20 * kernel.gamma * squared_norms(B).max() * np.finfo(dtype).eps
    tolerance = np.sqrt(error) if nu == 0.5 else error + 20 * np.finfo(dtype).eps
    found = kernel(form(A), form(B))
    assert found.dtype == dtype
    assert np.abs(found - truth).max() <= tolerance
    assert found.max() <= 1
    assert np.array_equal(kernel.diag(form(A)), np.ones(20))


def test_between_the_exponential_and_the_gaussian():
    """The smoother the kernel, the nearer it is to the Gaussian one of the same gamma."""
    gauss = Gaussian(0.3)(X, X)
    off = [np.abs(Matern(nu, 0.3)(X, X) - gauss).max() for nu in NUS]
    assert off[0] > off[1] > off[2] > 0.01


@pytest.mark.parametrize("nu", NUS)
def test_positive_semi_definite(nu):
    kernel = Matern(nu, 0.5)
    assert kernel.psd
    assert np.linalg.eigvalsh(kernel(X, X))[0] > -1e-6


@pytest.mark.skipif(np.finfo(LONG).eps > 1e-18, reason="nothing to compare with")
@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_where_rows_nearly_coincide(nu, dtype):
    """For nu = 1/2 half of the digits are lost, for others none: both as `rounding` says."""
    unit, tightest, furthest = float(np.finfo(dtype).eps) / 2, 0.0, 0.0
    for gamma in (1e-3, 0.1, 10.0):
        apart = 10.0 ** -np.arange(0, 16, 0.5)[:, None] * RNG.normal(size=(32, 4))
        A = RNG.normal(size=(1, 4)).astype(dtype)
        A = np.vstack([A, A, (A + apart).astype(dtype)])
        kernel = Matern(nu, gamma)
        squares = squared_norms(A)
        found = kernel.rounding(squares, np.full(len(A), 4.0), unit)
        s2 = 4 * LONG(nu) * LONG(gamma) * ((A[:, None].astype(LONG) - A[None]) ** 2).sum(axis=2)
        s = np.sqrt(s2)
        true = {0.5: 1, 1.5: 1 + s, 2.5: 1 + s + s2 / 3}[nu] * np.exp(-s)
        values = kernel(A, A)
        off = np.abs(values.astype(LONG) - true)
        column = lambda part: np.reshape(part, (-1, 1)) if np.ndim(part) else part  # noqa: E731
        bound = column(found.value) * values + column(found.left) * found.right
        bound = bound + column(found.distance) * values * (squares[:, None] + squares)
        bound = bound + column(found.constant)
        assert (off <= bound).all()
        tightest, furthest = max(tightest, (off / bound).max()), max(furthest, off.max())
    assert tightest > 0.02
    assert (furthest > np.sqrt(unit)) == (nu == 0.5)


@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_too_small_for_the_type_are_zero(nu, dtype):
    A, B = np.zeros((1, 1), dtype), np.linspace(1, 2000, 4000, dtype=dtype)[:, None]
    kernel = Matern(nu, 1 / (4 * nu))  # s = |a - b|
    values, bound = kernel(A, B).ravel(), kernel.bound(4e6)
    constant = kernel.rounding(np.zeros(1), np.ones(1), float(np.finfo(dtype).eps) / 2).constant
    s = B.ravel().astype(LONG)
    true = {0.5: 1, 1.5: 1 + s, 2.5: 1 + s + s * s / 3}[nu] * np.exp(-s)
    assert np.isfinite(values).all()
    assert (true[values == 0] <= constant).all()
    assert (values == 0).any()
    assert bound >= 4 * 4e6


def test_the_type_of_values():
    """Float32 is enough for the smooth ones; for nu = 1/2 it is not, and not taken unasked."""
    for nu in NUS:
        kernel, wanted = Matern(nu, 0.1), np.float64 if nu == 0.5 else np.float32
        assert choose_dtype("auto", False, kernel, X) == wanted
        assert choose_dtype("auto", True, kernel, X) == np.float64
    with pytest.warns(UserWarning, match="lose digits in float32"):
        choose_dtype("float32", False, Matern(0.5, 0.1), X)
    with pytest.raises(ValueError, match="more than float32 can compute with"):
        choose_dtype("float32", False, Matern(1.5, 1e30), X * 1e5)


def test_names_and_parameters():
    assert make_kernel("matern", gamma=2.0) == Matern(1.5, 2.0)
    assert make_kernel("matern", matern_nu=2.5, gamma="auto", X=X) == Matern(2.5, 0.25)
    assert make_kernel("matern", X=X).gamma == make_kernel("rbf", X=X).gamma
    for nu in (1.0, 0, -0.5, "1.5", None, True, np.nan):
        with pytest.raises(ValueError, match=r"matern_nu must be 0.5, 1.5 or 2.5, got"):
            make_kernel("matern", matern_nu=nu, gamma=1.0)
    with pytest.raises(ValueError, match=r"nu must be 0.5, 1.5 or 2.5, got 1.0"):
        Matern(nu=1.0)


MODELS = [
    lm.SVC(C=3.0), lm.SVC(C=3.0, precision="float32"), lm.NuSVC(nu=0.1),
    lm.KernelAdatron(C=1.0), lm.VotedPerceptron(epochs=3), lm.LPSVC(), lm.NuLPSVC(nu=0.2),
    lm.LeaveOneOutSVC(), lm.AdaptiveMarginSVC(), lm.MIRA(), lm.MIRA(budget=10), lm.ROMMA(),
    lm.ALMA(), lm.AggressivePerceptron(budget=15, policy="projectron"),
]  # fmt: skip


@pytest.mark.parametrize("kernel", ["matern", Matern(nu=2.5, gamma=0.3)], ids=str)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_every_estimator(model, kernel, tmp_path):
    """By its name and as an object, dense and sparse, saved and loaded."""
    function = peers.Matern(length_scale=np.sqrt(1 / 0.6), nu=1.5 if kernel == "matern" else 2.5)
    model = clone(model).set_params(kernel=kernel, gamma=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(model).fit(X, Y)
        peer = clone(model).set_params(kernel=function.__call__).fit(X, Y)
        sparse = clone(model).fit(sp.csr_array(X), Y)
    scores = fitted.decision_function(X)
    tolerance = 2e-2 if model.get_params().get("precision") == "float32" else 1e-3
    assert np.allclose(scores, peer.decision_function(X), rtol=0, atol=tolerance)
    assert np.allclose(scores, sparse.decision_function(X), rtol=0, atol=tolerance)
    lm.save(fitted, tmp_path / "model")
    loaded = lm.load(tmp_path / "model")
    assert np.array_equal(loaded.decision_function(X), scores)
    assert loaded.kernel == kernel


@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_parameter_of_estimators(model, nu, tmp_path):
    """To the bit the model of the kernel as an object, saved and loaded too."""
    model = clone(model).set_params(kernel="matern", matern_nu=nu, gamma=0.3)
    assert clone(model).matern_nu == nu
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = clone(model).set_params(kernel=Matern(nu, 0.3)).fit(X[:30], Y[:30] > 0)
        model.fit(X[:30], Y[:30] > 0)
    scores = peer.decision_function(X)
    assert np.array_equal(model.decision_function(X), scores)
    lm.save(model, tmp_path / "model")
    loaded = lm.load(tmp_path / "model")
    assert loaded.get_params() == model.get_params()
    assert np.array_equal(loaded.decision_function(X), scores)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_wrong_values_of_the_parameter(model):
    for nu in (1.0, "rough", None):
        with pytest.raises(ValueError, match=rf"matern_nu must be 0.5, 1.5 or 2.5, got {nu!r}"):
            clone(model).set_params(matern_nu=nu).fit(X, Y)


def test_a_search_for_the_parameter():
    search = GridSearchCV(lm.SVC(kernel="matern", gamma=0.3), {"matern_nu": NUS}, cv=2)
    found = search.fit(X, Y > 0).cv_results_["mean_test_score"]
    models = [lm.SVC(kernel=Matern(nu, 0.3)) for nu in NUS]
    assert found.tolist() == [cross_val_score(m, X, Y > 0, cv=2).mean() for m in models]
    assert search.best_estimator_.matern_nu == search.best_params_["matern_nu"]


def test_a_certificate():
    model = lm.SVC(kernel="matern", gamma=0.3, C=np.inf).fit(X, Y > 0)
    certificate = model.certificate(X, Y > 0)
    assert certificate["error"].value == 0
    assert 0 < certificate["smallest geometric margin"].value <= 1
    assert certificate["optimal hyperplane"].value >= certificate["leave-one-out error"].value
