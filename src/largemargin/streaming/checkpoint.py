"""A checkpoint: a model file that also says how far the stream had come.

It is written only after the output it speaks of is on the disk, and replaces the one before as a
whole, so whenever the process dies there is a checkpoint, and at least as much output as it says.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from largemargin.model_file.container import refusal
from largemargin.model_file.saving import load_with_info, save
from largemargin.streaming.session import Counts


@dataclass(frozen=True)
class Place:
    """How far a stream has come."""

    counts: Counts = field(default_factory=Counts)
    checksum: int = 0  # of the lines consumed
    output: int = 0  # bytes
    sparse: bool = False
    names: list[str] | None = None  # of columns


def write_checkpoint(path: str, model: Any, place: Place) -> None:
    """Write model and place, whole or not at all."""
    save(model, path, info={"checkpoint": asdict(place), **model_info(place)})


def model_info(place: Place) -> dict[str, Any]:
    """What to note in the model file of a stream that has come so far."""
    names = {} if place.names is None else {"feature_names": place.names}
    return {"stream": asdict(place.counts), **names}


def read_checkpoint(path: str) -> tuple[Any, Place]:
    """The model and the place that were written."""
    try:
        model, info = load_with_info(path)
    except ValueError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            raise ValueError(
                f"there is no checkpoint {path} to resume from: leave out --resume to begin anew"
            ) from None
        raise
    if "checkpoint" not in info:
        raise ValueError(
            f"{path} is a model, not a checkpoint: resume from a file that --checkpoint wrote"
        )
    try:
        found = info["checkpoint"]
        place = Place(**{**found, "counts": Counts(**found["counts"])})
        numbers = (*asdict(place.counts).values(), place.checksum, place.output)
        if not all(type(number) is int and number >= 0 for number in numbers):
            raise TypeError
        if type(place.sparse) is not bool:
            raise TypeError
    except TypeError:
        raise refusal(path, "its place in the stream is not one") from None
    return model, place


def stored_names(info: dict[str, Any], width: int, path: str) -> list[str] | None:
    """The names of columns that were noted with a model, if any."""
    names = info.get("feature_names")
    if names is None:
        return None
    if (
        not isinstance(names, list)
        or not all(type(name) is str for name in names)
        or len(set(names)) < len(names)
        or len(names) > width
    ):
        raise refusal(path, "its names of columns are not distinct texts, one a column")
    return names
