"""Reading a file of examples, whole or in chunks."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from os import PathLike

import numpy as np

from largemargin.data.dataset import Dataset
from largemargin.data.errors import broken
from largemargin.data.features import join_features
from largemargin.data.files import Source, find_file
from largemargin.data.formats import Block, Reader, ReadOptions, detect_format, reader_of
from largemargin.data.labels import (
    LabelColumn,
    LabelKind,
    check_label_argument,
    join_labels,
    parse_labels,
)
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.showing import shown

# Rows of a block: so many that its fixed costs vanish, so few that two copies do not matter.
_READ_ROWS = 4096


def read(
    path: str | PathLike[str],
    *,
    label: LabelColumn = None,
    header: bool | None = None,
    format: str | None = None,
    labels: LabelKind | None = None,
    n_features: int | None = None,
) -> Dataset:
    """Read a file of examples: svmlight, CSV, Parquet, Arrow, NPZ or IDX, also compressed.

    The format is told from the content and the name, compression (gzip, bzip2, xz) from the
    content alone. Text is UTF-8, with a mark of byte order or without. A cell of a table between
    quotes may hold delimiters and ends of lines. Lines of more than 64 MiB, names of more than
    65,536 characters and labels of more than 4,096 are refused.

    Parameters
    ----------
    path : str or path-like
        The file.
    label : str, int or False, default=None
        Which column of a table holds the labels: its name, or its position from 0 (negative from
        the end). By default the column called label, target, class or y, and else the last one.
        False: there are no labels, and `y` is None. For NPZ the name of an array, by default y or
        target, if there is one. An svmlight line starts with its label, and the labels of
        ``train-images-idx3-ubyte`` are in ``train-labels-idx1-ubyte`` beside it; False ignores
        them.
    header : bool, default=None
        Whether the first line of a table in text names the columns; None looks at it.
    format : {"svmlight", "csv", "parquet", "arrow", "npz", "idx"}, default=None
        The format, where it should not be guessed. "csv" is any table in text, whether its
        delimiter is a comma, a semicolon, a tab or blanks; "arrow" is Feather too.
    labels : {"int", "str"}, default=None
        What labels become. By default integers if they all are whole numbers, else strings.
    n_features : int, default=None
        The width. It is needed for svmlight, when a file does not use the last feature; any other
        format is checked against it.

    Returns
    -------
    Dataset
        Which unpacks into `X` and `y`. `X` is a CSR matrix for svmlight and sparse NPZ, otherwise
        an array: float32 where the file holds float32 or small integers, else float64.

    Raises
    ------
    DataError
        If the file is missing, damaged or not what it should be, changes while it is read, or has
        a missing or infinite value; with the place and what to do.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "plants.csv"
    >>> _ = path.write_text("length,width,kind\\n5.1,3.5,iris\\n2.0,1.5,rose\\n")
    >>> data = read(path)
    >>> data
    Dataset('plants.csv', 2 x 2, 2 classes)
    >>> data.feature_names
    ('length', 'width')
    >>> X, y = data
    >>> X
    array([[5.1, 3.5],
           [2. , 1.5]])
    >>> y
    array(['iris', 'rose'], dtype='<U4')
    """
    source, reader = _open_reader(path, label, header, format, labels, n_features)
    parts, raw = [], []
    for block in reader.blocks(_READ_ROWS):
        _check_width(source, block, n_features)
        parts.append(block.X)
        if block.labels is not None:
            raw.append(block.labels)
    source.check_unchanged()
    if not parts:
        raise broken(source.path, "expected at least one example, saw none")
    y = parse_labels(join_labels(raw), labels, source.path) if raw else None
    return _dataset(join_features(parts), y, source, reader)


def stream(
    path: str | PathLike[str],
    chunk: int = 1000,
    *,
    label: LabelColumn = None,
    header: bool | None = None,
    format: str | None = None,
    labels: LabelKind | None = None,
    n_features: int | None = None,
) -> Iterator[Dataset]:
    """Read a file a chunk at a time, for `partial_fit` on what does not fit in memory.

    The chunks put together are what `read` returns: they have one width and one type of label.
    To know these the file is passed over once before the first chunk, unless `labels`, and for
    svmlight `n_features`, are given. The arrays of an NPZ file are read whole.

    Parameters
    ----------
    path : str or path-like
        The file.
    chunk : int, default=1000
        How many rows a chunk has; the last one may have fewer.
    label, header, format, labels, n_features
        As for `read`.

    Returns
    -------
    iterator of Dataset
        Each of which unpacks into `X` and `y`.

    Raises
    ------
    DataError
        As for `read`; damage further on in the file is met when it is reached.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "xor.svm"
    >>> _ = path.write_text("-1\\n1 1:1\\n1 2:1\\n-1 1:1 2:1\\n")
    >>> for X, y in stream(path, chunk=3):
    ...     print(X.toarray().tolist(), y)
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]] [-1  1  1]
    [[1.0, 1.0]] [-1]
    """
    if (rows := operator.index(chunk)) < 1:
        raise ValueError(f"chunk must be at least 1, got {chunk}")
    source, reader = _open_reader(path, label, header, format, labels, n_features)
    width_unknown = reader.width_by_survey and n_features is None
    kind = reader.survey() if labels is None or width_unknown else labels
    return _chunks(source, reader, rows, labels or kind, n_features)


def _chunks(
    source: Source, reader: Reader, rows: int, kind: LabelKind | None, n_features: int | None
) -> Iterator[Dataset]:
    for block in reader.blocks(rows):
        _check_width(source, block, n_features)
        y = None if block.labels is None else parse_labels(block.labels, kind, source.path)
        yield _dataset(block.X, y, source, reader)
    source.check_unchanged()


def _open_reader(
    path: str | PathLike[str],
    label: LabelColumn,
    header: bool | None,
    format: str | None,
    labels: LabelKind | None,
    n_features: int | None,
) -> tuple[Source, Reader]:
    check_label_argument(label)
    if labels not in (None, "int", "str"):
        raise ValueError(f"labels must be 'int', 'str' or None, got {shown(labels)}")
    if n_features is not None and operator.index(n_features) < 1:
        raise ValueError(f"n_features must be at least 1, got {n_features}")
    source = find_file(path)
    reader = reader_of(detect_format(source, format))
    return source, reader(source, ReadOptions(label, header, n_features))


def _check_width(source: Source, block: Block, n_features: int | None) -> None:
    if n_features is not None and block.X.shape[1] != n_features:
        raise broken(
            source.path,
            f"expected n_features={n_features} features, saw {block.X.shape[1]}; "
            "check which column is the label, and that there is one if one was read",
        )


def _dataset(X: Matrix, y: np.ndarray | None, source: Source, reader: Reader) -> Dataset:
    return Dataset(X, y, name=source.path.name, feature_names=reader.feature_names)
