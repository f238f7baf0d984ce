"""A loaded machine of a linear program is the saved one, and a file that holds none is refused."""

import numpy as np
import pytest
from sklearn.base import clone

from largemargin import LPSVC, AdaptiveMarginSVC, LeaveOneOutSVC, ModelFileError, NuLPSVC, load

from .models import changed, data, forge, parts_of, put

MACHINES = [LPSVC(C=2.0), NuLPSVC(nu=0.2), LeaveOneOutSVC(), AdaptiveMarginSVC(lam=3.0)]
pytestmark = pytest.mark.filterwarnings("ignore:nu=0.2:UserWarning")


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_round_trip(machine, n_classes, again):
    X, y = data(n_classes=n_classes)
    model = clone(machine).fit(X, y)
    loaded = again(model)
    assert vars(model).keys() == vars(loaded).keys()
    assert model.get_params() == loaded.get_params()
    for name in ("support_", "dual_coef_", "intercept_", "objective_", "dual_gap_", "n_iter_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(loaded, name), strict=True)
    assert loaded.converged_ is model.converged_
    np.testing.assert_array_equal(model.decision_function(X), loaded.decision_function(X))
    np.testing.assert_array_equal(
        clone(loaded).fit(X, y).decision_function(X), loaded.decision_function(X)
    )


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("objective", lambda array: array[:1], "dual_gap"),
        ("objective", put(0, np.nan), "objective is not a number"),
        ("margin", put(0, -1.0), "a margin is negative"),
        ("dual_gap", put(0, 2.0), "largest gap"),
        ("intercepts", put(0, np.inf), "intercepts"),
        ("n_iter", put(0, 0), "n_iter"),
    ],
)
def test_arrays_that_cannot_be(name, change, words, again, tmp_path):
    again(NuLPSVC(nu=0.2).fit(*data(60)))
    header, arrays = parts_of(tmp_path / "m.safetensors")
    key = next(key for key in arrays if key.endswith(name))
    forge(tmp_path / "bad", header, {**arrays, key: change(arrays[key])})
    with pytest.raises(ModelFileError, match="not a valid model") as error:
        load(tmp_path / "bad")
    assert words in str(error.value)


def test_facts_that_cannot_be(again, tmp_path):
    again(LPSVC().fit(*data(60)))
    header, arrays = parts_of(tmp_path / "m.safetensors")
    way = ("model", "facts")
    for key, value in (("n_problems", 2), ("converged", 1), ("n_given", -1), ("n_given", KeyError)):
        forge(tmp_path / "bad", changed(header, (*way, key), value), arrays)
        with pytest.raises(ModelFileError, match="not a valid model"):
            load(tmp_path / "bad")
