"""A checkpoint: a model file that also says how far the stream had come.

It is written only after the output it speaks of is on the disk, and replaces the one before as a
whole, so whenever the process dies there is a checkpoint, and at least as much output as it says.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from largemargin.model_file.container import refusal
from largemargin.model_file.saving import load_with_info, save
from largemargin.streaming.session import Counts


class Written(NamedTuple):
    """What has been written of the output, by which it is recognised.

    Checkpoints of earlier versions have no checksum.
    """

    length: int  # bytes
    checksum: int | None
    answers: int  # one a line


@dataclass(frozen=True)
class Place:
    """How far a stream has come."""

    counts: Counts = field(default_factory=Counts)
    checksum: int = 0  # of the lines consumed
    output: int = 0  # bytes
    output_checksum: int | None = None
    sparse: bool = False
    names: list[str] | None = None  # of columns
    options: dict[str, Any] | None = None  # with which the stream began, as far as they must stay

    @property
    def written(self) -> Written:
        answers = self.counts.answered + self.counts.skipped
        return Written(self.output, self.output_checksum, answers)


def write_checkpoint(path: str, model: Any, place: Place) -> None:
    """Write model and place, whole or not at all."""
    found = asdict(place)
    del found["names"]  # a million of them are stored once
    save(model, path, info={"checkpoint": found, **model_info(place)})


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
                f"there is no checkpoint {path} to resume from: leave out --resume to begin anew, "
                "with --overwrite if there is output already"
            ) from None
        raise
    if "checkpoint" not in info:
        raise ValueError(
            f"{path} is a model, not a checkpoint: resume from a file that --checkpoint wrote"
        )
    try:
        found = {"names": info.get("feature_names"), **info["checkpoint"]}
        place = Place(**{**found, "counts": Counts(**found["counts"])})
        numbers = [*asdict(place.counts).values(), place.checksum, place.output]
        if place.output_checksum is not None:
            numbers.append(place.output_checksum)
        if not all(type(number) is int and number >= 0 for number in numbers):
            raise TypeError
        if type(place.sparse) is not bool or not isinstance(place.options, dict | None):
            raise TypeError
    except (TypeError, KeyError):
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
