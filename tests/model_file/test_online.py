"""Online learners in files: they go on as if nothing had happened; forged files are refused."""

import numpy as np
import pytest
import scipy.sparse as sp

from largemargin import (
    ALMA,
    MIRA,
    ROMMA,
    AggressivePerceptron,
    ModelFileError,
    describe,
    load,
    save,
)
from largemargin.online.arrays import DISTILL, MARGIN

from .models import changed, data, forge, parts_of, put
from .older_files import FOLDER

POLICIES = [
    ("keep", None), ("distill", None), ("margin", 15), ("random", 15), ("forgetron", 15),
    ("projectron", 15),
]  # fmt: skip
SHOWN = ("classes_", "support_", "dual_coef_", "cache_sizes_", "n_insertions_", "n_removals_")
SHOWN += ("online_errors_", "margin_errors_", "intercept_")


def assert_equal(one, other):
    for name in SHOWN:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@pytest.mark.crossing
@pytest.mark.bits
@pytest.mark.parametrize("cls", [AggressivePerceptron, MIRA, ROMMA, ALMA])
@pytest.mark.parametrize(("policy", "budget"), POLICIES)
def test_a_loaded_learner_goes_on_bit_for_bit(cls, policy, budget, again):
    X, y = data(400, 4)
    for form in (np.asarray, lambda X: sp.csr_array(np.where(X > 0, X, 0)), np.float32):
        rows = form(X)
        model = cls(policy=policy, budget=budget, average=True, random_state=1, gamma=0.3)
        for start in range(0, 400, 100):
            model.partial_fit(rows[start : start + 100], y[start : start + 100])
            copy = again(model)
            assert copy.get_params() == model.get_params()
            assert_equal(copy, model)
            assert np.array_equal(copy.decision_function(rows), model.decision_function(rows))
            model.partial_fit(rows[:50], y[:50])
            assert_equal(copy.partial_fit(rows[:50], y[:50]), model)


def test_a_stream_of_one_class_and_one_with_classes_given(again):
    X, y = data(100, 3)
    model = MIRA().partial_fit(X[:50], np.zeros(50, int))
    copy = again(model)
    assert_equal(copy.partial_fit(X, y), model.partial_fit(X, y))
    model = again(MIRA().partial_fit(X, y, classes=[0, 1, 2]))
    with pytest.raises(ValueError, match="not in classes"):
        model.partial_fit(X[:1], [7])


def test_slots_that_are_free(again):
    X, y = np.ones((300, 1)), np.ones(300, int)
    model = AggressivePerceptron(kernel="linear", margin=1e9).partial_fit(X, y, classes=[0, 1])
    model.learner_state.learner.settings[0] = model.margin = 0.5
    model.partial_fit(X[:1], [0])
    assert model.n_support_ < 4 < model.learner_state.tally[6]
    copy = again(model)
    X, y = data(200, 2)
    assert_equal(copy.partial_fit(X[:, :1], y), model.partial_fit(X[:, :1], y))


def test_what_cannot_be_saved(tmp_path):
    X, y = data(60)
    with pytest.raises(ModelFileError, match="precomputed"):
        save(MIRA(kernel=lambda A, B: A @ B.T).fit(X, y), tmp_path / "m")
    with pytest.raises(ModelFileError, match="not fitted"):
        save(MIRA(), tmp_path / "m")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    X, y = data(200, 3)
    paper = MIRA(budget=15, gamma=0.3, policy="margin", average=False)
    save(paper.fit(X, y), folder / "margin")
    save(ROMMA(budget=15, gamma=0.3, policy="projectron").fit(X, y), folder / "projectron")
    return folder


def assert_refused(header, arrays, path):
    forge(path, header, arrays)
    with pytest.raises(ModelFileError, match="not a valid model") as error:
        load(path)
    assert "\n" not in str(error.value)


def test_forged_files_are_otherwise_fine(saved, tmp_path):
    for kind in ("margin", "projectron"):
        forge(tmp_path / "m", *parts_of(saved / kind))
        assert load(tmp_path / "m").n_support_ == 15
        assert describe(tmp_path / "m")["steps"][0]["facts"]["n_support"] == 15


