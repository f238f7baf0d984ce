"""Leave-one-out bounds against the leave-one-out error, by fitting again without each example."""

import numpy as np
import pytest

from largemargin import (
    ALMA,
    LPSVC,
    MIRA,
    ROMMA,
    SVC,
    AdaptiveMarginSVC,
    AggressivePerceptron,
    KernelAdatron,
    LeaveOneOutSVC,
    MaxMarginHyperplane,
    NuLPSVC,
    NuSVC,
    VotedPerceptron,
)
from largemargin.certificates import leave_one_out_bound, support_vector_bound
from tests.certificates.problems import blobs, says_why, three

BOUNDS = ("support vectors, leave-one-out", "Jaakkola-Haussler", "xi-alpha", "radius-margin")


def true_error(model, X, y):
    """Without the help of any theorem."""
    wrong = 0
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        again = type(model)(**model.get_params()).fit(X[rest], y[rest])
        wrong += int(again.predict(X[i : i + 1])[0] != y[i])
    return wrong / len(y)


@pytest.mark.parametrize("slack", ["linear", "squared", "squared-sum", "hard"])
@pytest.mark.parametrize("threshold", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_every_bound_is_at_least_the_leave_one_out_error(seed, slack, threshold):
    X, y = blobs(seed, n=12, noise=0.4 * seed)
    C = np.inf if slack == "hard" else 10.0 ** (seed - 1)
    model = SVC(
        C=C, gamma=2.0, slack="linear" if slack == "hard" else slack, fit_intercept=threshold,
        tol=1e-6, n_jobs=1,
    ).fit(X, y)  # fmt: skip
    found = model.certificate(X, y)
    error = true_error(model, X, y)
    assert found["leave-one-out error"].value == error
    applied = [name for name in BOUNDS if found[name].applies]
    assert "support vectors, leave-one-out" in applied or not found[BOUNDS[0]].assumptions[4].holds
    assert ("Jaakkola-Haussler" in applied) == (not threshold and slack != "squared-sum")
    assert ("radius-margin" in applied) == (not threshold and slack == "hard")
    for name in applied:
        assert found[name].value >= error
        assert found[name].kind == "always"


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "crammer-singer"])
def test_several_classes(multiclass):
    X, y = three(1, n=15)
    model = SVC(gamma=1.0, C=2.0, multiclass=multiclass, tol=1e-6, n_jobs=1).fit(X, y)
    found = model.certificate(X, y)
    error = true_error(model, X, y)
    assert found["leave-one-out error"].value == error
    assert error <= found["support vectors, leave-one-out"].value == model.n_support_ / 15
    if multiclass == "crammer-singer":
        says_why(found["Jaakkola-Haussler"], "trained together")
    else:
        assert error <= found["xi-alpha"].value <= found["support vectors, leave-one-out"].value
        assert len(found["xi-alpha"].by_problem) == 3


@pytest.mark.parametrize("seed", range(3))
def test_nu_stands_for_a_price(seed):
    X, y = blobs(seed, n=14)
    model = NuSVC(nu=0.4, gamma=1.0, tol=1e-6).fit(X, y)
    found = model.certificate(X, y)
    price = np.abs(model.dual_coef_).max()
    same = SVC(C=price, gamma=1.0, tol=1e-6, n_jobs=1).fit(X, y)
    assert same.decision_function(X) == pytest.approx(model.decision_function(X), abs=1e-4)
    for name in BOUNDS[:3:2]:
        if found[name].applies:
            assert found[name].value >= true_error(same, X, y)
            assert "machine with linear slack" in found[name].sentence
    says_why(found["support vectors, expected error"], "nu is a share")


def test_jaakkola_and_haussler_by_hand():
    X, y = blobs(5, n=20)
    model = SVC(C=3.0, gamma=1.0, fit_intercept=False).fit(X, y)
    signs, K = 2 * y - 1, np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    alpha = np.zeros(20)
    alpha[model.support_] = model.dual_coef_[0] * signs[model.support_]
    np.fill_diagonal(K, 0.0)
    wrong = signs * (K @ (alpha * signs)) <= 0  # (2.3)
    value = model.certificate(X, y)["Jaakkola-Haussler"].value
    assert value == wrong.mean()
    margins = signs * model.decision_function(X)
    assert leave_one_out_bound(margins, alpha, np.ones(20), threshold=False) == value


