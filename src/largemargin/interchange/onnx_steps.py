"""The steps of a pipeline before its machine, as ONNX operators: scalers, imputation, one-hot
encoding, transformers of columns, and tables.

The graph of a model that begins with a `TablePreprocessor` has two inputs: `numbers`, the columns
of numbers, dates and truth values, nan where a value is missing, and `text`, those of text, empty
where one is missing. What Python reads of text, the caller reads: `sentences_of` names the columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.base.pipelines import earlier_steps
from largemargin.interchange.graph import Graph
from largemargin.interchange.onnx_scores import DOUBLE
from largemargin.runtime.showing import shown

STRING = 8  # the number of a type in ONNX
TABLE = "TablePreprocessor"


def steps_before(model: Any) -> list[Any]:
    """The steps before the machine."""
    before = earlier_steps(model)
    steps = [] if before is None else [step for _, step in before.steps]
    return [step for step in steps if step is not None and not isinstance(step, str)]


def is_table(steps: list[Any]) -> bool:
    """Whether a model begins with a `TablePreprocessor`."""
    return bool(steps) and type(steps[0]).__name__ == TABLE


def inputs_of(steps: list[Any], n_features: int) -> list[Any]:
    """Names, types and shapes of the inputs of a graph."""
    if not is_table(steps):
        width = int(steps[0].n_features_in_) if steps else n_features
        return [("X", DOUBLE, ["rows", width])]
    numbers, texts = columns_of(steps[0])
    inputs = [("numbers", DOUBLE, ["rows", len(numbers)]), ("text", STRING, ["rows", len(texts)])]
    return [one for one in inputs if one[2][1]]


def columns_of(table: Any) -> tuple[list[str], list[str]]:
    """The names of the columns of both inputs, in order."""
    from largemargin.tables.plans import BOOLEAN, CATEGORY, DATE, NUMBER

    def named(*kinds: str) -> list[str]:
        return [plan.name for kind in kinds for plan in table.plans_ if plan.kind == kind]

    return named(NUMBER, DATE, BOOLEAN), named(CATEGORY)


def sentences_of(table: Any) -> list[str]:
    """What a caller must have read of columns before a graph takes them."""
    from largemargin.tables.plans import BOOLEAN, DATE, NUMBER

    wanted = {
        DATE: ([plan.name for plan in table.plans_ if plan.kind == DATE], "days since 1970-01-01"),
        NUMBER: (
            [plan.name for plan in table.plans_ if plan.kind == NUMBER and plan.form],
            "plain numbers, without percent signs (12 % is 0.12) and separators",
        ),
        BOOLEAN: ([plan.name for plan in table.plans_ if plan.kind == BOOLEAN], "1 and 0"),
    }
    return [
        f"the column{'s' * (len(names) > 1)} {', '.join(map(shown, names))} must be given as {form}"
        for names, form in wanted.values()
        if names
    ]


def add_steps(graph: Graph, steps: list[Any]) -> str:
    """Rows as the machine sees them, from the inputs of the graph."""
    X, rest = "X", steps
    if is_table(steps):
        X, rest = _add_table(graph, steps[0]), steps[1:]
    for step in rest:
        X = add_step(graph, X, step)
    return X


def _add_table(graph: Graph, table: Any) -> str:
    blocks = []
    if table.numeric_ is not None:
        blocks.append(add_step(graph, "numbers", table.numeric_))
    if table.categorical_ is not None:
        imputer, encoder = table.categorical_[0], table.categorical_[-1]
        missing = graph.add("Equal", "text", graph.constant([""]))
        text = graph.add("Where", missing, graph.constant([str(imputer.fill_value)]), "text")
        blocks.append(_add_encoder(graph, text, encoder))
    return _beside(graph, blocks)


def add_step(graph: Graph, X: str, step: Any) -> str:
    """Rows as a fitted transformer makes them of rows of numbers."""
    name = type(step).__name__
    known = {
        "StandardScaler": _add_standard_scaler,
        "MinMaxScaler": _add_minmax_scaler,
        "MaxAbsScaler": _add_maxabs_scaler,
        "SimpleImputer": _add_imputer,
        "MissingIndicator": _add_indicator,
        "OneHotEncoder": _add_encoder,
        "ColumnTransformer": _add_columns,
    }
    if name == "Pipeline":
        for part in step.named_steps.values():
            X = add_step(graph, X, part)
        return X
    if name not in known or not type(step).__module__.startswith("sklearn."):
        raise ValueError(
            f"a {name} before the machine has no formula here: only {', '.join(known)} have, and "
            f"{TABLE} at the beginning; apply it yourself and convert the last step alone"
        )
    return known[name](graph, X, step)


def _add_standard_scaler(graph: Graph, X: str, scaler: Any) -> str:
    if scaler.with_mean:
        X = graph.add("Sub", X, _numbers(scaler.mean_))
    return graph.add("Div", X, _numbers(scaler.scale_)) if scaler.with_std else X


def _add_minmax_scaler(graph: Graph, X: str, scaler: Any) -> str:
    X = graph.add("Add", graph.add("Mul", X, _numbers(scaler.scale_)), _numbers(scaler.min_))
    return _clipped(graph, X, *scaler.feature_range) if scaler.clip else X


def _add_maxabs_scaler(graph: Graph, X: str, scaler: Any) -> str:
    X = graph.add("Div", X, _numbers(scaler.scale_))
    return _clipped(graph, X, -1.0, 1.0) if getattr(scaler, "clip", False) else X


def _add_imputer(graph: Graph, X: str, imputer: Any) -> str:
    filled = np.asarray(imputer.statistics_)
    if filled.dtype.kind not in "iuf" or not np.isfinite(filled.astype(float)).all():
        raise ValueError(
            "a SimpleImputer of text, or of a column without any value, has no formula here: use "
            f"{TABLE} for text, and drop columns that are empty"
        )
    if not (isinstance(imputer.missing_values, float) and np.isnan(imputer.missing_values)):
        raise ValueError(
            f"a SimpleImputer of missing_values={imputer.missing_values!r} has no formula here: "
            "write missing values as nan"
        )
    values = graph.add("Where", graph.add("IsNaN", X), _numbers(filled), X)
    if imputer.indicator_ is None:
        return values
    return _beside(graph, [values, _add_indicator(graph, X, imputer.indicator_)])


def _add_indicator(graph: Graph, X: str, indicator: Any) -> str:
    columns = graph.add("Gather", X, np.asarray(indicator.features_, np.int64), axis=1)
    return graph.add("Cast", graph.add("IsNaN", columns), to=DOUBLE)


def _add_encoder(graph: Graph, X: str, encoder: Any) -> str:
    """A column of ones and zeros for each value that is not rare, and one for all others, if some
    values are.
    """
    if encoder.drop is not None:
        raise ValueError("a OneHotEncoder with drop has no formula here: use drop=None")
    rare_ones = getattr(encoder, "infrequent_categories_", [None] * len(encoder.categories_))
    blocks = []
    for j, (values, rare) in enumerate(zip(encoder.categories_, rare_ones, strict=True)):
        pooled = set() if rare is None else set(rare.tolist())
        frequent = [value for value in values.tolist() if value not in pooled]
        column = graph.add("Gather", X, np.array([j]), axis=1)
        blocks += _one_hot(graph, column, frequent, bool(pooled))
    return _beside(graph, blocks)


def _one_hot(graph: Graph, column: str, values: list[Any], pooled: bool) -> list[str]:
    if not values:  # all of them are rare
        return [graph.add("Expand", np.array([[1.0]]), graph.add("Shape", column))]
    is_text = isinstance(values[0], str)
    wanted = graph.constant(values if is_text else _numbers(values))
    ones = graph.add("Cast", graph.add("Equal", column, wanted), to=DOUBLE)
    if not pooled:
        return [ones]
    any_of_them = graph.add("ReduceSum", ones, np.array([1]), keepdims=1)
    return [ones, graph.add("Sub", np.array([[1.0]]), any_of_them)]


def _add_columns(graph: Graph, X: str, transformer: Any) -> str:
    blocks = []
    for name, step, columns in transformer.transformers_:
        if isinstance(step, str) and step == "drop":
            continue
        chosen = np.asarray(columns)
        if chosen.dtype == bool:
            chosen = np.flatnonzero(chosen)
        if chosen.dtype.kind not in "iu" or transformer.transformer_weights:
            raise ValueError(
                f"the columns of {name!r} of a ColumnTransformer are not given by their numbers, "
                "or have weights, for which there is no formula here: give numbers of columns"
            )
        if not len(chosen):
            continue
        taken = graph.add("Gather", X, chosen.astype(np.int64) % transformer.n_features_in_, axis=1)
        # what passes through is a word, or, once fitted, a function that does nothing
        passed = isinstance(step, str) or getattr(step, "func", step) is None
        blocks.append(taken if passed else add_step(graph, taken, step))
    return _beside(graph, blocks)


def _beside(graph: Graph, blocks: list[str]) -> str:
    return blocks[0] if len(blocks) == 1 else graph.add("Concat", *blocks, axis=1)


def _clipped(graph: Graph, X: str, low: float, high: float) -> str:
    return graph.add("Clip", X, np.array(float(low)), np.array(float(high)))


def _numbers(values: Any) -> np.ndarray:
    return np.asarray(values, np.float64)
