"""IDX, the format of MNIST: a header of dimensions, then the numbers, big-endian.

The labels are a second file beside the first, found by its name:
``train-images-idx3-ubyte.gz`` goes with ``train-labels-idx1-ubyte.gz``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from largemargin.data.errors import DataError, broken
from largemargin.data.features import check_finite, float_type
from largemargin.data.files import COMPRESSION_SUFFIXES, Source, find_file
from largemargin.data.formats import Block, Reader, ReadOptions
from largemargin.data.labels import LabelKind, first_bad_label, label_kind
from largemargin.runtime.showing import shown

# NumPy types of the type codes.
_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_LABEL_ROWS = 1 << 16  # labels that are read together
_PIECE_BYTES = 1 << 24  # bytes of a large block that are read together


@dataclass(frozen=True)
class Header:
    """What an IDX file says about itself."""

    dtype: np.dtype
    shape: tuple[int, ...]

    @property
    def width(self) -> int:
        return math.prod(self.shape[1:])

    @property
    def size(self) -> int:
        """The length in bytes of the header itself."""
        return 4 + 4 * len(self.shape)

    @property
    def row_bytes(self) -> int:
        return self.width * self.dtype.itemsize


class IdxReader(Reader):
    """An IDX file of examples, of any number of dimensions, with its file of labels."""

    def __init__(self, source: Source, options: ReadOptions) -> None:
        if (label := options.label) is not None and label is not False:
            raise ValueError(
                f"the labels of an IDX file are a file beside it; label must be None or False, "
                f"got {shown(label)}"
            )
        self._source = source
        with source.open() as stream:
            header = read_header(source.path, stream)
        if len(header.shape) < 2 or 0 in header.shape:
            raise broken(
                source.path,
                f"expected at least one example of at least one number, saw the shape "
                f"{header.shape}; give the file of images, not that of labels",
                byte=4,
            )
        self._labels = read_labels(source.path, header.shape[0]) if label is None else None

    def survey(self) -> LabelKind | None:
        return None if self._labels is None else label_kind(self._labels)

    def blocks(self, rows: int) -> Iterator[Block]:
        start = 0
        for raw in _row_blocks(self._source, rows):
            X = raw.astype(float_type(raw.dtype))
            if raw.dtype.kind == "f":
                check_finite(self._source.path, X, start + 1)
            stop = start + len(X)
            yield Block(X, None if self._labels is None else self._labels[start:stop])
            start = stop


def read_header(path: Path, stream: IO[bytes]) -> Header:
    """The header at the beginning of a stream."""
    magic = stream.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in _TYPES or not magic[3]:
        raise broken(
            path,
            f"expected two zero bytes, a type code and a number of dimensions, saw {magic!r}",
            byte=0,
        )
    dimensions = stream.read(4 * magic[3])
    if len(dimensions) < 4 * magic[3]:
        raise _cut_off(path, 4 + 4 * magic[3], 4 + len(dimensions), "for the header")
    shape = tuple(int(n) for n in np.frombuffer(dimensions, dtype=">u4"))
    return Header(np.dtype(_TYPES[magic[2]]), shape)


def read_labels(images: Path, count: int) -> np.ndarray:
    """The labels that go with a file of images."""
    source = find_file(_labels_path(images))
    with source.open() as stream:
        header = read_header(source.path, stream)
    if header.shape != (count,):
        raise broken(
            source.path,
            f"expected {count} labels, one for each example of {images.name}, saw the shape "
            f"{header.shape}",
            byte=4,
        )
    labels = np.concatenate(list(_row_blocks(source, _LABEL_ROWS))).ravel()
    if (at := first_bad_label(labels)) is not None:
        raise broken(source.path, f"expected a label, saw {labels[at]}", row=at + 1)
    return labels.astype(labels.dtype.newbyteorder("="))


def _labels_path(images: Path) -> Path:
    name = images.name
    for suffix in COMPRESSION_SUFFIXES:
        name = name.removesuffix(suffix)
    if "images" not in name:
        raise broken(
            images,
            "expected a name with 'images' in it, to find the file of labels by; rename it, or "
            "pass label=False to read it without labels",
        )
    name = re.sub(r"idx\d+", "idx1", name.replace("images", "labels"))
    candidates = [images.with_name(name + suffix) for suffix in ("", *COMPRESSION_SUFFIXES)]
    found = next((path for path in candidates if path.is_file()), None)
    if found is None:
        raise broken(
            images,
            f"expected its labels beside it in {name} (or that with .gz, .bz2 or .xz), saw no such "
            "file; pass label=False to read it without labels",
        )
    return found


def _row_blocks(source: Source, rows: int) -> Iterator[np.ndarray]:
    """The numbers of a file, one row per example, without holding more than a block."""
    with source.open() as stream:
        header = read_header(source.path, stream)
        total = header.size + header.shape[0] * header.row_bytes
        position = header.size
        while position < total:
            wanted = min(rows * header.row_bytes, total - position)
            block = _read_up_to(stream, wanted)
            position += len(block)
            if len(block) < wanted:
                raise _cut_off(source.path, total, position, f"for the shape {header.shape}")
            yield np.frombuffer(block, dtype=header.dtype).reshape(-1, header.width)
        if stream.read(1):
            raise broken(
                source.path,
                f"expected the end of the file for the shape {header.shape}, saw more bytes",
                byte=total,
            )


def _read_up_to(stream: IO[bytes], size: int) -> bytes | bytearray:
    """`size` bytes, or fewer at the end of the file. A large block is read in pieces, so that a
    damaged header that promises more than memory holds is found out by what is there."""
    if size <= _PIECE_BYTES:
        return stream.read(size)
    block = bytearray()
    while piece := stream.read(min(_PIECE_BYTES, size - len(block))):
        block += piece
    return block


def _cut_off(path: Path, expected: int, seen: int, why: str) -> DataError:
    return broken(
        path,
        f"expected {expected} bytes {why}, saw {seen}; the file is cut off, copy it again",
        byte=seen,
    )
