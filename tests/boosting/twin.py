"""Boosting as it is written down: slow, obvious, one example at a time."""

import itertools
import math

import numpy as np

from largemargin.boosting import Stump

EQUAL = 1e-12  # errors that differ by less are equal, and the first is taken


def brute_force_stump(X, y, D):
    """The first stump of least weighted error: features, thresholds and labels in order."""
    classes = np.unique(y)
    stumps, errors = [], []
    for j in range(X.shape[1]):
        for low, high in itertools.pairwise(np.unique(X[:, j]).tolist()):
            below = X[:, j] <= (low + high) / 2
            for left, right in itertools.product(classes, classes):
                stumps.append(Stump(j, (low + high) / 2, left, right))
                errors.append(D[below & (y != left)].sum() + D[~below & (y != right)].sum())
    if not stumps:
        stumps = [Stump(0, math.inf, label, label) for label in classes]
        errors = [D[y != label].sum() for label in classes]
    least = min(errors)
    return next(s for s, error in zip(stumps, errors, strict=True) if error <= least + EQUAL)


def table_1_2(X, y, T, L=brute_force_stump):
    """The chapter's pseudocode, line by line; y is -1 or 1. Zero and one half end it."""
    m = len(y)
    D = np.zeros(m)
    for i in range(m):
        D[i] = 1 / m
    classifiers, alphas, errors = [], [], []
    for _ in range(T):
        g = L(X, y, D)
        answers = g.predict(X)
        error = sum(D[i] for i in range(m) if answers[i] != y[i])
        if error == 0 or error >= 0.5 - 1e-10:
            break
        alpha = 0.5 * math.log((1 - error) / error)
        Z = 2 * math.sqrt(error * (1 - error))
        for i in range(m):
            if answers[i] == y[i]:
                D[i] = D[i] * math.exp(-alpha) / Z
            else:
                D[i] = D[i] * math.exp(alpha) / Z
        classifiers.append(g)
        alphas.append(alpha)
        errors.append(error)

    def f(X):
        votes = [alpha * g.predict(X) for g, alpha in zip(classifiers, alphas, strict=True)]
        return sum(votes) / sum(alphas)

    return f, classifiers, alphas, errors


def samme(X, y, T, K, L=brute_force_stump):
    """Algorithm 2 of Zhu, Zou, Rosset & Hastie; its alpha is twice ours. Labels are 0..K-1."""
    n = len(y)
    w = np.full(n, 1 / n)
    classifiers, alphas, errors = [], [], []
    for _ in range(T):
        g = L(X, y, w)
        wrong = g.predict(X) != y
        error = (w * wrong).sum() / w.sum()
        if error == 0 or error >= 1 - 1 / K - 1e-10:
            break
        alpha = math.log((1 - error) / error) + math.log(K - 1)
        w = w * np.exp(alpha * wrong)
        w = w / w.sum()
        classifiers.append(g)
        alphas.append(alpha)
        errors.append(error)

    def votes(X):
        found = np.zeros((len(X), K))
        for g, alpha in zip(classifiers, alphas, strict=True):
            for i, label in enumerate(g.predict(X)):
                found[i, label] += alpha
        return found

    return votes, classifiers, alphas, errors


def adaboost_reg(X, y, classifiers, C):
    """AdaBoost_Reg in the letters of its paper, y of -1 or 1: the b and the weights w of every
    round in which it was given these classifiers, each b by a plain line search.
    """
    h, b, ws = [], [], [np.full(len(y), 1 / len(y))]

    def terms(b):
        b = np.array(b)
        margin = sum(b_r * y * answers for b_r, answers in zip(b, h, strict=True))
        share = sum(b_r / b.sum() * w for b_r, w in zip(b, ws, strict=True))
        return np.exp(-0.5 * (margin + C * b.sum() * share**2))

    for g in classifiers:
        h.append(g.predict(X))
        low, high = 1e-9, 40.0
        for _ in range(12):  # ever finer grids around the best point
            grid = np.linspace(low, high, 60)
            best = int(np.argmin([terms([*b, step]).sum() for step in grid]))
            low, high = grid[max(best - 1, 0)], grid[min(best + 1, 59)]
        b.append(grid[best])
        ws.append(terms(b) / terms(b).sum())
    return np.array(b), ws
