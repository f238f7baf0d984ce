"""AdaBoost beside scikit-learn's, on data of the size and kind of the spam set.

Our stumps have the least weighted error, as the algorithm asks; scikit-learn's split on gini, so
the errors of rounds can be compared only where its own tree is the base learner of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.options import OPTIONS
from benchmarks.timing import best_of, faster, figure, note, seconds
from largemargin import AdaBoost

Row = dict[str, Any]
ROUNDS = 500


def spam_like(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """54 frequencies of words, mostly zero, and 6 counts with long tails; 39 % are spam."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.39).astype(int)
    taste = rng.normal(size=(2, 54)) * 0.7
    present = rng.random((n, 54)) < 1 / (1 + np.exp(1.6 - taste[y]))
    words = present * rng.gamma(1.5, 0.4, (n, 54)).round(2)
    counts = np.exp(rng.normal(size=(n, 6)) + 0.25 * y[:, None]).round(1)
    flipped = rng.random(n) < 0.04
    return np.hstack([words, counts]), np.where(flipped, 1 - y, y)


def stumps() -> Iterator[Row]:
    """500 rounds of stumps, ours of least error, theirs of least impurity."""
    n = OPTIONS.size(5_000)
    X, y = spam_like(2 * n)
    X, X_test, y, y_test = X[:n], X[n:], y[:n], y[n:]
    ours = AdaBoost(n_rounds=ROUNDS)
    theirs = AdaBoostClassifier(n_estimators=ROUNDS)
    ours.fit(X[:300], y[:300])  # compile
    mine, other = best_of(OPTIONS.rounds, lambda: ours.fit(X, y), lambda: theirs.fit(X, y))
    errors = [100 * np.mean(model.predict(X_test) != y_test) for model in (ours, theirs)]
    train = [100 * np.mean(model.predict(X) != y) for model in (ours, theirs)]
    yield faster(
        f"AdaBoost, stumps, {n} x {X.shape[1]}, {ROUNDS} rounds: scikit-learn / ours",
        other / mine,
        10.0,
        f"{other:.2f} s / {mine:.3f} s; test error {errors[1]:.2f} / {errors[0]:.2f} %, "
        f"training {train[1]:.2f} / {train[0]:.2f} %",
        **figure("fit", mine, {"scikit-learn": other}),
    )
    if OPTIONS.brief:
        return
    dense = np.random.default_rng(1).normal(size=X.shape)
    ours.fit(dense, y)
    spent = seconds(lambda: ours.fit(dense, y))
    other = seconds(lambda: theirs.set_params(n_estimators=20).fit(dense, y)) * ROUNDS / 20
    yield note(
        "the same on normal numbers, all different: scikit-learn / ours",
        f"{other / spent:.1f} ({other:.2f} s, from 20 rounds / {spent:.3f} s)",
    )


def same_trees() -> Iterator[Row]:
    """Both with scikit-learn's tree of depth 1: the weighted errors round by round."""
    X, y = spam_like(OPTIONS.size(5_000))
    rounds = 50
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    ours = AdaBoost(tree, n_rounds=rounds, random_state=0)
    theirs = AdaBoostClassifier(tree, n_estimators=rounds, random_state=0)
    mine, other = best_of(1, lambda: ours.fit(X, y), lambda: theirs.fit(X, y))
    apart = float(np.abs(ours.weighted_errors_ - theirs.estimator_errors_).max())
    stumps = AdaBoost(n_rounds=rounds).fit(X, y).weighted_errors_
    yield {
        **note(
            f"scikit-learn's tree as estimator, {rounds} rounds, largest difference of errors",
            f"{apart:.1e} ({other:.2f} s / ours {mine:.2f} s; first error "
            f"{ours.weighted_errors_[0]:.4f}, of the best stump {stumps[0]:.4f})",
        ),
        "wanted": "<= 1e-9",
        "held": apart <= 1e-9,
    }