FACTS = ("model", "facts")
HEADERS = [
    (("model", "class"), "ROMMA"), (("model", "class"), "OnlineLearner"),
    (("model", "parameters", "budget"), 5),
    (("model", "parameters", "policy"), "projectron"), (("model", "parameters", "policy"), "all"),
    (("model", "parameters", "margin"), -1.0), (("model", "n_features"), 7),
    (("model", "labels", "values"), [0, 1]), (("model", "labels", "values"), []),
    ((*FACTS, "kernel"), None), ((*FACTS, "precision"), "float32"), ((*FACTS, "n_support"), 14),
    ((*FACTS, "n_seen"), 3), ((*FACTS, "n_seen"), -1), ((*FACTS, "n_insertions"), 14),
    ((*FACTS, "n_removals"), 0), ((*FACTS, "n_slots"), 14), ((*FACTS, "n_slots"), 10**9),
    ((*FACTS, "online_errors"), 10**9), ((*FACTS, "margin_errors"), 3), ((*FACTS, "log_every"), 0),
    ((*FACTS, "log_every"), 2), ((*FACTS, "classes_given"), 1), ((*FACTS, "averages"), None),
    ((*FACTS, "random"), 5), ((*FACTS, "random"), "x" * 16), ((*FACTS, "random"), KeyError),
    ((*FACTS, "newest"), 15), ((*FACTS, "newest"), -2), ((*FACTS, "newest"), True),
    ((*FACTS, "newest"), "0"), ((*FACTS, "more"), 1), ((*FACTS, "n_unvisited"), -1),
]  # fmt: skip


@pytest.mark.parametrize(("way", "value"), HEADERS)
def test_forged_headers(way, value, saved, tmp_path):
    header, arrays = parts_of(saved / "margin")
    assert_refused(changed(header, way, value), arrays, tmp_path / "m")


def test_the_newest_is_the_newest(saved, tmp_path):
    header, arrays = parts_of(saved / "margin")
    newest = int(arrays["0/visits"].argmax())
    assert header["model"]["facts"]["newest"] == newest
    assert_refused(changed(header, (*FACTS, "newest"), (newest + 1) % 15), arrays, tmp_path / "m")


def test_a_file_from_before_the_newest_could_wait(saved, tmp_path):
    """It had its part of the scores added at once."""
    header, arrays = parts_of(saved / "margin")
    model = load(saved / "margin")
    weights, newest = model.learner_state.weights, header["model"]["facts"]["newest"]
    gram = np.zeros((15, 15))
    gram[np.tril_indices(15)] = arrays["0/gram"]
    part = weights.coefs[:, [newest]] * (gram + np.tril(gram, -1).T)[newest]
    part[:, newest] = 0
    arrays["0/others"] = weights.loo_scores + part
    forge(tmp_path / "m", changed(header, (*FACTS, "newest"), KeyError), arrays)
    X, y = data(300, 3)
    older = load(tmp_path / "m").partial_fit(X, y)
    model.partial_fit(X, y)
    np.testing.assert_array_equal(older.support_, model.support_)
    np.testing.assert_allclose(older.dual_coef_, model.dual_coef_, rtol=1e-9)


ARRAYS = [
    ("slots", put(3, 2)), ("slots", put(14, 15)), ("slots", put(0, -1)), ("labels", put(0, 3)),
    ("labels", put(0, -1)), ("squares", put(0, np.nan)), ("coefs", put((0, 0), np.inf)),
    ("coefs", lambda a: a[:2]), ("others", lambda a: a[:, :3]), ("debts", put((0, 0), np.nan)),
    ("scale", put(0, 0.0)), ("scale", put(0, -1.0)), ("passed", put(0, np.inf)),
    ("norms", put(0, -1.0)), ("updates", put(0, 0)), ("updates", lambda a: a.astype(float)),
    ("gram", lambda a: a[:-1]), ("gram", put(0, np.nan)), ("gram", lambda a: a.astype("f4")),
    ("log", lambda a: a[:-1]), ("log", put(0, 99)), ("tuning", lambda a: a[:1]),
    ("basis.examples", put(0, 10**6)), ("basis.examples", lambda a: np.zeros_like(a)),
    ("basis.vectors", put((0, 0), np.nan)), ("more", None), ("visits", put(0, 10**6)),
    ("visits", lambda a: np.zeros_like(a)), ("visits", lambda a: a[:-1]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change"), ARRAYS)
def test_forged_arrays(name, change, saved, tmp_path):
    header, arrays = parts_of(saved / "margin")
    prefixed = f"0/{name}"
    arrays[prefixed] = np.zeros(3) if change is None else change(arrays[prefixed])
    assert_refused(header, arrays, tmp_path / "m")


def test_missing_arrays(saved, tmp_path):
    for kind in ("margin", "projectron"):
        header, arrays = parts_of(saved / kind)
        for name in arrays:
            rest = {key: value for key, value in arrays.items() if key != name}
            assert_refused(header, rest, tmp_path / "m")


def test_auto_of_a_file_without_the_fact_is_what_it_was():
    """Checkpoints of version 0.1 go on with the paper's cache; so they do once saved again."""
    for name, policy in (("stream_mira", MARGIN), ("mira", DISTILL), ("format1_mira", MARGIN)):
        path = FOLDER / f"{name}.safetensors"
        assert "policy" not in describe(path)["steps"][-1]["facts"]
        model = load(path)
        assert model.policy == "auto"
        assert model.learner_state.learner.policy == policy
