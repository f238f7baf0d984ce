"""The scores of `decision` as ONNX operators, one function for each form.

All numbers are float64. A squared distance is |a|^2 + |b|^2 - 2 a.b, one product of matrices and no
array of three dimensions; the distances of the laplacian kernel are added up feature by feature.
Kernel values of all rows with all support vectors are held at a time: give a runtime some thousand
rows at once, not a million.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.interchange.decision import (
    KernelSum,
    LinearSum,
    Network,
    Scores,
    Stumps,
    VoteSum,
    dense,
    dense_bytes,
)
from largemargin.interchange.graph import LARGEST_FILE, Graph, scalar
from largemargin.kernels.choosing import WithConstant
from largemargin.kernels.functions import (
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
)

FLOAT, DOUBLE, INT64 = 1, 11, 7  # numbers of types in ONNX


def add_scores(graph: Graph, X: str, scores: Scores) -> str:
    """The scores of the rows of X: one row each, one column per problem."""
    if isinstance(scores, LinearSum):
        return graph.add("Add", graph.add("MatMul", X, scores.weights.T), scores.intercepts)
    if isinstance(scores, KernelSum):
        values = _kernel_values(graph, X, scores)
        return graph.add("Add", graph.add("MatMul", values, scores.coefs.T), scores.intercepts)
    if isinstance(scores, Stumps):
        return _stumps(graph, X, scores)
    if isinstance(scores, Network):
        return _network(graph, X, scores)
    return _votes(graph, X, scores)


def _kernel_values(graph: Graph, X: str, scores: KernelSum) -> str:
    """One row per row of X and one column per support vector."""
    if dense_bytes(scores) > LARGEST_FILE:
        raise ValueError(
            f"its support vectors take {dense_bytes(scores) / 1e9:.1f} GB as a dense matrix, and "
            "an ONNX file holds less than 2 GB: use fewer support vectors (a budget) or features"
        )
    kernel, constant = scores.kernel, False
    if isinstance(kernel, WithConstant):
        kernel, constant = kernel.kernel, True
    if isinstance(kernel, Precomputed):
        values = graph.add("Gather", X, scores.positions.astype(np.int64), axis=1)
    else:
        if scores.single:  # the model rounds rows to float32, and so must this
            X = graph.add("Cast", graph.add("Cast", X, to=FLOAT), to=DOUBLE)
        values = _values(graph, X, dense(scores.vectors), kernel)
    return graph.add("Add", values, scalar(1.0)) if constant else values


def _values(graph: Graph, X: str, vectors: np.ndarray, kernel: Kernel) -> str:
    if isinstance(kernel, Laplacian):
        exponents = graph.add("Mul", _sums_of_differences(graph, X, vectors), scalar(-kernel.gamma))
        return graph.add("Exp", exponents)
    if isinstance(kernel, Gaussian):
        squares = _squared_distances(graph, X, vectors)
        return graph.add("Exp", graph.add("Mul", squares, scalar(-kernel.gamma)))
    if isinstance(kernel, Matern):
        return _matern(graph, _squared_distances(graph, X, vectors), kernel)
    if isinstance(kernel, Linear):
        return graph.add("MatMul", X, vectors.T)
    scaled: Any = kernel
    # gamma is in the constant: a runtime that fuses product and factor may round that to float32
    products = graph.add("MatMul", X, scaled.gamma * vectors.T)
    inner = graph.add("Add", products, scalar(scaled.coef0))
    if isinstance(kernel, Polynomial):
        return graph.add("Pow", inner, scalar(kernel.degree))
    return graph.add("Tanh", inner)


def _squared_distances(graph: Graph, X: str, vectors: np.ndarray) -> str:
    """|x - v|^2, never below zero."""
    own = graph.add("ReduceSum", graph.add("Mul", X, X), np.array([1]), keepdims=1)
    products = graph.add("MatMul", X, -2.0 * vectors.T)
    squares = graph.add("Add", graph.add("Add", products, own), (vectors**2).sum(axis=1))
    return graph.add("Max", squares, scalar(0.0))


def _matern(graph: Graph, squares: str, kernel: Matern) -> str:
    """p(s) exp(-s) of s = 2 sqrt(nu gamma) |x - v|."""
    s = graph.add("Sqrt", graph.add("Mul", squares, scalar(4 * kernel.nu * kernel.gamma)))
    values = graph.add("Exp", graph.add("Neg", s))
    linear, quadratic = kernel.polynomials[kernel.nu]
    if linear:
        # 1 + s (linear + quadratic s)
        slope = graph.add("Add", graph.add("Mul", s, scalar(quadratic)), scalar(linear))
        polynomial = graph.add("Add", graph.add("Mul", s, slope), scalar(1.0))
        values = graph.add("Mul", values, polynomial)
    return values


def _sums_of_differences(graph: Graph, X: str, vectors: np.ndarray) -> str:
    """sum_j |x_j - v_j|, from one feature to the next."""
    from onnx import helper

    size = np.array([len(vectors)])
    n_rows = graph.add("Shape", X, start=0, end=1)
    zeros = graph.add("Expand", scalar(0.0), graph.add("Concat", n_rows, size, axis=0))
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [
            helper.make_node("Unsqueeze", ["row", "axis"], ["column"]),
            helper.make_node("Sub", ["column", "vector"], ["difference"]),
            helper.make_node("Abs", ["difference"], ["distance"]),
            helper.make_node("Add", ["before", "distance"], ["after"]),
        ],
        "feature",
        [
            info("before", DOUBLE, [None, len(vectors)]),
            info("row", DOUBLE, [None]),
            info("vector", DOUBLE, [len(vectors)]),
        ],
        [info("after", DOUBLE, [None, len(vectors)])],
        initializer=[helper.make_tensor("axis", INT64, [1], [1])],
    )
    by_feature = graph.add("Transpose", X, perm=[1, 0])
    return graph.add("Scan", zeros, by_feature, vectors.T, body=body, num_scan_inputs=2)


def _stumps(graph: Graph, X: str, stumps: Stumps) -> str:
    columns = graph.add("Gather", X, stumps.features.astype(np.int64), axis=1)
    is_left = graph.add("Cast", graph.add("LessOrEqual", columns, stumps.thresholds), to=DOUBLE)
    # what all stumps say on the right, and the difference that the left side makes
    change = graph.add("MatMul", is_left, stumps.left - stumps.right)
    return graph.add("Add", change, stumps.right.sum(axis=0))


def _network(graph: Graph, X: str, network: Network) -> str:
    middle = network.centers.mean(axis=0)  # far from the origin, squares lose digits
    squares = _squared_distances(graph, graph.add("Sub", X, middle), network.centers - middle)
    values = graph.add("Exp", graph.add("Mul", squares, -0.5 / network.widths**2))
    return graph.add("MatMul", values, network.coefs.T)


def _votes(graph: Graph, X: str, votes: VoteSum) -> str:
    values = _kernel_values(graph, X, votes.values)
    columns = []
    for p in range(votes.n_problems):
        mine = votes.problems == p
        steps = graph.add("Gather", values, votes.slots[mine].astype(np.int64), axis=1)
        steps = graph.add("Mul", steps, votes.signs[mine])
        vectors = graph.add("CumSum", steps, np.array(1))
        columns.append(graph.add("MatMul", graph.add("Sign", vectors), votes.counts[mine][:, None]))
    return columns[0] if len(columns) == 1 else graph.add("Concat", *columns, axis=1)
