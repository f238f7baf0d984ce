"""The formats of files: one row per format, what all readers have, and which format a file is in.

A new format is a file with its `Reader` and a row of `FORMATS`; nothing else lists formats but the
documents, and a test says which of them lacks one. Readers are named, not imported, so that each is
loaded when the first file of its kind is read.

Binary formats are told by their first bytes. Text is told by the name where the name is clear
(.svm, .csv, ...), and otherwise by whether its first lines look like ``label index:value ...``.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast

from largemargin.data.errors import DataError, broken
from largemargin.data.files import COMPRESSION_SUFFIXES, Source
from largemargin.data.label_rule import LabelChoice
from largemargin.data.labels import LabelColumn, LabelKind, RawLabels
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.showing import shown


@dataclass(frozen=True)
class Format:
    """One row of the table of formats."""

    name: str  # as `format=` has it
    title: str  # as documents have it
    reader: str  # module in this package, and class
    endings: tuple[str, ...]  # endings of file names, in lower case
    aliases: tuple[str, ...] = ()  # other names that `format=` takes
    in_name: str = ""  # a pattern anywhere in a file name that tells the format
    magic: bytes = b""  # a pattern of the first bytes; empty for text
    magic_words: str = ""  # what the file is and starts with, for the message if it does not


FORMATS = (
    Format(
        name="svmlight", title="svmlight", reader="svmlight.SvmlightReader",
        endings=(".svm", ".svmlight", ".libsvm"), aliases=("libsvm", "svm"),
    ),
    Format(
        name="csv", title="CSV", reader="table.TableReader",
        endings=(".csv", ".tsv"), aliases=("tsv",),
    ),
    Format(
        name="json", title="JSON lines", reader="json_records.JsonReader",
        endings=(".jsonl", ".ndjson", ".json"), aliases=("jsonl", "ndjson"),
    ),
    Format(
        name="parquet", title="Parquet", reader="parquet.ParquetReader",
        endings=(".parquet", ".pq"), magic=rb"PAR1",
        magic_words="a Parquet file, which starts with the bytes 'PAR1'",
    ),
    Format(
        name="arrow", title="Arrow", reader="arrow.ArrowReader", aliases=("feather", "ipc"),
        endings=(".feather", ".arrow", ".arrows", ".ipc"), magic=rb"ARROW1|\xff{4}...[\0-\x0f]",
        magic_words="an Arrow or Feather file, which starts with the bytes 'ARROW1', or an Arrow "
        "stream, which starts with four bytes 0xff and a length",
    ),
    Format(
        name="npz", title="NPZ", reader="npz.NpzReader",
        endings=(".npz",), magic=rb"PK(\x03\x04|\x05\x06)",
        magic_words="an NPZ file, which starts with the bytes 'PK'",
    ),
    Format(
        name="idx", title="IDX", reader="idx.IdxReader",
        endings=(".idx",), in_name=r"idx\d", magic=rb"\0\0[\x08\x09\x0b-\x0e][^\0]",
        magic_words="an IDX file, which starts with two zero bytes, a type code and a number of "
        "dimensions",
    ),
)  # fmt: skip

TEXT_TABLES = ("csv",)  # formats that have separators
FORMAT_NAMES = tuple(format.name for format in FORMATS)
# Endings that file names of data have; .txt and .data tell no format, compression goes around one.
ENDINGS = frozenset(
    (".txt", ".data", *COMPRESSION_SUFFIXES, *(end for format in FORMATS for end in format.endings))
)

_BY_NAME = {name: format for format in FORMATS for name in (format.name, *format.aliases)}
_BY_ENDING = {ending: format for format in FORMATS for ending in format.endings}
# What follows the label in a line of svmlight.
_PAIR = re.compile(rb"\d+:\S+|qid:\d+")
_JSON = re.compile(rb"(\xef\xbb\xbf)?\s*(\[\s*)?\{")  # how text with JSON objects begins
_HEAD_BYTES = 1 << 16  # bytes at the beginning of a file from which its format is told
_HEAD_LINES = 20  # lines among them that must look like svmlight


@dataclass(frozen=True)
class ReadOptions:
    """What callers say about a file; each reader takes what its format needs."""

    label: LabelColumn = None
    header: bool | None = None
    n_features: int | None = None
    mixed: bool = False
    sep: str | None = None
    decimal: str | None = None
    names: tuple[str, ...] = ()  # of columns that are expected, which tell a header line


@dataclass(frozen=True)
class Block:
    """Consecutive examples of a file, with their labels as the file has them."""

    X: Matrix
    labels: RawLabels | None


class Reader(ABC):
    """A file in one of the formats.

    Attributes
    ----------
    feature_names : tuple of str, or None
        The names of the features, where the file gives them.
    width_by_survey : bool
        Whether only `survey` tells the width, since a block need not have the last features.
    column_names : tuple of str
        The names of all columns, the label's too, of a file that `read_columns` reads; those
        without a name are called by their positions.
    label_choice : LabelChoice, or None
        Which of these columns holds the labels.
    notes : tuple of str
        What was told from the content, a sentence each.
    """

    feature_names: tuple[str, ...] | None = None
    width_by_survey = False
    column_names: tuple[str, ...] = ()
    label_choice: LabelChoice | None = None
    notes: tuple[str, ...] = ()

    @abstractmethod
    def __init__(self, source: Source, options: ReadOptions) -> None: ...

    @abstractmethod
    def survey(self) -> LabelKind | None:
        """Pass over the file once to learn what all blocks must agree on: the kind of the labels
        (returned; None if there are none) and, where a line does not tell it, the width."""

    @abstractmethod
    def blocks(self, rows: int) -> Iterator[Block]:
        """The examples in order, `rows` at a time; the last block may be shorter."""

    def read_columns(self, kinds: Mapping[str, str]) -> dict[str, Any]:
        """All columns, of whatever kind: arrays as a `Table` has them, and raw labels.

        A column is "number", "bool" or "text", or "label" for raw labels, where `kinds` says so,
        and else what its values are.
        """
        raise NotImplementedError


def reader_of(format: str) -> type[Reader]:
    """The class that reads a format."""
    module, name = _BY_NAME[format].reader.split(".")
    return cast(type[Reader], getattr(import_module(f"largemargin.data.{module}"), name))


def detect_format(source: Source, format: str | None = None) -> str:
    """The name of a file's format; `format` overrides what the name and content say."""
    head = source.head(_HEAD_BYTES)
    found = _told_by_bytes(head)
    if told_encoding(source) is not None:
        raise broken(
            source.path,
            "is text in UTF-16 or UTF-32; save it as UTF-8, or pass encoding='utf-16'",
            byte=0,
        )
    if head.startswith(b"PK") and (b"[Content_Types].xml" in head or b"xl/" in head):
        raise _workbook(source)
    wanted = _asked_for(format) if format is not None else _told_by_name(source)
    if wanted is not None and wanted.magic and found is not wanted:
        raise broken(source.path, f"expected {wanted.magic_words}; saw {head[:8]!r}", byte=0)
    if found is not None and format is None:
        return found.name
    if wanted is not None:
        return wanted.name
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise _workbook(source)
    if head.startswith(b"\x93NUMPY"):
        raise broken(
            source.path,
            "is an NPY file with a single array; save examples and labels together with "
            "numpy.savez(path, X=X, y=y)",
        )
    if b"\0" in head:
        raise broken(
            source.path,
            f"is neither text nor a format known here ({', '.join(FORMAT_NAMES)}); it starts with "
            f"{head[:8]!r}",
            byte=head.index(b"\0"),
        )
    if _JSON.match(head):
        return "json"
    return "svmlight" if _looks_like_svmlight(head) else "csv"


