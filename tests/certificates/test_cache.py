"""The cache bound against streams whose every step is looked at."""

import numpy as np
import pytest

from largemargin import ALMA, AggressivePerceptron
from largemargin.certificates import cache_bound
from tests.certificates.problems import blobs, says_why, separable, three


def largest_cache(X, signs, beta):
    """The variable-size cache of the paper, one example after the other."""
    stored, largest = [], 0

    def vector():
        return sum((signs[j] * X[j] for j in stored), np.zeros(X.shape[1]))

    for t in range(len(X)):
        if signs[t] * (vector() @ X[t]) <= beta:
            stored.append(t)
            while True:
                w = vector()
                slack = [signs[i] * (w - signs[i] * X[i]) @ X[i] for i in stored]
                if max(slack) < beta:
                    break
                stored.pop(int(np.argmax(slack)))
                if not stored:
                    break
        largest = max(largest, len(stored))
    return largest, len(stored)


@pytest.mark.crossing
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("beta", [0.01, 1.0])
def test_no_stream_stores_more(seed, beta):
    X, y = separable(seed, n=60, gamma=0.3)
    model = AggressivePerceptron(kernel="linear", margin=beta, shuffle=False).fit(X, y)
    found = model.certificate(X, y, leave_one_out=False)
    largest, last = largest_cache(X, np.where(y == "yes", 1, -1), beta)
    assert model.n_support_ == last
    assert found["cache size"].value <= largest <= found["cache bound"].value


def test_the_bound_is_the_formula_at_the_best_margin():
    X, y = separable(0, gamma=0.3)
    model = AggressivePerceptron(kernel="linear", margin=0.5).fit(X, y)
    R_square = (X**2).sum(axis=1).max()
    found = model.certificate(X, y)["cache bound"].value
    assert found <= (R_square + 1.0) / 0.3**2  # the first axis has margin 0.3, others more
    gamma = np.sqrt((R_square + 1.0) / found)
    assert gamma >= 0.3
    assert found == pytest.approx(cache_bound(np.sqrt(R_square), 0.5, gamma))


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (AggressivePerceptron(kernel="linear", policy="keep"), "policy='distill'"),
        (AggressivePerceptron(kernel="linear", budget=5), "without a budget"),
        (ALMA(kernel="linear"), "not ALMA"),
        (AggressivePerceptron(kernel="sigmoid", gamma=1.0), "not positive definite"),
    ],
    ids=str,
)
def test_other_learners(model, why):
    X, y = separable(0)
    found = model.fit(X, y).certificate(X, y)
    says_why(found["cache bound"], why)
    assert found["cache size"].value >= model.n_support_


def test_data_that_cannot_be_separated_and_more_than_two_classes():
    X = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    model = AggressivePerceptron(kernel="linear").fit(X, [0, 1, 0, 1])
    says_why(model.certificate(X, [0, 1, 0, 1])["cache bound"], "no vector that separates")
    X, y = three(0)
    several = AggressivePerceptron(kernel="linear").fit(X, y)
    says_why(several.certificate(X, y)["cache bound"], "two classes")


def test_a_stream_is_its_rows():
    X, y = separable(0)
    whole = AggressivePerceptron(kernel="linear", shuffle=False).fit(X, y)
    parts = AggressivePerceptron(kernel="linear", shuffle=False)
    for chunk in np.array_split(np.arange(len(y)), 4):
        parts.partial_fit(X[chunk], y[chunk], classes=["no", "yes"])
    assert parts.certificate(X, y).as_dict() == whole.certificate(X, y).as_dict()
    says_why(parts.certificate(X[:20], y[:20])["cache bound"], "it was trained on 30")


def test_a_stream_of_one_class():
    model = AggressivePerceptron().partial_fit(np.eye(2), [1, 1])
    found = model.certificate(np.eye(2), [1, 1])
    assert found["error"].value == 0
    says_why(found["leave-one-out error"], "the stream has had one class so far, 1")


def test_averages_of_a_stream():
    X, y = blobs(0, n=30)
    model = AggressivePerceptron(gamma=1.0, average=True, budget=5, policy="projectron")
    assert model.fit(X, y).certificate(X, y)["cache size"].applies


def test_a_margin_of_nothing():
    with pytest.raises(ValueError, match="must be separable"):
        cache_bound(1.0, 0.1, 0.0)
