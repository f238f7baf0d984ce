"""Bad input is refused with a sentence; odd input gives what its plain form gives."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from largemargin.svm import SVC, KernelAdatron, NuSVC

from .problems import KERNELS, noisy, several

ANY = [
    ("kernel", "cosine"), ("kernel", None), ("kernel", 3),
    ("degree", -1), ("degree", 2.5), ("degree", "2"),
    ("gamma", 0), ("gamma", -1.0), ("gamma", np.nan), ("gamma", "wide"), ("gamma", None),
    ("coef0", np.nan), ("coef0", np.inf), ("coef0", "one"),
    ("multiclass", "all"), ("multiclass", None), ("multiclass", 3),
    ("fit_intercept", "no"), ("fit_intercept", None), ("fit_intercept", 2),
    ("tol", 0), ("tol", -1e-3), ("tol", np.nan), ("tol", "small"), ("tol", None), ("tol", True),
    ("max_iter", 0), ("max_iter", -2), ("max_iter", 1.5), ("max_iter", "many"), ("max_iter", True),
    ("max_iter", None),
    ("max_seconds", 0), ("max_seconds", -1), ("max_seconds", "long"),
    ("memory", 0), ("memory", "much"), ("memory", None),
    ("n_jobs", 0), ("n_jobs", 1.5), ("n_jobs", "all"),
    ("precision", "half"), ("precision", 32), ("precision", None),
    ("verbose", "no"),
]  # fmt: skip
WEIGHTED = [
    ("class_weight", "fair"), ("class_weight", 3), ("class_weight", {-1.0: -2.0}),
    ("class_weight", {-1.0: np.nan}), ("class_weight", {1.0: np.inf}), ("class_weight", {1.0: 0}),
    ("warm_start", "no"), ("warm_start", 1),
    ("min_margin", 0), ("min_margin", -1.0), ("min_margin", np.nan), ("min_margin", "thin"),
]  # fmt: skip
PRICE = [("C", 0), ("C", -1.0), ("C", np.nan), ("C", "high"), ("C", None), ("C", True)]
OWN = {
    SVC: [*ANY, *WEIGHTED, *PRICE, ("slack", "cubed"), ("slack", None), ("slack", 2)],
    NuSVC: [*ANY, *WEIGHTED, *[("nu", v) for v in (-0.1, 1.1, np.nan, "half", True)]],
    KernelAdatron: [
        *ANY, *PRICE, *[("learning_rate", v) for v in (0, -1.0, np.nan, np.inf, "fast", None)],
    ],
}  # fmt: skip
CASES = [(estimator, *case) for estimator, cases in OWN.items() for case in cases]


@pytest.mark.parametrize(("estimator", "name", "wrong"), CASES)
def test_wrong_parameters(estimator, name, wrong):
    X, y = noisy(0)
    model = estimator(**{name: wrong})
    with pytest.raises(ValueError, match=name) as error:
        model.fit(X, y)
    assert repr(wrong) in str(error.value)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0, np.nan], [2.0, 3.0]], [0, 1], "X contains NaN: .*TablePreprocessor"),
        ([[1.0, np.inf], [2.0, 3.0]], [0, 1], "infinity"),
        ([[1.0, 0.0], [2.0, 3.0]], [0.0, np.nan], "NaN"),
        (np.empty((0, 3)), [], "0 sample"),
        (np.empty((3, 0)), [0, 1, 0], "0 feature"),
        ([[1.0, 2.0], [3.0, 4.0]], [1, 1], r"one class: \[1\]"),
        ([[1.0, 2.0]], [1], "class"),
        ([[1.0, 2.0], [3.0, 4.0]], [0, 1, 1], "inconsistent"),
        ([[1.0, 2.0], [3.0, 4.0]], [0.5, 1.7], "continuous"),
        ([1.0, 2.0], [0, 1], "2D"),
        ([["a", "b"], ["c", "d"]], [0, 1], "could not convert .*TablePreprocessor"),
        (np.zeros((2, 2, 2)), [0, 1], "dim"),
        (np.array([[1j, 2.0], [3.0, 4.0]]), [0, 1], "[Cc]omplex"),
        ([[1e200, 0.0], [0.0, 1.0]], [0, 1], "scale the data"),
    ],
)
@pytest.mark.parametrize("estimator", [SVC, NuSVC, KernelAdatron])
def test_wrong_data(estimator, X, y, message):
    with pytest.raises(ValueError, match=message):
        estimator(gamma=1.0).fit(X, y)


@pytest.mark.parametrize("estimator", [SVC, NuSVC])
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.zeros(24), "zero"),
        (-np.ones(24), "negative"),
        (np.ones(23), "shape"),
        (np.full(24, np.nan), "NaN"),
        (np.full(24, np.inf), "infinity"),
        (np.ones((24, 2)), "1D"),
    ],
)
def test_wrong_weights(estimator, weight, message):
    X, y = noisy(0)
    with pytest.raises(ValueError, match=message):
        estimator().fit(X, y, weight)


def test_one_class_is_left_by_the_weights():
    X, y = noisy(0)
    with pytest.raises(ValueError, match=r"one class with positive weight: \[1.0\]"):
        SVC().fit(X, y, (y > 0).astype(float))


def test_an_adatron_has_no_weights():
    X, y = noisy(0)
    with pytest.raises(TypeError, match="sample_weight"):
        KernelAdatron().fit(X, y, sample_weight=np.ones(24))


def test_a_learning_rate_that_is_too_large():
    X, y = noisy(0)
    with pytest.raises(ValueError, match=r"learning_rate must be below 2 / k\(x, x\).*got 2.5"):
        KernelAdatron(learning_rate=2.5).fit(X, y)


@pytest.mark.parametrize("nu", [0.51, 0.7, 1.0])
def test_a_nu_that_is_infeasible(nu):
    X, _ = noisy(0, n=40)
    y = np.repeat([0, 1], [30, 10])
    with pytest.raises(ValueError, match=rf"nu={nu} is infeasible.*largest feasible nu is 0\.5"):
        NuSVC(nu=nu).fit(X, y)
    weight = np.where(y == 1, 3.0, 1.0)
    assert NuSVC(nu=nu).fit(X, y, weight).converged_
    assert NuSVC(nu=nu, fit_intercept=False).fit(X, y).n_support_ > 0


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_a_nu_that_is_infeasible_for_some_problems(multiclass):
    X, y = several(0, n=60, n_classes=3)
    y = np.repeat([0, 1, 2], [10, 20, 30])
    with pytest.warns(UserWarning, match=r"nu=0\.9 is infeasible") as caught:
        model = NuSVC(nu=0.9, multiclass=multiclass).fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.predict(X).shape == (60,)
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
def test_wrong_rows_to_predict(sparse, kernel):
    X, y = noisy(0)
    model = SVC(kernel=kernel).fit(X, y)
    form = sp.csr_array if sparse else np.asarray
    for value in (np.nan, np.inf):
        bad = X.copy()
        bad[7, 1] = value
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            model.predict(form(bad))
    for rows, message in ((X[:, :2], "2 features"), (X[:0], "0 sample")):
        with pytest.raises(ValueError, match=message):
            model.predict(form(rows))


@pytest.mark.parametrize("estimator", [SVC, NuSVC, KernelAdatron])
def test_not_fitted(estimator):
    X, _ = noisy(0)
    model = estimator(kernel="linear")
    for name in ("predict", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(model, name)(X)
    for name in ("support_", "support_vectors_", "dual_coef_", "intercept_", "coef_", "n_support_"):
        with pytest.raises(NotFittedError):
            getattr(model, name)


def test_coef_is_of_the_linear_kernel_only():
    X, y = noisy(0)
    assert not hasattr(SVC().fit(X, y), "coef_")
    model = SVC(kernel="linear").fit(X, y)
    assert np.allclose(X @ model.coef_[0] + model.intercept_[0], model.decision_function(X))
    assert np.allclose(model.coef_, model.dual_coef_ @ model.support_vectors_)
    sparse = SVC(kernel="linear").fit(sp.csr_array(X), y)
    assert isinstance(sparse.coef_, np.ndarray)
    assert np.allclose(sparse.coef_, model.coef_, atol=1e-9)


def test_a_second_fit_forgets_the_first():
    X, y = noisy(0)
    for kernel in ("linear", "rbf"):
        model = SVC(kernel=kernel).fit(X, y)
        model.predict(X)
        model.fit(X[:, :2], -y)
        fresh = SVC(kernel=kernel).fit(X[:, :2], -y)
        assert np.array_equal(model.decision_function(X[:, :2]), fresh.decision_function(X[:, :2]))
        assert model.__dict__.keys() == fresh.__dict__.keys()


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_predict_stores_nothing(kernel):
    X, y = noisy(0)
    K = KERNELS["rbf"][1](X, X)
    data = K if kernel == "precomputed" else X
    model = SVC(kernel=kernel).fit(data, y)
    before = model.__dict__.copy()
    model.predict(data)
    assert model.__dict__.keys() == before.keys()
    assert all(model.__dict__[name] is before[name] for name in before)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_fit_that_is_refused_leaves_the_model_as_it_was(kernel):
    X, y = noisy(0)
    model = SVC(kernel=kernel).fit(X, y)
    truth, params = model.decision_function(X), model.get_params()
    refused = [
        (X[:, :2], y * 0, {}),
        (X[:, :2], y, {"n_jobs": 0}),
        (X[:, :2], y, {"precision": "half"}),
        (X[:, :2] * 1e200, y, {"gamma": 1.0}),
        (X[:, :2], y, {"kernel": "precomputed"}),
        (X[:, :2], y, {"kernel": lambda A, B: np.full((len(A), len(B)), np.nan)}),
        (X[:, :2], y, {"class_weight": {-1.0: -1}}),
        (X[:, :2], y, {"C": -1}),
    ]
    for data, labels, wrong in refused:
        with pytest.raises(ValueError, match=r".+"):
            model.set_params(**wrong).fit(data, labels)
        model.set_params(**params)
        assert model.n_features_in_ == 3
        assert np.array_equal(model.decision_function(X), truth)


def test_parameters_changed_after_the_fit_do_not_change_the_answers():
    X, y = several(1, n_classes=3)
    model = SVC(multiclass="ovo").fit(X, y)
    truth = model.decision_function(X)
    model.set_params(multiclass="ovr", C=7.0, gamma=3.0)
    assert np.array_equal(model.decision_function(X), truth)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_precomputed_kernels_need_the_support_columns_only(multiclass):
    X, y = several(4, n=60, n_classes=3, noise=0.4)
    kernel = KERNELS["rbf"][1]
    K, K_test = kernel(X, X), kernel(X[::3] + 0.1, X)
    for data in (y, y > 0):
        model = SVC(kernel="precomputed", multiclass=multiclass).fit(K, data)
        assert model.n_support_ < 60
        truth = model.decision_function(K_test)
        plain = SVC(gamma=0.4, multiclass=multiclass).fit(X, data)
        assert np.allclose(plain.decision_function(X[::3] + 0.1), truth, atol=1e-9)
        holes = np.full_like(K_test, np.nan)
        holes[:, model.support_] = K_test[:, model.support_]
        assert np.array_equal(model.decision_function(holes), truth)
        narrow = K_test[:, model.support_]
        assert np.array_equal(model.decision_function(narrow), truth)
        assert np.array_equal(model.predict(narrow), model.predict(K_test))
        assert np.array_equal(model.decision_function(narrow.tolist()), truth)
        holes[3, model.support_[2]] = np.nan
        with pytest.raises(ValueError, match="finite"):
            model.predict(holes)
        with pytest.raises(ValueError, match=f"{model.n_support_} of support_"):
            model.predict(K_test[:, : model.n_support_ - 1])


def test_wrong_precomputed_kernels():
    X, y = noisy(0)
    K = X @ X.T
    with pytest.raises(ValueError, match=r"must be square, got shape \(24, 20\)"):
        SVC(kernel="precomputed").fit(K[:, :20], y)
    with pytest.raises(AttributeError, match="support_"):
        _ = SVC(kernel="precomputed").fit(K, y).support_vectors_
    with pytest.raises((ValueError, TypeError)):
        SVC(kernel="precomputed").fit(sp.csr_array(K), y)
    model = SVC(kernel="precomputed").fit(K, y)
    for rows in (K[0], K[None], [["a"] * 24], sp.csr_array(K)):
        with pytest.raises((ValueError, TypeError)):
            model.predict(rows)


@pytest.mark.crossing
@pytest.mark.parametrize("estimator", [SVC, NuSVC, KernelAdatron])
@pytest.mark.parametrize(
    "names",
    [
        np.array(["x", "y", "z"]), np.array(["x", "y", "z"], object), np.array([-1.0, 0.0, 7.0]),
        np.array([3, 10, 200], np.uint8), np.array([-5, 0, 5], np.int8),
    ],
)  # fmt: skip
@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels_of_any_type(estimator, names, n_classes):
    X, y = several(1, n_classes=n_classes)
    model, plain = estimator().fit(X, names[y]), estimator().fit(X, y)
    assert model.classes_.tolist() == names[:n_classes].tolist()
    assert np.array_equal(model.decision_function(X), plain.decision_function(X))
    assert np.array_equal(model.predict(X), names[plain.predict(X)])
    assert model.predict(X).dtype == names.dtype


def test_labels_that_are_true_or_false():
    X, y = noisy(1)
    model = SVC().fit(X, y > 0)
    assert model.predict(X).dtype == bool
    assert np.array_equal(model.decision_function(X), SVC().fit(X, y).decision_function(X))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "laplacian", "sigmoid"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("form", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_sparse_data(kernel, index, form):
    rng = np.random.default_rng(0)
    X, y = noisy(2, n=40, n_features=6)
    X = X * (rng.random(X.shape) < 0.5)
    dense = SVC(kernel=kernel, gamma=0.3, coef0=0.2).fit(X, y)
    data = form(X)
    for part in ("indices", "indptr"):
        if hasattr(data, part):
            setattr(data, part, getattr(data, part).astype(index))
    model = SVC(kernel=kernel, gamma=0.3, coef0=0.2).fit(data, y)
    truth = dense.decision_function(X)
    assert np.allclose(model.decision_function(data), truth, atol=1e-8)
    assert np.allclose(model.decision_function(X), truth, atol=1e-8)
    assert np.allclose(dense.decision_function(data), truth, atol=1e-8)
    assert sp.issparse(model.support_vectors_)
    assert np.allclose(model.support_vectors_.toarray(), X[model.support_])


def test_unsorted_and_repeated_sparse_entries():
    X, y = noisy(2, n=40, n_features=6)
    good = sp.csr_array(X)
    data, columns = [], []
    for i in range(40):
        order = np.random.default_rng(i).permutation(6)
        columns += [*order, order[0]]
        data += [*X[i, order[:1]] / 4, *X[i, order[1:]], X[i, order[0]] * 3 / 4]
    bad = sp.csr_array((data, columns, np.arange(41) * 7), shape=(40, 6))
    kept = bad.data.copy(), bad.indices.copy()
    truth = SVC(gamma=0.3).fit(good, y).decision_function(good)
    assert np.allclose(SVC(gamma=0.3).fit(bad, y).decision_function(bad), truth, atol=1e-8)
    assert np.array_equal(bad.data, kept[0])
    assert np.array_equal(bad.indices, kept[1])


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "laplacian"])
def test_single_precision(kernel):
    X, y = noisy(3, n=60)
    truth = SVC(kernel=kernel, gamma=0.3).fit(X, y).decision_function(X)
    small = X.astype(np.float32)
    for data in (small, sp.csr_array(small)):
        model = SVC(kernel=kernel, gamma=0.3).fit(data, y)
        assert np.allclose(model.decision_function(data), truth, atol=1e-4)
        single = SVC(kernel=kernel, gamma=0.3, precision="float32").fit(data, y)
        assert single.support_vectors_.dtype == np.float32
        assert np.allclose(single.decision_function(data), truth, atol=5e-3)
        assert single.decision_function(data).dtype == np.float64


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, bool, np.float16])
def test_data_of_any_number_type(dtype):
    X, y = noisy(1, n=60)
    X = np.abs(X * 3).astype(dtype)
    model = SVC().fit(X, y)
    plain = SVC().fit(X.astype(float), y)
    assert np.allclose(model.decision_function(X), plain.decision_function(X.astype(float)))


def test_layouts_of_dense_data():
    X, y = noisy(1, n=60)
    truth = SVC().fit(X, y).decision_function(X)
    frozen = X.copy()
    frozen.flags.writeable = False
    wide = np.repeat(X, 2, axis=1)
    for data in (np.asfortranarray(X), X.tolist(), frozen, wide[:, ::2], X[::-1][::-1]):
        assert np.allclose(SVC().fit(data, y).decision_function(data), truth, atol=1e-12)


def test_the_data_are_left_alone():
    X, y = noisy(1, n=60)
    weight = np.random.default_rng(0).uniform(0, 2, 60)
    weight[3] = 0
    for kernel, data in (("rbf", X), ("linear", X), ("precomputed", X @ X.T)):
        kept = data.copy(), y.copy(), weight.copy()
        SVC(kernel=kernel).fit(data, y, weight).predict(data)
        for part, before in zip((data, y, weight), kept, strict=True):
            assert np.array_equal(part, before)


def test_a_callable_that_returns_the_wrong_shape():
    X, y = noisy(1)

    def column(A, B):
        return A @ B[0]

    with pytest.raises(ValueError, match="column must return a block of shape"):
        SVC(kernel=column).fit(X, y)


def test_a_callable_that_returns_nan():
    X, y = noisy(1)
    with pytest.raises(ValueError, match=r"not finite|returned nan"):
        SVC(kernel=lambda A, B: np.full((len(A), len(B)), np.nan)).fit(X, y)


def test_attributes_are_in_the_order_of_the_data():
    X, y = several(3, n=60, n_classes=3, noise=0.4)
    order = np.random.default_rng(0).permutation(60)
    X, y = X[order], y[order]
    for multiclass in ("ovr", "ovo"):
        model = SVC(gamma=0.4, multiclass=multiclass).fit(X, y)
        assert (np.diff(model.support_) > 0).all()
        assert model.n_support_ == len(model.support_) < 60
        assert np.array_equal(model.support_vectors_, X[model.support_])
        assert model.dual_coef_.shape == (3, model.n_support_)
        assert model.intercept_.shape == model.objective_.shape == model.dual_gap_.shape == (3,)
        assert (model.n_iter_ >= 1).all()
        assert (model.dual_coef_ != 0).any(axis=0).all()


@pytest.mark.parametrize("rare", [2, 5, 12])
def test_nu_of_none_is_feasible_and_is_the_smaller_share(rare):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 2)), np.arange(24) < rare
    model, named = NuSVC().fit(X, y), NuSVC(nu=rare / 24).fit(X, y)
    np.testing.assert_array_equal(model.dual_coef_, named.dual_coef_)
