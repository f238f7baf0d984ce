"""Transformers of scikit-learn made again, whichever version of it is installed.

What versions of scikit-learn keep in attributes of their own differs. So a transformer is fitted to
a few rows that leave these attributes as they were, and is then given what was learned.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_WIDEST = 2**20  # columns, at most: a small file must not claim memory that it does not fill


def refit(model: Any, rows: np.ndarray) -> None:
    """Fit a transformer that has its parameters; its number and names of features stay."""
    from sklearn import config_context

    names = getattr(model, "feature_names_in_", None)
    with config_context(transform_output="default", enable_metadata_routing=False):
        model.fit(rows)
    if names is not None:
        model.feature_names_in_ = names


def check_width(model: Any) -> None:
    """Refuse a number of columns that no table has."""
    if model.n_features_in_ > _WIDEST:
        raise ValueError(f"a {type(model).__name__} of {model.n_features_in_} columns is too wide")


def width_of(model: Any) -> int:
    """The number of columns that a transformer makes; a pipeline makes those of its last step."""
    from largemargin.model_file.registry import TRANSFORMERS

    last = model.steps[-1][1] if hasattr(model, "steps") else model
    return width_of(last) if last is not model else TRANSFORMERS[type(model).__name__].width(model)


def rows_with_gaps(model: Any, dtype: np.dtype[Any], gaps: np.ndarray) -> np.ndarray:
    """Two rows of values that are there, but for those of the second at some positions.

    `model` is an imputer or an indicator, whose `missing_values` says what a missing value is.
    """
    check_width(model)
    mark = model.missing_values
    there: Any = ("x" if mark != "x" else "y") if dtype.kind == "O" else (1 if mark != 1 else 2)
    rows = np.full((2, model.n_features_in_), there, dtype)
    rows[1, gaps] = mark
    return rows
