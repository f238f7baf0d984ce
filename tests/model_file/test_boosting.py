"""Boosted stumps and networks through a file: bit for bit, and nothing else gets in."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from largemargin import AdaBoost, ModelFileError, RBFNetwork, describe, load, save

from .models import changed, data, fitted, forge, parts_of, put

MODELS = [
    AdaBoost(n_rounds=20),
    AdaBoost(n_rounds=20, regularization=100.0),
    AdaBoost(RBFNetwork(4, max_iter=3), n_rounds=4, random_state=0),
    RBFNetwork(5, regularization=1e-3, random_state=1),
    RBFNetwork(300, random_state=0),
]


def fitted_attributes(model):
    return {name: value for name, value in vars(model).items() if name.endswith("_")}


def assert_same(a, b, X):
    assert type(a) is type(b)
    assert repr(a) == repr(b)
    mine, other = fitted_attributes(a), fitted_attributes(b)
    assert mine.keys() == other.keys()
    for name, value in mine.items():
        if name != "estimators_":
            np.testing.assert_array_equal(value, other[name], strict=isinstance(value, np.ndarray))
        elif isinstance(a.estimator, RBFNetwork):
            for one, two in zip(value, other[name], strict=True):
                assert_same(one, two, X)
        else:
            assert value == other[name]
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X), strict=True)
    np.testing.assert_array_equal(a.predict(X), b.predict(X), strict=True)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_round_trip(model, n_classes, again):
    X, y = data(n_classes=n_classes)
    model = clone(model).fit(X, y)
    assert_same(model, again(model), X)


@pytest.mark.parametrize("labels", [["a", "bb", "ccc"], [True, False], [-1.0, 2.5]], ids=str)
def test_labels(labels, again):
    X, y = data(60, len(labels))
    for model in MODELS[:3]:
        model = clone(model).fit(X, np.array(labels)[y].astype(type(labels[0])).astype("U4"))
        assert_same(model, again(model), X)


def test_how_it_ended(again):
    X, y = data(60, 2)
    zero = AdaBoost().fit(np.column_stack([X, y]), y)
    assert zero.ended_ == "zero error"
    assert_same(zero, again(zero), np.column_stack([X, y]))
    corners = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    with pytest.warns(UserWarning, match="chance"):
        chance = AdaBoost().fit(corners, [0, 1, 1, 0])
    assert_same(chance, again(chance), corners)
    constant = AdaBoost().fit(np.ones((3, 1)), [0, 1, 1])
    assert constant.estimators_[0].threshold == np.inf
    assert_same(constant, again(constant), np.ones((3, 1)))


def test_a_pipeline_and_the_next_fit(again):
    X, y = data()
    model = make_pipeline(StandardScaler(), AdaBoost(RBFNetwork(3), n_rounds=3, random_state=4))
    loaded = again(model.fit(X, y))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(
        clone(loaded).fit(X, y).decision_function(X), model.decision_function(X)
    )


@pytest.mark.parametrize(
    "base", [DecisionTreeClassifier(max_depth=1), LogisticRegression(), AdaBoost(n_rounds=2)]
)
def test_foreign_base_learners(base, tmp_path):
    model = fitted(AdaBoost(base, n_rounds=2))
    name = type(base).__name__
    with pytest.raises(ModelFileError, match=f"{name}.*use estimator=None.*RBFNetwork"):
        save(model, tmp_path / "m")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ModelFileError, match=f"estimator of AdaBoost is a {name}.*use None"):
        save(fitted(AdaBoost(n_rounds=2)).set_params(estimator=base), tmp_path / "m")


def test_another_estimator_since(again):
    model = fitted(AdaBoost(RBFNetwork(3), n_rounds=2)).set_params(estimator=None)
    with pytest.raises(ModelFileError, match="fit it again"):
        again(model)


def test_describe(tmp_path):
    model = fitted(AdaBoost(RBFNetwork(3), n_rounds=2, random_state=0))
    save(model, tmp_path / "m")
    (found,) = describe(tmp_path / "m")["steps"]
    assert found["facts"] == {"n_kept": 2, "ended": "n_rounds", "base": "network"}
    assert found["parameters"]["estimator"]["class"] == "RBFNetwork"
    assert found["parameters"]["estimator"]["n_centers"] == 3


HEADERS = [
    (["facts", "n_kept"], 0, "no rounds|which"),
    (["facts", "n_kept"], 4, "errors|alphas|shape"),
    (["facts", "n_kept"], 3.0, "n_kept is not a count"),
    (["facts", "ended"], 5, "ended is not text"),
    (["facts", "ended"], "zero error", "not that of how it ended"),
    (["facts", "base"], "tree", "needs the facts"),
    (["facts", "base"], KeyError, "needs the facts"),
    (["parameters", "estimator", "$estimator", "class"], "SVC", "SVC"),
    (["parameters", "estimator", "$estimator", "class"], "os", "os"),
    (["parameters", "estimator", "$estimator", "parameters", "n_centers"], KeyError, "described"),
    (["parameters", "estimator", "$estimator", "more"], 1, "described"),
    (["parameters", "estimator"], None, "not those of the base learner"),
]


@pytest.mark.parametrize(("way", "value", "words"), HEADERS)
def test_altered_headers(way, value, words, tmp_path):
    path = tmp_path / "m"
    save(fitted(AdaBoost(RBFNetwork(3), n_rounds=3, random_state=0)), path)
    header, arrays = parts_of(path)
    forge(path, changed(header, ["model", *way], value), arrays)
    with pytest.raises(ModelFileError, match=words):
        load(path)


ARRAYS = {
    "stumps": [
        ("alphas", put(0, np.nan), "finite"),
        ("alphas", put(0, -1.0), "positive"),
        ("alphas", put(2, np.inf), "how it ended"),
        ("alphas", lambda a: a[:2], "shape"),
        ("alphas", lambda a: np.append(np.full(2, 1.7e308), 1.0), "sum of alphas"),
        ("errors", put(1, 1.5), "from 0 to 1"),
        ("errors", put(1, np.nan), "from 0 to 1"),
        ("stumps.features", put(0, 6), "range"),
        ("stumps.features", put(0, -1), "range"),
        ("stumps.features", lambda a: a.astype(np.int32), "int32"),
        ("stumps.thresholds", put(0, np.nan), "numbers"),
        ("stumps.sides", put((0, 1), 3), "range"),
        ("stumps.sides", lambda a: a[:, :1], "shape"),
        ("more", lambda a: np.zeros(2), "which no model has"),
    ],
    "networks": [
        ("seeds", put(0, -1), "range"),
        ("networks.sizes", put(0, 2), "not made of centres"),
        ("networks.sizes", put(0, 0), "range"),
        ("networks.steps", put(0, 0), "range"),
        ("networks.objectives", put(0, np.inf), "finite"),
        ("networks.centers", put((0, 0), np.nan), "finite"),
        ("networks.centers", lambda a: a[:, :2], "shape"),
        ("networks.widths", put(0, 0.0), "widths"),
        ("networks.widths", put(0, np.inf), "finite"),
        ("networks.coefs", put((0, 0), np.nan), "finite"),
        ("networks.coefs", lambda a: a[:, :1], "shape"),
    ],
}


@pytest.mark.parametrize(
    ("kind", "name", "change", "words"),
    [(kind, *case) for kind, cases in ARRAYS.items() for case in cases],
)
def test_altered_arrays(kind, name, change, words, tmp_path):
    path = tmp_path / "m"
    base = RBFNetwork(3) if kind == "networks" else None
    save(fitted(AdaBoost(base, n_rounds=3, random_state=0)), path)
    header, arrays = parts_of(path)
    forge(path, header, {**arrays, f"0/{name}": change(arrays.get(f"0/{name}"))})
    with pytest.raises(ModelFileError, match=words):
        load(path)


def test_altered_network(tmp_path):
    path = tmp_path / "m"
    save(fitted(RBFNetwork(3, random_state=0)), path)
    header, arrays = parts_of(path)
    forge(path, changed(header, ["model", "facts", "n_basis"], 4), arrays)
    with pytest.raises(ModelFileError, match="number of centres"):
        load(path)
