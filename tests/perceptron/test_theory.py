"""What the mathematics guarantees, on data that satisfies its assumptions.

Theorem 1 of Freund and Schapire (1999): if y (u.x) >= gamma with |u| = 1 and |x| <= R, the
perceptron makes at most (R / gamma)^2 mistakes, however often it goes over the data. Theorem 2: in
one pass over any data at most ((R + D) / gamma)^2, with D^2 the sum of max(0, gamma - y (u.x))^2.
"""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from largemargin import VotedPerceptron

SEEDS = st.integers(0, 10**6)


def points(seed, n, width, scale=1.0):
    rng = np.random.default_rng(seed)
    u = rng.normal(size=width)
    u /= np.linalg.norm(u)
    return rng, rng.normal(size=(n, width)) * scale, u


@settings(max_examples=60, deadline=None)
@given(
    seed=SEEDS,
    n=st.integers(5, 300),
    width=st.integers(2, 20),
    gamma=st.floats(0.05, 1.0),
    kernel=st.sampled_from(["linear", "poly"]),
)
def test_theorem_1(seed, n, width, gamma, kernel):
    _, X, u = points(seed, n, width)
    X = X[abs(X @ u) >= gamma]
    y = np.sign(X @ u)
    assume(len(np.unique(y)) == 2)
    gamma = (y * (X @ u)).min()
    bound = (np.linalg.norm(X, axis=1).max() / gamma) ** 2
    # more epochs than mistakes that are allowed: the run must converge
    epochs = int(bound) + 2
    model = VotedPerceptron(
        kernel=kernel, degree=1, gamma=1.0, coef0=0.0, epochs=epochs, shuffle=False
    )
    model.fit(X, y)
    assert model.n_mistakes_[0] <= bound
    assert model.converged_
    assert (model.predict(X, method="last") == y).all()


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, n=st.integers(5, 300), width=st.integers(1, 10), gamma=st.floats(0.05, 1.0))
def test_theorem_1_with_a_threshold(seed, n, width, gamma):
    rng, X, w = points(seed, n, width)
    u = np.append(w, rng.normal())
    u /= np.linalg.norm(u)
    lifted = np.column_stack([X, np.ones(n)])
    X, lifted = X[abs(lifted @ u) >= gamma], lifted[abs(lifted @ u) >= gamma]
    y = np.sign(lifted @ u)
    assume(len(np.unique(y)) == 2)
    gamma = (y * (lifted @ u)).min()
    bound = (np.linalg.norm(lifted, axis=1).max() / gamma) ** 2
    model = VotedPerceptron(
        kernel="linear", fit_intercept=True, epochs=int(bound) + 2, shuffle=False
    ).fit(X, y)
    assert model.n_mistakes_[0] <= bound
    assert model.converged_
    assert (model.predict(X, method="last") == y).all()


@settings(max_examples=60, deadline=None)
@given(
    seed=SEEDS,
    n=st.integers(5, 300),
    width=st.integers(2, 20),
    noise=st.floats(0, 0.5),
    gamma=st.floats(0.01, 3.0),
    threshold=st.booleans(),
)
def test_theorem_2(seed, n, width, noise, gamma, threshold):
    rng, X, u = points(seed, n, width)
    y = np.where(rng.random(n) < noise, -1, 1) * np.sign(X @ u)
    assume(len(np.unique(y)) == 2)
    lifted = np.column_stack([X, np.ones(n)]) if threshold else X
    if threshold:
        u = np.append(u, 0.0)
    R = np.linalg.norm(lifted, axis=1).max()
    D = np.sqrt((np.maximum(0, gamma - y * (lifted @ u)) ** 2).sum())
    model = VotedPerceptron(kernel="linear", fit_intercept=threshold, epochs=1, shuffle=False).fit(
        X, y
    )
    assert model.n_mistakes_[0] <= ((R + D) / gamma) ** 2


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, n=st.integers(20, 200), n_classes=st.integers(3, 6))
def test_theorem_1_holds_for_each_class_against_the_rest(seed, n, n_classes):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    X = np.eye(n_classes)[y] + rng.uniform(-0.05, 0.05, (n, n_classes))
    U = np.column_stack([2 * np.eye(n_classes), -np.ones(n_classes)])
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    lifted = np.column_stack([X, np.ones(n)])
    signs = np.where(y[None, :] == np.arange(n_classes)[:, None], 1, -1)
    margins = (signs * (U @ lifted.T)).min(axis=1)
    assert (margins > 0).all()
    bounds = (np.linalg.norm(lifted, axis=1).max() / margins) ** 2
    model = VotedPerceptron(
        kernel="linear", fit_intercept=True, epochs=int(bounds.max()) + 2, shuffle=False
    )
    model.fit(X, y)
    assert (model.n_mistakes_ <= bounds).all()
    assert (model.predict(X, method="last") == y).all()


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, n=st.integers(10, 200), kernel=st.sampled_from(["rbf", "laplacian", "poly"]))
def test_squared_norms_grow_by_at_most_the_largest_square(seed, n, kernel):
    rng, X, u = points(seed, n, 4)
    y = np.where(rng.random(n) < 0.2, -1, 1) * np.sign(X @ u)
    assume(len(np.unique(y)) == 2)
    model = VotedPerceptron(kernel=kernel, epochs=3, degree=2, shuffle=False).fit(X, y)
    trace = model.trace_
    k = np.arange(1, len(trace) + 1)
    # the lemma behind both theorems: |v_k|^2 <= k R^2
    assert (trace.norms() ** 2 <= k * trace.square.max() * (1 + 1e-9)).all()
