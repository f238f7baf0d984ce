"""The pictures of the page "The theory in pictures"."""

import numpy as np
from canvas import (
    BLUE,
    CLASSES,
    GREY,
    INK,
    ORANGE,
    PAPER,
    bare,
    decision,
    note,
    points,
    rings,
    window,
)  # fmt: skip
from sklearn.datasets import make_blobs

from largemargin import SVC, VotedPerceptron


def _blobs(n=36):
    return make_blobs(n, centers=[[-1.5, -0.4], [1.5, 0.5]], cluster_std=0.55, random_state=2)


def margin(figure):
    """Many lines separate; one is farthest from both classes."""
    X, y = _blobs()
    model = SVC(kernel="linear", C=np.inf).fit(X, y)
    left, right = figure.subplots(1, 2)
    for ax, title in ((left, "many lines separate"), (right, "one is farthest from both classes")):
        bare(ax, title)
        window(ax, X)
    center = -model.intercept_[0] * model.coef_[0] / (model.coef_[0] @ model.coef_[0])
    turned = np.arctan2(*model.coef_[0][::-1]) + np.pi / 2
    for angle in (-0.28, -0.12, 0.1, 0.25):
        step = np.array([np.cos(turned + angle), np.sin(turned + angle)])
        left.axline(center, center + step, color=INK, linewidth=1.2)
    points(left, X, y)
    decision(right, model.decision_function)
    points(right, X, y)
    rings(right, X[model.support_])
    unit = model.coef_[0] / np.linalg.norm(model.coef_[0])
    along = np.array([-unit[1], unit[0]])
    start = center - 1.15 * along
    end = start + unit * model.margin_[0]
    right.annotate("", end, start, arrowprops={"arrowstyle": "<->", "color": INK})
    note(right, "margin 1/‖w‖", (start + end) / 2, (start + end) / 2 + [1.5, -0.35])


def kernel(figure):
    """Points on a line that no threshold separates are separated by a line on a parabola."""
    x = np.array([-2.4, -2.0, -1.6, -0.9, -0.5, -0.1, 0.4, 0.8, 1.5, 1.9, 2.3])
    y = (np.abs(x) > 1.2).astype(int)
    left, right = figure.subplots(1, 2)
    bare(left, "one feature: no threshold separates")
    left.axhline(0, color=GREY, linewidth=1)
    points(left, np.column_stack([x, 0 * x]), y, size=55)
    left.set(ylim=(-1, 1), xlabel="x")
    curve = np.linspace(-2.6, 2.6, 80)
    right.plot(curve, curve**2, color=GREY, linewidth=1)
    right.axhline(1.6, color=INK, linewidth=1.8)
    points(right, np.column_stack([x, x**2]), y, size=55)
    bare(right, "features x and x²: a line does")
    right.set(xlabel="x")
    right.text(0, 4.6, "x²", color=GREY, ha="center")


def dual(figure):
    """The decision function is a sum of bumps, one for each support vector."""
    x = np.array([-3.0, -2.4, -1.9, -1.1, -0.4, 0.1, 0.7, 1.5, 2.2, 2.9])
    y = ((x > -0.8) & (x < 1.0)).astype(int)
    model = SVC(C=2.0, gamma=1.5).fit(x[:, None], y)
    grid = np.linspace(-3.6, 3.6, 160)
    ax = figure.subplots()
    ax.axhline(0, color=GREY, linewidth=0.9)
    for weight, at in zip(model.dual_coef_[0], model.support_vectors_[:, 0], strict=True):
        bump = weight * np.exp(-1.5 * (grid - at) ** 2)
        ax.plot(grid, bump, color=CLASSES[int(weight > 0)], linewidth=1.3)
    ax.plot(grid, model.decision_function(grid[:, None]), color=INK, linewidth=2.4)
    for k, color in enumerate(CLASSES):
        part = x[y == k]
        ax.scatter(part, 0 * part, s=48, c=color, edgecolors=PAPER, linewidths=0.7, zorder=5)
    rings(ax, np.column_stack([model.support_vectors_[:, 0], 0 * model.support_]))
    ax.set(xlim=(-3.6, 3.6), xticks=[], xlabel="x", ylabel="score", ylim=(-2.3, 2.6))
    at = 1.3
    note(ax, "f(x), their sum and b", (at, model.decision_function([[at]])[0]), (2.5, 1.2))
    k = np.argmin(model.dual_coef_[0])
    place = model.support_vectors_[k, 0]
    note(ax, "αᵢ yᵢ k(xᵢ, x), one bump", (place, model.dual_coef_[0, k]), (place - 1.2, -2.1))


def mistake_bound(figure):
    """The mistakes of a perceptron stay below the bound, however many examples come."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(900, 2))
    X = X[np.abs(X @ [0.8, -0.6]) > 0.1][:600]
    y = (X @ [0.8, -0.6] > 0).astype(int)
    machine = SVC(kernel="linear", C=np.inf, fit_intercept=False).fit(X, y)
    bound = (np.linalg.norm(X, axis=1).max() / machine.margin_[0]) ** 2
    model = VotedPerceptron(kernel="linear", epochs=1, shuffle=False).fit(X, y)
    at = model.trace_.step
    ax = figure.subplots()
    steps = np.concatenate([[0], at, [len(y)]])
    counts = np.concatenate([np.arange(len(at) + 1), [len(at)]])
    ax.step(steps, counts, where="post", color=BLUE, linewidth=2.2)
    ax.axhline(bound, color=ORANGE, linewidth=2)
    ax.set(xlabel="examples seen", ylabel="mistakes", ylim=(0, bound * 1.25), xlim=(0, len(y)))
    told = f"bound (R/\N{GREEK SMALL LETTER GAMMA})² = {bound:.0f}"
    ax.text(len(y), bound * 1.04, told, ha="right", color=ORANGE)
    ax.text(len(y), len(at) + bound * 0.04, f"{len(at)} mistakes", ha="right", color=BLUE)


def leave_one_out(figure):
    """Without a point that is no support vector nothing changes; without one, the line may."""
    X, y = _blobs(26)
    axes = figure.subplots(1, 3)
    model = SVC(kernel="linear", C=np.inf).fit(X, y)
    ordinary = next(k for k in np.argsort(X[:, 0]) if k not in model.support_)
    cases = (
        ("all examples", None),
        ("without an ordinary one", ordinary),
        ("without a support vector", model.support_[0]),
    )
    for ax, (title, out) in zip(axes, cases, strict=True):
        keep = np.arange(len(y)) != (-1 if out is None else out)
        part = SVC(kernel="linear", C=np.inf).fit(X[keep], y[keep])
        bare(ax, title)
        window(ax, X)
        decision(ax, part.decision_function)
        points(ax, X[keep], y[keep])
        rings(ax, X[keep][part.support_])
        if out is not None:
            ax.scatter(*X[out], s=60, marker="x", c=INK, linewidths=1.6, zorder=5)
