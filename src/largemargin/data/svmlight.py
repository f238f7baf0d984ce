"""The svmlight (LIBSVM) format: ``label index:value index:value ...  # comment``.

A block of lines is parsed with a few array operations over its bytes: the starts of the tokens and
the colons must interleave, the digits before each colon make the index, and what is left is
numbers between spaces. Only when something does not fit are the lines looked at one by one, to
find the line that is wrong.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from os import PathLike
from typing import IO

import numpy as np
import scipy.sparse as sp

from largemargin.data.errors import MAX_LABEL, DataError, broken
from largemargin.data.files import Source, take_lines
from largemargin.data.formats import Block, Reader, ReadOptions
from largemargin.data.labels import LabelKind, first_bad_label, label_kind, label_problem
from largemargin.runtime.showing import shown

_QUERY = re.compile(rb"\bqid:[0-9]+")
_INDEX_DIGITS = 18  # digits of an index that fits in 64 bits, whatever they are
_SURVEY_ROWS = 4096  # rows that a survey reads together
_LABEL_BYTES = 4 * MAX_LABEL + 4  # bytes that tell that a label is too long


class SvmlightReader(Reader):
    """A file in svmlight format, as CSR matrices."""

    width_by_survey = True

    def __init__(self, source: Source, options: ReadOptions) -> None:
        if (label := options.label) is not None and label is not False:
            raise ValueError(
                "the label of an svmlight file is the first on its line; label must be None or "
                f"False, got {shown(label)}"
            )
        self._source = source
        self._labelled = label is None
        self._width = options.n_features

    def survey(self) -> LabelKind | None:
        width, seen = 0, set()
        with self._source.open() as stream:
            for _, lines in _line_blocks(stream, _SURVEY_ROWS, self._source.path):
                for line in lines:
                    width = max(width, _last_index(line))
                    label = line.split(None, 1)[0][:_LABEL_BYTES] if line else b"0"
                    seen.add(label.decode("utf-8", "replace"))
        self._width = self._width or width
        return label_kind(list(seen)) if self._labelled else None

    def blocks(self, rows: int) -> Iterator[Block]:
        with self._source.open() as stream:
            empty = True
            for first, lines in _line_blocks(stream, rows, self._source.path):
                empty = False
                yield self._parse(lines, first)
        if empty:
            raise broken(self._source.path, "expected at least one example, saw no line with any")

    def _parse(self, lines: list[bytes], first: int) -> Block:
        rows = [line for line in lines if line]
        try:
            labels, rests = _split_labels(rows, self._labelled)
            indptr, indices, values = _parse_pairs(rests)
        except ValueError as error:
            raise self._diagnose(lines, first, error) from None
        width = int(indices.max(initial=-1)) + 1
        if self._width is not None:
            if width > self._width:
                raise self._too_wide(lines, first)
            width = self._width
        X = sp.csr_matrix((values, indices, indptr), shape=(len(rows), width))
        return Block(X, labels if self._labelled else None)

    def _diagnose(self, lines: list[bytes], first: int, error: ValueError) -> DataError:
        for number, line in enumerate(lines, first):
            if line and (problem := _line_problem(line, self._labelled)):
                return broken(self._source.path, problem, line=number)
        span = f"{first} to {first + len(lines) - 1}"
        return broken(self._source.path, f"cannot be read as svmlight ({error})", line=span)

    def _too_wide(self, lines: list[bytes], first: int) -> DataError:
        number, seen = next(
            (n, i)
            for n, line in enumerate(lines, first)
            if (i := _last_index(line)) > self._width  # type: ignore[operator]
        )
        return broken(
            self._source.path,
            f"expected indices up to n_features={self._width}, saw {seen}; give a larger one",
            line=number,
        )


def _line_blocks(
    stream: IO[bytes], rows: int, path: PathLike[str]
) -> Iterator[tuple[int, list[bytes]]]:
    """Blocks with `rows` examples, each with the number of its first line. Comments are cut off;
    a line without an example is kept as empty bytes, so that positions still give line numbers."""
    first = 1
    lines: list[bytes] = []
    found = 0
    while chunk := take_lines(stream, rows - found, b"", path, first + len(lines)):
        if first == 1 and not lines:
            chunk[0] = chunk[0].removeprefix(BOM_UTF8)
        for raw in chunk:
            line = raw.split(b"#", 1)[0] if b"#" in raw else raw
            if b"qid:" in line:
                line = _QUERY.sub(b"", line)
            line = line.strip()
            lines.append(line)
            found += bool(line)
        if found == rows:
            yield first, lines
            first, lines, found = first + len(lines), [], 0
    if found:
        yield first, lines


def _split_labels(rows: list[bytes], labelled: bool) -> tuple[list[str], list[bytes]]:
    """The labels and what follows them; a missing label is a ValueError only if one is needed."""
    labels, rests = [], []
    for row in rows:
        label, _, rest = row.partition(b" ") if b"\t" not in row else _partition_blank(row)
        if b":" in label or b"," in label:
            if labelled or b"," in label:
                raise ValueError("no label")
            label, rest = b"", row
        labels.append(label.decode("utf-8"))
        rests.append(rest)
    if labelled and first_bad_label(labels) is not None:
        raise ValueError("missing label")
    return labels, rests


def _partition_blank(row: bytes) -> tuple[bytes, bytes, bytes]:
    parts = row.split(None, 1)
    return parts[0], b" ", parts[1] if len(parts) > 1 else b""


def _parse_pairs(rests: list[bytes]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The CSR arrays of lines of ``index:value`` pairs, or a ValueError."""
    text = np.frombuffer(b" " + b"\n".join(rests) + b" ", dtype=np.uint8).copy()
    blank = text <= 32
    starts = np.flatnonzero(blank[:-1] & ~blank[1:]) + 1
    colons = np.flatnonzero(text == ord(":"))
    if starts.size != colons.size:
        raise ValueError("a token is not index:value")
    if not (np.all(starts < colons) and np.all(colons[:-1] < starts[1:])):
        raise ValueError("a token is not index:value")
    if np.any(blank[colons + 1]):
        raise ValueError("a value is missing")
    indices = _take_indices(text, starts, colons)
    values = np.fromstring(text.tobytes(), sep=" ") if starts.size else np.empty(0)
    if values.size != starts.size or not np.all(np.isfinite(values)):
        raise ValueError("a value is not a finite number")
    row_ends = np.cumsum([len(rest) + 1 for rest in rests])
    indptr = np.concatenate(([0], np.searchsorted(starts, row_ends, side="right")))
    rising = np.diff(indices, prepend=0) > 0
    rising[indptr[:-1][indptr[:-1] < indices.size]] = True
    if not np.all(rising) or np.any(indices < 1):
        raise ValueError("indices do not increase from 1")
    return indptr, indices - 1, values


