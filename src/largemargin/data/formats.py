"""The formats of files: what their readers have in common, and which one a file is in.

Binary formats are told by their first bytes. Text is told by the name where the name is clear
(.svm, .csv, ...), and otherwise by whether its first lines look like ``label index:value ...``.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from largemargin.data.errors import broken
from largemargin.data.files import Source
from largemargin.data.labels import LabelKind, RawLabels
from largemargin.runtime.showing import shown

FORMATS = ("svmlight", "csv", "parquet", "npz", "idx")

_ALIASES = {"libsvm": "svmlight", "svm": "svmlight", "tsv": "csv"}
_TEXT_SUFFIXES = {
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".csv": "csv",
    ".tsv": "csv",
}
_BINARY_SUFFIXES = {".parquet": "parquet", ".pq": "parquet", ".npz": "npz", ".idx": "idx"}
_IDX_NAME = re.compile(r"idx\d")
_MAGIC = {
    "parquet": "a Parquet file, which starts with the bytes 'PAR1'",
    "npz": "an NPZ file, which starts with the bytes 'PK'",
    "idx": "an IDX file, which starts with two zero bytes, a type code and a number of dimensions",
}
_IDX_TYPE_CODES = (0x08, 0x09, 0x0B, 0x0C, 0x0D, 0x0E)
_PAIR = re.compile(rb"\d+:\S+|qid:\d+")
_HEAD = 1 << 16
_LINES = 20


@dataclass(frozen=True)
class Block:
    """Consecutive examples of a file, with their labels as the file has them."""

    X: Any
    labels: RawLabels | None


class Reader(Protocol):
    """A file in one of the formats."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the features, where the file gives them."""
        ...

    def survey(self) -> LabelKind | None:
        """Pass over the file once to learn what all blocks must agree on: the kind of the labels
        (returned; None if there are none) and, where a line does not tell it, the width."""
        ...

    def blocks(self, rows: int) -> Iterator[Block]:
        """The examples in order, `rows` at a time; the last block may be shorter."""
        ...


def detect_format(source: Source, format: str | None = None) -> str:
    """The format of a file, one of `FORMATS`; `format` overrides what the name and content say."""
    head = source.head(_HEAD)
    found = _binary_format(head)
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE, BOM_UTF32_BE)):
        raise broken(source.path, "is text in UTF-16 or UTF-32; save it as UTF-8", byte=0)
    wanted = _named_format(format) if format is not None else _suffix_format(source)
    if wanted in _MAGIC and found != wanted:
        raise broken(source.path, f"expected {_MAGIC[wanted]}; saw {head[:8]!r}", byte=0)
    if found is not None and format is None:
        return found
    if wanted is not None:
        return wanted
    if head.startswith(b"\x93NUMPY"):
        raise broken(
            source.path,
            "is an NPY file with a single array; save examples and labels together with "
            "numpy.savez(path, X=X, y=y)",
        )
    if b"\0" in head:
        raise broken(
            source.path,
            f"is neither text nor a format known here ({', '.join(FORMATS)}); it starts with "
            f"{head[:8]!r}",
            byte=head.index(b"\0"),
        )
    return "svmlight" if _looks_like_svmlight(head) else "csv"


def _named_format(format: str) -> str:
    known = _ALIASES.get(format.lower(), format.lower())
    if known not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {shown(format)}")
    return known


def _suffix_format(source: Source) -> str | None:
    suffix = source.suffix
    if suffix in _TEXT_SUFFIXES:
        return _TEXT_SUFFIXES[suffix]
    if _IDX_NAME.search(source.path.name):
        return "idx"
    return _BINARY_SUFFIXES.get(suffix)


def _binary_format(head: bytes) -> str | None:
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"PK"):
        return "npz" if head[2:4] in (b"\x03\x04", b"\x05\x06") else None
    if len(head) >= 4 and head[:2] == b"\0\0" and head[2] in _IDX_TYPE_CODES and head[3] > 0:
        return "idx"
    return None


def _looks_like_svmlight(head: bytes) -> bool:
    lines = head.removeprefix(BOM_UTF8).splitlines()
    if len(head) == _HEAD:
        # The last line, or the last token of an only line, may be cut.
        lines = lines[:-1] or [lines[0].rsplit(None, 1)[0]]
    rows = [tokens for line in lines[:_LINES] if (tokens := line.split(b"#")[0].split())]
    pairs = [token for tokens in rows for token in tokens[1:]]
    unlabelled = [tokens[0] for tokens in rows if b":" in tokens[0]]
    return bool(pairs or unlabelled) and all(map(_PAIR.fullmatch, pairs + unlabelled))
