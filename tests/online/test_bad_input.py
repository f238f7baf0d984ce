"""Bad input is refused with a sentence and leaves the learner as it was."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from largemargin.online import ALMA, MIRA, ROMMA, AggressivePerceptron

from .streams import integers, look_ahead
from .test_estimator import assert_equal

EVERY = [AggressivePerceptron, MIRA, ROMMA, ALMA]
SHARED = [
    ("kernel", "cosine"), ("kernel", None), ("degree", -1), ("gamma", 0), ("gamma", "wide"),
    ("coef0", np.nan), ("budget", 0), ("budget", -3), ("budget", 1.5), ("budget", True),
    ("budget", "many"), ("policy", "oldest"), ("policy", None), ("policy", 3), ("average", "no"),
    ("max_seconds", 0), ("memory", "much"), ("n_jobs", 0), ("precision", "half"),
    ("verbose", "no"),
]  # fmt: skip
OWN = [
    (AggressivePerceptron, "margin", -1), (AggressivePerceptron, "margin", np.inf),
    (MIRA, "margin", np.nan), (MIRA, "margin", "wide"), (MIRA, "margin", None),
    (ROMMA, "aggressive", 1), (ROMMA, "aggressive", "yes"),
    (ALMA, "alpha", 0), (ALMA, "alpha", 1.5), (ALMA, "alpha", None), (ALMA, "alpha", np.nan),
    (ALMA, "B", 0), (ALMA, "B", "big"), (ALMA, "C", -1.0), (ALMA, "C", np.inf),
]  # fmt: skip


@pytest.mark.parametrize(
    ("cls", "name", "wrong"), [*((cls, *pair) for cls in EVERY for pair in SHARED), *OWN]
)
def test_wrong_parameters(cls, name, wrong):
    X, y = integers(0)
    model = cls(**{name: wrong})
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=name) as error:
            learn(X, y)
        assert repr(wrong) in str(error.value)
        assert not hasattr(model, "classes_")


@pytest.mark.parametrize("policy", ["margin", "forgetron", "random", "projectron"])
def test_policies_that_need_a_budget(policy):
    with pytest.raises(ValueError, match=f"policy='{policy}' needs a budget"):
        MIRA(policy=policy).fit(*integers(0))


@pytest.mark.parametrize("policy", ["keep", "distill"])
def test_policies_that_have_none(policy):
    with pytest.raises(ValueError, match=f"policy='{policy}' has no budget, got budget=7"):
        MIRA(policy=policy, budget=7).fit(*integers(0))


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0, np.nan], [2.0, 3.0]], [0, 1], "X contains NaN: .*TablePreprocessor"),
        ([[1.0, np.inf], [2.0, 3.0]], [0, 1], "infinity"),
        ([[1.0, 0.0], [2.0, 3.0]], [0.0, np.nan], "NaN"),
        (np.empty((0, 3)), [], "0 sample"),
        ([[1.0, 2.0], [3.0, 4.0]], [1, 1], r"one class: \[1\]"),
        ([[1.0, 2.0], [3.0, 4.0]], [0, 1, 1], "inconsistent"),
        ([[1.0, 2.0], [3.0, 4.0]], [0.5, 1.7], "continuous"),
        ([1.0, 2.0], [0, 1], "2D"),
        ([["a", "b"], ["c", "d"]], [0, 1], "could not convert .*TablePreprocessor"),
        ([[1e200, 0.0], [0.0, 1e200]], [0, 1], "scale the data"),
    ],
)
def test_wrong_data(X, y, message):
    model = MIRA(kernel="poly")
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "classes_")


def failing(A, B):
    if A.shape[0] and np.abs(A).max() > 50:
        raise RuntimeError("the kernel broke")
    return (A @ B.T + 1) ** 2


BAD_CHUNKS = {
    "NaN": (lambda X: np.where(X[-1, -1] == X, np.nan, X), lambda y: y, "NaN"),
    "width": (lambda X: X[:, :2], lambda y: y, "2 features"),
    "lengths": (lambda X: X, lambda y: y[:-1], "inconsistent"),
    "label": (lambda X: X, lambda y: np.append(y[:-1], 7), "the label .*7.* not in classes"),
    "text": (lambda X: X, lambda y: y.astype(str), "type"),
    "late": (lambda X: np.vstack([X[:-1], X[-1:] + 100]), lambda y: y, "the kernel broke"),
}  # fmt: skip


@pytest.mark.parametrize("policy", [("distill", None), ("margin", 9), ("projectron", 9)])
@pytest.mark.parametrize("kind", BAD_CHUNKS)
def test_a_chunk_that_fails_leaves_no_trace(kind, policy):
    X, y = integers(0, n=200)
    spoil_X, spoil_y, message = BAD_CHUNKS[kind]
    models = []
    for _ in range(2):
        model = MIRA(kernel=failing, policy=policy[0], budget=policy[1])
        models.append(model.partial_fit(X[:100], y[:100], classes=[0, 1, 2]))
    with look_ahead(16), pytest.raises((ValueError, RuntimeError), match=message):
        models[0].partial_fit(spoil_X(X[100:]), spoil_y(y[100:]))
    assert_equal(*models)
    for model in models:
        model.partial_fit(X[100:], y[100:])
    assert_equal(*models)


def test_classes_must_stay_what_they_were():
    X, y = integers(0)
    model = MIRA().partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="not what it was in the first call"):
        model.partial_fit(X, y, classes=[0, 1, 2, 3])
    model.partial_fit(X, y, classes=[2, 1, 0])
    with pytest.raises(ValueError, match="not given"):
        MIRA().partial_fit(X, y).partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="at least two classes"):
        MIRA().partial_fit(X, y, classes=[1])


def test_what_a_stream_cannot_do():
    X, y = integers(0)
    with pytest.raises(ValueError, match="precomputed"):
        MIRA(kernel="precomputed").partial_fit(X @ X.T, y)
    with pytest.raises(ValueError, match="gamma='scale' needs the variance"):
        MIRA(gamma="scale").partial_fit(X, y)
    model = MIRA(budget=5).partial_fit(X, y)
    for change in ({"budget": 6}, {"policy": "random"}, {"margin": 0.5}):
        kept = model.get_params()
        with pytest.raises(ValueError, match="fit again"):
            model.set_params(**change).partial_fit(X, y)
        model.set_params(**kept)


def test_not_fitted():
    X, _ = integers(0)
    for cls in EVERY:
        model = cls()
        for name in ("predict", "decision_function"):
            with pytest.raises(NotFittedError):
                getattr(model, name)(X)
        for name in (
            "support_", "support_vectors_", "dual_coef_", "intercept_", "coef_", "n_support_",
            "n_insertions_", "n_removals_", "online_errors_", "margin_errors_", "cache_sizes_",
        ):  # fmt: skip
            with pytest.raises(NotFittedError):
                getattr(model, name)


def test_too_little_memory():
    """What is asked for grows with what is stored, and then is enough."""
    X, y = integers(0, n=400)
    least, message = 10_000, r"memory=\d+ bytes is too little .* allow at least (\d+), .* smaller"
    for _ in range(5):
        try:
            assert MIRA(budget=200, policy="margin", memory=least).fit(X, y).n_support_ <= 200
            break
        except ValueError as failure:
            more = int(re.search(message, str(failure))[1])
            assert more > least
            least = more
    assert 200 * 200 * 8 < least < 5_000_000


def test_a_fit_that_is_stopped_is_of_what_was_seen():
    X, y = integers(0, n=2000)
    with look_ahead(10), pytest.warns(ConvergenceWarning, match="max_seconds=1e-09"):
        model = MIRA(gamma="auto", shuffle=False, max_seconds=1e-9).fit(X, y)
    assert_equal(model, MIRA(gamma="auto").partial_fit(X[:10], y[:10], classes=[0, 1, 2]))


def test_odd_sparse_input():
    X, y = integers(0)
    rows = sp.csr_array(X)
    expected = MIRA(budget=9, shuffle=False).fit(rows, y)
    unsorted = sp.csr_array((rows.data.copy(), rows.indices.copy(), rows.indptr.copy()), rows.shape)
    for i in range(len(y)):
        part = slice(*unsorted.indptr[i : i + 2])
        unsorted.indices[part] = unsorted.indices[part][::-1].copy()
        unsorted.data[part] = unsorted.data[part][::-1].copy()
    unsorted.has_sorted_indices = False
    for form in (unsorted, sp.coo_array(X), sp.csc_matrix(X)):
        assert_equal(MIRA(budget=9, shuffle=False).fit(form, y), expected)
    mixed = MIRA(budget=9).partial_fit(rows[:60], y[:60], classes=[0, 1, 2])
    assert_equal(mixed.partial_fit(X[60:], y[60:]), expected)