def test_xi_alpha_needs_thresholds_that_stay_unique():
    """With little slack bought, a machine without one example can have every coefficient at a
    bound; the certificate says that nobody has looked.
    """
    X, y = blobs(0, n=14, noise=1.0)
    linear = SVC(C=1.0, kernel="linear").fit(X, y).certificate(X, y)["xi-alpha"]
    squared = SVC(C=0.1, kernel="linear", slack="squared").fit(X, y).certificate(X, y)["xi-alpha"]
    text = "the threshold stays unique when one is left out"
    assert {a.text: a.holds for a in linear.assumptions}[text] is None
    assert text in linear.sentence
    assert {a.text: a.holds for a in squared.assumptions}[text] is True
    rng = np.random.default_rng(3)
    unstable = 0
    for _ in range(12):
        X = rng.normal(size=(14, 1))
        y = (X[:, 0] + 2 * rng.normal(size=14) > 0).astype(int)
        y[:4] = [0, 0, 1, 1]
        C = 10 ** rng.uniform(-2, 0)
        found = SVC(C=C, kernel="linear", n_jobs=1).fit(X, y).certificate(X, y)["xi-alpha"]
        wrong = 0
        for i in range(14):
            rest = np.arange(14) != i
            again = SVC(C=C, kernel="linear", n_jobs=1).fit(X[rest], y[rest])
            if (np.abs(again.dual_coef_) < C * (1 - 1e-9)).any():
                wrong += again.predict(X[i : i + 1])[0] != y[i]
            else:
                unstable += 1
        if found.applies:
            assert wrong / 14 <= found.value
    assert unstable > 0


def test_xi_alpha_by_hand():
    X, y = blobs(6, n=20)
    model = SVC(C=0.7, kernel="linear").fit(X, y)
    signs, K = 2 * y - 1, X @ X.T
    alpha = np.zeros(20)
    alpha[model.support_] = model.dual_coef_[0] * signs[model.support_]
    margins = signs * model.decision_function(X)
    R_square = np.diag(K).max() - K.min()
    count = 0
    for a, margin in zip(alpha, margins, strict=True):
        count += 2 * a * R_square + max(0, 1 - margin) >= 1
    assert model.certificate(X, y)["xi-alpha"].value == count / 20
    # not knowing the least kernel value only makes the bound larger
    assert leave_one_out_bound(margins, alpha, np.diag(K), threshold=True) >= count / 20


def test_a_threshold_that_is_not_unique():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    y = [0, 0, 1, 1]
    model = SVC(C=0.01, kernel="linear").fit(X, y)  # every coefficient at its bound
    found = model.certificate(X, y)
    says_why(found["support vectors, leave-one-out"], "every coefficient is at a bound")
    says_why(found["xi-alpha"], "every coefficient is at a bound")
    assert (
        SVC(C=0.01, kernel="linear", fit_intercept=False)
        .fit(X, y)
        .certificate(X, y)["support vectors, leave-one-out"]
        .applies
    )


def test_weights_of_classes_are_held_and_so_is_gamma():
    X, y = blobs(7, n=15)
    model = SVC(class_weight="balanced", gamma="scale", tol=1e-6, n_jobs=1).fit(X, y)
    counts = np.bincount(y)
    fixed = {c: 15 / (2 * counts[c]) for c in (0, 1)}
    gamma = 1 / (2 * X.var())
    twin = SVC(class_weight=fixed, gamma=gamma, tol=1e-6, n_jobs=1).fit(X, y)
    found = model.certificate(X, y)
    assert found["leave-one-out error"].value == true_error(twin, X, y)
    assert found["support vectors, leave-one-out"].value >= found["leave-one-out error"].value
    says_why(found["xi-alpha"], "equal weight")


