"""Opening a file with the reader of its format, and reading its numbers whole."""

from __future__ import annotations

import codecs
import operator
from dataclasses import replace
from os import PathLike

from largemargin.data.errors import broken
from largemargin.data.features import join_features
from largemargin.data.files import Source, find_file
from largemargin.data.formats import (
    TEXT_TABLES,
    Reader,
    ReadOptions,
    detect_format,
    is_binary,
    reader_of,
    told_encoding,
)
from largemargin.data.labels import LabelKind, RawLabels, check_label_argument, join_labels
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.showing import shown

# Rows of a block: so many that its fixed costs vanish, so few that two copies do not matter.
_READ_ROWS = 4096


def open_reader(
    path: str | PathLike[str],
    options: ReadOptions,
    format: str | None = None,
    labels: LabelKind | None = None,
    encoding: str | None = None,
) -> tuple[Source, Reader]:
    """The file and its reader, after a look at what the caller asks for."""
    _check_arguments(options, labels)
    source = find_file(path)
    if encoding is not None:
        source = _in_encoding(source, encoding)
    elif options.mixed and not is_binary(source):
        source = replace(source, encoding=told_encoding(source))
    name = detect_format(source, format)
    if (options.sep or options.decimal) and name not in TEXT_TABLES:
        raise broken(
            source.path, f"sep= and decimal= are for tables in text, and the file is {name}"
        )
    return source, reader_of(name)(source, options)


def read_blocks(
    source: Source, reader: Reader, n_features: int | None
) -> tuple[Matrix, RawLabels | None]:
    """All numbers of a file, and its raw labels if it has any."""
    parts, raw = [], []
    for block in reader.blocks(_READ_ROWS):
        check_width(source, block.X.shape[1], n_features)
        parts.append(block.X)
        if block.labels is not None:
            raw.append(block.labels)
    source.check_unchanged()
    if not parts:
        raise broken(source.path, "expected at least one example, saw none")
    return join_features(parts), join_labels(raw) if raw else None


def check_width(source: Source, width: int, n_features: int | None) -> None:
    if n_features is not None and width != n_features:
        raise broken(
            source.path,
            f"expected n_features={n_features} features, saw {width}; "
            "check which column is the label, and that there is one if one was read",
        )


def _check_arguments(options: ReadOptions, labels: LabelKind | None) -> None:
    check_label_argument(options.label)
    if labels not in (None, "int", "str"):
        raise ValueError(f"labels must be 'int', 'str' or None, got {shown(labels)}")
    if options.n_features is not None and operator.index(options.n_features) < 1:
        raise ValueError(f"n_features must be at least 1, got {options.n_features}")
    if options.decimal not in (None, ".", ","):
        raise ValueError(f"decimal must be '.', ',' or None, got {shown(options.decimal)}")


def _in_encoding(source: Source, encoding: str) -> Source:
    try:
        name = codecs.lookup(encoding).name
        "a".encode(name)  # which those refuse that are not of text
    except (LookupError, TypeError):
        raise ValueError(
            "encoding must be one that Python knows, such as utf-8, utf-16, latin-1 or cp1252, got "
            f"{shown(encoding)}"
        ) from None
    if is_binary(source):
        raise broken(source.path, "encoding= is for text, and the file is not text")
    return source if name in ("utf-8", "utf-8-sig") else replace(source, encoding=name)
