"""The estimator: streams, the same model on any machine, the attributes, and large numbers."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from largemargin import VotedPerceptron
from largemargin.kernels.functions import Polynomial
from largemargin.perceptron.kernel_pass import KernelPass

from .test_kernel_pass import integers, power
from .twin import RULES, mistakes_of, signs_of, small_tiles, train


def snapshot(model, X):
    """Everything by which a change would show."""
    trace = model.trace_
    return (
        {name: values.copy() for name, values in trace.arrays().items()},
        (trace.n_steps, trace.epoch_length, model.n_support_, model.n_epochs_, model.converged_),
        model.support_.copy(),
        model.n_mistakes_.copy(),
        model.decision_functions(X, [rule for rule in RULES if rule[0] != "random"]),
    )


def same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, tuple):
        return all(same(x, y) for x, y in zip(a, b, strict=True))
    return np.array_equal(a, b)


def chunks(n, sizes):
    start = 0
    while start < n:
        size = sizes[start % len(sizes)]
        yield slice(start, start + size)
        start += size


# Streams


@pytest.mark.crossing
@pytest.mark.parametrize("kernel", ["linear", "poly"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("sizes", [[1], [7], [3, 40, 1, 64], [1000]])
@pytest.mark.parametrize("form", ["dense", "sparse", "mixed", "mixed, sparse first"])
def test_any_chunking_gives_the_trace_of_one_epoch(kernel, n_classes, sizes, form):
    X, y = integers(0, 110, 4, n_classes)
    y = np.where(X[:, 0] > 0, y, 0)
    y[:n_classes] = np.arange(n_classes)
    settings = {
        "kernel": kernel, "degree": 3, "gamma": 1.0, "fit_intercept": True, "epochs": 1,
        "shuffle": False,
    }  # fmt: skip
    model = VotedPerceptron(**settings)
    with small_tiles():
        whole = VotedPerceptron(**settings).fit(X, y)
        for number, part in enumerate(chunks(110, sizes)):
            sparse = {"dense": False, "sparse": True, "mixed": number % 2 == 1}.get(
                form, number % 2 == 0
            )
            data = sp.csr_array(X[part]) if sparse else X[part]
            model.partial_fit(data, y[part], classes=np.arange(n_classes))
    K = power(X, 1, 0) + 1 if kernel == "linear" else power(X, 3) + 1
    assert mistakes_of(model) == mistakes_of(whole) == train(K, signs_of(y))
    assert np.array_equal(model.support_, whole.support_)
    assert model.trace_.n_steps == model.trace_.epoch_length == 110
    found = model.staged_decision_functions(X, [0.5, 1], RULES[:6])
    truth = whole.staged_decision_functions(X, [0.5, 1], RULES[:6])
    for a, b in zip(found, truth, strict=True):
        for rule in RULES[:6]:
            assert np.allclose(a[rule], b[rule])


@pytest.mark.bits
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "sigmoid", "poly"])
def test_chunks_of_real_numbers(kernel):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 3, 300)
    whole = VotedPerceptron(kernel=kernel, gamma=0.3, epochs=1, shuffle=False).fit(X, y)
    model = VotedPerceptron(kernel=kernel, gamma=0.3, epochs=1, shuffle=False)
    for part in chunks(300, [90]):
        model.partial_fit(X[part], y[part], classes=[0, 1, 2])
    assert np.array_equal(model.trace_.step, whole.trace_.step)
    assert np.allclose(model.decision_function(X, "average"), whole.decision_function(X, "average"))


def test_a_stream_after_a_fit_goes_on():
    X, y = integers(3, 200, 3, 3)
    for kernel, K in (("linear", power(X, 1, 0)), ("poly", power(X, 2))):
        model = VotedPerceptron(kernel=kernel, degree=2, gamma=1.0, epochs=1, shuffle=False).fit(
            X[:80], y[:80]
        )
        model.partial_fit(X[80:], y[80:])
        assert mistakes_of(model) == train(K, signs_of(y))


def test_positions_in_a_stream_after_a_fit_with_holdout_are_new():
    X, y = integers(3, 100, 3, 2)
    model = VotedPerceptron(
        degree=2,
        gamma=1.0,
        method="holdout",
        validation_fraction=0.4,
        random_state=0,
        epochs=1,
        shuffle=False,
    ).fit(X, y)
    old = set(model.support_)
    model.set_params(method="vote").partial_fit(X, y)
    fresh = set(model.support_) - old
    assert len(np.unique(model.support_)) == model.n_support_
    assert min(fresh) >= 100


def test_a_stream_is_float32_if_it_starts_so():
    X, y = integers(4, 100, 3, 2)
    model = VotedPerceptron(degree=2, epochs=1, shuffle=False).partial_fit(
        X.astype(np.float32), y, classes=[0, 1]
    )
    assert model.support_vectors_.dtype == np.float32
    model = VotedPerceptron(degree=2, epochs=1, shuffle=False).partial_fit(
        X.astype(int), y, classes=[0, 1]
    )
    assert model.support_vectors_.dtype == np.float64


@pytest.mark.crossing
@pytest.mark.parametrize("kernel", ["linear", "poly", "callable"])
@pytest.mark.parametrize(
    "spoil", ["nan", "inf", "unknown label", "wrong width", "new classes", "no rows", "labels"]
)
def test_a_chunk_that_is_refused_leaves_the_model_as_it_was(kernel, spoil):
    X, y = integers(5, 200, 3, 3)
    kernel = {"callable": lambda A, B: (A @ B.T + 1) ** 2}.get(kernel, kernel)
    model = VotedPerceptron(kernel=kernel, degree=2, gamma=1.0, epochs=1, shuffle=False)
    model.partial_fit(X[:100], y[:100], classes=[0, 1, 2])
    before = snapshot(model, X)
    bad, labels, classes = X[100:].copy(), y[100:].copy(), None
    if spoil in ("nan", "inf"):
        bad[60, 1] = float(spoil)
    elif spoil == "unknown label":
        labels[50] = 3
    elif spoil == "wrong width":
        bad = bad[:, :2]
    elif spoil == "new classes":
        classes = [0, 1, 2, 3]
    elif spoil == "no rows":
        bad, labels = bad[:0], labels[:0]
    else:
        labels = labels[:-1]
    with pytest.raises(ValueError):  # noqa: PT011  the sentences differ
        model.partial_fit(bad, labels, classes=classes)
    assert same(snapshot(model, X), before)
    model.partial_fit(X[100:], y[100:])
    K = power(X, 1, 0) if kernel == "linear" else power(X, 2)
    assert mistakes_of(model) == train(K, signs_of(y))


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_kernel_that_fails_leaves_the_model_as_it_was(jobs, sparse):
    X, y = integers(5, 400, 3, 3)
    data = sp.csr_array(X) if sparse else X

    def kernel(A, B):
        kernel.left -= 1
        if kernel.left == 0:
            raise RuntimeError("no more")
        products = A @ B.T
        return ((products.toarray() if sparse else products) + 1) ** 2

    kernel.left = 10**9
    model = VotedPerceptron(kernel=kernel, n_jobs=jobs, epochs=1, shuffle=False)
    with small_tiles():
        model.partial_fit(data[:100], y[:100], classes=[0, 1, 2])
        before = snapshot(model, data)
        for left in (1, 10, 60):
            kernel.left = left
            with pytest.raises(RuntimeError, match="no more"):
                model.partial_fit(data[100:], y[100:])
            kernel.left = 10**9
            assert same(snapshot(model, data), before)
        model.partial_fit(data[100:], y[100:])
    assert mistakes_of(model) == train(power(X, 2), signs_of(y))


def test_what_a_stream_cannot_do():
    X, y = integers(5, 50, 3, 2)
    with pytest.raises(ValueError, match="gamma='scale' needs the variance"):
        VotedPerceptron(gamma="scale", epochs=1, shuffle=False).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="classes must be given in the first call"):
        VotedPerceptron(epochs=1, shuffle=False).partial_fit(X, y)
    with pytest.raises(ValueError, match=r"at least two classes, got \[0\]"):
        VotedPerceptron(epochs=1, shuffle=False).partial_fit(X, y * 0, classes=[0])
    with pytest.raises(ValueError, match="precomputed"):
        VotedPerceptron(kernel="precomputed", epochs=1, shuffle=False).partial_fit(
            X @ X.T, y, classes=[0, 1]
        )
    for method in ("pocket", "holdout"):
        with pytest.raises(ValueError, match=f"method='{method}' looks at the data again"):
            VotedPerceptron(method=method, epochs=1, shuffle=False).partial_fit(
                X, y, classes=[0, 1]
            )
    with pytest.raises(ValueError, match=r"label .*2.* not in classes=\[0, 1\]"):
        VotedPerceptron(epochs=1, shuffle=False).partial_fit(X, y + 1, classes=[0, 1])


def test_classes_may_come_in_any_order_and_late():
    X, y = integers(5, 60, 3, 3)
    names = np.array(["ant", "bee", "cat"])
    model = VotedPerceptron(degree=2, gamma=1.0, epochs=1, shuffle=False)
    model.partial_fit(X[:10], names[y[:10] * 0 + 1], classes=["cat", "ant", "bee", "ant"])
    assert model.classes_.tolist() == ["ant", "bee", "cat"]
    model.partial_fit(X[10:], names[y[10:]], classes=["bee", "cat", "ant"])
    labels = np.concatenate([np.ones(10, int), y[10:]])
    assert mistakes_of(model) == train(power(X, 2), signs_of(labels))


# One model, whatever the threads and the memory


def noisy(n=3000, width=20, n_classes=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, width))
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1] * X[:, 2], [-0.5, 0.5])[:n]
    return X, np.where(rng.random(n) < 0.15, rng.integers(0, n_classes, n), y), rng


@pytest.mark.crossing
@pytest.mark.bits
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("kernel", ["poly", "rbf", "laplacian", "sparse poly", "linear"])
@pytest.mark.parametrize("kept", [False, True])
def test_the_model_depends_on_neither_threads_nor_memory(precision, kernel, kept):
    X, y, rng = noisy(1500)
    X_test = rng.normal(size=(300, 20))
    if kernel == "sparse poly":
        X = sp.csr_array(X * (rng.random(X.shape) < 0.3))
    settings = {"kernel": kernel.split()[-1], "degree": 3, "epochs": 6, "precision": precision}
    models = []
    shape = {"rows": 128, "slots": 64, "unit": 16, "ahead": 6, "guesses": 64, "known": 128}
    with small_tiles(**shape, few=32, kept=kept):
        least = KernelPass.held(3, 1500, np.dtype(precision))
        for jobs, memory in ((1, "1GB"), (2, least), (3, least), (3, least + 10**6), (1, least)):
            model = VotedPerceptron(n_jobs=jobs, memory=memory, **settings).fit(X, y)
            models.append(model.set_params(memory="1GB"))
        assert len(models[0].trace_) > 1000
        scores = [model.decision_functions(X_test, RULES[:6]) for model in models]
    for model, score in zip(models[1:], scores[1:], strict=True):
        for name, values in models[0].trace_.arrays().items():
            assert np.array_equal(model.trace_.arrays()[name], values), name
        assert np.array_equal(model._state.basis.examples, models[0]._state.basis.examples)
        assert same(score, scores[0])


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_the_default_tiles_give_one_model_too(precision):
    X, y, _ = noisy(5000)
    traces = []
    for jobs, memory in ((1, "1GB"), (2, "16MB"), (3, "30MB")):
        model = VotedPerceptron(
            degree=2, epochs=6, n_jobs=jobs, memory=memory, precision=precision, shuffle=False
        ).fit(X, y)
        traces.append(model.trace_.arrays())
    assert same(traces[1], traces[0])
    assert same(traces[2], traces[0])


@pytest.mark.bits
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("n_test", [1, 20, 400])
def test_decision_values_do_not_depend_on_threads(precision, n_test):
    X, y, rng = noisy(1000)
    X_test = rng.normal(size=(n_test, 20))
    model = VotedPerceptron(degree=3, epochs=3, precision=precision, n_jobs=1, shuffle=False).fit(
        X, y
    )
    truth = model.decision_functions(X_test, RULES[:6])
    for jobs in (2, 3, None):
        model.set_params(n_jobs=jobs)
        assert same(model.decision_functions(X_test, RULES[:6]), truth), jobs


@pytest.mark.bits
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_decision_values_do_not_depend_on_memory(precision):
    X, y, rng = noisy(1000)
    X_test = rng.normal(size=(400, 20))
    model = VotedPerceptron(degree=3, epochs=3, precision=precision, n_jobs=2, shuffle=False).fit(
        X, y
    )
    truth = model.decision_functions(X_test, RULES[:6])
    column = model.n_support_ * model._state.basis.dtype.itemsize
    for columns in (600, 256, 50, 3):
        model.set_params(memory=columns * column)
        assert same(model.decision_functions(X_test, RULES[:6]), truth), columns


@pytest.mark.bits
@pytest.mark.parametrize("jobs", [1, 2])
def test_tiles_are_kept_within_the_memory(monkeypatch, jobs):
    from largemargin.kernels import tiles as gram

    X, y, _ = noisy(2000)
    caches = []

    class Counting(gram.TileCache):
        def __init__(self, budget, shape, dtype):
            super().__init__(budget, shape, dtype)
            self.budget, self.claimed = budget, 0
            caches.append(self)

        def claim(self):
            tile = super().claim()
            self.claimed += 0 if tile is None else tile.nbytes
            return tile

    monkeypatch.setattr(gram, "TileCache", Counting)
    with small_tiles(rows=128, slots=64, unit=16, guesses=64, known=128, kept=True):
        least = KernelPass.held(jobs, X.shape[0], np.dtype(np.float64))
        VotedPerceptron(epochs=6, n_jobs=jobs, memory=least + 500_000, shuffle=False).fit(X, y)
    assert 0 < caches[0].claimed <= caches[0].budget == 500_000


def test_too_little_memory_to_train_with():
    X, y, _ = noisy(3000)
    with pytest.raises(ValueError, match="memory=100000 bytes is too little to train with: allow"):
        VotedPerceptron(memory=100_000, epochs=1, shuffle=False).fit(X, y)


# The model as a kernel expansion


@pytest.mark.crossing
@pytest.mark.parametrize("method", ["last", "average", "longest", "pocket", "holdout", "vote"])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("threshold", [False, True])
def test_the_expansion_gives_the_scores(method, normalize, n_classes, sparse, threshold):
    X, y = integers(7, 120, 4, n_classes)
    data = sp.csr_array(X) if sparse else X
    shown = "last" if method == "vote" else method
    for kernel in ("poly", "linear"):
        model = VotedPerceptron(
            kernel=kernel, degree=2, gamma=1.0, epochs=3, method=method, normalize=normalize,
            fit_intercept=threshold, shuffle=True, random_state=0,
        ).fit(data, y)  # fmt: skip
        problems = 1 if n_classes == 2 else n_classes
        support = model.support_
        assert (np.diff(support) > 0).all()
        assert model.n_support_ == len(support)
        vectors = model.support_vectors_
        assert np.array_equal(vectors.toarray() if sparse else vectors, X[support])
        assert model.dual_coef_.shape == (problems, len(support))
        assert model.intercept_.shape == (problems,)
        K = (X[support] @ X.T + 1) ** 2 if kernel == "poly" else X[support] @ X.T
        scores = (model.dual_coef_ @ K).T + model.intercept_
        truth = model.decision_function(X, method=shown)
        assert np.allclose(scores[:, 0] if n_classes == 2 else scores, truth)
        if kernel == "linear":
            assert model.coef_.shape == (problems, 4)
            scores = X @ model.coef_.T + model.intercept_
            assert np.allclose(scores[:, 0] if n_classes == 2 else scores, truth)
        else:
            with pytest.raises(AttributeError, match="kernel='linear' only"):
                _ = model.coef_
        if not threshold:
            assert not model.intercept_.any()


def test_a_precomputed_kernel_has_positions_only():
    X, y = integers(7, 60, 4, 2)
    model = VotedPerceptron(kernel="precomputed", method="last", epochs=1, shuffle=False).fit(
        power(X, 2), y
    )
    with pytest.raises(AttributeError, match="support_"):
        _ = model.support_vectors_
    scores = model.dual_coef_ @ power(X, 2)[model.support_]
    assert np.allclose(scores[0], model.decision_function(power(X, 2)))


def test_two_classes_are_one_problem_positive_for_the_second():
    X, y = integers(8, 100, 3, 2)
    names = np.array(["yes", "no"])[y]
    model = VotedPerceptron(degree=2, gamma=1.0, epochs=2, shuffle=False).fit(X, names)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.n_mistakes_.shape == (1,)
    scores = model.decision_function(X)
    assert scores.shape == (100,)
    assert np.array_equal(model.predict(X), np.where(scores > 0, "yes", "no"))
    assert model.score(X, names) > 0.5


def test_copies_predict_the_same_and_go_on_alone():
    X, y = integers(8, 100, 3, 3)
    for data in (X, sp.csr_array(X)):
        model = VotedPerceptron(degree=2, gamma=1.0, epochs=1, shuffle=False).fit(data[:50], y[:50])
        before = snapshot(model, X)
        for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            assert same(snapshot(other, X), before)
            other.partial_fit(data[50:], y[50:])
            assert mistakes_of(other) == train(power(X, 2), signs_of(y))
        assert same(snapshot(model, X), before)


def test_predicting_stores_nothing():
    X, y = integers(8, 100, 3, 3)
    model = VotedPerceptron(method="random", random_state=0, epochs=1, shuffle=False).fit(X, y)
    before = set(vars(model))
    model.predict(X)
    model.staged_predict(X, [0.5, 1])
    assert set(vars(model)) == before


def test_a_kernel_object():
    X, y = integers(8, 100, 3, 3)
    model = VotedPerceptron(kernel=Polynomial(degree=2), epochs=1, shuffle=False).fit(X, y)
    assert mistakes_of(model) == train(power(X, 2), signs_of(y))


# Large numbers


def pixels(n, width=100, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 256, (n, width)).astype(np.float32)
    return X, rng.integers(0, 2, n)


def test_degree_six_on_pixels_is_computed_in_float64(monkeypatch):
    monkeypatch.setattr("largemargin.perceptron.voted_perceptron.SMALL_PROBLEM", 50)
    X, y = pixels(200, width=150)
    model = VotedPerceptron(degree=6, gamma=1.0, epochs=3, shuffle=False).fit(X, y)
    exact = X.astype(int).astype(object)
    K = (exact @ exact.T + 1) ** 6
    found, expected = mistakes_of(model), train(K, signs_of(y).astype(object), 3)
    assert [(m.example, m.step) for m in found] == [(m.example, m.step) for m in expected]
    scores = np.array([float(m.score) for m in expected])
    assert abs(model.trace_.score - scores).max() < 1e-12 * abs(scores).max()
    assert max(abs(model.trace_.score)) > np.finfo(np.float32).max
    low = VotedPerceptron(degree=2, gamma=1e-6, epochs=1, shuffle=False).fit(X, y)
    assert low.support_vectors_.dtype == np.float32


def test_degree_six_on_pixels_in_float32_is_refused():
    X, y = pixels(200, width=784)
    with pytest.raises(ValueError, match=r"scale the data .*precision='float64'"):
        VotedPerceptron(degree=6, gamma=1.0, precision="float32", epochs=1, shuffle=False).fit(X, y)


@pytest.mark.crossing
@pytest.mark.parametrize("kernel", ["poly", "linear", "rbf", "sigmoid", "laplacian"])
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.filterwarnings("error")
def test_no_model_holds_an_infinity(kernel, precision, sparse):
    rng = np.random.default_rng(0)
    size = 1e25 if precision == "float32" else 1e200
    X, y = rng.normal(size=(60, 4)) * size, rng.integers(0, 2, 60)
    data = sp.csr_array(X) if sparse else X
    model = VotedPerceptron(kernel=kernel, gamma=1.0, precision=precision, epochs=2, shuffle=False)
    try:
        model.fit(data, y)
    except ValueError as refusal:
        assert "scale the data" in str(refusal)  # noqa: PT017  either is right
        assert not hasattr(model, "trace_")
        return
    assert np.isfinite(model.trace_.score).all()
    assert np.isfinite(model.trace_.norms()).all()
    assert np.isfinite(model.decision_function(data, method="average")).all()


@pytest.mark.parametrize("kernel", ["precomputed", "callable"])
def test_values_whose_sums_overflow_are_refused(kernel):
    K = 1.7e308 * (2 * np.eye(6) - 1)
    y = [1, 1, 1, 1, 0, 0]
    model = VotedPerceptron(
        kernel="precomputed"
        if kernel == "precomputed"
        else lambda A, B: K[A[:, 0].astype(int)][:, B[:, 0].astype(int)],
        epochs=1,
        shuffle=False,
    )
    try:
        model.fit(K if kernel == "precomputed" else np.arange(6.0)[:, None], y)
    except ValueError as refusal:
        assert "scale" in str(refusal)  # noqa: PT017  either is right
        return
    assert np.isfinite(model.trace_.score).all()


@pytest.mark.parametrize("kernel", ["poly", "linear", "rbf", "sigmoid"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.filterwarnings("error")
def test_a_chunk_or_a_row_that_would_overflow_is_refused(kernel, dtype):
    X, y = integers(9, 100, 3, 2)
    X = X.astype(dtype)
    model = VotedPerceptron(kernel=kernel, gamma=0.1, epochs=1, shuffle=False).partial_fit(
        X, y, classes=[0, 1]
    )
    before = snapshot(model, X)
    huge = X * dtype(1e30 if dtype == np.float32 else 1e250)
    with pytest.raises(ValueError, match="scale the data"):
        model.partial_fit(huge, y)
    with pytest.raises(ValueError, match="scale the data"):
        model.predict(huge)
    assert same(snapshot(model, X), before)
