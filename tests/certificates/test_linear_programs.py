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


def test_nu_is_a_share():
    X, y = blobs(0)
    says_why(NuLPSVC(nu=0.3, gamma=1.0).fit(X, y).certificate(X, y)[NEEDED], "nu is a share")


@pytest.mark.parametrize("model", [LPSVC(gamma=1.0), AdaptiveMarginSVC(gamma=1.0)], ids=str)
def test_weights_that_nobody_tells_are_noticed(model):
    X, y = blobs(1, n=30, noise=1.0)
    weights = np.where(np.arange(30) % 3 == 0, 5.0, 1.0)
    found = model.fit(X, y, sample_weight=weights).certificate(X, y)
    says_why(found[NEEDED], "equal weights")
    balanced = type(model)(gamma=1.0, class_weight="balanced").fit(X, y)
    assert balanced.certificate(X, y)[NEEDED].applies
