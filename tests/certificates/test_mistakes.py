"""Mistake bounds against replay, brute force and an optimiser that knows nothing of machines."""

import numpy as np
import pytest
from scipy.optimize import minimize

from largemargin import VotedPerceptron
from largemargin.certificates import mistake_bound
from largemargin.certificates.mistakes import best_gamma
from tests.certificates.problems import blobs, says_why, separable, three


def replay(X, signs, epochs=1):
    """Mistakes of the perceptron, one example after the other, and where they were."""
    w, erred = np.zeros(X.shape[1]), []
    for _ in range(epochs):
        before = len(erred)
        for i, (x, y) in enumerate(zip(X, signs, strict=True)):
            if y * (w @ x) <= 0:
                w += y * x
                erred.append(i)
        if len(erred) == before:
            break
    return erred


def lifted(X):
    return np.column_stack([X, np.ones(len(X))])


@pytest.mark.parametrize("seed", range(5))
def test_the_best_gamma_is_that_of_a_fine_grid(seed):
    rng = np.random.default_rng(seed)
    margins, R, epochs = rng.normal(0.3, 1.0, 20), 3.0, 1 + seed
    grid = np.geomspace(1e-3, 1e4, 20001)
    D = np.sqrt(epochs * (np.maximum(0, grid[:, None] - margins) ** 2).sum(axis=1))
    values = ((R + D) / grid) ** 2
    found, gamma = best_gamma(margins, R, epochs)
    assert found <= values.min() * (1 + 1e-6)
    assert found == pytest.approx(min(values.min(), epochs * 20), rel=1e-3)
    if np.isfinite(gamma):
        assert mistake_bound(margins, R, gamma=gamma, epochs=epochs) == pytest.approx(found)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("epochs", [1, 3])
@pytest.mark.parametrize("threshold", [False, True])
def test_no_run_makes_more_mistakes_than_the_theorems_allow(seed, epochs, threshold):
    X, y = blobs(seed, n=25, noise=0.3 * (seed % 3))
    rows = lifted(X) if threshold else X
    made = len(replay(rows, 2 * y - 1, epochs))
    model = VotedPerceptron(
        kernel="linear", epochs=epochs, fit_intercept=threshold, shuffle=False
    ).fit(X, y)
    found = model.certificate(X, y)
    assert found["mistakes"].value == made <= found["mistake bound"].value
    assert found["mistake bound"].value <= epochs * len(y) * (1 + 1e-9)
    first = found["mistake bound, separable data"]
    if first.applies:
        assert made <= first.value


@pytest.mark.parametrize("seed", range(4))
def test_the_comparison_vector_is_nearly_the_best_there_is(seed):
    X, y = blobs(seed, n=80, noise=0.2)
    signs, R = 2 * y - 1, np.linalg.norm(X, axis=1).max()

    def root(w):
        return R * np.linalg.norm(w) + np.linalg.norm(np.maximum(0, 1 - signs * (X @ w)))

    starts = [np.array([1.0, 0.0]), np.array([1.0, 1.0]), np.array([0.1, -0.1])]
    least = min(len(y), min(minimize(root, s, method="Nelder-Mead").fun for s in starts) ** 2)
    model = VotedPerceptron(kernel="linear", epochs=1, shuffle=False).fit(X, y)
    found = model.certificate(X, y)["mistake bound"].value
    assert least * (1 - 1e-6) <= found <= 1.05 * least


def test_theorem_1_has_the_margin_of_the_optimal_hyperplane():
    X = np.array([[1.0, 0.0], [-2.0, 0.0], [0.5, 3.0], [-0.5, 4.0]])
    y = [1, 0, 1, 0]
    model = VotedPerceptron(kernel="linear", epochs=50, shuffle=False).fit(X, y)
    angles = np.linspace(0, 2 * np.pi, 200001)
    U = np.column_stack([np.cos(angles), np.sin(angles)])
    gamma = (U @ (X * np.array([[1], [-1], [1], [-1]])).T).min(axis=1).max()
    found = model.certificate(X, y)["mistake bound, separable data"]
    assert found.value == pytest.approx(16.25 / gamma**2, rel=1e-4)
    assert found.value >= 16.25 / gamma**2 * (1 - 1e-9)


