"""The steps of a pipeline before its machine, as ONNX operators: scikit-learn's scalers."""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.base.pipelines import earlier_steps
from largemargin.interchange.graph import Graph
from largemargin.interchange.onnx_scores import DOUBLE
from largemargin.model_file.registry import SCALERS, find_entry


def steps_before(model: Any) -> list[Any]:
    """The steps before the machine; ValueError for one that has no formula here."""
    before = earlier_steps(model)
    steps = [] if before is None else [step for _, step in before.steps]
    for step in steps:
        if step not in (None, "passthrough") and find_entry(step, SCALERS) is None:
            raise ValueError(
                f"a {type(step).__name__} before the machine has no formula here: only "
                f"{', '.join(SCALERS)} have; apply it yourself and convert the last step alone"
            )
    return [step for step in steps if step not in (None, "passthrough")]


def add_inputs(steps: list[Any], n_features: int) -> tuple[str, list[Any]]:
    """The name of the rows, and the inputs of the graph."""
    return "X", [("X", DOUBLE, ["rows", n_features])]


def add_step(graph: Graph, X: str, scaler: Any) -> str:
    """Rows as a fitted scaler transforms them."""
    name = type(scaler).__name__
    if name == "StandardScaler":
        if scaler.with_mean:
            X = graph.add("Sub", X, _numbers(scaler.mean_))
        return graph.add("Div", X, _numbers(scaler.scale_)) if scaler.with_std else X
    if name == "MaxAbsScaler":
        X = graph.add("Div", X, _numbers(scaler.scale_))
        return _clipped(graph, X, -1.0, 1.0) if getattr(scaler, "clip", False) else X
    X = graph.add("Add", graph.add("Mul", X, _numbers(scaler.scale_)), _numbers(scaler.min_))
    return _clipped(graph, X, *scaler.feature_range) if scaler.clip else X


def _clipped(graph: Graph, X: str, low: float, high: float) -> str:
    return graph.add("Clip", X, np.array(float(low)), np.array(float(high)))


def _numbers(values: Any) -> np.ndarray:
    return np.asarray(values, np.float64)
