"""What `fit_report` is given: a fitted model, and labelled rows such as it was trained on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_array

from largemargin.base.labels import numbers_in
from largemargin.base.pipelines import best_model, final_step
from largemargin.data import Table
from largemargin.report.fit.outcome import Rows
from largemargin.runtime.arrays import Matrix, MatrixLike, VectorLike
from largemargin.runtime.showing import listed, shown

LABELS_SHOWN = 10  # labels of the model in a sentence


def checked_model(model: Any) -> Any:
    """The model, inside a search the best one; it must be fitted, and one of this package."""
    model = best_model(model)
    final = final_step(model)
    known = is_classifier(final) or is_outlier_detector(final)
    if not hasattr(final, "certificate") or not known:
        raise ValueError(
            "model must be a classifier of largemargin, or a pipeline or a search that ends in "
            f"one, got {shown(model)}"
        )
    fitted = "classes_" if is_classifier(final) else "support_"
    if not hasattr(final, fitted):
        raise NotFittedError(
            f"this {type(final).__name__} is not fitted: call its fit before fit_report"
        )
    return model


def checked_names(model: Any, feature_names: Sequence[str]) -> list[str]:
    names = [str(one) for one in feature_names]
    if len(names) != model.n_features_in_:
        raise ValueError(
            f"feature_names has {len(names)} names, and the model was trained with "
            f"{model.n_features_in_} features: give one name for each"
        )
    return names


def checked_rows(
    model: Any, name: str, X: MatrixLike | None, y: VectorLike | None, which: str
) -> Rows | None:
    """Labelled rows, with the class numbers of their labels; None if none are given."""
    if X is None and y is None:
        return None
    if y is None:
        raise ValueError(f"X_{which} has no labels to compare with: give y_{which} as well")
    if X is None:
        raise ValueError(f"y_{which} has no rows that it belongs to: give X_{which} as well")
    rows = checked_numbers(model, X, f"X_{which}")
    numbers = numbers_in(model.classes_, y)
    if numbers.shape != (rows.shape[0],):
        raise ValueError(
            f"X_{which} has {rows.shape[0]} rows, and y_{which} is of shape {numbers.shape}: give "
            "one label for each row"
        )
    if not (numbers >= 0).any():
        known = listed(model.classes_.tolist(), LABELS_SHOWN)
        raise ValueError(f"the labels of y_{which} are not those the model knows, {known}")
    return Rows(name, rows, numbers)


def checked_numbers(model: Any, X: MatrixLike, which: str) -> Matrix:
    """Numbers in an array or a CSR matrix, in the columns that the model was trained with."""
    if decisions_of(model):
        return table_of(X)
    trained = getattr(model, "feature_names_in_", None)
    if trained is not None and hasattr(X, "columns") and list(X.columns) != list(trained):
        raise ValueError(
            f"the columns of {which} are {listed(list(X.columns))}, and the model was trained with "
            f"{listed(list(trained))}: give the same columns in the same order"
        )
    rows = check_array(X, accept_sparse="csr", dtype="numeric", input_name=which)
    if rows.shape[1] != model.n_features_in_:
        raise ValueError(
            f"{which} has {rows.shape[1]} features, and the model was trained with "
            f"{model.n_features_in_}: give the same features"
        )
    return np.asarray(rows) if isinstance(rows, np.ndarray) else rows


def table_of(X: Any) -> Any:
    """A data frame, or a dict of columns, as a table of which rows can be taken."""
    if isinstance(X, Table):
        return X
    columns = {str(name): np.asarray(X[name]) for name in getattr(X, "columns", X)}
    return Table({name: _column(values) for name, values in columns.items()})


def _column(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    if values.dtype.kind == "b":
        return values
    return np.array(
        [None if value is None or value != value else str(value) for value in values.tolist()],
        object,
    )


def decisions_of(model: Any) -> tuple[str, ...]:
    """What the first step says that it does with the columns of a table."""
    steps = getattr(model, "steps", [])[:-1]
    return tuple(getattr(steps[0][1], "decisions_", ())) if steps else ()