def test_theorem_1_needs_separable_data():
    X = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    model = VotedPerceptron(kernel="linear", epochs=1, shuffle=False).fit(X, [0, 1, 0, 1])
    found = model.certificate(X, [0, 1, 0, 1])
    says_why(found["mistake bound, separable data"], "no vector that separates the data was found")
    assert found["mistake bound"].applies


def test_problems_of_several_classes_add_up():
    X, y = three(0)
    model = VotedPerceptron(kernel="linear", fit_intercept=True, epochs=1, shuffle=False).fit(X, y)
    found = model.certificate(X, y)
    made = [len(replay(lifted(X), np.where(y == c, 1, -1))) for c in range(3)]
    assert found["mistakes"].by_problem == tuple(made)
    assert found["mistakes"].value == sum(made)
    bound = found["mistake bound"]
    assert bound.value == pytest.approx(sum(bound.by_problem))
    assert (np.array(made) <= bound.by_problem).all()
    assert found["leave-one-out conversion"].value == pytest.approx(2 * sum(made) / 25)


@pytest.mark.parametrize(("method", "times"), [("vote", 2), ("random", 1)])
def test_leave_one_out_conversion(method, times):
    X, y = blobs(3, n=40)
    model = VotedPerceptron(
        kernel="linear", method=method, random_state=0, epochs=1, shuffle=False
    ).fit(X, y)
    found = model.certificate(X, y)["leave-one-out conversion"]
    assert found.value == times * len(replay(X, 2 * y - 1)) / 41
    assert found.kind == "expectation"
    assert any(a.holds is None for a in found.assumptions)


def test_the_conversion_holds_on_average():
    errors, bounds = [], []
    rng = np.random.default_rng(0)
    for _ in range(30):
        X = rng.normal(size=(130, 4))
        y = (X[:, 0] + 0.3 * rng.normal(size=130) > 0).astype(int)
        model = VotedPerceptron(kernel="linear", epochs=1, shuffle=False).fit(X[:30], y[:30])
        errors.append(1 - model.score(X[30:], y[30:]))
        bounds.append(2 * model.n_mistakes_[0] / 31)
    assert np.mean(errors) <= np.mean(bounds)


def test_what_the_conversion_is_not_about():
    X, y = blobs(0)
    twice = VotedPerceptron(kernel="linear", epochs=2, shuffle=False).fit(X, y).certificate(X, y)
    says_why(twice["leave-one-out conversion"], "one pass over the data, and there were 2")
    average = (
        VotedPerceptron(kernel="linear", method="average", epochs=1, shuffle=False)
        .fit(X, y)
        .certificate(X, y)
    )
    says_why(average["leave-one-out conversion"], "not 'average'")
    half = VotedPerceptron(kernel="linear", method="vote", epochs=1, shuffle=False).fit(X, y)
    half.trace_.n_steps -= 1
    says_why(half.certificate(X, y)["leave-one-out conversion"], "not over all the examples")


def test_training_to_convergence():
    X, y = separable(1, gamma=0.5)
    model = VotedPerceptron(kernel="linear", method="last", epochs=200, shuffle=False).fit(X, y)
    assert model.converged_
    erred = np.unique(replay(X, np.where(y == "yes", 1, -1), 200))
    signed = X[erred] * np.where(y[erred] == "yes", 1, -1)[:, None]
    R = np.linalg.norm(X[erred], axis=1).max()
    # the best margin on the mistaken examples alone is at least that of any vector
    least = min(len(erred), (R / signed[:, 0].min()) ** 2)
    found = model.certificate(X, y)["training to convergence"]
    assert 0 < found.value <= least / 31 * (1 + 1e-9)
    assert found.kind == "expectation"


def test_theorem_4_holds_on_average():
    errors, bounds = [], []
    for seed in range(20):
        X, y = separable(seed, n=130, gamma=0.2)
        model = VotedPerceptron(kernel="linear", method="last", epochs=500, shuffle=False).fit(
            X[:30], y[:30]
        )
        errors.append(1 - model.score(X[30:], y[30:]))
        found = model.certificate(X[:30], y[:30], leave_one_out=False)
        bounds.append(found["training to convergence"].value)
    assert 0 < np.mean(errors) <= np.mean(bounds)


def test_what_theorem_4_is_not_about():
    X, y = separable(1)
    vote = VotedPerceptron(kernel="linear", epochs=200, shuffle=False).fit(X, y).certificate(X, y)
    says_why(vote["training to convergence"], "not 'vote'")
    once = VotedPerceptron(kernel="linear", method="last", epochs=1, shuffle=False).fit(X, y)
    assert not once.converged_
    says_why(once.certificate(X, y)["training to convergence"], "did not go on until")


