"""The voted perceptron as the paper writes it: one example after the other, vectors in full.

A prediction vector is its coefficients over the training examples, so that with a kernel matrix of
integers every number here is exact.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest

RULES = [
    (method, normalize)
    for method in ("vote", "average", "last", "random", "longest")
    for normalize in (False, True)
]


@dataclass(frozen=True)
class Mistake:
    example: int
    problem: int
    sign: int
    step: int
    score: float


def signs_of(y):
    """A row a problem: +1 for its class, -1 for the others; two classes are one problem."""
    classes = np.unique(y)
    positive = classes[1:] if len(classes) == 2 else classes
    return np.where(np.asarray(y)[None, :] == positive[:, None], 1, -1)


def train(K, signs, epochs=1, order=None):
    """Figure 1 of Freund and Schapire (1999): the mistakes, in the order in which they are made."""
    order = range(K.shape[0]) if order is None else order
    scores = np.zeros((len(signs), K.shape[0]), K.dtype)
    mistakes, step = [], 0
    for _ in range(epochs):
        for i in order:
            for p, y in enumerate(signs[:, i]):
                if y * scores[p, i] <= 0:
                    mistakes.append(Mistake(i, p, int(y), step, scores[p, i]))
                    scores[p] = scores[p] + y * K[i]
            step += 1
    return mistakes


def mistakes_of(model):
    """The trace of a fitted model in the form of `train`."""
    trace, examples = model.trace_, model._state.basis.examples
    fields = (examples[trace.slot], trace.problem, trace.sign, trace.step, trace.score)
    return [Mistake(*entry) for entry in zip(*(f.tolist() for f in fields), strict=True)]


@dataclass(frozen=True)
class Vector:
    coefs: np.ndarray
    born: int
    survived: int


def vectors_of(mistakes, problem, n, until):
    """The prediction vectors of a problem after `until` steps, the zero vector first."""
    coefs = np.zeros(n)
    births = [0]
    stages = [coefs]
    for m in mistakes:
        if m.problem == problem and m.step < until:
            coefs = coefs.copy()
            coefs[m.example] += m.sign
            births.append(m.step)
            stages.append(coefs)
    deaths = [*births[1:], until]
    return [Vector(c, b, d - b) for c, b, d in zip(stages, births, deaths, strict=True)]


def norm(K, vector):
    return np.sqrt(max(vector.coefs @ K @ vector.coefs, 0.0))


def scores_of(vector, K, K_test, normalize):
    """v.x, over |v| if asked; 0 for the zero vector. K_test has a row a training example."""
    scores = vector.coefs @ K_test
    if not normalize:
        return scores
    length = norm(K, vector)
    return scores / length if length > 0 else np.zeros_like(scores)


def decide(rule, mistakes, n_problems, K, K_test, until, moments=None, correct=None):
    """The score of each problem (a row) and test point under a rule, by its formula."""
    method, normalize = rule
    found = []
    for p in range(n_problems):
        vectors = vectors_of(mistakes, p, len(K), until)
        each = np.array([scores_of(v, K, K_test, normalize) for v in vectors])
        survived = np.array([v.survived for v in vectors])
        if method == "vote":
            found.append(survived @ np.sign(each))
        elif method == "average":
            found.append(survived @ each)
        elif method == "last":
            found.append(each[-1])
        elif method == "longest":
            found.append(each[1:][np.argmax(survived[1:])])
        elif method == "random":
            alive = [max(j for j, v in enumerate(vectors) if j == 0 or v.born < r) for r in moments]
            found.append(each[alive, np.arange(len(moments))])
        else:
            right = [correct(p, v) for v in vectors[1:]]
            if method == "holdout":
                found.append(each[1:][np.argmax(right)])
            else:
                best, run, most = 0, 0, 0
                for j, v in enumerate(vectors[1:], start=1):
                    if v.survived - 1 > run and right[j - 1] > most:
                        best, run, most = j, v.survived - 1, right[j - 1]
                found.append(each[best])
    return np.array(found)


def shaped(scores):
    """As `decision_function` gives them: 1-D for one problem, else one column per problem."""
    return scores[0] if len(scores) == 1 else scores.T


@contextmanager
def small_tiles(
    rows=32, slots=8, unit=4, ahead=2, guesses=8, known=16, regular=2, sparse=2, few=4, panel=16,
    kept=False,
):  # fmt: skip
    """Blocks, tiles, guesses and look-ahead so small that little data goes through all of them; if
    `kept`, tiles also where columns are few.
    """
    homes = {
        "ROWS": (rows, ["kernels.tiles"]),
        "SLOTS": (
            slots,
            ["kernels.basis", "kernels.tiles", "perceptron.kernel_pass", "perceptron.updates"],
        ),
        "WIDTH_STEP": (
            unit,
            ["kernels.tiles", "perceptron.updates", "perceptron.values", "perceptron.walk"],
        ),
        "AHEAD": (ahead, ["perceptron.kernel_pass"]),
        "GUESSES": (guesses, ["perceptron.walk"]),
        "KNOWN": (known, ["perceptron.kernel_pass", "perceptron.walk"]),
        "REGULAR": (regular, ["perceptron.updates"]),
        "SPARSE": (sparse, ["perceptron.updates"]),
        "FEW": (few, ["perceptron.updates"]),
        "PANEL": (panel, ["perceptron.rules"]),
        "BLOCK": (rows, ["perceptron.linear_pass"]),
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, (value, modules) in homes.items():
            for module in modules:
                patch.setattr(f"largemargin.{module}.{name}", value)
        patch.setattr("largemargin.perceptron.rules.SLOTS", slots)
        if kept:
            name = "largemargin.perceptron.kernel_pass.is_cheap"
            patch.setattr(name, lambda *_: False)
        yield
