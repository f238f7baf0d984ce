"""The bytes of a model file: a JSON header and arrays in safetensors, with a checksum over all."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from largemargin.runtime.files import write_atomically
from largemargin.runtime.showing import cut, printable, shown

FORMAT = 2
KEY = "largemargin"
# The checksum comes first in the header, so that its place in the file is found by these bytes,
# which cannot stand anywhere else: a quotation mark inside a text has a backslash before it.
MARK = f'"{KEY}":"{{\\"sha256\\":\\"'.encode()
NO_SUM = "0" * 64
LARGEST_HEADER = 100_000_000  # what the safetensors library accepts


def named(path: str | PathLike[str]) -> str:
    """A path in a sentence."""
    return cut(printable(os.fsdecode(path)), 1000)


class ModelFileError(ValueError):
    """A model that cannot be written to a file, or a file that is not a whole and safe model.

    The message is one sentence with the file, what is wrong and what to do.
    """


@dataclass(frozen=True)
class Contents:
    """What a checked file holds: the header without its checksum, the arrays, its size."""

    header: dict[str, Any]
    arrays: dict[str, np.ndarray]
    size: int
    sha256: str


def write(
    path: str | PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write a model file, whole or not at all."""
    from safetensors.numpy import save as to_bytes

    text = json.dumps(
        {"sha256": NO_SUM, "format": FORMAT, **header}, separators=(",", ":"), allow_nan=False
    )
    if len(text) > LARGEST_HEADER // 2:
        raise ModelFileError(
            f"cannot save to {named(path)}: labels, parameters and info take {len(text)} "
            "characters, more than a model file may have: store less in info"
        )
    raw = to_bytes({k: np.ascontiguousarray(v) for k, v in arrays.items()}, metadata={KEY: text})
    start = raw.index(MARK) + len(MARK)
    view = memoryview(raw)
    try:
        write_atomically(
            path, [view[:start], _digest(raw, start).encode(), view[start + len(NO_SUM) :]]
        )
    except OSError as error:
        raise ModelFileError(f"{error}; the file that was there, if any, is unchanged") from error


def read(path: str | PathLike[str]) -> Contents:
    """Read a file and check that it is a model file of a version we know, whole and unaltered."""
    from safetensors import SafetensorError
    from safetensors.numpy import load as from_bytes

    raw = _read_bytes(path)
    header = _header(path, raw)
    mark = raw.find(MARK)
    start = mark + len(MARK)
    digest = header.pop("sha256", None)
    if mark < 0 or digest != _digest(raw, start):
        raise ModelFileError(
            f"{named(path)} is damaged: its content is not what was written; get a fresh copy of it"
        )
    try:
        arrays = from_bytes(raw)
    except (SafetensorError, ValueError, KeyError, TypeError, OverflowError, MemoryError) as error:
        raise refusal(path, f"its arrays cannot be read ({error})") from error
    return Contents(header, arrays, len(raw), digest)


def refusal(path: str | PathLike[str], problem: str) -> ModelFileError:
    """The error for a file whose checksum is right but whose content makes no model."""
    return ModelFileError(
        f"{named(path)} is not a valid model: {problem}; do not use it, and save the model again"
    )


def _digest(raw: bytes, start: int) -> str:
    view = memoryview(raw)
    total = hashlib.sha256(view[:start])
    total.update(NO_SUM.encode())
    total.update(view[start + len(NO_SUM) :])
    return total.hexdigest()


def _read_bytes(path: str | PathLike[str]) -> bytes:
    """The content of a file that begins like a model file; other files are not read any further."""
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise ModelFileError(f"{named(path)} is a folder, not a model file")
        if not stat.S_ISREG(mode):
            raise ModelFileError(f"{named(path)} is not a regular file, so not a model file")
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if not size:
                raise ModelFileError(f"{named(path)} is empty, so not a model file")
            start = file.read(8)
            length = int.from_bytes(start, "little")
            text = file.read(length) if length <= min(size - 8, LARGEST_HEADER) else b""
            if len(text) < 2 or not text.startswith(b"{"):
                raise ModelFileError(
                    f"{named(path)} is not a whole model file: give a file that largemargin saved"
                )
            return start + text + file.read()
    except FileNotFoundError as error:
        raise ModelFileError(f"there is no file {named(path)}{_similar(path)}") from error
    except (OSError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"cannot read {named(path)}: {_reason(error)}") from error


def _similar(path: str | PathLike[str]) -> str:
    other = Path(f"{os.fspath(path)}.safetensors")
    return f"; did you mean {other}?" if other.is_file() else ": give a file that largemargin saved"


def _header(path: str | PathLike[str], raw: bytes) -> dict[str, Any]:
    """Our part of the header, of a version that we know."""
    length = int.from_bytes(raw[:8], "little")
    try:
        outer = json.loads(raw[8 : 8 + length])
        text = outer["__metadata__"][KEY]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelFileError(
            f"{named(path)} is not a largemargin model: give a file that largemargin saved"
        ) from error
    try:
        header = json.loads(text, parse_constant=_no_constant)
        version, library = header["format"], header["library"]
        if type(version) is not int or not isinstance(library, str):
            raise ValueError("no version")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelFileError(
            f"{named(path)} is damaged: its header cannot be read; get a fresh copy of it"
        ) from error
    if version > FORMAT:
        raise ModelFileError(
            f"{named(path)} was written by a newer largemargin ({printable(library[:40])}, format "
            f"{shown(version)}; this one reads up to {FORMAT}): upgrade with pip install --upgrade "
            "largemargin"
        )
    if version < 1:
        raise refusal(path, f"there is no format {version}")
    return dict(header)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _reason(error: BaseException) -> str:
    return str(getattr(error, "strerror", None) or error)
