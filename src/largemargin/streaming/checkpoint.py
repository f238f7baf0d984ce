"""A checkpoint: a model file that also says how far the stream had come, and how to go on from it.

It is written only after the output it speaks of is on the disk, and replaces the one before as a
whole, so whenever the process dies there is a checkpoint, and at least as much output as it says.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from inspect import signature
from typing import Any, NamedTuple

import scipy.sparse as sp

from largemargin.base.pipelines import final_step
from largemargin.base.training_record import ASIDE
from largemargin.machines import CARDS
from largemargin.model_file.container import refusal
from largemargin.model_file.registry import ADDED
from largemargin.model_file.saving import load_with_info, save
from largemargin.online.estimator import OnlineLearner
from largemargin.streaming.schema import Schema
from largemargin.streaming.session import LineCounts


class WrittenOutput(NamedTuple):
    """What has been written of the output, by which it is recognised.

    Checkpoints of earlier versions have no checksum.
    """

    length: int  # bytes
    checksum: int | None
    answers: int  # one per line


@dataclass(frozen=True)
class StreamPosition:
    """How far a stream has come."""

    counts: LineCounts = field(default_factory=LineCounts)
    checksum: int = 0  # checksum of the lines consumed
    output: int = 0  # bytes of output written
    output_checksum: int | None = None
    sparse: bool = False
    names: list[str] | None = None  # names of the columns
    options: dict[str, Any] | None = None  # those of its beginning that must stay

    @property
    def written(self) -> WrittenOutput:
        answers = self.counts.answered + self.counts.skipped
        return WrittenOutput(self.output, self.output_checksum, answers)


def write_checkpoint(path: str, model: Any, place: StreamPosition) -> None:
    """Write model and place, whole or not at all."""
    found = asdict(place)
    del found["names"]  # a million of them are stored once
    save(model, path, info={"checkpoint": found, **model_info(place)})


def model_info(place: StreamPosition) -> dict[str, Any]:
    """What to note in the model file of a stream that has come so far."""
    names = {} if place.names is None else {"feature_names": place.names}
    return {"stream": asdict(place.counts), **names}


def read_checkpoint(path: str) -> tuple[Any, StreamPosition]:
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
        place = StreamPosition(**{**found, "counts": LineCounts(**found["counts"])})
        numbers = [*asdict(place.counts).values(), place.checksum, place.output]
        if place.output_checksum is not None:
            numbers.append(place.output_checksum)
        if not all(type(number) is int and number >= 0 for number in numbers):
            raise TypeError
        if type(place.sparse) is not bool or not isinstance(place.options, dict | None):
            raise TypeError
    except (TypeError, KeyError):
        raise refusal(path, "its place in the stream is malformed") from None
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
        raise refusal(path, "its names of columns are not distinct, one per column")
    return names


def schema_of(machine: Any, info: dict[str, Any], path: str, sparse: bool | None = None) -> Schema:
    """What a fitted model knows of its stream."""
    learner = final_step(machine)
    if not isinstance(learner, OnlineLearner):
        raise ValueError(
            f"{path} is a {type(learner).__name__}, which does not learn from a stream: give the "
            f"file of one of {', '.join(card.name for card in CARDS if card.streams)}"
        )
    learner.check_streaming()
    for name, step in getattr(machine, "steps", [])[:-1]:
        if not hasattr(step, "scale_"):
            raise ValueError(
                f"{path} prepares the columns of a table before it learns ({name}, a "
                f"{type(step).__name__}), which a stream cannot: train again from numbers, or "
                "begin a stream of named values with the name of a machine"
            )
    names = stored_names(info, learner.n_features_in_, path)
    if names is None and hasattr(learner, "feature_names_in_"):
        names = [str(name) for name in learner.feature_names_in_]
    if sparse is None:
        stored = learner.learner_state.stored.rows
        open_names = names is not None and len(names) < learner.n_features_in_
        sparse = open_names if stored is None else sp.issparse(stored)
    return Schema(
        learner.n_features_in_, width=learner.n_features_in_, names=names, sparse=sparse,
        classes=learner.classes_, given=learner.classes_given,
    )  # fmt: skip


def resume_stream(
    checkpoint: str, machine: Any, model: str, kept: dict[str, Any]
) -> tuple[Any, Schema, StreamPosition]:
    """The model of the checkpoint, if it is the one that was asked for, with the same options."""
    found, place = read_checkpoint(checkpoint)
    asked, there = _description(machine), _description(found)
    learner = final_step(found)
    learner.set_params(**{name: asked[name] for name in ASIDE & asked.keys() & there.keys()})
    for name in asked | there:
        same = asked.get(name) == there.get(name) or _left_out(learner, name, asked, there)
        if name not in ASIDE and not same:
            raise _changed(checkpoint, model, name, there.get(name), asked.get(name))
    for name, value in kept.items():
        # what an earlier version did not note, and what is left out, is as it was
        before = (place.options or kept).get(name)
        if value is None:
            kept[name] = before
        elif value != before:
            option = f"--{name.replace('_', '-')}"
            raise _changed(checkpoint, model, option, _told(before), _told(value))
    info = {} if place.names is None else {"feature_names": place.names}
    return found, schema_of(found, info, checkpoint, place.sparse), place


def _left_out(learner: Any, name: str, asked: dict[str, Any], there: dict[str, Any]) -> bool:
    """Whether a parameter has its default now, and had that of an earlier version then."""
    before = ADDED.get(type(learner).__name__, {})
    if name not in before or there.get(name) != before[name]:
        return False
    return bool(asked.get(name) == signature(type(learner)).parameters[name].default)


def _changed(checkpoint: str, model: str, name: str, before: Any, asked: Any) -> ValueError:
    return ValueError(
        f"{checkpoint} cannot go on as {model}: its {name} is {before}, and {asked} was asked for; "
        "resume with the model and the options that it began with"
    )


def _told(value: Any) -> str:
    """The value of an option as people write it."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, bool):
        return "on" if value else "off"
    return "not given" if value is None else str(value)


def _description(machine: Any) -> dict[str, Any]:
    """The class and the parameters of a model."""
    learner = final_step(machine)
    steps = [type(step).__name__ for _, step in getattr(machine, "steps", [])[:-1]]
    return {"model": " after ".join([type(learner).__name__, *steps]), **learner.get_params()}
