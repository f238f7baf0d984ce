"""Which classes a model file can hold, and where it is written what of each is stored.

The estimators are those of the table of machines; the `state` module of a family has two functions.

    pack(model) -> (facts, arrays)
        what `fit` left besides `classes_`, `n_features_in_` and `feature_names_in_`: a dict of what
        `values.encode` can say in JSON, and a dict of numeric arrays
    unpack(model, facts, arrays) -> None
        the reverse, on an estimator that has its parameters and these three attributes; must raise
        ValueError for anything that `pack` cannot have made

The states of transformers, which are the steps of a pipeline before the last, have a third.

    width(model) -> int
        the number of columns that it makes

A transformer that holds others has `parts(model)`, the list of them. They are stored as the steps
of a pipeline are, and `unpack` has the list of them, made again, as its last argument.

To add a parameter to an estimator: a line in `ADDED` if files of earlier versions, which do not
have it, must be read with another value than its default.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from largemargin.machines import CARDS, CLASSIFIER


@dataclass(frozen=True)
class Entry:
    """Where a class is, `home`, and where its functions `pack` and `unpack` are, `states`."""

    name: str
    home: str
    states: str
    n_labels: int = 0  # the least number of labels; 0 is a step that knows no labels
    has_parts: bool = False  # whether it holds transformers
    unsaved: tuple[str, ...] = ()  # parameters that the facts say, or that say nothing

    @property
    def cls(self) -> type:
        cls: type = getattr(import_module(self.home), self.name)
        return cls

    def pack(self, model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The facts and arrays of a fitted model."""
        packed: tuple[dict[str, Any], dict[str, np.ndarray]]
        packed = import_module(self.states).pack(model)
        return packed

    def unpack(
        self, model: Any, facts: dict[str, Any], arrays: dict[str, np.ndarray], *parts: list[Any]
    ) -> None:
        """Give an estimator the facts and arrays of a fitted one, and a transformer its parts."""
        import_module(self.states).unpack(model, facts, arrays, *parts)

    def parts(self, model: Any) -> list[Any]:
        """The transformers that a transformer holds."""
        parts: list[Any] = import_module(self.states).parts(model) if self.has_parts else []
        return parts

    def width(self, model: Any) -> int:
        """The number of columns that a transformer makes."""
        return int(import_module(self.states).width(model))


def _entries(*entries: Entry) -> dict[str, Entry]:
    return {entry.name: entry for entry in entries}


ESTIMATORS = _entries(
    *(
        Entry(
            card.name,
            f"largemargin.{card.package}",
            f"largemargin.{card.states}",
            0 if card.kind != CLASSIFIER else 1 if card.streams else 2,
        )
        for card in CARDS
    )
)
# The estimators that can be a parameter of another.
BASE_LEARNERS = {card.name: ESTIMATORS[card.name] for card in CARDS if card.boosted}
SCALERS = _entries(
    Entry("StandardScaler", "sklearn.preprocessing", "largemargin.model_file.scalers"),
    Entry("MinMaxScaler", "sklearn.preprocessing", "largemargin.model_file.scalers"),
    Entry("MaxAbsScaler", "sklearn.preprocessing", "largemargin.model_file.scalers"),
)
# The steps of a pipeline before the last, and what these may hold.
TRANSFORMERS = SCALERS | _entries(
    Entry("SimpleImputer", "sklearn.impute", "largemargin.model_file.imputers"),
    Entry("MissingIndicator", "sklearn.impute", "largemargin.model_file.imputers"),
    Entry("OneHotEncoder", "sklearn.preprocessing", "largemargin.model_file.encoders"),
    Entry(
        "ColumnTransformer",
        "sklearn.compose",
        "largemargin.model_file.column_transformers",
        has_parts=True,
        unsaved=("transformers", "n_jobs", "force_int_remainder_cols"),
    ),
    Entry("TablePreprocessor", "largemargin.tables", "largemargin.tables.state", has_parts=True),
)

# The parameters of each class that files of earlier versions do not have, or had another default
# for, with the values that mean what those versions did. A parameter that is not here takes its
# default; one of a base learner must be here.
ADDED: dict[str, dict[str, Any]] = {
    card.name: {"calibrate": False} for card in CARDS if card.kind == CLASSIFIER
}
for _card in CARDS:
    if _card.streams:
        ADDED[_card.name] |= {"average": False, "gamma": "auto", "shuffle": False}
ADDED["VotedPerceptron"] |= {"epochs": 1, "shuffle": False}

# Where the functions are that pack and unpack how scores become probabilities.
CALIBRATION = "largemargin.calibration.state"


def find_entry(model: Any, entries: dict[str, Entry]) -> Entry | None:
    """The entry for exactly the class of a model; a subclass may hold anything and has none."""
    entry = entries.get(type(model).__name__)
    return entry if entry is not None and entry.cls is type(model) else None
