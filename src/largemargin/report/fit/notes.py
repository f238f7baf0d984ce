"""What `largemargin train` notes in a model file, where it is as it writes it.

`save` lets people note anything under any name. What has another shape is theirs, and left alone.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any


def known_notes(model: Any, info: dict[str, Any]) -> dict[str, Any]:
    """The notes that have the shape that `largemargin train` gives them, with the names of columns;
    these are the model's own if there are none in the notes.
    """
    info = {name: value for name, value in info.items() if SHAPES.get(name, _anything)(value)}
    names = info.get("feature_names", getattr(model, "feature_names_in_", ()))
    if len(names) <= int(model.n_features_in_):  # of a stream, as many as have been seen
        return {**info, "feature_names": [str(name) for name in names]}
    return {name: value for name, value in info.items() if name != "feature_names"}


def _anything(value: Any) -> bool:
    return True


def _is(kind: Any) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind) and not isinstance(value, bool)


def _is_search(value: Any) -> bool:
    """A table of a search, with what was chosen."""
    if not isinstance(value, dict) or not isinstance(value.get("table"), list):
        return False
    rows, chosen = value["table"], value.get("chosen")
    return bool(rows) and isinstance(chosen, dict) and _is(int)(value.get("folds")) and all(
        isinstance(row, dict)
        and isinstance(row.get("parameters"), dict)
        and row["parameters"].keys() == chosen.keys()
        and all(_is(Real)(row.get(name)) for name in ("mean", "spread", "seconds"))
        for row in rows
    )  # fmt: skip


SHAPES: dict[str, Callable[[Any], bool]] = {
    "rows": _is(int),
    "seconds": _is(Real),
    "warnings": _is(list),
    "versions": _is(dict),
    "feature_names": _is(list),
    "cv": _is_search,
}
