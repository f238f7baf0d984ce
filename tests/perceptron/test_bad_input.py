"""Bad input is refused with a sentence; odd input gives what its plain form gives."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from largemargin import VotedPerceptron

from .test_kernel_pass import integers, power
from .twin import mistakes_of, signs_of, train

SETTINGS = {"degree": 2, "gamma": 1.0, "epochs": 2, "shuffle": False}


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("kernel", "cosine"), ("kernel", None), ("kernel", 3),
        ("degree", -1), ("degree", 2.5), ("degree", "2"),
        ("gamma", 0), ("gamma", -1.0), ("gamma", np.nan), ("gamma", "wide"), ("gamma", None),
        ("coef0", np.nan), ("coef0", np.inf), ("coef0", "one"),
        ("epochs", 0), ("epochs", -3), ("epochs", 1.5), ("epochs", True), ("epochs", None),
        ("method", "votes"), ("method", None), ("method", 3),
        ("normalize", "no"), ("fit_intercept", "no"), ("shuffle", "no"),
        ("validation_fraction", 0), ("validation_fraction", 1), ("validation_fraction", "half"),
        ("validation_fraction", np.nan),
        ("max_seconds", 0), ("max_seconds", -1), ("max_seconds", "long"),
        ("memory", 0), ("memory", "much"), ("memory", None),
        ("n_jobs", 0), ("n_jobs", 1.5), ("n_jobs", "all"),
        ("precision", "half"), ("precision", 32), ("precision", None),
        ("verbose", "no"),
    ],
)  # fmt: skip
def test_wrong_parameters(name, wrong):
    X, y = integers(0, 40, 3, 2)
    model = VotedPerceptron(**{**SETTINGS, name: wrong})
    with pytest.raises(ValueError, match=name) as error:
        model.fit(X, y)
    assert repr(wrong) in str(error.value)
    assert not hasattr(model, "trace_")


@pytest.mark.parametrize(
    ("name", "wrong"), [("n_jobs", 0), ("memory", "much"), ("random_state", "seed")]
)
def test_parameters_that_were_made_wrong_after_the_fit(name, wrong):
    X, y = integers(0, 40, 3, 2)
    model = VotedPerceptron(method="random", **SETTINGS).fit(X, y)
    model.set_params(**{name: wrong})
    with pytest.raises(ValueError, match=repr(wrong)):
        model.predict(X)


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
    ],
)
def test_wrong_data(X, y, message):
    with pytest.raises(ValueError, match=message):
        VotedPerceptron(epochs=1, shuffle=False).fit(X, y)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_wrong_rows_to_predict(sparse, value):
    X, y = integers(0, 40, 3, 2)
    model = VotedPerceptron(epochs=1, shuffle=False).fit(X, y)
    bad = X.copy()
    bad[7, 1] = value
    for rows, message in ((bad, "NaN|infinity"), (X[:, :2], "2 features"), (X[:0], "0 sample")):
        with pytest.raises(ValueError, match=message):
            model.predict(sp.csr_array(rows) if sparse else rows)


def test_not_fitted():
    X, _ = integers(0, 40, 3, 2)
    model = VotedPerceptron(epochs=1, shuffle=False)
    for name in ("predict", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(model, name)(X)
    with pytest.raises(NotFittedError):
        model.staged_predict(X, [1])
    for name in ("support_", "support_vectors_", "dual_coef_", "intercept_", "coef_", "n_support_"):
        with pytest.raises(NotFittedError):
            getattr(model, name)


def test_wrong_rules():
    X, y = integers(0, 40, 3, 2)
    model = VotedPerceptron(epochs=1, shuffle=False).fit(X, y)
    with pytest.raises(ValueError, match=r"method must be one of .* got 'votes'"):
        model.predict(X, method="votes")
    with pytest.raises(ValueError, match=r"method must be one of .* got 'votes'"):
        model.decision_functions(X, [("vote", False), ("votes", False)])
    for method in ("pocket", "holdout"):
        with pytest.raises(ValueError, match=f"fit again with method='{method}'"):
            model.predict(X, method=method)
    pocket = VotedPerceptron(method="pocket", epochs=1, shuffle=False).fit(X, y)
    with pytest.raises(ValueError, match="fit again with method='holdout'"):
        pocket.predict(X, method="holdout")
    assert pocket.predict(X, method="vote").shape == (40,)


def test_rules_that_are_not_pairs():
    X, y = integers(0, 40, 3, 2)
    model = VotedPerceptron(epochs=1, shuffle=False).fit(X, y)
    with pytest.raises(ValueError, match=r"rules must be .*'vote'"):
        model.decision_functions(X, ["vote"])


@pytest.mark.parametrize("at", [-0.1, 1.2, np.nan, np.inf])
def test_wrong_stages(at):
    X, y = integers(0, 40, 3, 2)
    model = VotedPerceptron(epochs=1, shuffle=False).fit(X, y)
    with pytest.raises(ValueError, match=f"at must lie between 0 and the 1 epochs.*got {at}"):
        model.staged_predict(X, [at])


def test_no_stages_are_no_predictions():
    X, y = integers(0, 40, 3, 2)
    assert VotedPerceptron(epochs=1, shuffle=False).fit(X, y).staged_predict(X, []).shape == (0, 40)


def test_a_fit_that_is_refused_leaves_the_model_as_it_was():
    X, y = integers(0, 40, 3, 2)
    model = VotedPerceptron(**SETTINGS).fit(X, y)
    truth, params = model.decision_function(X), model.get_params()
    refused = [
        (X[:, :2], y * 0, {}),  # one class, another width
        (X[:, :2], y, {"n_jobs": 0}),
        (X[:, :2], y, {"precision": "half"}),
        (X[:, :2], y, {"memory": 10}),
        (X[:, :2] * 1e200, y, {}),
        (X[:, :2], y, {"kernel": "precomputed"}),
        (X[:, :2], y, {"max_seconds": -1}),
        (X[:, :2], y, {"method": "holdout", "validation_fraction": 0.001}),
        (X[:, :2], y[:-1], {}),
    ]
    for bad, labels, wrong in refused:
        with pytest.raises(ValueError):  # noqa: PT011  each refusal has its own test
            model.set_params(**wrong).fit(bad, labels)
        model.set_params(**params)
        assert model.n_features_in_ == 3
        assert np.array_equal(model.decision_function(X), truth)


def test_precomputed_must_be_square():
    X, y = integers(0, 40, 3, 2)
    with pytest.raises(ValueError, match=r"square, got shape \(40, 3\)"):
        VotedPerceptron(kernel="precomputed", epochs=1, shuffle=False).fit(X, y)
    model = VotedPerceptron(kernel="precomputed", epochs=1, shuffle=False).fit(X @ X.T, y)
    with pytest.raises(ValueError, match="39 features"):
        model.predict((X @ X.T)[:, :39])
    assert model.predict((X @ X.T)[:5]).shape == (5,)


def test_holdout_needs_something_to_hold_out():
    X, y = integers(0, 40, 3, 2)
    for n, fraction in ((40, 0.001), (4, 0.99), (2, 0.5)):
        model = VotedPerceptron(
            method="holdout", validation_fraction=fraction, random_state=0, epochs=1, shuffle=False
        )
        with pytest.raises(ValueError, match=f"validation_fraction={fraction} of {n} examples"):
            model.fit(X[:n], y[:n])


@pytest.mark.parametrize("kernel", ["poly", "linear", "rbf", "laplacian"])
def test_constant_features(kernel):
    X = np.full((30, 4), 0.1)
    y = np.arange(30) % 2
    for gamma in ("auto", "scale"):
        model = VotedPerceptron(kernel=kernel, gamma=gamma, epochs=2, shuffle=False).fit(X, y)
        assert np.isfinite(model.trace_.norms()).all()
        assert np.isfinite(model.decision_function(X, "average", True)).all()
        zero = VotedPerceptron(kernel=kernel, gamma=gamma, epochs=2, shuffle=False).fit(X * 0, y)
        assert np.isfinite(zero.decision_function(X * 0, "average", True)).all()


def test_zero_rows_score_zero_and_are_always_mistakes():
    model = VotedPerceptron(kernel="linear", epochs=3, shuffle=False).fit(
        np.zeros((4, 2)), [0, 1, 0, 1]
    )
    assert model.n_mistakes_.tolist() == [12]
    assert not model.decision_function(np.ones((3, 2)), "average", True).any()


FORMS = {
    "csr_matrix": sp.csr_matrix, "csr_array": sp.csr_array, "csc_matrix": sp.csc_matrix,
    "csc_array": sp.csc_array, "coo_array": sp.coo_array, "lil_matrix": sp.lil_matrix,
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", ["poly", "linear"])
def test_forms_of_sparse_data(form, kernel):
    X, y = integers(1, 100, 5, 3)
    model = VotedPerceptron(kernel=kernel, **SETTINGS).fit(FORMS[form](X), y)
    K = power(X, 2) if kernel == "poly" else power(X, 1, 0)
    assert mistakes_of(model) == train(K, signs_of(y), 2)
    dense = model.decision_function(X, "average")
    assert np.allclose(model.decision_function(FORMS[form](X), "average"), dense)
    assert np.allclose(model.decision_function(FORMS[form](X[:3]), "average"), dense[:3])


def rough(X, index_type=np.int32):
    """X as CSR with indices out of order, every entry cut in two, and explicit zeros."""
    data, indices, indptr = [], [], [0]
    for row in X:
        columns = np.flatnonzero(row)[::-1]
        data += [*(row[columns] - 1), *np.ones(len(columns)), 0.0]
        indices += [*columns, *columns, 0]
        indptr.append(len(data))
    parts = (
        np.array(data), np.array(indices, index_type), np.array(indptr, index_type)
    )  # fmt: skip
    return sp.csr_array(parts, shape=X.shape)


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("kernel", ["poly", "linear", "laplacian", "rbf"])
def test_sparse_indices_out_of_order_and_twice(index_type, kernel):
    X, y = integers(1, 100, 5, 3)
    odd = rough(X, index_type)
    kept = odd.data.copy(), odd.indices.copy(), odd.indptr.copy()
    model = VotedPerceptron(kernel=kernel, **SETTINGS).fit(odd, y)
    plain = VotedPerceptron(kernel=kernel, **SETTINGS).fit(sp.csr_array(X), y)
    assert mistakes_of(model) == mistakes_of(plain)
    for method in ("vote", "average"):
        for n in (100, 5):
            assert np.allclose(
                model.decision_function(odd[:n], method), plain.decision_function(X[:n], method)
            )
    for now, before in zip((odd.data, odd.indices, odd.indptr), kept, strict=True):
        assert np.array_equal(now, before)
    stream = VotedPerceptron(kernel=kernel, **SETTINGS)
    for part in (slice(0, 40), slice(40, 100)):
        stream.partial_fit(odd[part], y[part], classes=[0, 1, 2])
    whole = VotedPerceptron(kernel=kernel, **{**SETTINGS, "epochs": 1}).fit(X, y)
    assert np.array_equal(stream.trace_.step, whole.trace_.step)


@pytest.mark.parametrize("kernel", ["poly", "linear", "laplacian"])
def test_float32_is_kept(kernel):
    X, y = integers(1, 100, 5, 3)
    for data in (X.astype(np.float32), sp.csr_array(X.astype(np.float32))):
        single = VotedPerceptron(kernel=kernel, precision="float32", **SETTINGS).fit(data, y)
        assert single.support_vectors_.dtype == np.float32
    double = VotedPerceptron(kernel=kernel, **SETTINGS).fit(X, y)
    assert double.support_vectors_.dtype == np.float64


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, bool, np.float16])
def test_data_of_any_number_type(dtype):
    X, y = integers(1, 100, 5, 3)
    X = np.abs(X).astype(dtype)
    model = VotedPerceptron(**SETTINGS).fit(X, y)
    assert mistakes_of(model) == train(power(X.astype(float), 2), signs_of(y), 2)
    assert np.array_equal(model.predict(X), model.predict(X.astype(float)))


def test_layouts_of_dense_data():
    X, y = integers(1, 100, 6, 3)
    expected = mistakes_of(VotedPerceptron(**SETTINGS).fit(X, y))
    frozen = X.copy()
    frozen.flags.writeable = False
    wide = np.repeat(X, 2, axis=1)
    for data in (np.asfortranarray(X), X.tolist(), frozen, wide[:, ::2], X[::-1][::-1]):
        assert mistakes_of(VotedPerceptron(**SETTINGS).fit(data, y)) == expected


@pytest.mark.parametrize(
    "names",
    [
        np.array(["x", "y", "z"]), np.array(["x", "y", "z"], object), np.array([-1.0, 0.0, 7.0]),
        np.array([3, 10, 200], np.uint8), np.array([-5, 0, 5], np.int8),
    ],
)  # fmt: skip
def test_labels_of_any_type(names):
    X, y = integers(1, 100, 5, 3)
    model = VotedPerceptron(**SETTINGS).fit(X, names[y])
    assert mistakes_of(model) == train(power(X, 2), signs_of(y), 2)
    assert model.classes_.tolist() == names.tolist()
    predicted = model.predict(X)
    assert predicted.dtype == model.classes_.dtype
    assert set(predicted) <= set(names)
    stream = VotedPerceptron(**SETTINGS)
    stream.partial_fit(X, names[y], classes=names[::-1])
    assert stream.classes_.tolist() == names.tolist()


def test_labels_that_are_true_or_false():
    X, y = integers(1, 100, 5, 2)
    model = VotedPerceptron(**SETTINGS).fit(X, y.astype(bool))
    assert model.predict(X).dtype == bool
    assert mistakes_of(model) == train(power(X, 2), signs_of(y), 2)


def test_labels_of_another_type_in_a_stream():
    X, y = integers(1, 100, 5, 2)
    model = VotedPerceptron(**SETTINGS).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="not in classes"):
        model.partial_fit(X, np.array(["a", "b"])[y])


def test_a_callable_that_returns_the_wrong_shape():
    X, y = integers(1, 100, 5, 2)

    def column(A, B):
        return A @ B[0]

    with pytest.raises(ValueError, match="column must return a block of shape"):
        VotedPerceptron(kernel=column, epochs=1, shuffle=False).fit(X, y)


def test_a_callable_that_returns_nan():
    X, y = integers(1, 100, 5, 2)
    with pytest.raises(ValueError, match="returned nan"):
        VotedPerceptron(
            kernel=lambda A, B: np.full((len(A), len(B)), np.nan), epochs=1, shuffle=False
        ).fit(X, y)
