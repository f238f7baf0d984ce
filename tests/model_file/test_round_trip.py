"""A loaded model is the saved one: predictions bit for bit, labels, and what it learns next."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

import largemargin
from largemargin import VotedPerceptron, describe, save
from largemargin.kernels.choosing import WithConstant
from largemargin.kernels.functions import Gaussian, Linear

from .models import data, small_model

RULES = [
    (method, unit)
    for method in ("vote", "average", "last", "random", "longest")
    for unit in (False, True)
]


def assert_same(a, b, X, rules=RULES):
    assert a.classes_.dtype == b.classes_.dtype
    assert a.classes_.tolist() == b.classes_.tolist()
    assert {k: str(v) for k, v in a.get_params().items()} == {
        k: str(v) for k, v in b.get_params().items()
    }
    for name, values in a.trace_.arrays().items():
        np.testing.assert_array_equal(values, b.trace_.arrays()[name], strict=True)
    for name in ("n_epochs_", "converged_", "n_features_in_", "n_support_"):
        assert getattr(a, name) == getattr(b, name), name
    np.testing.assert_array_equal(a.n_mistakes_, b.n_mistakes_)
    np.testing.assert_array_equal(a.support_, b.support_)
    np.testing.assert_array_equal(a.dual_coef_, b.dual_coef_)
    seen = a.trace_.n_steps / max(a.trace_.epoch_length, 1)
    at = [0.0, 0.3 * seen, seen]
    staged = zip(
        a.staged_decision_functions(X, at, rules),
        b.staged_decision_functions(X, at, rules),
        strict=True,
    )
    for one, other in staged:
        for rule in rules:
            np.testing.assert_array_equal(one[rule], other[rule], strict=True)
    np.testing.assert_array_equal(a.predict(X), b.predict(X), strict=True)
    np.testing.assert_array_equal(a.predict(X[:1]), b.predict(X[:1]), strict=True)


@pytest.mark.crossing
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian", "sigmoid"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("intercept", [False, True])
def test_kernels(kernel, sparse, dtype, intercept, again):
    X, y = data()
    X = X.astype(dtype)
    X[np.abs(X) < 0.5] = 0
    X = sp.csr_array(X) if sparse else X
    model = VotedPerceptron(
        kernel=kernel, degree=3, epochs=2, fit_intercept=intercept, random_state=1,
        precision="float32" if dtype == np.float32 else "float64",
    ).fit(X, y)  # fmt: skip
    assert_same(model, again(model), X)


def test_precomputed(again):
    X, y = data()
    K = (1 + X @ X.T) ** 2
    model = VotedPerceptron(kernel="precomputed", epochs=2, random_state=0).fit(K, y)
    assert_same(model, again(model), K)


@pytest.mark.parametrize("method", ["pocket", "holdout"])
def test_rules_that_look_again(method, again):
    X, y = data()
    model = VotedPerceptron(method=method, degree=2, epochs=3, random_state=0).fit(X, y)
    assert_same(model, again(model), X, [*RULES, (method, False), (method, True)])
    loaded = again(model)
    other = {"pocket": "holdout", "holdout": "pocket"}[method]
    with pytest.raises(ValueError, match="fit again"):
        loaded.predict(X, method=other)


@pytest.mark.parametrize(
    "labels",
    [
        *(np.array([3, 1, 2], d) for d in "bhilBHIL"),
        np.array([3, 1, 2], ">i4"),
        np.array([2**63 + 1, 5, 2**64 - 1], np.uint64),
        *(np.array([0.5, -1.25, 1 / 3], d) for d in "efd"),
        np.array([False, True]),
        np.array(["b", "a", "ä é 犬"]),
        np.array(["b", "a", "c"], "<U40"),
        np.array(["b", "a", "longer than the others"], object),
        np.array(["", 'quote"d', "new\nline"], object),
    ],
    ids=lambda labels: labels.dtype.str,
)
def test_labels(labels, again):
    X, y = data(60, len(labels))
    # scikit-learn takes fractions for regression targets; partial_fit in classes does the same job
    model = VotedPerceptron(degree=2, random_state=0)
    if labels.dtype.kind == "f":
        model.fit(X, y).classes_ = np.unique(labels)
    else:
        model.fit(X, labels[y])
    assert_same(model, again(model), X)


@pytest.mark.parametrize("kernel", ["poly", "linear", "rbf"])
@pytest.mark.parametrize("sparse", [False, True])
def test_goes_on_with_partial_fit(kernel, sparse, again):
    X, y = data(200)
    X = np.round(2 * X)
    X = sp.csr_array(X) if sparse else X
    model = VotedPerceptron(kernel=kernel, degree=2, gamma=1.0, random_state=0)
    model.partial_fit(X[:100], y[:100], classes=[0, 1, 2])
    loaded = again(model)
    for part in (slice(100, 150), slice(150, 200)):
        model.partial_fit(X[part], y[part])
        loaded.partial_fit(X[part], y[part])
    assert_same(model, loaded, X)
    assert_same(model, again(loaded), X)


def test_goes_on_after_fit(again):
    X, y = data(100)
    model = VotedPerceptron(kernel="linear", epochs=3, fit_intercept=True, random_state=0)
    model.fit(X[:60], y[:60])
    loaded = again(model)
    assert_same(model.partial_fit(X[60:], y[60:]), loaded.partial_fit(X[60:], y[60:]), X)


def test_a_chunk_without_any_mistake_before(again):
    """The first chunk may be one row; with an empty basis there are no vectors to store."""
    model = VotedPerceptron(degree=2, random_state=0)
    X, y = data(30)
    model.partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    model._state.basis.truncate(0)
    model._state.trace.truncate(0, 1)
    model.n_mistakes_ = model._state.trace.n_mistakes()
    loaded = again(model)
    assert loaded.n_support_ == 0
    assert loaded.predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        MinMaxScaler((-1, 1), clip=True),
        MaxAbsScaler(),
    ],
    ids=str,
)
def test_pipelines(scaler, again):
    X, y = data()
    model = make_pipeline(scaler, VotedPerceptron(degree=2, random_state=0)).fit(X, y)
    loaded = again(model)
    assert [name for name, _ in loaded.steps] == [name for name, _ in model.steps]
    assert_same(model[-1], loaded[-1], model[0].transform(X))
    np.testing.assert_array_equal(model.decision_function(X), loaded.decision_function(X))
    assert repr(loaded) == repr(model)
    X, y = data(seed=1)
    np.testing.assert_array_equal(
        model[0].partial_fit(X).transform(X), loaded[0].partial_fit(X).transform(X)
    )


def test_two_scalers_and_sparse_data(again):
    X, y = data()
    X = sp.csr_array(np.where(np.abs(X) < 0.5, 0, X))
    model = make_pipeline(
        MaxAbsScaler(), StandardScaler(with_mean=False), VotedPerceptron(random_state=0)
    ).fit(X, y)
    np.testing.assert_array_equal(again(model).decision_function(X), model.decision_function(X))


def test_feature_names_and_output_of_pandas(again):
    pd = pytest.importorskip("pandas")
    X, y = data()
    frame = pd.DataFrame(X, columns=[f"column {i}" for i in range(X.shape[1])])
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), VotedPerceptron())
    loaded = again(model.fit(frame, y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    assert loaded.feature_names_in_.tolist() == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[frame.columns[::-1]])


@pytest.mark.parametrize(
    "parameters",
    [
        {"gamma": np.float64(0.3), "epochs": np.int64(2), "shuffle": np.bool_(True)},
        {"kernel": Gaussian(0.25)},
        {"kernel": WithConstant(Linear())},
        {"max_seconds": float("inf"), "memory": 10**9},
        {"random_state": np.random.RandomState(7)},
    ],
    ids=lambda parameters: "-".join(parameters),
)
def test_parameters(parameters, again):
    model = small_model(**parameters)
    loaded = again(model)
    for name, value in parameters.items():
        if name != "random_state":
            assert getattr(loaded, name) == value
    X, _ = data()
    method = "random" if "random_state" in parameters else "average"
    np.testing.assert_array_equal(
        model.decision_function(X, method), loaded.decision_function(X, method)
    )


def test_nan_parameter(again):
    model = small_model().set_params(coef0=float("nan"), gamma=float("-inf"))
    assert np.isnan(again(model).coef0)
    assert again(model).gamma == -np.inf


def test_the_same_model_is_the_same_bytes(tmp_path):
    for name in "ab":
        save(small_model(), tmp_path / name, info={"x": 1, "y": [2]})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_describe(tmp_path):
    X, y = data()
    model = make_pipeline(MinMaxScaler(), VotedPerceptron(kernel="rbf", gamma=2.0)).fit(X, y)
    info = {"note": "é", "inf": float("inf"), "list": [1, (2, None)], "deep": {"a": {"b": True}}}
    save(model, tmp_path / "m", info=info)
    found = describe(tmp_path / "m")
    scaler, final = found["steps"]
    assert (scaler["class"], final["class"]) == ("MinMaxScaler", "VotedPerceptron")
    assert final["labels"] == [0, 1, 2]
    assert final["facts"]["kernel"] == {"name": "rbf", "gamma": 2.0}
    assert final["facts"]["n_mistakes"] == model[-1].n_mistakes_.tolist()
    assert final["facts"]["n_support"] == model[-1].n_support_
    assert found["info"] == {**info, "list": [1, [2, None]]}
    assert found["library"] == largemargin.__version__
    assert found["size"] == (tmp_path / "m").stat().st_size
    assert found["arrays"]["0/scale_"] == {"type": "float64", "shape": [6]}
