"""The pictures of the tutorial, of the worked certificate and of the recipes."""

import numpy as np
from canvas import BLUE, GREY, ORANGE, bare, decision, points, rings, window
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from largemargin import SVC
from largemargin.svm import cross_validate


def cancer():
    """The data of the tutorial: breast cancer, scaled, three quarters to train."""
    X, y = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), scaler.transform(X_test), y, y_test


def tutorial_decision(figure):
    X, _, y, _ = cancer()
    model = SVC(C=10.0).fit(X[:, :2], y)
    ax = figure.subplots()
    bare(ax)
    ax.set(xlabel="mean radius, scaled", ylabel="mean texture, scaled")
    window(ax, X[:, :2], pad=0.05)
    decision(ax, model.decision_function)
    points(ax, X[:, :2], y)
    rings(ax, X[model.support_, :2], size=70)


def tutorial_cross_validation(figure):
    X, _, y, _ = cancer()
    Cs = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
    found = cross_validate(SVC(), X, y, Cs=Cs, cv=5)
    errors = 100 * (1 - found.scores)
    ax = figure.subplots()
    ax.plot(Cs, errors.mean(axis=1), "o-", color=BLUE, linewidth=2)
    for C, fold in zip(Cs, errors, strict=True):
        ax.plot([C] * len(fold), fold, ".", color=GREY, markersize=4)
    ax.axvline(found.best_C, color=ORANGE, linestyle="dashed")
    ax.text(found.best_C * 1.15, errors.max() * 0.85, f"best_C = {found.best_C:g}", color=ORANGE)
    ax.set(xscale="log", xlabel="C", ylabel="error in percent", ylim=(0, None))


def certificate(figure):
    """One axis from 0 to 1: what is measured, and what bounds it."""
    X, X_test, y, y_test = cancer()
    model = SVC(C=1.0).fit(X, y)
    told = model.certificate(X, y, leave_one_out=True)
    marks = [
        ("training error", told["error"].value, BLUE),
        ("leave-one-out error", told["leave-one-out error"].value, BLUE),
        ("test error", 1 - model.score(X_test, y_test), BLUE),
        ("xi-alpha: leave-one-out at most", told["xi-alpha"].value, ORANGE),
        ("support vectors: leave-one-out at most",
         told["support vectors, leave-one-out"].value, ORANGE),
        ("always answering the commonest class", min(y.mean(), 1 - y.mean()), GREY),
    ]  # fmt: skip
    ax = figure.subplots()
    for row, (name, value, color) in enumerate(reversed(marks)):
        ax.plot([0, value], [row, row], color=color, linewidth=2)
        ax.plot(value, row, "o", color=color, markersize=8)
        ax.text(value + 0.012, row, f"{name}, {value:.3f}", va="center")
    ax.set(xlim=(0, 1), ylim=(-0.6, len(marks) - 0.4), yticks=[], xlabel="error")
    ax.spines["left"].set_visible(False)


def thresholds(figure):
    """What moving the threshold of a score does to the two kinds of errors."""
    X, X_test, y, y_test = cancer()
    scores = SVC(C=1.0, gamma=0.1).fit(X[:, :2], y).decision_function(X_test[:, :2])
    at = np.linspace(-2, 2, 81)
    tables = [confusion_matrix(y_test == 0, scores <= t) for t in at]
    missed = [100 * t[1, 0] / t[1].sum() for t in tables]
    alarms = [100 * t[0, 1] / t[0].sum() for t in tables]
    ax = figure.subplots()
    ax.plot(at, missed, color=ORANGE, linewidth=2)
    ax.plot(at, alarms, color=BLUE, linewidth=2)
    ax.axvline(0, color=GREY, linestyle="dashed", linewidth=1)
    ax.set(xlabel="threshold of the score", ylabel="percent", xlim=(-1.5, 1.5), ylim=(0, 52))
    ax.text(-0.85, 40, "malignant cases missed", color=ORANGE)
    ax.text(1.15, 46, "false alarms", color=BLUE, ha="right")
    ax.text(0.03, 48, "predict", color=GREY)