def _workbook(source: Source) -> DataError:
    return broken(source.path, "is an Excel workbook; save the sheet with the examples as CSV")


def told_encoding(source: Source) -> str | None:
    """The encoding of which a file begins with the mark, unless it is UTF-8."""
    head = source.head(4)
    if head.startswith((BOM_UTF32_LE, BOM_UTF32_BE)):
        return "utf-32"
    return "utf-16" if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else None


def is_binary(source: Source) -> bool:
    """Whether the first bytes are those of a format that is not text."""
    return _told_by_bytes(source.head(_HEAD_BYTES)) is not None


def _asked_for(name: str) -> Format:
    if name.lower() not in _BY_NAME:
        raise ValueError(f"format must be one of {', '.join(FORMAT_NAMES)}, got {shown(name)}")
    return _BY_NAME[name.lower()]


def _told_by_name(source: Source) -> Format | None:
    """An ending of text counts for more than a pattern in the name, and that more than others."""
    by_ending = _BY_ENDING.get(source.suffix)
    if by_ending is not None and not by_ending.magic:
        return by_ending
    patterned = (form for form in FORMATS if form.in_name)
    by_pattern = (form for form in patterned if re.search(form.in_name, source.path.name))
    return next(by_pattern, by_ending)


def _told_by_bytes(head: bytes) -> Format | None:
    binary = (format for format in FORMATS if format.magic)
    return next((form for form in binary if re.match(form.magic, head, re.DOTALL)), None)


def _looks_like_svmlight(head: bytes) -> bool:
    lines = head.removeprefix(BOM_UTF8).splitlines()
    if len(head) == _HEAD_BYTES:
        # The last line, or the last token of an only line, may be cut.
        lines = lines[:-1] or [lines[0].rsplit(None, 1)[0]]
    rows = [tokens for line in lines[:_HEAD_LINES] if (tokens := line.split(b"#")[0].split())]
    pairs = [token for tokens in rows for token in tokens[1:]]
    unlabelled = [tokens[0] for tokens in rows if b":" in tokens[0]]
    return bool(pairs or unlabelled) and all(map(_PAIR.fullmatch, pairs + unlabelled))
