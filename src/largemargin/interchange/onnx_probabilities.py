"""The probabilities of a calibrated model as ONNX operators.

    two classes      p = 1 / (1 + exp(A f + B)) of the second class
    one score each   such a sigmoid of the score of each class, divided by their sum

The coupling of pairs solves a system of equations for each row, for which ONNX has no operator.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from largemargin.interchange.decision import ONE, PAIRS, Decision
from largemargin.interchange.graph import Graph, scalar


def add_probabilities(graph: Graph, scores: str, model: Any, decision: Decision) -> bool:
    """Add the output `probabilities` if a model is calibrated; whether that was so."""
    calibration = getattr(model, "calibration", None)
    if calibration is None:
        return False
    if decision.joined == PAIRS:
        warnings.warn(
            "the probabilities of one-vs-one are left out: they are the solution of a system of "
            "equations, for which ONNX has no operator",
            stacklevel=3,
        )
        return False
    _check_reading(model, calibration)
    slopes = np.asarray(calibration.slopes, np.float64) / float(model.score_unit)
    offsets = np.asarray(calibration.offsets, np.float64)
    exponents = graph.add("Add", graph.add("Mul", scores, slopes), offsets)
    if decision.joined == ONE:
        second = graph.add("Sigmoid", graph.add("Neg", exponents))
        column = graph.add("Unsqueeze", second, np.array([1]))
        first = graph.add("Sub", scalar(1.0), column)
        graph.add("Concat", first, column, axis=1, output="probabilities")
        return True
    # the logarithms of sigmoids, which may all be too small for a float: -softplus(exponent)
    small = graph.add("Exp", graph.add("Neg", graph.add("Abs", exponents)))
    rest = graph.add("Log", graph.add("Add", small, scalar(1.0)))
    logs = graph.add("Neg", graph.add("Add", graph.add("Max", exponents, scalar(0.0)), rest))
    graph.add("Softmax", logs, axis=1, output="probabilities")
    return True


def _check_reading(model: Any, calibration: Any) -> None:
    """Refuse sigmoids of other scores than those that the model has now."""
    for name, value in calibration.read_with.items():
        if value != getattr(model, name):
            raise ValueError(
                f"the scores were calibrated with {name}={value!r}, and it is "
                f"{getattr(model, name)!r} now: set it back, or calibrate again"
            )
