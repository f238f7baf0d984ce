"""The transformers of scikit-learn that make numbers of columns that have been read."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

MISSING = "(missing)"  # the category of missing values
SCALERS = {"standard": StandardScaler, "minmax": MinMaxScaler, "none": None}


def make_numeric(numbers: np.ndarray, n_scaled: int, scale: str) -> ColumnTransformer:
    """What imputes the columns of numbers, scales the first of them (the others are truth values),
    and says where values are missing in columns that lack some.
    """
    n_all, scaler = numbers.shape[1], SCALERS[scale]
    steps = [("impute", SimpleImputer(strategy="median"))]
    steps += [("scale", scaler())] if scaler is not None else []
    with_gaps = np.flatnonzero(np.isnan(numbers).any(axis=0)).tolist()
    parts = [
        ("numbers", Pipeline(steps), list(range(n_scaled))),
        ("booleans", SimpleImputer(strategy="most_frequent"), list(range(n_scaled, n_all))),
        ("missing", MissingIndicator(features="all"), with_gaps),
    ]
    return ColumnTransformer([part for part in parts if part[2]])


def make_categorical(max_categories: int | None, least_count: int) -> Pipeline:
    """What encodes text, missing values as a category of their own."""
    imputer = SimpleImputer(missing_values=None, strategy="constant", fill_value=MISSING)
    encoder = OneHotEncoder(
        handle_unknown="infrequent_if_exist",
        max_categories=max_categories,
        min_frequency=least_count,
    )
    return Pipeline([("impute", imputer), ("encode", encoder)])


def count_categories(categorical: Any) -> tuple[list[int], list[int]]:
    """The number of values of each column of text, and of those that are pooled."""
    encoder = categorical[-1]
    lists = [
        ([] if values is None else values.tolist() for values in groups)
        for groups in (encoder.categories_, encoder.infrequent_categories_)
    ]
    n_values, n_pooled = (
        [sum(value != MISSING for value in values) for values in group] for group in lists
    )
    return n_values, n_pooled
