"""Data, prices and weights near the ends of what float64 can hold: a fit ends in a model of finite
numbers or in a sentence, never in another exception or a warning about arithmetic.
"""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import largemargin as lm
from largemargin import LPSVC, ROMMA, SVC, KernelAdatron, NuSVC, VotedPerceptron

rng = np.random.default_rng(0)
X = rng.standard_normal((20, 2))
X /= np.abs(X).max()
y = (X[:, 0] > 0).astype(int)
ALTERNATING = np.arange(20) % 2

MACHINES = {
    "hard": SVC(C=np.inf, kernel="linear"),
    "nu": NuSVC(kernel="linear"),
    "linear": SVC(kernel="linear"),
    "squared": SVC(kernel="linear", slack="squared"),
    "squared-sum": SVC(kernel="linear", slack="squared-sum"),
    "crammer-singer": SVC(kernel="linear", multiclass="crammer-singer"),
    "adatron": KernelAdatron(C=np.inf, kernel="linear", max_iter=20),
    "romma": ROMMA(kernel="linear"),
    "voted": VotedPerceptron(),
}


def is_told(model, rows, labels, tmp_path, **weights):
    """Fits, and checks what comes of it; whether there is a model."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", ".*: standardise the columns")
        try:
            model.fit(rows, labels, **weights)
        except ValueError:
            return False
        assert np.isfinite(model.decision_function(rows)).all()
        assert not np.isnan(getattr(model, "dual_gap_", 0.0)).any()
        str(model.certificate(rows, labels, leave_one_out=False))
        lm.save(model, tmp_path / "model")
        lm.load(tmp_path / "model")
    return True


@pytest.mark.parametrize("name", MACHINES)
def test_scales(name, tmp_path):
    for scale in (1e-300, 1e-155, 1e-100, 1e100, 1e150):
        is_told(MACHINES[name], scale * X, y, tmp_path)


@pytest.mark.parametrize("name", ["hard", "nu"])
@pytest.mark.parametrize("scale", [1e-60, 1e100])
def test_a_margin_is_found_at_any_scale(name, scale, tmp_path):
    if name == "hard":
        model = SVC(C=np.inf, kernel="linear", min_margin=1e-6 * scale)
    else:
        model = NuSVC(kernel="linear", min_margin=1e-6 * scale)
    assert is_told(model, scale * X, y, tmp_path)
    assert model.dual_gap_[0] < 1e-9
    assert model.score(scale * X, y) > 0.8


@pytest.mark.parametrize("slack", ["linear", "squared", "squared-sum"])
def test_prices_and_weights(slack, tmp_path):
    for C in (5e-324, 1e-160, 1e300, 1.7e308):
        is_told(SVC(C=C, slack=slack, kernel="linear"), X, y, tmp_path)
    for weight in (5e-324, 1e300):
        for weights in (np.where(ALTERNATING, weight, 1.0), np.full(20, weight)):
            is_told(SVC(slack=slack), X, y, tmp_path, sample_weight=weights)


def test_an_adatron_says_that_values_are_too_small():
    with pytest.raises(ValueError, match="too little for float64 to compute with: scale the data"):
        KernelAdatron(C=np.inf, kernel="linear").fit(1e-155 * X, y)


def test_a_linear_program_with_a_price_beyond_numbers():
    with pytest.raises(ValueError, match="give a smaller C"):
        LPSVC(C=1.7e308).fit(X, y)
