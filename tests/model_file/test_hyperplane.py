"""A loaded hyperplane is the saved one, and a file that holds none is refused."""

import numpy as np
import pytest
from sklearn.base import clone

from largemargin import MaxMarginHyperplane, ModelFileError, describe, load

from .models import changed, data, forge, parts_of, put


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("norm", [1, 1.5, 2, np.inf])
def test_round_trip(norm, n_classes, again, tmp_path):
    X, y = data(n_classes=n_classes)
    model = MaxMarginHyperplane(norm=norm, C=0.1).fit(X, y)
    loaded = again(model)
    assert vars(model).keys() == vars(loaded).keys()
    assert model.get_params() == loaded.get_params()
    for name in ("coef_", "intercept_", "objective_", "dual_gap_", "margin_", "n_iter_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(loaded, name), strict=True)
    assert loaded.converged_ is model.converged_
    np.testing.assert_array_equal(model.decision_function(X), loaded.decision_function(X))
    np.testing.assert_array_equal(clone(loaded).fit(X, y).coef_, model.coef_)
    (step,) = describe(tmp_path / "m.safetensors")["steps"]
    assert step["facts"]["n_problems"] == len(model.coef_)
    assert step["facts"]["largest_gap"] == model.dual_gap_.max()


def test_few_features_in_use_take_little_room(again, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 500))
    model = MaxMarginHyperplane(norm=1).fit(X, np.where(X[:, 3] > 0, "a", "b"))
    assert np.count_nonzero(model.coef_) < 30
    np.testing.assert_array_equal(again(model).coef_, model.coef_)
    arrays = parts_of(tmp_path / "m.safetensors")[1]
    assert sum(a.nbytes for name, a in arrays.items() if "coefs" in name) < model.coef_.nbytes / 4


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_where_there_is_no_hyperplane(again):
    X = np.array([[0.0], [1.0], [0.0], [1.0]])
    model = MaxMarginHyperplane(norm=1, C=np.inf).fit(X, [0, 1, 1, 0])
    loaded = again(model)
    assert loaded.margin_[0] == -np.inf
    assert not loaded.converged_
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("objective", lambda array: array[:1], "dual_gap"),
        ("objective", put(0, np.nan), "objective is not a number"),
        ("dual_gap", put(0, 2.0), "of all of them"),
        ("intercepts", put(0, np.inf), "intercepts"),
        ("intercepts", lambda array: array[:1], "intercepts"),
        ("coefs", lambda array: array[:, :2], "coefs"),
        ("coefs", put((0, 0), np.nan), "coefs"),
        ("n_iter", put(0, 0), "n_iter"),
    ],
)
def test_arrays_that_cannot_be(name, change, words, again, tmp_path):
    again(MaxMarginHyperplane().fit(*data(60)))
    header, arrays = parts_of(tmp_path / "m.safetensors")
    key = next(key for key in arrays if key.endswith(name))
    forge(tmp_path / "bad", header, {**arrays, key: change(arrays[key])})
    with pytest.raises(ModelFileError, match="not a valid model") as error:
        load(tmp_path / "bad")
    assert words in str(error.value)


def test_facts_and_arrays_that_do_not_belong(again, tmp_path):
    again(MaxMarginHyperplane().fit(*data(60)))
    header, arrays = parts_of(tmp_path / "m.safetensors")
    way = ("model", "facts")
    for key, value in (("n_problems", 2), ("converged", 1), ("separable", KeyError)):
        forge(tmp_path / "bad", changed(header, (*way, key), value), arrays)
        with pytest.raises(ModelFileError, match="not a valid model"):
            load(tmp_path / "bad")
    forge(tmp_path / "bad", header, {**arrays, "0/more": np.zeros(1)})
    with pytest.raises(ModelFileError, match="which no model has"):
        load(tmp_path / "bad")