def _take_indices(text: np.ndarray, starts: np.ndarray, colons: np.ndarray) -> np.ndarray:
    """The numbers before the colons, which are blanked out in the text, colons included."""
    lengths = colons - starts
    if lengths.max(initial=0) > _INDEX_DIGITS:
        raise ValueError("an index is too long")
    indices = np.zeros(starts.size, dtype=np.int64)
    for place in range(lengths.max(initial=0)):
        live = np.flatnonzero(lengths > place)
        at = starts[live] + place
        digits = text[at] - np.uint8(ord("0"))  # anything but a digit wraps to 10 or more
        if np.any(digits > 9):
            raise ValueError("an index is not a whole number")
        indices[live] = indices[live] * 10 + digits
        text[at] = ord(" ")
    text[colons] = ord(" ")
    return indices


def _last_index(line: bytes) -> int:
    """The index of the last pair, the largest of its line; 0 if it cannot be told."""
    index, colon, _ = line[line.rfind(b" ") + 1 :].rpartition(b"\t")[2].partition(b":")
    return int(index) if colon and index.isdigit() and len(index) <= _INDEX_DIGITS else 0


def _line_problem(line: bytes, labelled: bool) -> str | None:
    """What is wrong with a line, or None."""
    try:
        tokens = line.decode("utf-8").split()
    except UnicodeDecodeError:
        return f"expected text in UTF-8, saw {line[:20]!r}"
    if problem := _label_problem(tokens[0], labelled):
        return problem
    previous = 0
    for token in tokens if ":" in tokens[0] else tokens[1:]:
        index, colon, value = token.partition(":")
        seen = shown(token)
        if not colon or not re.fullmatch(r"-?[0-9]+", index) or not _is_number(value):
            return f"expected index:value, saw {seen}"
        if len(index) > _INDEX_DIGITS:
            return f"expected an index of at most {_INDEX_DIGITS} digits, saw {seen}"
        if int(index) < 1:
            return f"expected indices from 1, saw {seen}; add 1 to every index of the file"
        if int(index) <= previous:
            return f"expected indices in increasing order, saw {seen} after index {previous}"
        if not np.isfinite(float(value)):
            return f"expected a finite number, saw {seen}; leave the pair out or fill it in"
        previous = int(index)
    return None


def _label_problem(first: str, labelled: bool) -> str | None:
    seen = shown(first)
    if "," in first:
        return f"expected one label, saw {seen}; data with several labels a row is not read"
    if labelled and ":" in first:
        return f"expected a label first, saw {seen}; pass label=False if there are no labels"
    if labelled and first.lower() == "nan":
        return f"expected a label first, saw {seen}; remove the row or fill in its label"
    return label_problem(first) if labelled else None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