def test_the_adatron_puts_its_threshold_afterwards():
    X, y = blobs(1, n=12)
    halfway = KernelAdatron(C=1.0, gamma=1.0).fit(X, y).certificate(X, y)
    says_why(halfway["support vectors, leave-one-out"], "halfway between the classes")
    origin = KernelAdatron(C=1.0, gamma=1.0, fit_intercept=False, tol=1e-5).fit(X, y)
    found = origin.certificate(X, y)
    assert found["Jaakkola-Haussler"].value >= true_error(origin, X, y)


EVERYONE = [
    VotedPerceptron(kernel="linear", epochs=3, shuffle=False),
    VotedPerceptron(gamma=1.0, method="last", epochs=1, shuffle=False),
    AggressivePerceptron(gamma=1.0), MIRA(gamma=1.0, budget=4), ROMMA(gamma=1.0), ALMA(gamma=1.0),
    SVC(gamma=1.0, tol=1e-6, n_jobs=1), NuSVC(nu=0.2, gamma=1.0, tol=1e-6),
    KernelAdatron(C=1.0, gamma=1.0), LPSVC(gamma=1.0), NuLPSVC(gamma=1.0),
    LeaveOneOutSVC(gamma=1.0), AdaptiveMarginSVC(gamma=1.0), MaxMarginHyperplane(),
]  # fmt: skip


@pytest.mark.parametrize("model", EVERYONE, ids=str)
@pytest.mark.parametrize("data", [blobs, three])
def test_it_is_found_of_every_machine_where_that_is_cheap(model, data):
    X, y = data(2, n=12)
    found = model.fit(X, y).certificate(X, y)["leave-one-out error"]
    assert found.value == true_error(model, X, y)
    assert "fits" in found.sentence


def test_where_it_is_not_cheap_it_is_found_when_asked_for(monkeypatch):
    X, y = blobs(2, n=12)
    model = LPSVC(gamma=1.0).fit(X, y)
    monkeypatch.setattr("largemargin.certificates.leave_one_out.AUTO_SECONDS", 0.0)
    says_why(
        model.certificate(X, y)["leave-one-out error"], "12 fits, which did not end within 0 s"
    )
    found = model.certificate(X, y, leave_one_out=True)["leave-one-out error"]
    assert found.value == true_error(model, X, y)
    monkeypatch.setattr("largemargin.certificates.leave_one_out.AUTO_ROWS", 11)
    says_why(model.certificate(X, y)["leave-one-out error"], "12 fits, which were not asked for")


def test_all_are_left_out_where_no_theorem_says_that_some_need_not():
    X, y = blobs(2, n=30)
    model = SVC(gamma=1.0).fit(X, y)
    n_support = len(model.support_)
    assert n_support < 30
    assert f"({n_support} fits;" in model.certificate(X, y)["leave-one-out error"].sentence
    model.dual_gap_ = np.array([1e-4])  # a small coefficient may have been left out
    assert "(30 fits)" in model.certificate(X, y)["leave-one-out error"].sentence


def test_it_is_not_found_when_not_asked_for():
    X, y = blobs(2, n=10)
    svm = SVC().fit(X, y)
    says_why(svm.certificate(X, y, leave_one_out=False)["leave-one-out error"], "not asked for")


def test_the_only_example_of_a_class_is_an_error():
    X, y = np.array([[0.0], [1.0], [5.0]]), [0, 0, 1]
    found = SVC(C=10.0, kernel="linear").fit(X, y).certificate(X, y, leave_one_out=True)
    assert found["leave-one-out error"].value >= 1 / 3


def test_a_precomputed_kernel():
    X, y = blobs(3, n=12)
    K = X @ X.T
    matrix = SVC(kernel="precomputed", tol=1e-6).fit(K, y).certificate(K, y)
    linear = SVC(kernel="linear", tol=1e-6).fit(X, y).certificate(X, y)
    for name in (*BOUNDS[:3], "leave-one-out error", "smallest geometric margin"):
        assert matrix[name].value == pytest.approx(linear[name].value)


def test_support_vector_bound_counts_an_example_once():
    assert support_vector_bound([[0, 1, 0, 2], [0, 1, 0, 0]]) == 0.5
    assert support_vector_bound([0.0, 0.0, 0.0, 1.0]) == 0.25
