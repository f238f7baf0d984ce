"""What all events of a stream agree on: the width, the names of the columns, the kind of labels.

A model that goes on brings all of it along; otherwise the first event with an x, and the first with
a label, settle it. An event that turns out to be bad must leave nothing behind, so what has been
settled can be taken back to a `mark`.

A category has a column of its own, "color=red", from its first event on, and the first category of
a name brings along the column "color=(other)", for those that come when no column is free any more.
Both depend on the events and their order alone, and the names of the columns are all there is to
keep of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.runtime.arrays import Matrix
from largemargin.streaming.events import BadLine, Event, shown

# What a model file can hold, in its header, has an end: a line with which it would be passed must
# not be learned, or no checkpoint could be written from then on. Sizes are of JSON texts.
MAX_NAMES = 30_000_000  # characters of all names together
MAX_LABELS = 1 << 24  # labels, each as wide as the longest, as NumPy stores them

OTHERS = "=(other)"  # what follows a name in that of the column for categories without their own

# Kinds of labels, in words.
_KINDS = {str: "text", int: "numbers", bool: "true or false"}


@dataclass(frozen=True)
class SchemaMark:
    """What was settled at some moment."""

    width: int | None
    n_names: int | None
    sparse: bool
    kind: type | None
    n_labels: int
    names_size: int
    widest: int


class Schema:
    """What is settled so far.

    Parameters
    ----------
    max_features : int
        The width of a stream of named numbers that begins.
    width : int or None
        Numbers per row; None if the first event is to settle it.
    names : list of str or None
        Of the first columns; None if columns have no names.
    sparse : bool
        Whether rows are to be sparse.
    classes : array or None
        Labels already known.
    given : bool
        Whether these are all that there can be.
    """

    def __init__(
        self,
        max_features: int,
        *,
        width: int | None = None,
        names: Iterable[str] | None = None,
        sparse: bool = False,
        classes: np.ndarray | None = None,
        given: bool = False,
    ) -> None:
        self.max_features = max_features
        self.width = width
        self.sparse = sparse
        self.columns = None if names is None else {name: i for i, name in enumerate(names)}
        self._names_size = sum(map(_size, self.columns or ()))
        self._kind: type | None = None
        self._labels: dict[Any, None] = {}
        self._widest = 0
        self._dtype = None
        self._all: list[Any] | None = None
        if classes is not None:
            self._labels = dict.fromkeys(classes.tolist())
            self._widest = max(map(_size, self._labels))
            self._kind = _kind_of(classes.tolist()[0])
            self._dtype = classes.dtype if classes.dtype.kind in "OT" else None
            self._all = list(self._labels) if given else None

    @property
    def names(self) -> list[str] | None:
        return None if self.columns is None else list(self.columns)

    def mark(self) -> SchemaMark:
        n_names = None if self.columns is None else len(self.columns)
        return SchemaMark(
            self.width, n_names, self.sparse, self._kind, len(self._labels), self._names_size,
            self._widest,
        )  # fmt: skip

    def back_to(self, mark: SchemaMark) -> None:
        """Forget what was settled since."""
        self.width, self.sparse, self._kind = mark.width, mark.sparse, mark.kind
        self._names_size, self._widest = mark.names_size, mark.widest
        while len(self._labels) > mark.n_labels:
            self._labels.popitem()
        if mark.n_names is None:
            self.columns = None
        else:
            assert self.columns is not None
            while len(self.columns) > mark.n_names:
                self.columns.popitem()

    def admit(self, event: Event) -> np.ndarray | None:
        """Settle what an event settles. Returns the columns of its values, or None if they are all
        columns in their order; raises BadLine, and settles nothing, if it does not fit in."""
        kind = self._check_label(event.label)
        columns = None
        if event.names is not None:
            columns = self._columns_of(event.names, event.categories)
        if columns is None:
            self._check_width(len(event.values))
        self._kind = kind
        if event.label is not None and event.label not in self._labels:
            self._labels[event.label] = None
            self._widest = max(self._widest, _size(event.label))
        return columns

    def _check_label(self, label: Any) -> type | None:
        """The kind of labels if this one is among them."""
        if label is None:
            return self._kind
        kind = _kind_of(label)
        if self._kind not in (None, kind):
            raise BadLine(
                f"y is {shown(label)} in a stream whose labels are {_KINDS[self._kind]}: use one "
                "kind of label"
            )
        if self._all is not None and label not in self._labels:
            few = ", ".join(map(shown, self._all[:10])) + ", ..." * (len(self._all) > 10)
            raise BadLine(f"y is {shown(label)}, which is none of the classes {few}")
        if label not in self._labels:
            n, widest = len(self._labels) + 1, max(self._widest, _size(label))
            if n * widest > MAX_LABELS:
                raise BadLine(
                    f"y is {shown(label)}, the label number {n}, and the longest has {widest} "
                    f"characters: {n} times {widest} is more than {MAX_LABELS}; use fewer or "
                    "shorter labels"
                )
        return kind

    def _check_width(self, width: int) -> None:
        if self.columns is not None and len(self.columns) < (self.width or 0):
            raise BadLine(
                f"x is a list in a stream of named numbers: give an object such as "
                f"{{{shown(next(iter(self.columns), 'name'))}: 1.5}}"
            )
        if not width:
            raise BadLine("x is empty: give at least one number")
        if self.width is None:
            self.width = width
        elif width != self.width:
            raise BadLine(f"x has {width} numbers where {self.width} belong")

    def _columns_of(self, names: list[str], categories: dict[str, str]) -> np.ndarray:
        if self.columns is None and self.width is not None:
            raise BadLine(
                f"x has names in a stream whose columns have none: give a list of {self.width} "
                "numbers"
            )
        known = {} if self.columns is None else self.columns
        width = self.max_features if self.width is None else self.width
        new = _NewColumns(known, width)
        columns = [
            known[name] if name in known else new.place(name, categories.get(name))
            for name in names
        ]
        size = self._names_size + sum(map(_size, new.names))
        if new.names and size > MAX_NAMES:
            last = shown(list(new.names)[-1])
            raise BadLine(
                f"x has the name {last}, which is unknown, and with it the names take {size} "
                f"characters, where {MAX_NAMES} are the most: use shorter ones"
            )
        if categories and len(set(columns)) < len(columns):
            raise BadLine("x has a name and a category that are one column: rename one")
        if self.columns is None:
            self.columns, self.width, self.sparse = {}, width, True
        self.columns |= new.names
        self._names_size = size
        return np.array(columns, np.int64)

    def labels(self, labels: list[Any]) -> np.ndarray:
        """Labels as an array of the type of those already known."""
        return np.array(labels, self._dtype) if labels else np.empty(0, np.int64)

    def rows(self, events: list[tuple[Event, np.ndarray | None]]) -> Matrix:
        """The values of events, with the columns that `admit` gave, as a matrix."""
        assert self.width is not None
        if not self.sparse:
            X = np.zeros((len(events), self.width))
            for row, (event, columns) in zip(X, events, strict=True):
                row[slice(None) if columns is None else columns] = event.values
            return X
        ends, indices, data = [0], [], []
        for event, columns in events:
            where = np.flatnonzero(event.values)
            found = where if columns is None else columns[where]
            order = np.argsort(found)
            indices.append(found[order])
            data.append(event.values[where][order])
            ends.append(ends[-1] + len(where))
        parts = (np.concatenate(data), np.concatenate(indices), np.array(ends))
        return sp.csr_array(parts, shape=(len(events), self.width))


class _NewColumns:
    """The columns that an event takes of those that are free: `names`, in their order."""

    def __init__(self, known: dict[str, int], width: int) -> None:
        self.names: dict[str, int] = {}
        self._known = known
        self._width = width

    def place(self, name: str, owner: str | None) -> int:
        """The column of an unknown name, or of an unknown category of an owner, whose first one
        also takes the column for others."""
        if name in self.names:
            return self.names[name]
        others = None if owner is None else f"{owner}{OTHERS}"
        has_others = others in self._known or others in self.names
        if self._free >= (1 if others is None or has_others else 2):
            place = self._take(name)
            if others is not None and not has_others:
                self._take(others)
            return place
        if others is not None and (has_others or self._free):
            if not has_others:
                return self._take(others)
            return self._known[others] if others in self._known else self.names[others]
        raise BadLine(
            f"x has the name {shown(name)}, which is unknown, and all {self._width} columns have "
            "their names: leave it out, or begin anew with more --max-features"
        )

    @property
    def _free(self) -> int:
        return self._width - len(self._known) - len(self.names)

    def _take(self, name: str) -> int:
        self.names[name] = len(self._known) + len(self.names)
        return self.names[name]


def _size(value: Any) -> int:
    """Characters of a name or a label as JSON."""
    return len(json.dumps(value))


def _kind_of(label: Any) -> type:
    """What a label is; a model's may be floating-point numbers, which are numbers."""
    return int if isinstance(label, float) else type(label)
