"""What a converted model may differ by: rounding, relative to the sum of |coefficient x value|."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime

from largemargin.base.pipelines import before_final_step, final_step
from largemargin.interchange import to_onnx
from largemargin.interchange.decision import (
    EACH,
    PAIRS,
    KernelSum,
    LinearSum,
    Network,
    Stumps,
    VoteSum,
    decision_of,
    dense,
)

EXACT, SINGLE = 1e-12, 1e-5  # for models in float64, and in float32


def answers(model: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels and scores of the graph, from onnxruntime."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    graph = to_onnx(model).SerializeToString()
    session = onnxruntime.InferenceSession(graph, options, ["CPUExecutionProvider"])
    label, scores = session.run(["label", "scores"], {"X": X})
    return label, scores


def values(scores: KernelSum, X: np.ndarray) -> np.ndarray:
    """Kernel values, one row per support vector."""
    if scores.kernel.by_column:
        return X[:, scores.positions].T
    return scores.kernel(dense(scores.vectors), X)


def magnitudes(model: Any, X: np.ndarray) -> np.ndarray:
    """The sum of |coefficient x value| of each problem (row) and each row of X (column)."""
    scores = decision_of(model, expanded=True).scores
    if isinstance(scores, LinearSum):
        return np.abs(scores.weights) @ np.abs(X.T) + np.abs(scores.intercepts)[:, None]
    if isinstance(scores, Stumps):
        return np.ones((scores.left.shape[1], len(X)))
    if isinstance(scores, Network):
        squares = ((X[:, None] - scores.centers) ** 2).sum(axis=2)
        return np.abs(scores.coefs) @ np.exp(-squares / 2 / scores.widths**2).T
    assert isinstance(scores, KernelSum)
    return np.abs(scores.coefs) @ np.abs(values(scores, X)) + np.abs(scores.intercepts)[:, None]


def settled_votes(scores: VoteSum, X: np.ndarray, tolerance: float) -> np.ndarray:
    """The rows of X in which no vector that votes has a score that rounding may turn around."""
    settled, K = np.ones(len(X), bool), values(scores.values, X)
    for p in range(scores.n_problems):
        mine = scores.problems == p
        steps = scores.signs[mine, None] * K[scores.slots[mine]]
        totals, sizes = np.cumsum(steps, axis=0), np.cumsum(np.abs(steps), axis=0)
        settled &= (np.abs(totals) > tolerance * sizes).all(axis=0)
    return settled


def assert_same(model: Any, X: np.ndarray, tolerance: float = EXACT) -> None:
    """The graph of a model has its scores up to rounding, and its labels where they are clear."""
    label, scores = answers(model, X)
    ours, predicted, machine = model.decision_function(X), model.predict(X), final_step(model)
    assert scores.shape == ours.shape
    rows = before_final_step(model, X)
    decision = decision_of(machine)
    if isinstance(decision.scores, VoteSum):
        kept = settled_votes(decision.scores, rows, tolerance)
        assert kept.mean() > 0.8
        assert np.array_equal(scores[kept], ours[kept])
        assert np.array_equal(label[kept], predicted[kept])
        return
    bounds = tolerance * magnitudes(machine, rows)
    if decision.joined == PAIRS:
        pairs = machine.problem_scores(rows)
        kept = (np.abs(pairs) > bounds).all(axis=0)
        assert kept.mean() > 0.8
        scores, ours, label, predicted = scores[kept], ours[kept], label[kept], predicted[kept]
        allowed = bounds[:, kept].sum(axis=0)[:, None] + tolerance
    else:
        allowed = bounds.T if decision.joined == EACH else bounds[0]
    assert (np.abs(scores - ours) <= allowed).all()
    if ours.ndim == 1:
        clear = np.abs(ours) > allowed
    else:
        best = np.sort(ours, axis=1)
        clear = best[:, -1] - best[:, -2] > 2 * np.max(allowed, axis=1)
    assert clear.mean() > 0.8
    assert np.array_equal(label[clear], predicted[clear])
