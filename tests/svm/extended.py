"""What a fitted machine reaches, worked out again in extended precision from what it stores.

Primal and dual objectives are written out from their definitions, for the rows given to `fit` and
the coefficients, thresholds and vectors of the model; nothing of the solvers is used. A float32
model stores its vectors rounded, so there are three readings of it: with the rows themselves, with
the stored vectors among the rows, and with all rows rounded.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

LONG = np.longdouble


def kernel_values(model, A, B):
    """k(a, b) of two blocks of rows, in extended precision, with the fitted numbers."""
    kernel = model._expansion.basis.kernel
    name = type(kernel).__name__
    if name == "FunctionKernel":
        return np.asarray(kernel.function(A, B), LONG)
    A, B = np.asarray(A, LONG), np.asarray(B, LONG)
    if name == "Laplacian":
        return np.exp(-LONG(kernel.gamma) * np.abs(A[:, None] - B[None]).sum(axis=2))
    if name == "Gaussian":
        return np.exp(-LONG(kernel.gamma) * ((A[:, None] - B[None]) ** 2).sum(axis=2))
    products = (A[:, None] * B[None]).sum(axis=2)
    if name == "Linear":
        return products
    inner = LONG(kernel.gamma) * products + LONG(kernel.coef0)
    return np.tanh(inner) if name == "Sigmoid" else inner**kernel.degree


def readings(model, X):
    """Functions that give, for a row of coefficients, the outputs of all rows and w.w."""
    if model.kernel == "precomputed":
        values = np.asarray(X, LONG)[:, model.support_].T
        return [_by_values(values, values[:, model.support_])]
    vectors, rows = model.support_vectors_, X[model.support_]
    pairs = [(rows, X)]
    if vectors.dtype != X.dtype and not np.array_equal(vectors.astype(X.dtype), rows):
        pairs += [(vectors, X), (vectors, X.astype(vectors.dtype))]
    if model.kernel == "linear":
        return [_by_vector(np.asarray(V, LONG), np.asarray(Z, LONG)) for V, Z in pairs]
    return [_by_values(kernel_values(model, V, Z), kernel_values(model, V, V)) for V, Z in pairs]


def _by_values(K, among):
    return lambda c: ((c[:, None] * K).sum(axis=0), c @ (among @ c))


def _by_vector(V, Z):
    """By way of w, from which nothing is cancelled after it was rounded."""

    def read(c):
        w = (c[:, None] * V).sum(axis=0)
        return (Z * w).sum(axis=1), w @ w

    return read


def fits(model, X, y, weights=None):
    """For each problem of two sides: signs, weights, coefficients, threshold and, a reading each,
    outputs without the threshold and w.w.
    """
    labels = np.searchsorted(model.classes_, y)
    s = np.ones(len(y), LONG) if weights is None else np.asarray(weights, LONG)
    k = len(model.classes_)
    if k == 2:
        sides = [(np.ones(len(y), bool), 1)]
    elif model.multiclass == "ovo":
        sides = [(np.isin(labels, pair), pair[1]) for pair in combinations(range(k), 2)]
    else:
        sides = [(np.ones(len(y), bool), c) for c in range(k)]
    values = readings(model, X)
    for p, (part, positive) in enumerate(sides):
        part = part & (s > 0)
        full = np.zeros(len(y), LONG)
        c = model.dual_coef_[p].astype(LONG)
        full[model.support_] = c
        signs = np.where(labels == positive, LONG(1), LONG(-1))
        found = [(f[part], square) for f, square in (read(c) for read in values)]
        yield signs[part], s[part], full[part], LONG(model.intercept_[p]), found


def objectives(model, X, y, weights=None):
    """(primal, dual, scale) of each problem, a reading each; the gap is relative to the scale."""
    if getattr(model, "multiclass", "") == "crammer-singer":
        return [_crammer_singer(model, X, y, weights)]
    out = []
    for signs, s, coefs, b, found in fits(model, X, y, weights):
        out.append([_objective(model, signs, s, coefs, b, f, square) for f, square in found])
    return out


def _objective(model, y, s, coefs, b, f, square):
    name = type(model).__name__
    alpha = y * coefs
    total = alpha.sum()
    if name == "KernelAdatron":
        b = LONG(0)
    margins = y * (f + b)
    C = LONG(getattr(model, "C", np.inf))
    if name == "NuSVC" and model.nu > 0:
        return _nu(model, y, s, alpha, margins, square)
    if np.isinf(C):
        least = margins.min()
        primal = square / (2 * least**2) if least > 0 else LONG(np.inf)
        dual = total**2 / (2 * square) if square > 0 else LONG(np.inf)
        return primal, dual, primal
    slack = np.maximum(0, 1 - margins)
    kind = getattr(model, "slack", "linear")
    if kind == "linear":
        primal = square / 2 + C * (s * slack).sum()
        dual = total - square / 2
    elif kind == "squared":
        primal = square / 2 + C * (s * slack**2).sum()
        dual = total - square / 2 - (alpha**2 / s).sum() / (4 * C)
    else:
        primal = square / 2 + C * (s * slack).sum() ** 2
        dual = total - square / 2 - (alpha / s).max() ** 2 / (4 * C)
    return primal, dual, max(abs(primal), abs(dual))


def _nu(model, y, s, alpha, margins, square):
    """The margin is 1 in what is stored; rho is the multiple at which sum alpha = nu."""
    share = s / s.sum()
    nu = LONG(model.nu)
    if model.fit_intercept:
        nu = min(nu, 2 * min(share[y > 0].sum(), share[y < 0].sum()))
    rho = nu / alpha.sum()
    slack = rho * (share * np.maximum(0, 1 - margins)).sum()
    primal = rho**2 * square / 2 - nu * rho + slack
    return primal, -(rho**2) * square / 2, rho**2 * square


def _crammer_singer(model, X, y, weights):
    labels = np.searchsorted(model.classes_, y)
    s = np.ones(len(y), LONG) if weights is None else np.asarray(weights, LONG)
    c = model.dual_coef_.astype(LONG)
    if len(c) == 1:
        c = np.array([-c[0] / 2, c[0] / 2])
    own = np.arange(len(c))[:, None] == labels[None, :]
    found = []
    for read in readings(model, X):
        scores, squares = zip(*(read(row) for row in c), strict=True)
        scores, square = np.array(scores), sum(squares)
        right = (scores * own).sum(axis=0)
        slack = np.maximum(0, (scores + ~own).max(axis=0) - right)
        primal = square / 2 + LONG(model.C) * (s * slack).sum()
        dual = c[own[:, model.support_]].sum() - square / 2
        found.append((primal, dual, max(abs(primal), abs(dual))))
    return found


def true_gaps(model, X, y, weights=None):
    """The largest relative gap of any reading, a problem."""
    gaps = []
    for found in objectives(model, X, y, weights):
        each = [
            LONG(np.inf) if not np.isfinite(p) or scale == 0 else (p - d) / scale
            for p, d, scale in found
        ]
        gaps.append(max(each))
    return np.array(gaps, LONG)


def told_less(model, X, y, weights=None):
    """The problems whose told gap is below the true one, with both."""
    true = true_gaps(model, X, y, weights)
    return [
        (p, float(told), float(gap))
        for p, (told, gap) in enumerate(zip(model.dual_gap_, true, strict=True))
        if not told >= gap
    ]
