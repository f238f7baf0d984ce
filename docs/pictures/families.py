"""The pictures of the pages on the families, each of what the family is about."""

import numpy as np
from canvas import BLUE, GREY, ORANGE, bare, decision, points, rings, window
from sklearn.datasets import make_blobs, make_moons

from largemargin import LPSVC, MIRA, SVC, AdaBoost, MaxMarginHyperplane, VotedPerceptron


def perceptron(figure):
    """The last vector follows the last mistakes; the vote does not."""
    X, y = make_moons(160, noise=0.25, random_state=0)
    model = VotedPerceptron(kernel="rbf", gamma=1.0, random_state=0).fit(X, y)
    for ax, rule in zip(figure.subplots(1, 2), ("last", "vote"), strict=True):
        bare(ax, {"last": "the last vector", "vote": "the vote of all vectors"}[rule])
        window(ax, X)
        decision(ax, lambda rows, rule=rule: model.decision_function(rows, rule), margin=None)
        points(ax, X, y)


def fitted(ax, model, X, y):
    """The points, what the model decides, and its support vectors."""
    window(ax, X)
    decision(ax, model.decision_function)
    points(ax, X, y)
    rings(ax, X[model.support_])


def svm(figure):
    """What C does to one example on the wrong side."""
    X, y = make_blobs(50, centers=[[-1.5, 0], [1.5, 0.5]], cluster_std=0.55, random_state=1)
    X, y = np.vstack([X, [[-0.75, 0.9]]]), np.append(y, 1)
    for ax, C in zip(figure.subplots(1, 2), (0.1, 1000.0), strict=True):
        model = SVC(kernel="linear", C=C).fit(X, y)
        bare(ax, f"C = {C:g}: margin {model.margin_[0]:.2f}")
        fitted(ax, model, X, y)


def online(figure):
    """The error along a stream, and how many examples are held."""
    X, y = make_moons(4000, noise=0.2, random_state=0)
    model, errors, held = MIRA(budget=40, gamma=2.0), [], []
    for start in range(0, len(y), 100):
        rows, labels = X[start : start + 100], y[start : start + 100]
        if start:
            errors.append((model.predict(rows) != labels).mean())
        model.partial_fit(rows, labels, classes=[0, 1])
        held.append(model.n_support_)
    left, right = figure.subplots(1, 2)
    so_far = 100 * np.cumsum(errors) / np.arange(1, len(errors) + 1)
    left.plot(np.arange(200, 4001, 100), so_far, color=BLUE, linewidth=2)
    left.set(title="error so far, in percent", xlabel="examples seen", ylim=(0, None))
    right.plot(np.arange(100, 4001, 100), held, color=ORANGE, linewidth=2)
    right.set(title="examples held", xlabel="examples seen", ylim=(0, 60))
    right.axhline(40, color=GREY, linestyle="dashed", linewidth=1)
    right.text(4000, 42, "budget 40", ha="right", color=GREY)


def linear_programming(figure):
    """The same points, and how many of them a machine keeps."""
    X, y = make_moons(160, noise=0.2, random_state=0)
    for ax, machine in zip(figure.subplots(1, 2), (SVC(gamma=1.0), LPSVC(gamma=1.0)), strict=True):
        model = machine.fit(X, y)
        bare(ax, f"{type(model).__name__}: {model.n_support_} vectors")
        fitted(ax, model, X, y)


def hyperplanes(figure):
    """Two features matter and eight do not: the weights in three norms."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 10))
    y = (X[:, 1] + X[:, 6] + 0.3 * rng.normal(size=120) > 0).astype(int)
    for ax, norm in zip(figure.subplots(1, 3, sharey=True), (1, 2, np.inf), strict=True):
        w = MaxMarginHyperplane(norm=norm, C=0.1).fit(X, y).coef_[0]
        colors = [BLUE if j in (1, 6) else ORANGE for j in range(10)]
        ax.bar(range(10), w / np.abs(w).max(), color=colors)
        ax.axhline(0, color=GREY, linewidth=0.9)
        ax.set(title=f"norm {'∞' if norm == np.inf else norm}", xticks=[1, 6], ylim=(-0.8, 1.1))
        ax.set_xlabel("feature")


def boosting(figure):
    """Rounds go on to move margins after the training error is zero."""
    X, y = make_moons(300, noise=0.2, random_state=0)
    left, right = figure.subplots(1, 2)
    for rounds, color in ((5, ORANGE), (40, GREY), (200, BLUE)):
        model = AdaBoost(n_rounds=rounds).fit(X, y)
        margins = np.sort(model.margins(X, y))
        share = np.arange(1, len(y) + 1) / len(y)
        left.plot(margins, 100 * share, color=color, linewidth=2, label=f"{rounds} rounds")
    left.axvline(0, color=GREY, linewidth=0.9)
    left.set(title="percent of margins below", xlabel="margin", xlim=(-0.6, 1))
    left.legend(loc="upper left")
    bare(right, "200 rounds of stumps")
    window(right, X)
    decision(right, model.decision_function, margin=None)
    points(right, X, y)
