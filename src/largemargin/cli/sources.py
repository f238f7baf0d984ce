"""Data as commands name them: a data set by name, or a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from largemargin.cli.options import Reading
    from largemargin.data import Dataset


def column(label: str | None) -> str | int | None:
    """The label column as `read` takes it: a number is a position."""
    if label is None:
        return None
    try:
        return int(label)
    except ValueError:
        return label


def is_named(source: str) -> bool:
    """Whether a source is a data set by name, and no file."""
    from pathlib import Path

    from largemargin.data import NAMES

    return source in NAMES or not Path(source).exists()


def read_data(
    source: str,
    reading: Reading,
    *,
    no_label: bool = False,
    n_features: int | None = None,
    as_text: bool = False,
    mixed: bool = True,
) -> Dataset:
    """A named data set or a file."""
    from largemargin.data import load, read

    if is_named(source):
        data = load(source)
        if reading.label is not None or reading.given:
            raise ValueError(
                f"--label and --header are for files, and {data.name} is a named data set"
            )
        return data
    return read(
        source,
        label=False if no_label else column(reading.label),
        n_features=n_features,
        labels="str" if as_text else None,
        mixed=mixed,
        **reading.given,
    )
