"""Every rule against its formula, computed from explicit vectors."""

import numpy as np
import pytest

from largemargin import VotedPerceptron

from .twin import RULES, decide, mistakes_of, shaped, signs_of, small_tiles, train, vectors_of
from .twin import norm as explicit_norm


def kernel(A, B):
    return (A @ B.T + 1) ** 2


def data(n_classes, n=60, seed=0):
    """Integer rows; rows 1, 3, ... 9 repeat the row before with another label."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, 3)).astype(float)
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    X[1:10:2] = X[0:9:2]
    y[1:10:2] = (y[0:9:2] + 1) % n_classes
    return X, y, rng.integers(-3, 4, (70, 3)).astype(float)


def expected(rule, model, X, y, X_test, until, correct=None):
    moments = np.random.RandomState(3).randint(0, until + 1, len(X_test), np.int64)
    n_problems = model.trace_.n_problems
    found = decide(
        rule, mistakes_of(model), n_problems, kernel(X, X), kernel(X, X_test), until,
        moments, correct,
    )  # fmt: skip
    return shaped(found)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("n_test", [7, 70])
@pytest.mark.parametrize("tiles", [False, True])
def test_rules_are_their_formulas(n_classes, n_test, tiles):
    X, y, X_test = data(n_classes)
    X_test = X_test[:n_test]
    model = VotedPerceptron(degree=2, gamma=1.0, epochs=3, random_state=3, shuffle=False).fit(X, y)
    if tiles:
        with small_tiles():
            found = model.decision_functions(X_test, RULES)
    else:
        found = model.decision_functions(X_test, RULES)
    assert list(found) == RULES
    for rule in RULES:
        truth = expected(rule, model, X, y, X_test, 180)
        assert found[rule].shape == ((n_test,) if n_classes == 2 else (n_test, n_classes))
        assert np.allclose(found[rule], truth, rtol=1e-9, atol=1e-9), rule
        if not rule[1]:
            assert np.array_equal(found[rule], truth), rule


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("normalize", [False, True])
def test_pocket(n_classes, normalize):
    X, y, X_test = data(n_classes, seed=1)
    model = VotedPerceptron(
        degree=2, gamma=1.0, epochs=4, method="pocket", normalize=normalize, shuffle=False
    ).fit(X, y)
    signs, K = signs_of(y), kernel(X, X)

    def right(p, vector):
        return int((signs[p] * (vector.coefs @ K) > 0).sum())

    for at in (0.25, 1, 2.5, 4):
        truth = expected(("pocket", normalize), model, X, y, X_test, round(at * 60), right)
        found = model.staged_decision_functions(X_test, [at], [("pocket", normalize)])
        assert np.allclose(found[0]["pocket", normalize], truth)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("kernel_name", ["poly", "precomputed"])
def test_holdout(n_classes, normalize, kernel_name):
    X, y, X_test = data(n_classes, seed=2)
    K, signs = kernel(X, X), signs_of(y)
    model = VotedPerceptron(
        kernel=kernel_name, degree=2, gamma=1.0, epochs=2, method="holdout",
        normalize=normalize, validation_fraction=0.25, random_state=5, shuffle=False,
    ).fit(X if kernel_name == "poly" else K, y)  # fmt: skip
    held = np.setdiff1d(np.arange(60), np.random.RandomState(5).permutation(60)[15:])
    assert len(held) == 15
    assert not np.isin(held, model.support_).any()
    kept = np.setdiff1d(np.arange(60), held)
    assert mistakes_of(model) == train(K.astype(int), signs, 2, kept)

    def right(p, vector):
        return int((signs[p, held] * (vector.coefs @ K[:, held]) > 0).sum())

    truth = expected(("holdout", normalize), model, X, y, X_test, 2 * len(kept), right)
    test = X_test if kernel_name == "poly" else kernel(X_test, X)
    assert np.allclose(model.decision_function(test), truth)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kernel_name", ["poly", "linear"])
def test_stages_are_runs_that_were_stopped_there(n_classes, kernel_name):
    X, y, X_test = data(n_classes)
    settings = {"kernel": kernel_name, "degree": 2, "gamma": 1.0, "shuffle": False}
    model = VotedPerceptron(epochs=3, **settings).fit(X, y)
    rules = [rule for rule in RULES if rule[0] != "random"]
    at = [2, 0.1, 1, 0.55, 3, 1]
    staged = model.staged_decision_functions(X_test, at, rules)
    for e, found in zip(at, staged, strict=True):
        whole, part = divmod(round(e * 60), 60)
        stopped = VotedPerceptron(epochs=1, **settings)
        for _ in range(whole):
            stopped.partial_fit(X, y, classes=np.unique(y))
        if part:
            stopped.partial_fit(X[:part], y[:part], classes=np.unique(y))
        again = stopped.decision_functions(X_test, rules)
        for rule in rules:
            assert np.allclose(found[rule], again[rule]), (e, rule)
            if kernel_name == "poly":
                truth = expected(rule, model, X, y, X_test, round(e * 60))
                assert np.allclose(found[rule], truth), (e, rule)


def test_at_zero_every_score_is_zero():
    X, y, X_test = data(3)
    for kernel_name in ("poly", "linear"):
        model = VotedPerceptron(kernel=kernel_name, random_state=0, epochs=1, shuffle=False).fit(
            X, y
        )
        for scores in model.staged_decision_functions(X_test, [0], RULES)[0].values():
            assert not scores.any()


@pytest.mark.parametrize("kernel_name", ["poly", "linear"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_rule_at_a_time_or_all_together(kernel_name, n_classes):
    X, y, X_test = data(n_classes)
    model = VotedPerceptron(kernel=kernel_name, epochs=2, random_state=3, shuffle=False).fit(X, y)
    together = model.decision_functions(X_test, RULES)
    classes = np.arange(n_classes)
    for method, normalize in RULES:
        alone = model.decision_function(X_test, method=method, normalize=normalize)
        assert np.array_equal(alone, together[method, normalize])
        chosen = (alone > 0).astype(int) if n_classes == 2 else alone.argmax(axis=1)
        predicted = model.predict(X_test, method=method, normalize=normalize)
        assert np.array_equal(predicted, classes[chosen])
        model.set_params(method=method, normalize=normalize)
        assert np.array_equal(model.decision_function(X_test), alone)
        assert np.array_equal(model.decision_function(X_test, method, None), alone)
        assert np.array_equal(model.staged_predict(X_test, [2])[0], predicted)


def test_a_seed_draws_at_a_stage_as_if_training_had_stopped_there():
    X, y, X_test = data(2)
    model = VotedPerceptron(epochs=2, method="random", random_state=3, shuffle=False).fit(X, y)
    stages = model.staged_predict(X_test, [0.5, 1, 2])
    assert np.array_equal(stages[-1], model.predict(X_test))
    assert np.array_equal(stages[1], model.staged_predict(X_test, [1])[0])


def test_staged_predict_has_a_row_a_stage():
    X, y, X_test = data(3)
    model = VotedPerceptron(epochs=2, method="average", shuffle=False).fit(
        X, np.array(["a", "b", "c"])[y]
    )
    staged = model.staged_predict(X_test, [0.5, 1, 2])
    assert staged.shape == (3, 70)
    scores = model.staged_decision_functions(X_test, [0.5, 1, 2], [("average", False)])
    for predicted, found in zip(staged, scores, strict=True):
        chosen = found["average", False].argmax(axis=1)
        assert np.array_equal(predicted, model.classes_[chosen])


def test_random_draws_one_moment_a_row_afresh_each_call():
    X, y, X_test = data(3)
    source = np.random.RandomState(11)
    model = VotedPerceptron(
        degree=2, gamma=1.0, method="random", random_state=source, epochs=1, shuffle=False
    ).fit(X, y)
    again = np.random.RandomState(11)
    drawn = []
    for _ in range(2):
        moments = again.randint(0, 61, 70, np.int64)
        truth = decide(
            ("random", False), mistakes_of(model), 3, kernel(X, X), kernel(X, X_test), 60, moments
        )
        drawn.append(model.decision_function(X_test))
        assert np.array_equal(drawn[-1], shaped(truth))
    assert not np.array_equal(*drawn)


def test_random_draws_every_moment_from_none_to_all():
    X = np.array([[1.0], [-1.0], [2.0]])
    model = VotedPerceptron(
        kernel="linear", method="random", random_state=0, epochs=1, shuffle=False
    ).fit(X, [1, 1, 1 - 1])
    # v = 0, 1, 0 (the second row adds -1), -2 after 0, 1, 2, 3 steps
    scores = model.decision_function(np.ones((4000, 1)))
    values, counts = np.unique(scores, return_counts=True)
    assert values.tolist() == [-2, 0, 1]
    assert np.allclose(counts / 4000, [0.25, 0.5, 0.25], atol=0.04)


@pytest.mark.parametrize("kernel_name", ["poly", "linear", "rbf", "laplacian", "precomputed"])
@pytest.mark.parametrize("method", ["vote", "average", "last", "random", "longest", "pocket"])
@pytest.mark.parametrize("normalize", [False, True])
def test_one_row_with_both_labels_makes_a_zero_vector(kernel_name, method, normalize):
    X = np.array([[1.0, 2.0], [1.0, 2.0]])
    data = np.full((2, 2), 5.0) if kernel_name == "precomputed" else X
    model = VotedPerceptron(
        kernel=kernel_name,
        method=method,
        normalize=normalize,
        epochs=3,
        random_state=0,
        shuffle=False,
    ).fit(data, [0, 1])
    assert model.trace_.norms()[1] == 0
    scores = model.decision_function(data)
    assert np.isfinite(scores).all()
    if method == "last":
        assert not scores.any()
    assert np.isfinite(model.dual_coef_).all()


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_norms_follow_the_recurrence(precision):
    X, y, _ = data(3)
    model = VotedPerceptron(degree=2, gamma=1.0, epochs=3, precision=precision, shuffle=False).fit(
        X, y
    )
    K = kernel(X, X)
    norms = model.trace_.norms()
    for p in range(3):
        explicit = [explicit_norm(K, v) for v in vectors_of(mistakes_of(model), p, 60, 180)[1:]]
        assert np.allclose(norms[model.trace_.problem == p], explicit)


def test_no_rules_and_no_stages():
    X, y, X_test = data(2)
    model = VotedPerceptron(epochs=1, shuffle=False).fit(X, y)
    assert model.decision_functions(X_test, []) == {}
    assert model.staged_decision_functions(X_test, [], [("vote", False)]) == []


def test_memory_to_predict_with_is_kept_to_or_refused():
    X, y, X_test = data(3)
    model = VotedPerceptron(degree=2, gamma=1.0, epochs=1, shuffle=False).fit(X, y)
    truth = model.decision_function(X_test)
    model.set_params(memory=8 * model.n_support_)  # one column of kernel values at a time
    assert np.array_equal(model.decision_function(X_test), truth)
    model.set_params(memory=8 * model.n_support_ - 1)
    with pytest.raises(ValueError, match=r"memory=\d+ bytes is too little to predict"):
        model.decision_function(X_test)
