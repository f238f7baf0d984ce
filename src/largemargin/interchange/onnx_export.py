"""`to_onnx`: a fitted model as an ONNX graph of primitive operators in double precision."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from largemargin.base.pipelines import final_step
from largemargin.interchange.decision import INSIDE, ONE, PAIRS, Decision, decision_of
from largemargin.interchange.graph import Graph, scalar
from largemargin.interchange.onnx_probabilities import add_probabilities
from largemargin.interchange.onnx_scores import DOUBLE, INT64, add_scores
from largemargin.interchange.onnx_steps import (
    STRING,
    add_steps,
    columns_of,
    inputs_of,
    is_table,
    sentences_of,
    steps_before,
)
from largemargin.interchange.packages import needed


def to_onnx(
    model: Any,
    path: str | PathLike[str] | None = None,
    *,
    feature_names: Sequence[str] | None = None,
) -> Any:
    """A fitted model as an ONNX graph, which any runtime answers with, without Python.

    The graph has primitive operators alone, all in double precision. Its input is `X`, float64 of
    shape (rows, features). Its outputs are `label`, int64 or text, and `scores`, what
    `decision_function` gives; of a calibrated model also `probabilities`, one column a class,
    unless it decides by pairs.

    A model that begins with a `TablePreprocessor` has the inputs `numbers`, with nan for what is
    missing, and `text`, with empty text for that; the metadata of the file name their columns.
    Dates, truth values, and numbers with percent signs or separators must come as numbers: a
    warning, and the metadata, name the columns which that concerns.

    Parameters
    ----------
    model : estimator
        A fitted machine whose decision is a sum over support vectors, a linear function, stumps or
        a network of radial basis functions, alone or as the last step of a Pipeline after a
        `TablePreprocessor`, or scikit-learn's scalers, imputers, OneHotEncoder and
        ColumnTransformer of numbers. Labels must be integers or text.
    path : str or path-like, optional
        Where to write it too, by custom with the ending .onnx.
    feature_names : list of str, optional
        Names of the columns of `X` for the metadata of the file, which hold those of the model if
        it knows any.

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    ValueError
        With the reason, for a model that has no such formula: a function as kernel,
        `method="random"`, AdaBoost over other learners than stumps, labels of another type.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from largemargin import SVC
    >>> from largemargin.interchange import to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC().fit(X, y)
    >>> graph = to_onnx(model)
    >>> import onnxruntime
    >>> session = onnxruntime.InferenceSession(graph.SerializeToString())
    >>> label, scores = session.run(None, {"X": X})
    >>> bool((label == model.predict(X)).all())
    True
    """
    needed("onnx")
    decision = decision_of(final_step(model))
    labels, kind = _labels(decision)
    steps = steps_before(model)
    graph = Graph(with_text=is_table(steps))
    rows = add_steps(graph, steps)
    scores = _joined(graph, add_scores(graph, rows, decision.scores), decision)
    _answer(graph, scores, decision, labels)
    shape = ["rows"] if decision.joined in (ONE, INSIDE) else ["rows", len(labels)]
    outputs = [("label", kind, ["rows"]), ("scores", DOUBLE, shape)]
    if add_probabilities(graph, scores, final_step(model), decision):
        outputs.append(("probabilities", DOUBLE, ["rows", len(labels)]))
    facts = _facts(model, steps, feature_names)
    proto = graph.finish(inputs_of(steps, decision.n_features), outputs, facts)
    if "to_be_read" in facts:
        warnings.warn(f"before this graph: {facts['to_be_read']}", stacklevel=2)
    if path is not None:
        from largemargin.runtime.files import write_atomically

        write_atomically(path, [proto.SerializeToString(deterministic=True)])
    return proto


def _labels(decision: Decision) -> tuple[Any, int]:
    """The labels as ONNX has them, and the number of their type."""
    classes = decision.classes
    if classes is None:
        return np.array([-1, 1]), INT64
    kind = classes.dtype.kind
    if kind in "iu" and (kind == "i" or int(classes.max()) < 2**63):
        return classes.astype(np.int64), INT64
    if kind in "UT" or (kind == "O" and all(isinstance(one, str) for one in classes.tolist())):
        return [str(one) for one in classes.tolist()], STRING
    raise ValueError(
        f"the labels are of type {classes.dtype}, such as {classes.tolist()[0]!r}, and labels of "
        "ONNX are integers of 64 bits or text: fit again with such labels, y.astype(int) say"
    )


def _joined(graph: Graph, scores: str, decision: Decision) -> str:
    """Scores as `decision_function` gives them."""
    if decision.joined in (ONE, INSIDE):
        return graph.add("Squeeze", scores, np.array([1]), output="scores")
    if decision.joined != PAIRS:
        return graph.add("Identity", scores, output="scores")
    from largemargin.svm.multiclass import sides_of_pairs

    assert decision.classes is not None
    n_classes = len(decision.classes)
    sides = sides_of_pairs(n_classes).T.copy()
    sums = graph.add("MatMul", scores, sides)
    is_won = graph.add("Greater", scores, scalar(0.0))
    won = graph.add("MatMul", graph.add("Where", is_won, scalar(0.5), scalar(-0.5)), sides)
    size = graph.add("Mul", graph.add("Add", graph.add("Abs", sums), scalar(1.0)), scalar(3.0))
    votes = graph.add("Add", won, scalar((n_classes - 1) / 2))
    return graph.add("Add", graph.add("Div", sums, size), votes, output="scores")


def _answer(graph: Graph, scores: str, decision: Decision, labels: Any) -> None:
    if decision.joined in (ONE, INSIDE):
        compare = "Greater" if decision.joined == ONE else "GreaterOrEqual"
        number = graph.add("Cast", graph.add(compare, scores, scalar(0.0)), to=INT64)
    else:
        number = graph.add("ArgMax", scores, axis=1, keepdims=0)
    graph.add("Gather", graph.constant(labels), number, axis=0, output="label")


def _facts(model: Any, steps: list[Any], given: Sequence[str] | None) -> dict[str, str]:
    """What is said of the model in the metadata of the file."""
    facts = {"class": type(final_step(model)).__name__}
    if is_table(steps):
        numbers, texts = columns_of(steps[0])
        facts |= {"numbers": json.dumps(numbers), "text": json.dumps(texts)}
        to_be_read = "; ".join(sentences_of(steps[0]))
        return facts | ({"to_be_read": to_be_read} if to_be_read else {})
    names = getattr(model, "feature_names_in_", None) if given is None else given
    if names is not None and len(names):
        facts["feature_names"] = json.dumps([str(name) for name in names])
    return facts
