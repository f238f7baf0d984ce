"""Examples that machines of linear programs can do without."""

import numpy as np
import pytest

from largemargin import LPSVC, AdaptiveMarginSVC, LeaveOneOutSVC, NuLPSVC
from tests.certificates.problems import blobs, says_why, three
from tests.certificates.test_leave_one_out import true_error

NEEDED = "needed examples, leave-one-out"


@pytest.mark.parametrize(
    "model",
    [LPSVC(gamma=1.0, C=2.0), LeaveOneOutSVC(gamma=1.0), AdaptiveMarginSVC(lam=3.0, gamma=1.0)],
    ids=str,
)
@pytest.mark.parametrize("seed", range(3))
def test_only_needed_examples_are_wrong_when_left_out(model, seed):
    X, y = blobs(seed, n=16)
    found = model.fit(X, y).certificate(X, y, leave_one_out=True)
    error = true_error(model, X, y)
    assert found["leave-one-out error"].value == error <= found[NEEDED].value
    margins = (2 * y - 1) * model.decision_function(X)
    needed = np.isin(np.arange(16), model.support_) | (margins <= 1 + 1e-6)
    assert found[NEEDED].value == needed.mean()
    for name in ("Jaakkola-Haussler", "xi-alpha"):
        says_why(found[name], "linear program")
    assert found["duality gap"].value == max(model.dual_gap_.max(), 0.0)


def test_several_classes():
    X, y = three(0, n=18)
    model = LPSVC(gamma=1.0, C=2.0).fit(X, y)
    assert model.certificate(X, y)[NEEDED].value >= true_error(model, X, y)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("nu", [0.0, 0.15, 0.4])
def test_nu_is_a_share_whose_price_stays(seed, nu):
    X, y = blobs(seed, n=18, noise=0.2 * seed)
    model = NuLPSVC(nu=nu, gamma=1.0).fit(X, y)
    found = model.certificate(X, y, leave_one_out=False)[NEEDED]
    margins = (2 * y - 1) * model.decision_function(X)
    needed = np.isin(np.arange(18), model.support_) | (margins <= model.margin_[0] + 1e-6)
    assert found.value == needed.mean()
    assert "nu m/(m - 1) in place of nu" in found.sentence
    for i in np.flatnonzero(~needed):
        rest = np.arange(18) != i
        again = NuLPSVC(nu=nu * 18 / 17, gamma=1.0).fit(X[rest], y[rest])
        assert again.objective_ * 17 == pytest.approx(model.objective_ * 18, abs=1e-6)
        assert again.predict(X[i : i + 1])[0] == y[i]


def test_nu_of_several_classes_where_it_is_lowered():
    X, y = three(0, n=18)
    with pytest.warns(UserWarning, match="lowered"):
        model = NuLPSVC(nu=0.9, gamma=1.0).fit(X, y)
    needed = model.certificate(X, y, leave_one_out=False)[NEEDED].value
    wrong = 0
    for i in range(18):
        rest = np.arange(18) != i
        with pytest.warns(UserWarning, match="lowered"):
            again = NuLPSVC(nu=0.9 * 18 / 17, gamma=1.0).fit(X[rest], y[rest])
        wrong += again.predict(X[i : i + 1])[0] != y[i]
    assert wrong / 18 <= needed


def test_nu_with_weights_of_classes():
    X, y = blobs(0, n=20)
    model = NuLPSVC(nu=0.2, gamma=1.0, class_weight={0: 1.0, 1: 2.0}).fit(X, y)
    says_why(model.certificate(X, y, leave_one_out=False)[NEEDED], "with class weights")


def test_a_program_that_was_not_solved():
    X, y = blobs(0)
    model = LPSVC(gamma=1.0).fit(X, y)
    model.converged_ = False
    found = model.certificate(X, y, leave_one_out=False)
    says_why(found[NEEDED], "stopped before it reached an optimum")


@pytest.mark.parametrize(
    "model",
    [LPSVC(gamma=1.0), AdaptiveMarginSVC(gamma=1.0), NuLPSVC(nu=0.2, gamma=1.0)],
    ids=str,
)
def test_weights_that_nobody_tells_are_noticed(model):
    X, y = blobs(1, n=30, noise=1.0)
    weights = np.where(np.arange(30) % 3 == 0, 5.0, 1.0)
    found = model.fit(X, y, sample_weight=weights).certificate(X, y)
    says_why(found[NEEDED], "equal weights")
    balanced = type(model)(gamma=1.0, class_weight="balanced").fit(X, y)
    balanced = balanced.certificate(X, y, leave_one_out=False)
    assert balanced[NEEDED].applies or "with class weights" in balanced[NEEDED].sentence
