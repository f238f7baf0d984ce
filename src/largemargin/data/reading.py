"""Reading a file of examples, whole or in chunks."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from os import PathLike

import numpy as np

from largemargin.data.dataset import Dataset
from largemargin.data.files import Source
from largemargin.data.formats import Reader, ReadOptions
from largemargin.data.labels import LabelColumn, LabelKind, parse_labels
from largemargin.data.mixed_reading import read_mixed
from largemargin.data.opening import check_width, open_reader, read_blocks
from largemargin.runtime.arrays import Matrix


def read(
    path: str | PathLike[str],
    *,
    label: LabelColumn = None,
    header: bool | None = None,
    format: str | None = None,
    labels: LabelKind | None = None,
    n_features: int | None = None,
    mixed: bool = False,
    sep: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
) -> Dataset:
    """Read a file of examples: svmlight, CSV, JSON, Parquet, Arrow, NPZ or IDX, also compressed.

    The format is told from the content and the name, compression (gzip, bzip2, xz) from the
    content alone. Text is UTF-8, with a mark of byte order or without. A cell of a table between
    quotes may hold delimiters and ends of lines. Lines of more than 64 MiB, names of more than
    65,536 characters and labels of more than 4,096 are refused.

    By default every column but the label holds numbers, and none is missing. With ``mixed=True``
    files are taken as they are: columns of text and truth values, and missing values (an empty
    cell, ?, NA, N/A, NaN, null, none). Dates, percentages and numbers with thousands separators
    stay text.

    Parameters
    ----------
    path : str or path-like
        The file.
    label : str, int or False, default=None
        Which column of a table holds the labels: its name, or its position from 0 (negative from
        the end). By default the column called label, target, class or y, and else the last one;
        with ``mixed=True`` the last one only if it is text, truth values or whole numbers with at
        most 20 different values.
        False: there are no labels, and `y` is None. For NPZ the name of an array, by default y or
        target, if there is one. An svmlight line starts with its label, and the labels of
        ``train-images-idx3-ubyte`` are in ``train-labels-idx1-ubyte`` beside it; False ignores
        them.
    header : bool, default=None
        Whether the first line of a table in text names the columns; None looks at it.
    format : {"svmlight", "csv", "json", "parquet", "arrow", "npz", "idx"}, default=None
        The format, where it should not be guessed. "csv" is any table in text, whether its
        separator is a comma, a semicolon, a tab, a bar or blanks; "json" is an object in each line
        or an array of objects; "arrow" is Feather too.
    labels : {"int", "str"}, default=None
        What labels become. By default integers if they all are whole numbers, else strings.
    n_features : int, default=None
        The width. It is needed for svmlight, when a file does not use the last feature; any other
        format is checked against it.
    mixed : bool, default=False
        Whether columns may be text or truth values, and values may be missing.
    sep : str, default=None
        What parts the cells of a table in text: a character, "tab" or "blank"; None looks at the
        file.
    encoding : str, default=None
        The encoding of text, by a name that Python knows. None is UTF-8; with ``mixed=True`` also
        UTF-16 and UTF-32 with their marks, and Latin-1 for what is none of them, which
        `Dataset.notes` then says.
    decimal : {".", ","}, default=None
        What parts the fraction of a number in a table in text. None is a point; with
        ``mixed=True`` a comma, where the numbers can only be read so.

    Returns
    -------
    Dataset
        Which unpacks into `X` and `y`. `X` is a CSR matrix for svmlight and sparse NPZ, otherwise
        an array: float32 where the file holds float32 or small integers, else float64. With
        ``mixed=True`` it is a `Table` unless all columns are numbers and none is missing.

    Raises
    ------
    DataError
        If the file is missing, damaged or not what it should be, changes while it is read, or has
        a missing or infinite value; with the place and what to do. With ``mixed=True`` also if two
        columns have one name, or if no column can be taken for the labels: rows without a label, or
        hundreds of different numbers.

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

    >>> _ = path.write_text("length;colour;kind\\n5,1;blue;iris\\n?;red;rose\\n")
    >>> data = read(path, mixed=True)
    >>> data.X.columns
    {'length': array([5.1, nan]), 'colour': array(['blue', 'red'], dtype=object)}
    >>> data.label_name, data.label_reason, data.notes
    ('kind', 'it is the last column, and holds 2 classes', ('numbers are read with a decimal comma',))
    """  # noqa: E501
    options = ReadOptions(label, header, n_features, mixed, sep, decimal)
    if mixed:
        return read_mixed(path, options, format, labels, encoding)
    source, reader = open_reader(path, options, format, labels, encoding)
    X, raw = read_blocks(source, reader, n_features)
    y = None if raw is None else parse_labels(raw, labels, source.path)
    return _dataset(X, y, source, reader)


def stream(
    path: str | PathLike[str],
    chunk: int = 1000,
    *,
    label: LabelColumn = None,
    header: bool | None = None,
    format: str | None = None,
    labels: LabelKind | None = None,
    n_features: int | None = None,
    sep: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
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
    label, header, format, labels, n_features, sep, encoding, decimal
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
    options = ReadOptions(label, header, n_features, sep=sep, decimal=decimal)
    source, reader = open_reader(path, options, format, labels, encoding)
    width_unknown = reader.width_by_survey and n_features is None
    kind = reader.survey() if labels is None or width_unknown else labels
    return _chunks(source, reader, rows, labels or kind, n_features)


def _chunks(
    source: Source, reader: Reader, rows: int, kind: LabelKind | None, n_features: int | None
) -> Iterator[Dataset]:
    for block in reader.blocks(rows):
        check_width(source, block.X.shape[1], n_features)
        y = None if block.labels is None else parse_labels(block.labels, kind, source.path)
        yield _dataset(block.X, y, source, reader)
    source.check_unchanged()


def _dataset(X: Matrix, y: np.ndarray | None, source: Source, reader: Reader) -> Dataset:
    return Dataset(X, y, name=source.path.name, feature_names=reader.feature_names)
