"""What scikit-learn's ColumnTransformer learns, for the model file.

Its parts are the fitted transformers. Its other attributes, which differ between versions of
scikit-learn, are left by a fit to one row with stand-ins that make columns of the right number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.model_file.refitting import check_width, refit, width_of
from largemargin.runtime.showing import shown

_WORDS = ("drop", "passthrough")  # what may stand for a transformer


def parts(model: Any) -> list[Any]:
    """The fitted transformers, in order."""
    words = {name for name, given, _ in model.transformers if isinstance(given, str)}
    return [part for name, part, _ in _without_remainder(model) if name not in words]


def pack(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The names of the transformers, their columns, and words in place of some of them."""
    if model.remainder not in _WORDS:
        raise ValueError(
            "the remainder of ColumnTransformer cannot be saved unless it is 'drop' or "
            "'passthrough': name its columns in transformers"
        )
    if model.transformer_weights is not None or type(model.verbose_feature_names_out) is not bool:
        raise ValueError(
            "transformer_weights and verbose_feature_names_out of ColumnTransformer cannot be "
            "saved: use None, and True or False"
        )
    given = {name: columns for name, _, columns in model.transformers}
    facts = {
        "names": [name for name, _, _ in model.transformers],
        "words": [word if isinstance(word, str) else None for _, word, _ in model.transformers],
        "columns": [_columns(model, name, given[name]) for name in given],
        "sparse": bool(model.sparse_output_),
    }
    return facts, {}


def unpack(
    model: Any, facts: dict[str, Any], arrays: dict[str, np.ndarray], parts: list[Any]
) -> None:
    """Make a ColumnTransformer again of its parts."""
    from sklearn.base import clone

    if set(facts) != {"names", "words", "columns", "sparse"} or arrays:
        raise ValueError("a ColumnTransformer needs the names, words, columns and sparse")
    names, words, columns = facts["names"], facts["words"], facts["columns"]
    _check_settings(model, facts)
    check_width(model)
    places = [_places(model, given) for given in columns]
    given = _given(model, words, places, parts)
    verbose, model.verbose = model.verbose, False
    stand_ins = [part if isinstance(part, str) else _stand_in(part) for part in given]
    model.transformers = list(zip(names, stand_ins, places, strict=True))
    refit(model, np.zeros((1, model.n_features_in_)))
    model.verbose = verbose
    unfitted = [part if isinstance(part, str) else clone(part) for part in given]
    model.transformers = list(zip(names, unfitted, columns, strict=True))
    made = [
        (name, made if isinstance(part, str) else part, chosen)
        for (name, made, _), part, chosen in zip(model.transformers_, given, columns, strict=False)
    ]
    model.transformers_ = made + model.transformers_[len(made) :]
    if hasattr(model, "feature_names_in_"):
        for _, part, chosen in model.transformers_:
            if type(part).__name__ == "FunctionTransformer":  # what passes columns through
                part.feature_names_in_ = model.feature_names_in_[_places(model, list(chosen))]
    model.sparse_output_ = facts["sparse"]


def width(model: Any) -> int:
    return max((places.stop for places in model.output_indices_.values()), default=0)


def _without_remainder(model: Any) -> list[Any]:
    return list(model.transformers_[: len(model.transformers)])


def _columns(model: Any, name: str, columns: Any) -> list[Any]:
    """The columns of a transformer as a list of names or of positions."""
    if callable(columns) or np.isscalar(columns):
        raise ValueError(
            f"the columns of {shown(name)} in ColumnTransformer cannot be saved: give them as a "
            "list of names or of positions"
        )
    if isinstance(columns, slice):
        if not all(end is None or isinstance(end, int) for end in (columns.start, columns.stop)):
            raise ValueError(
                f"the columns of {shown(name)} in ColumnTransformer are a slice of names, which "
                "cannot be saved: give them as a list"
            )
        return list(range(model.n_features_in_)[columns])
    found = np.asarray(columns)
    if not len(found):
        raise ValueError(
            f"the transformer {shown(name)} of ColumnTransformer has no columns and cannot be "
            "saved: leave it out"
        )
    if found.dtype.kind == "b":
        return [int(place) for place in np.flatnonzero(found)]
    return [c if isinstance(c, str) else int(c) % model.n_features_in_ for c in columns]


def _check_settings(model: Any, facts: dict[str, Any]) -> None:
    names, words, columns = facts["names"], facts["words"], facts["columns"]
    lists = all(isinstance(part, list) for part in (names, words, columns))
    if not lists or not len(names) == len(words) == len(columns) > 0:
        raise ValueError(
            "a ColumnTransformer does not have one name and one list of columns per transformer"
        )
    if not all(isinstance(name, str) and name != "remainder" for name in names):
        raise ValueError("the transformers of a ColumnTransformer have no proper names")
    if type(facts["sparse"]) is not bool or model.remainder not in _WORDS:
        raise ValueError("a ColumnTransformer is described wrongly")
    if model.transformer_weights is not None or type(model.verbose_feature_names_out) is not bool:
        raise ValueError("a ColumnTransformer has parameters that a file cannot hold")
    if type(model.verbose) not in (bool, int):
        raise ValueError("verbose of a ColumnTransformer is neither true nor false")


def _places(model: Any, columns: Any) -> list[int]:
    """The positions of columns that are given by names or positions."""
    names = list(getattr(model, "feature_names_in_", []))
    if not isinstance(columns, list) or not columns:
        raise ValueError("a transformer has no columns")
    if all(isinstance(column, str) for column in columns):
        where = {name: i for i, name in enumerate(names)}
        return [where[column] for column in columns]
    if not all(type(c) is int and 0 <= c < model.n_features_in_ for c in columns):
        raise ValueError("the columns of a transformer are not names or positions")
    return list(columns)


def _given(model: Any, words: list[Any], places: list[list[int]], parts: list[Any]) -> list[Any]:
    """The parts, and words in their places where there are any."""
    rest = iter(parts)
    given = []
    for word, chosen in zip(words, places, strict=True):
        if word not in (None, *_WORDS):
            raise ValueError("there is a word in place of a transformer that means none")
        part = next(rest, None) if word is None else word
        if part is None or (word is None and part.n_features_in_ != len(chosen)):
            raise ValueError("the parts of a ColumnTransformer do not fit its columns")
        given.append(part)
    if next(rest, None) is not None:
        raise ValueError("a ColumnTransformer has more parts than names")
    return given


def _stand_in(part: Any) -> Any:
    from largemargin.model_file.stand_in import StandIn

    return StandIn(width_of(part))
