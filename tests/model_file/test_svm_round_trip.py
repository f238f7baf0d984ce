"""A loaded support vector machine is the saved one: scores bit for bit, and what it does next."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from largemargin import SVC, KernelAdatron, NuSVC, describe, load, save
from largemargin.kernels.functions import Gaussian

from .models import data, fitted, parts_of

MACHINES = [
    SVC(), SVC(C=np.inf, gamma=5.0), SVC(C=0.01, slack="squared"), SVC(slack="squared-sum"),
    SVC(multiclass="ovo"), SVC(multiclass="crammer-singer"), SVC(fit_intercept=False),
    NuSVC(nu=0.2), NuSVC(nu=0.2, multiclass="ovo"), KernelAdatron(C=5.0),
    KernelAdatron(gamma=5.0, multiclass="ovo"),
]  # fmt: skip
REPORTS = ("objective_", "dual_gap_", "margin_", "n_iter_", "support_", "dual_coef_", "intercept_")


def assert_same(a, b, X):
    assert a.get_params() == b.get_params()
    assert vars(a).keys() == vars(b).keys()
    assert a.classes_.dtype == b.classes_.dtype
    assert a.classes_.tolist() == b.classes_.tolist()
    for name in ("converged_", "n_features_in_", "n_support_", "_n_given", "_separable"):
        assert getattr(a, name) == getattr(b, name), name
    for name in (*REPORTS, "_positions"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), strict=True)
    for rows in (X, X[:1], X[:70]):
        np.testing.assert_array_equal(
            a.decision_function(rows), b.decision_function(rows), strict=True
        )
        np.testing.assert_array_equal(a.predict(rows), b.predict(rows), strict=True)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("model", MACHINES, ids=str)
def test_machines(model, n_classes, again):
    X, y = data(n_classes=n_classes)
    model = clone(model).fit(X, y)
    assert_same(model, again(model), X)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian", "sigmoid"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_kernels(kernel, sparse, dtype, again):
    X, y = data()
    X = X.astype(dtype)
    X[np.abs(X) < 0.5] = 0
    X = sp.csr_array(X) if sparse else X
    model = SVC(kernel=kernel, precision=np.dtype(dtype).name, max_iter=1000).fit(X, y)
    loaded = again(model)
    assert_same(model, loaded, X)
    assert sp.issparse(loaded.support_vectors_) == sparse
    difference = loaded.support_vectors_ - model.support_vectors_
    assert (difference.nnz if sparse else np.count_nonzero(difference)) == 0
    if kernel == "linear":
        np.testing.assert_array_equal(loaded.coef_, model.coef_, strict=True)


def test_precomputed(again, tmp_path):
    X, y = data()
    K = (1 + X @ X.T) ** 2
    model = SVC(kernel="precomputed").fit(K, y)
    loaded = again(model)
    assert_same(model, loaded, K)
    support = K[:, model.support_]
    np.testing.assert_array_equal(loaded.decision_function(support), model.decision_function(K))
    assert not [name for name in parts_of(tmp_path / "m.safetensors")[1] if "vectors" in name]


def test_weights_of_zero_and_rows_that_do_not_count(again):
    X, y = data()
    weights = np.arange(len(y)) % 3
    model = SVC().fit(X, y, sample_weight=weights)
    loaded = again(model)
    assert_same(model, loaded, X)
    assert not np.isin(loaded.support_, np.flatnonzero(weights == 0)).any()


@pytest.mark.parametrize(
    "parameters",
    [
        {"C": np.inf, "gamma": 5.0},
        {"C": np.float32(2.0), "tol": np.float64(1e-4), "max_iter": np.int64(10**6)},
        {"class_weight": "balanced"},
        {"class_weight": {0: 1, 2: 2.5}},
        {"class_weight": {np.int64(1): np.float64(3.0)}},
        {"class_weight": {}},
        {"kernel": Gaussian(0.25)},
        {"max_seconds": float("inf"), "memory": 10**9, "warm_start": True, "n_jobs": 1},
    ],
    ids=str,
)
def test_parameters(parameters, again):
    model = fitted(SVC(**parameters))
    loaded = again(model)
    for name, value in parameters.items():
        assert getattr(loaded, name) == value
    assert_same(clone(loaded).fit(*data(60)), model, data()[0])


@pytest.mark.parametrize("labels", [["a", "b", "$c"], [True, False], [1.0, 2.0, 4.0]], ids=str)
def test_class_weights_of_any_labels(labels, again):
    X, y = data(60, len(labels))
    weights = {label: float(k + 1) for k, label in enumerate(labels)}
    model = SVC(class_weight=weights).fit(X, np.array(labels)[y])
    loaded = again(model)
    assert loaded.class_weight == weights
    assert [type(key) for key in loaded.class_weight] == [type(key) for key in weights]
    assert_same(model, loaded, X)


def test_class_weight_that_cannot_be_saved(again):
    model = fitted(SVC()).set_params(class_weight={(1, 2): 1.0})
    with pytest.raises(ValueError, match="key that is neither"):
        again(model)


def test_goes_on_with_warm_start(again):
    X, y = data(300, 4)
    model = SVC(C=100.0, max_iter=5, warm_start=True, multiclass="ovo")
    with pytest.warns(UserWarning, match="stopped before it converged"):
        model.fit(X, y)
    loaded = again(model)
    assert not loaded.converged_
    for one in (model, loaded):
        one.set_params(max_iter=-1).fit(X, y)
    assert loaded.converged_
    assert_same(model, loaded, X)
    cold = clone(loaded).fit(X, y)
    again(loaded).fit(X, y)
    assert again(loaded).fit(X, y).n_iter_.sum() < cold.n_iter_.sum()


def test_data_that_cannot_be_separated(again):
    X = np.array([[0.0], [1.0], [0.0], [1.0]])
    with pytest.warns(UserWarning, match="separated"):
        model = SVC(C=np.inf).fit(X, [0, 1, 1, 0])
    assert_same(model, again(model), X)


def test_sparse_coefficients_take_less_room(tmp_path):
    X, y = data(400, 8)
    for multiclass in ("ovr", "ovo"):
        model = SVC(multiclass=multiclass).fit(X, y)
        save(model, tmp_path / multiclass)
        _, arrays = parts_of(tmp_path / multiclass)
        stored = sum(a.nbytes for name, a in arrays.items() if name.startswith("0/coefs"))
        entries = np.count_nonzero(model.dual_coef_)
        assert stored <= model.dual_coef_.nbytes
        assert stored <= 16 * entries + 8 * (len(model.intercept_) + 1)
    assert "0/coefs.indptr" in arrays


def test_pipeline_and_frames(again):
    pd = pytest.importorskip("pandas")
    X, y = data()
    frame = pd.DataFrame(X, columns=[f"column {i}" for i in range(X.shape[1])])
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), NuSVC(nu=0.1))
    loaded = again(model.fit(frame, y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(
            loaded.decision_function(frame), model.decision_function(frame)
        )
    assert loaded[-1].feature_names_in_.tolist() == list(frame.columns)
    assert repr(loaded) == repr(model)


def test_the_same_model_is_the_same_bytes(tmp_path):
    for name in "ab":
        save(fitted(SVC()), tmp_path / name)
    save(load(tmp_path / "a"), tmp_path / "c")
    assert (
        (tmp_path / "a").read_bytes()
        == (tmp_path / "b").read_bytes()
        == (tmp_path / "c").read_bytes()
    )


def test_describe(tmp_path):
    model = fitted(SVC(C=np.inf, gamma=5.0, class_weight={1: 2.0}))
    save(model, tmp_path / "m")
    (found,) = describe(tmp_path / "m")["steps"]
    assert found["class"] == "SVC"
    assert found["parameters"]["C"] == np.inf
    assert found["parameters"]["slack"] == "linear"
    assert found["parameters"]["class_weight"] == {"1": 2.0}
    facts = found["facts"]
    assert facts["kernel"] == {"name": "rbf", "gamma": 5.0}
    assert facts["n_support"] == model.n_support_
    assert facts["largest_gap"] == model.dual_gap_.max()
    assert facts["n_problems"] == 3
    assert facts["converged"] is True
