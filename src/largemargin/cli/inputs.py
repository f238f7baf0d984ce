"""Data and models as commands name them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from largemargin.cli.columns import Columns, read_for
from largemargin.cli.sources import column, read_data
from largemargin.cli.stream_columns import rows_by_name
from largemargin.runtime.showing import shown

if TYPE_CHECKING:
    import numpy as np

    from largemargin.cli.options import Reading
    from largemargin.data import Dataset
    from largemargin.runtime.arrays import Matrix, VectorLike


def read_training_data(source: str, reading: Reading) -> Dataset:
    """Data with labels of at least two classes."""
    return _with_classes(read_data(source, reading), source)


def read_parts(source: str, reading: Reading, client: Any) -> Dataset:
    """The same from a folder or a pattern of files, which the workers of a cluster read."""
    from largemargin.dask.reading import read_parts as read

    return _with_classes(read(source, column(reading.label), reading.header, client), source)


def _with_classes(data: Dataset, source: str) -> Dataset:
    import numpy as np

    if data.y is None:
        raise ValueError(f"{source} has no labels to learn from: name their column with --label")
    classes = np.unique(data.y)
    if len(classes) < 2:
        told = f", in the column {shown(data.label_name)}" if data.label_name else ""
        raise ValueError(
            f"{source} has only one class, {shown(str(classes[0]))[1:-1]}{told}: give data with "
            "two classes or more, or name the column of the labels with --label"
        )
    return data


def read_unlabelled_data(source: str, reading: Reading) -> Dataset:
    """Rows to learn from without labels: all columns of a file but the one that `label` names."""
    from dataclasses import replace

    data = read_data(source, reading, no_label=reading.label is None)
    return replace(data, y=None, X_test=None, y_test=None)


def read_test_data(source: str, training: Dataset, reading: Reading) -> tuple[Matrix, np.ndarray]:
    """Data to test on a model of the training data: as wide, and with labels that occur there."""
    import numpy as np

    assert training.y is not None
    data = read_for(source, reading, Columns.of_data(training))
    X, y = (data.X, data.y) if data.X_test is None else (data.X_test, data.y_test)
    if y is None:
        raise ValueError(f"{source} has no labels to test with: name their column with --label")
    numbers_of(y, np.unique(training.y), source, data.label_name)
    return X, y


def read_data_for(
    model: Any,
    info: dict[str, Any],
    source: str,
    reading: Reading,
    *,
    no_label: bool = False,
) -> tuple[Matrix, np.ndarray | None]:
    """Examples for a model to look at, and their labels: the test set, if the data set has one."""
    data = read_whole_for(model, info, source, reading, no_label=no_label)
    return (data.X, data.y) if data.X_test is None else (data.X_test, data.y_test)


def read_whole_for(
    model: Any,
    info: dict[str, Any],
    source: str,
    reading: Reading,
    *,
    no_label: bool = False,
) -> Dataset:
    """Data for a model to look at, with all their parts: the columns that it was trained on."""
    served = rows_by_name(model, info, source, reading.label, no_label)
    if served is not None:
        return served
    if not knows_labels(model) and reading.label is None:  # as `read_unlabelled_data` has it
        no_label = True
    return read_for(source, reading, Columns.of_model(model, info), no_label=no_label)


def numbers_of(
    labels: VectorLike, classes: np.ndarray, source: str, column: str | None = None
) -> np.ndarray:
    """The class number of each label, -1 for a label that the model does not know; `column` is
    what they were read from.
    """
    import numpy as np

    from largemargin.base.labels import numbers_in

    labels = _of_type(np.asarray(labels), classes)
    known = None
    if labels is not None:
        numbers = numbers_in(classes, labels)
        known = numbers >= 0
    if known is None or not known.any():
        few = ", ".join(shown(str(label))[1:-1] for label in classes[:10].tolist())
        few += ", ..." * (len(classes) > 10)
        where = f"{source}, in the column {shown(column)}," if column else source
        raise ValueError(
            f"the labels of {where} are not those the model knows ({few}): name the column of the "
            "labels with --label"
        )
    return numbers


def _of_type(labels: np.ndarray, classes: np.ndarray) -> np.ndarray | None:
    """Labels from a file, integers or text, as the type of the model's; None if they cannot be."""
    import numpy as np

    if classes.dtype.kind in "UTO":
        return labels if labels.dtype.kind in "UTO" else labels.astype(str)
    if labels.dtype.kind not in "UO":
        return labels
    labels = labels.astype(str)
    if classes.dtype.kind == "b":
        lower = np.char.lower(labels)
        return lower == "true" if np.isin(lower, ["true", "false"]).all() else None
    try:
        return labels.astype(np.float64)
    except ValueError:
        return None


def read_model(file: str) -> tuple[Any, dict[str, Any]]:
    """A model and the notes of its training; the names of columns are the model's own if it has
    them.
    """
    from largemargin.model_file.saving import load_with_info
    from largemargin.report.fit.words import known_notes

    model, info = load_with_info(file)
    return model, known_notes(model, info)


def read_classifier(file: str) -> tuple[Any, dict[str, Any]]:
    """The same, for commands that compare with labels."""
    from largemargin.base.pipelines import final_step

    model, info = read_model(file)
    if not knows_labels(model):
        raise ValueError(
            f"{file} holds a {type(final_step(model)).__name__}, which learns without labels, so "
            "there is no error to measure: largemargin predict tells which rows are outliers"
        )
    return model, info


def knows_labels(model: Any) -> bool:
    """Whether a fitted model answers with labels that it was taught."""
    return hasattr(model, "classes_")
