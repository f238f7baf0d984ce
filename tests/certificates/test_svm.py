"""How optimal a machine is, from the coefficients and the data alone."""

import warnings

import numpy as np
import pytest

from largemargin import SVC, KernelAdatron, NuSVC
from largemargin.certificates.families import examine
from largemargin.certificates.fitted import class_factors_of
from largemargin.certificates.optimality import dual_of
from tests.certificates.problems import blobs, says_why, separable, three


def gaps_found_again(fitted, dual):
    """The relative duality gap of each problem, from the coefficients and the data alone."""
    s = class_factors_of(fitted)
    gaps = []
    for p, (y, alpha, norm) in enumerate(zip(fitted.signs, dual.alphas, fitted.norms, strict=True)):
        part = y != 0
        b = fitted.thresholds[p] if dual.threshold else 0.0
        own = fitted.scores[p] - fitted.thresholds[p] + b
        outputs, total = (y * own)[part], float(alpha.sum())
        if dual.slack == "none":
            least = float(outputs.min())
            primal = norm**2 / (2 * least**2) if least > 0 else np.inf
            value = total**2 / (2 * norm**2) if norm > 0 else np.inf
        else:
            xi, weights = np.maximum(0.0, 1 - outputs), s[part]
            price = float((alpha / s).max()) if dual.of_nu else float(fitted.model.C)
            loss = {
                "linear": float(weights @ xi),
                "squared": float(weights @ xi**2),
                "squared-sum": float(weights @ xi) ** 2,
            }[dual.slack]
            primal = norm**2 / 2 + price * loss
            value = total - norm**2 / 2 - float(dual.ridge @ alpha**2) / 2
            if dual.slack == "squared-sum":
                value -= float((alpha / s).max()) ** 2 / (4 * price)
        scale = max(abs(primal), abs(value), np.finfo(float).tiny)
        gaps.append((primal - value) / scale if np.isfinite(primal) else np.inf)
    return np.array(gaps)


@pytest.mark.parametrize(
    "model",
    [
        SVC(C=0.5), SVC(C=5.0, fit_intercept=False), SVC(slack="squared"),
        SVC(slack="squared-sum", C=2.0), SVC(C=np.inf, gamma=2.0), NuSVC(nu=0.3),
        KernelAdatron(C=1.0), KernelAdatron(C=1.0, fit_intercept=False),
        SVC(class_weight={0: 1.0, 1: 3.0}), SVC(class_weight="balanced", slack="squared"),
    ],
    ids=str,
)  # fmt: skip
def test_the_gap_is_found_again(model):
    X, y = blobs(0, n=40)
    model.fit(X, y)
    fitted = examine(model, X, y)
    assert not fitted.foreign
    again = gaps_found_again(fitted, dual_of(fitted))
    assert abs(again).max() <= 1e-5 + 2 * abs(model.dual_gap_).max()
    assert model.certificate(X, y)["duality gap"].value >= model.dual_gap_.max()


def test_a_machine_that_stopped_early_proves_nothing_of_what_is_left_out():
    X, y = blobs(0, n=60, noise=2.0)
    model = SVC(C=100.0, kernel="linear").fit(X, y)
    model.converged_ = False
    found = model.certificate(X, y, leave_one_out=False)
    assert found["duality gap"].applies
    for name in ("support vectors, leave-one-out", "support vectors, expected error", "xi-alpha"):
        says_why(found[name], "stopped before it reached an optimum")


def test_the_dual_value_of_the_optimal_hyperplane():
    X, y = separable(0)
    model = SVC(C=np.inf, kernel="linear").fit(X, y)
    found = model.certificate(X, y)
    gap = 2 / np.linalg.norm(model.coef_)
    assert found["optimal hyperplane"].value == pytest.approx(2 / gap**2, rel=1e-6)
    assert found["smallest geometric margin"].value == pytest.approx(gap / 2, rel=1e-6)


def test_the_radius_and_the_margin():
    X, y = separable(0)
    found = SVC(C=np.inf, kernel="linear", fit_intercept=False).fit(X, y).certificate(X, y)
    R = np.linalg.norm(X, axis=1).max()
    gamma = found["smallest geometric margin"].value
    assert found["radius-margin"].value == pytest.approx((R / gamma) ** 2 / len(y), rel=1e-6)
    assert found["radius-margin"].value >= found["Jaakkola-Haussler"].value
    threshold = SVC(C=np.inf, kernel="linear").fit(X, y).certificate(X, y)
    says_why(threshold["radius-margin"], "through the origin")
    soft = SVC(kernel="linear").fit(X, y).certificate(X, y)
    for name in ("radius-margin", "optimal hyperplane"):
        says_why(soft[name], "the margin is soft")


def test_data_that_a_hard_margin_cannot_separate():
    X, y = np.array([[0.0], [1.0], [2.0]]), [0, 1, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SVC(C=np.inf, kernel="linear").fit(X, y)
    found = model.certificate(X, y)
    says_why(found["duality gap"], "not separated")
    says_why(found["smallest geometric margin"], "w = 0")
    for name in ("optimal hyperplane", "support vectors, leave-one-out", "xi-alpha"):
        assert not found[name].applies


def test_support_vectors_and_the_expected_error():
    X, y = three(0)
    model = SVC(gamma=1.0).fit(X, y)
    found = model.certificate(X, y)["support vectors, expected error"]
    assert found.value == model.n_support_ / len(y)
    assert found.kind == "expectation"
    shares = (model.dual_coef_ != 0).sum(axis=1) / len(y)
    assert found.by_problem == pytest.approx(shares)


def test_the_expected_error_is_at_most_the_expected_share():
    rng = np.random.default_rng(0)
    errors, shares = [], []
    for _ in range(20):
        X = rng.normal(size=(121, 2))
        y = (X[:, 0] + 0.5 * rng.normal(size=121) > 0).astype(int)
        model = SVC(C=1.0, gamma=0.5, n_jobs=1).fit(X[:21], y[:21])
        shares.append(model.certificate(X[:21], y[:21], leave_one_out=False)[
            "support vectors, expected error"].value)  # fmt: skip
        errors.append(1 - model.score(X[21:], y[21:]))
    assert 0 < np.mean(errors) <= np.mean(shares)


def test_a_sum_of_slacks_squared_has_no_bound_by_coefficients():
    X, y = blobs(0)
    for threshold, name in ((False, "Jaakkola-Haussler"), (True, "xi-alpha")):
        model = SVC(slack="squared-sum", fit_intercept=threshold).fit(X, y)
        says_why(model.certificate(X, y, leave_one_out=False)[name], "square of the sum")


def test_a_kernel_that_is_not_positive_definite():
    X, y = blobs(0)
    model = SVC(kernel="sigmoid", gamma=1.0).fit(X, y)
    found = model.certificate(X, y)
    for name in (
        "support vectors, leave-one-out", "xi-alpha", "margin bound", "smallest geometric margin",
    ):  # fmt: skip
        says_why(found[name], "not positive definite")
    assert found["error"].applies
    assert found["smallest margin"].applies


def test_weights_that_nobody_tells_are_noticed():
    X, y = blobs(4, n=30, noise=1.0)
    weights = np.where(np.arange(30) % 3 == 0, 5.0, 1.0)
    for slack in ("linear", "squared", "squared-sum"):
        model = SVC(slack=slack).fit(X, y, sample_weight=weights)
        found = model.certificate(X, y)
        says_why(found["support vectors, leave-one-out"], "not with equal weights")
        assert found["error"].applies