def test_a_kernel_that_is_not_positive_definite():
    X, y = blobs(0)
    model = VotedPerceptron(kernel="sigmoid", gamma=1.0, epochs=1, shuffle=False).fit(X, y)
    K = np.tanh(X @ X.T + 1)
    assert np.linalg.eigvalsh(K)[0] < -0.01
    found = model.certificate(X, y)
    for name in ("mistake bound, separable data", "mistake bound"):
        says_why(found[name], "not positive definite")
    X, y = np.array([[-1.0], [1.0]]), [0, 1]
    last = VotedPerceptron(
        kernel=lambda A, B: np.where(A @ B.T > 0, 1.0, -2.0), method="last", epochs=9, shuffle=False
    ).fit(X, y)
    assert last.converged_
    says_why(last.certificate(X, y)["training to convergence"], "not positive definite")
    assert found["mistakes"].applies


def test_a_function_that_is_a_kernel_is_recognised_and_so_is_its_matrix():
    X, y = blobs(2)
    reference = (
        VotedPerceptron(kernel="poly", degree=2, gamma=1.0, epochs=1, shuffle=False)
        .fit(X, y)
        .certificate(X, y)
    )
    function = VotedPerceptron(kernel=lambda A, B: (A @ B.T + 1) ** 2, epochs=1, shuffle=False).fit(
        X, y
    )
    K = (X @ X.T + 1) ** 2
    matrix = VotedPerceptron(kernel="precomputed", epochs=1, shuffle=False).fit(K, y)
    for found in (function.certificate(X, y), matrix.certificate(K, y)):
        for name in ("mistakes", "mistake bound", "leave-one-out conversion"):
            assert found[name].value == pytest.approx(reference[name].value, rel=1e-3)


@pytest.mark.parametrize("precomputed", [False, True])
def test_many_rows_are_compared_with_machines_of_a_sample(monkeypatch, precomputed):
    X, y = blobs(1, n=300, noise=0.3)
    K = X @ X.T
    model = VotedPerceptron(
        kernel="precomputed" if precomputed else "linear", epochs=1, shuffle=False
    )
    model.fit(K if precomputed else X, y)
    whole = model.certificate(K if precomputed else X, y)
    monkeypatch.setattr("largemargin.certificates.mistakes.MOST_COMPARED", 60)
    found = model.certificate(K if precomputed else X, y)["mistake bound"]
    assert "of 60 of them" in found.sentence
    assert model.n_mistakes_[0] <= found.value <= 1.2 * whole["mistake bound"].value
    # what it says is the theorem's number for some vector: no less than for the best of all
    assert found.value >= 0.95 * whole["mistake bound"].value


def test_a_sample_has_every_class(monkeypatch):
    X, y = blobs(1, n=300, noise=0.0)
    y[:] = 0
    y[7] = 1
    monkeypatch.setattr("largemargin.certificates.mistakes.MOST_COMPARED", 20)
    model = VotedPerceptron(kernel="linear", epochs=1, shuffle=False).fit(X, y)
    assert model.certificate(X, y)["mistake bound"].value >= model.n_mistakes_[0]


def test_too_many_rows_to_look_for_a_hyperplane(monkeypatch):
    X, y = separable(0, gamma=1.0)
    monkeypatch.setattr("largemargin.certificates.mistakes.MOST_COMPARED", 5)
    monkeypatch.setattr("largemargin.certificates.mistakes.MOST_SEPARATED", 10)
    model = VotedPerceptron(kernel="linear", epochs=100, shuffle=False).fit(X, y)
    assert model.converged_  # so its own last vector separates
    found = model.certificate(X, y)["mistake bound, separable data"]
    assert found.value >= model.n_mistakes_[0]
    X, y = blobs(0, n=100, noise=1.0)
    model = VotedPerceptron(kernel="linear", epochs=1, shuffle=False).fit(X, y)
    says_why(model.certificate(X, y)["mistake bound, separable data"], "no SVM of all of them")


@pytest.mark.parametrize("bad", [{"gamma": 0.0}, {"gamma": -1.0}, {"epochs": 0}])
def test_bad_numbers(bad):
    with pytest.raises(ValueError, match="must be a positive number"):
        mistake_bound([1.0], 1.0, **bad)
