"""Tables of mixed columns in commands: how they are prepared for a machine, and what is said of it.

A table is prepared by a `TablePreprocessor`, which is the first step of the model that is saved. A
file of numbers alone stays an array behind a scaler, unless something is to be done to its columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from largemargin.runtime.showing import listed, shown

if TYPE_CHECKING:
    import numpy as np

    from largemargin.data import Dataset, Table

POLICIES = ("impute", "drop", "refuse")
MOST_COLUMNS = 200  # of a file of numbers, in which those that say nothing are looked for
Drop = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,...",
        help="Columns of a table to leave out, by name or by position from 0.",
        show_default=False,
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,...",
        help="Columns of numbers that are codes, such as those of towns: each value is a category.",
        show_default=False,
    ),
]
Missing = Annotated[
    str,
    typer.Option(
        help="What to do about missing values of a table: impute puts in the median or a category "
        "of its own, drop leaves out their rows, refuse ends with the column that has them."
    ),
]


@dataclass(frozen=True)
class TableOptions:
    """What is to be done to the columns of a table, as far as it was said."""

    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    missing: str = "impute"

    @classmethod
    def of(cls, drop: Any, categorical: Any, missing: str) -> TableOptions:
        if missing not in POLICIES:
            raise ValueError(
                f"--missing must be one of {', '.join(POLICIES)}, got {shown(missing)}"
            )
        return cls(tuple(drop or ()), tuple(categorical or ()), missing)

    def named(self, data: Dataset) -> TableOptions:
        """The same with the names of columns in place of their positions in the file."""
        names = list(as_table(data).names)
        label, position = data.label_name, data.label_position
        if label is not None and position is not None:
            names.insert(position, label)
        return replace(
            self,
            drop=_names(self.drop, names, "--drop", label),
            categorical=_names(self.categorical, names, "--categorical", label),
        )

    @property
    def given(self) -> bool:
        return bool(self.drop or self.categorical)


def is_table(X: Any) -> bool:
    """Whether rows have columns that are not all numbers."""
    from largemargin.data import Table

    return isinstance(X, Table) or getattr(getattr(X, "dtype", None), "kind", "") == "O"


def as_table(data: Dataset) -> Table:
    """The rows as a table; columns without names are called x0, x1 and so on."""
    from largemargin.data import Table

    X: Any = data.X
    if isinstance(X, Table):
        return X
    names = data.feature_names or tuple(f"x{j}" for j in range(X.shape[1]))
    return Table({name: _column(X[:, j]) for j, name in enumerate(names)})


def _column(values: Any) -> Any:
    """One column of an array as a table has it."""
    import numpy as np

    if values.dtype != object:
        return np.asarray(values, np.float64)
    missing = np.array([value is None or value != value for value in values.tolist()])
    try:
        return np.where(missing, np.nan, values).astype(np.float64)
    except ValueError:
        return np.where(missing, None, values)


def prepared(data: Dataset, options: TableOptions) -> Dataset:
    """Data as they are trained on: a table where columns are mixed, or to be dropped or encoded,
    without rows of missing values if these are not wanted.
    """

    if not is_table(data.X) and not _needs_table(data, options):
        return data
    options, table = options.named(data), as_table(data)
    X_test = None if data.X_test is None else as_table(replace(data, X=data.X_test))
    if options.missing == "drop":
        rows = preprocessor(table, options, "none").complete_rows(table)
        if not rows.any():
            raise ValueError(
                f"every row of {data.name} has a missing value, so --missing drop leaves none: "
                "give --missing impute, or leave out columns with --drop"
            )
        if not rows.all():
            told = f"{(~rows).sum()} of {len(rows)} rows have a missing value and are left out"
            data = replace(data, notes=(*data.notes, told))
        table, y = table[rows], None if data.y is None else data.y[rows]
    else:
        y = data.y
    found: Dataset = replace(data, X=table, y=y, X_test=X_test, feature_names=table.names)
    return found


def _needs_table(data: Dataset, options: TableOptions) -> bool:
    """Whether something is to be done to columns of numbers: what was asked for, or leaving out
    those that are constant or count the rows.
    """
    import scipy.sparse as sp

    if sp.issparse(data.X):
        if options.given:
            raise ValueError(
                f"--drop and --categorical are for tables, and {data.name} holds sparse rows"
            )
        return False
    return options.given or _has_useless_columns(data)


def _has_useless_columns(data: Dataset) -> bool:
    """Whether a table in a file has columns of numbers that say nothing, such as a row's number."""
    from largemargin.report.fit.examples import album_of
    from largemargin.tables.plans import DROPPED, plan_column

    few = data.label_name is not None and data.X.shape[1] <= MOST_COLUMNS
    if not few or album_of(data.X).pictures:
        return False
    columns = as_table(data).columns
    return any(
        plan_column(name, values, False, False, 1).kind == DROPPED
        for name, values in columns.items()
        if _is_suspect(values)
    )


def _is_suspect(values: np.ndarray) -> bool:
    """Whether a column of numbers is constant, or of integers that hardly ever repeat."""
    import numpy as np

    if np.ptp(values) == 0:
        return True
    return bool((values == np.floor(values)).all()) and len(np.unique(values)) > len(values) / 2


def preprocessor(table: Table, options: TableOptions, scale: str) -> Any:
    """What makes numbers of a table; not yet fitted."""
    from largemargin.tables import TablePreprocessor

    return TablePreprocessor(
        drop=list(options.drop) or None,
        categorical=list(options.categorical) or None,
        missing=options.missing,
        scale=scale,
    )


def _names(
    given: tuple[str, ...], names: list[str], option: str, label: str | None
) -> tuple[str, ...]:
    """The columns that are meant, each by its name or its position."""
    found = []
    for one in given:
        for name in [one] if one in names else one.split(","):
            name = name.strip()
            if name not in names and name.isdecimal() and int(name) < len(names):
                name = names[int(name)]
            if name == label:
                raise ValueError(
                    f"{option}: the column {shown(name)} holds the labels; name another column, or "
                    "other labels with --label"
                )
            if name not in names:
                raise ValueError(
                    f"{option}: there is no column {shown(name)}; there are "
                    f"{listed([n for n in names if n != label], 30)[1:-1]}"
                )
            found.append(name)
    return tuple(found)


@contextmanager
def rows_of_the_file(X: Any, options: TableOptions) -> Iterator[None]:
    """Around work on parts of a table: what is wrong with a row of a part is met again in the
    whole, where the row has the number that it has in the file.
    """
    try:
        yield
    except ValueError:
        if is_table(X):
            preprocessor(X, options, "none").fit(X)
        raise


def preprocessor_of(model: Any) -> Any:
    """The fitted step of a model that takes tables; None if it takes numbers."""
    for _, step in getattr(model, "steps", [])[:1]:
        if hasattr(step, "decisions_"):
            return step
    return None


def decisions_of(model: Any) -> list[str]:
    """What is done with the columns of a table, one sentence for each group of them."""
    step = preprocessor_of(model)
    return list(step.decisions_) if step is not None else []
