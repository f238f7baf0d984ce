"""Tables of mixed columns to numbers, by scikit-learn's own transformers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from largemargin.runtime.showing import listed, shown
from largemargin.tables.columns import columns_of
from largemargin.tables.decisions import Findings, sentences
from largemargin.tables.plans import (
    BOOLEAN,
    CATEGORY,
    DATE,
    DROPPED,
    NUMBER,
    Plan,
    missing_in,
    plan_column,
)
from largemargin.tables.transformers import (
    SCALERS,
    count_categories,
    make_categorical,
    make_numeric,
)

_POLICIES = ("impute", "drop", "refuse")
_WIDE = 256  # columns from which on rows may be sparse
_THIN = 0.1  # the share of nonzero values below which they are


class TablePreprocessor(TransformerMixin, BaseEstimator):
    """Make numbers of a table as it is: numbers, text, dates and truth values, some missing.

    Numbers are scaled. Text is one-hot encoded; rare values are pooled, and values that were not
    seen in training count as rare ones. Truth values become 0 and 1, dates days since 1970. Text
    such as "1,234.5" or "12 %" is read as a number. Missing values (None, nan, empty text, "?",
    "NA", "N/A", "null", "none" and the like) are imputed, and a column says where they were.
    Columns that are constant, empty or identify rows are dropped. `decisions_` says what was done.

    Columns are found by their names: their order in a later table may differ, and more columns
    are ignored with a warning.

    Parameters
    ----------
    categorical : list of str, default=None
        Columns to be one-hot encoded although they are numbers, such as codes.
    drop : list of str, default=None
        Columns to be left out.
    missing : {"impute", "drop", "refuse"}, default="impute"
        What to do about missing values. "impute" puts in the median of numbers and dates and the
        commonest truth value; missing text is a category of its own. "refuse" raises an error.
        "drop" raises one too, since a transformer cannot drop rows: `complete_rows` says which to
        keep.
    scale : {"standard", "minmax", "none"}, default="standard"
        How to scale numbers and dates: to mean 0 and variance 1, to the range from 0 to 1, or not.
    max_categories : int, default=100
        The most columns that one column of text becomes; None for no limit.
    min_frequency : int, float or "auto", default="auto"
        The number of rows, or the share of them, that a value of text needs for a column of its
        own. "auto" is a hundredth of the rows, but at least 1 and at most 10.
    keep : list of str, default=None
        Columns that are not dropped although they seem to identify rows.

    Attributes
    ----------
    decisions_ : list of str
        What is done with the columns, one sentence for each group of them.
    feature_names_in_ : ndarray of str
        The names of the columns; x0, x1, ... if the table was an array.
    n_features_in_ : int
        The number of columns.
    plans_ : list of Plan
        What becomes of each column.
    numeric_ : ColumnTransformer or None
        What imputes and scales the numbers; None if there are none.
    categorical_ : Pipeline or None
        What encodes the text; None if there is none.
    sparse_ : bool
        Whether `transform` returns sparse rows, as it does if one-hot encoding makes very many
        columns that are mostly zero.

    Examples
    --------
    >>> from largemargin.tables import TablePreprocessor
    >>> table = {"age": [39, None, 28, 44], "income": ["1,200", "900", "2,050", "1,100"],
    ...          "city": ["Rome", "Oslo", "Rome", "Oslo"], "year": [2020, 2020, 2020, 2020]}
    >>> preprocessor = TablePreprocessor().fit(table)
    >>> print(*preprocessor.decisions_, sep="\\n")
    The columns 'age' and 'income' are numbers, scaled to mean 0 and variance 1.
    The column 'income' has separators of thousands.
    The column 'city' (2 values) is one-hot encoded.
    Missing values of the column 'age' (1) are replaced by the median, and marked.
    The column 'year' is dropped because all values are equal.
    >>> preprocessor.get_feature_names_out().tolist()
    ['age', 'income', 'missingindicator_age', 'city_Oslo', 'city_Rome']
    >>> preprocessor.transform(table)[:2].round(2)
    array([[ 0.26, -0.26,  0.  ,  0.  ,  1.  ],
           [ 0.26, -0.94,  1.  ,  1.  ,  0.  ]])
    """

    feature_names_in_: np.ndarray
    n_features_in_: int

    def __init__(
        self,
        categorical: Sequence[str] | None = None,
        drop: Sequence[str] | None = None,
        missing: str = "impute",
        scale: str = "standard",
        max_categories: int | None = 100,
        min_frequency: int | float | str = "auto",
        keep: Sequence[str] | None = None,
    ) -> None:
        self.categorical = categorical
        self.drop = drop
        self.missing = missing
        self.scale = scale
        self.max_categories = max_categories
        self.min_frequency = min_frequency
        self.keep = keep

    def fit(self, X: Any, y: Any = None) -> TablePreprocessor:
        """Find out what the columns are, and what imputes, scales and encodes them.

        Parameters
        ----------
        X : table
            A pandas or polars data frame, a pyarrow or largemargin Table, a dict of columns, or an
            array of rows and columns.
        y : None
            Not used.

        Returns
        -------
        self : TablePreprocessor
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """`fit`, and `transform` of the same table."""
        return self._stack(*self._fit(X))

    def transform(self, X: Any) -> Any:
        """The table as rows of numbers.

        Parameters
        ----------
        X : table
            As for `fit`, with the same columns in any order.

        Returns
        -------
        ndarray or csr_array of float64, of shape (n_rows, n_features_out)
        """
        check_is_fitted(self)
        blocks = self._read(self._matched(X))
        self._check_missing(blocks)
        return self._stack(*blocks)

    def complete_rows(self, X: Any) -> np.ndarray:
        """Which rows of a table have no missing value in the columns that are used.

        Parameters
        ----------
        X : table
            As for `fit`. Before `fit`, the columns that are used are those that `fit` would use.

        Returns
        -------
        ndarray of bool
            True for each row without a missing value.
        """
        if hasattr(self, "plans_"):
            columns, plans = self._matched(X), self.plans_
        else:
            columns = columns_of(X)[0]
            plans = self._plan(columns)
        complete = np.ones(_n_rows(columns), bool)
        for plan in plans:
            if plan.kind != DROPPED:
                complete &= ~missing_in(plan.read(columns[plan.name]))
        return complete

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns of `transform`, made by scikit-learn's transformers.

        Parameters
        ----------
        input_features : None
            Not used.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        names: list[str] = []
        if self.numeric_ is not None:
            found = self.numeric_.get_feature_names_out(self._names(NUMBER, DATE, BOOLEAN))
            names += [name.partition("__")[2] for name in found]
        if self.categorical_ is not None:
            names += list(self.categorical_.get_feature_names_out(self._names(CATEGORY)))
        return np.array(names, object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _fit(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        self._check_parameters()
        columns, self._named = columns_of(X)
        if not _n_rows(columns):
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        self.feature_names_in_ = np.array(list(columns), object)
        self.n_features_in_ = len(columns)
        self.plans_ = self._plan(columns)
        if _n_rows(columns) == 1:
            raise ValueError("a table of one row says nothing about its columns: n_samples=1")
        if all(plan.kind == DROPPED for plan in self.plans_):
            told = " ".join(sentences(self.plans_, self.scale, Findings()))
            raise ValueError(f"no column of the table can be used: {told}")
        numbers, texts = self._read(columns)
        self._check_missing((numbers, texts))
        with config_context(transform_output="default"):
            self.numeric_ = self.categorical_ = None
            if numbers.size:
                n_scaled = len(self._names(NUMBER, DATE))
                self.numeric_ = make_numeric(numbers, n_scaled, self.scale).fit(numbers)
            if texts.size:
                least = self._least_count(len(texts))
                self.categorical_ = make_categorical(self.max_categories, least).fit(texts)
        self.sparse_ = self._is_thin(len(texts))
        self.decisions_ = sentences(
            self.plans_, self.scale, self._findings(columns, numbers, texts)
        )
        return numbers, texts

    def _check_parameters(self) -> None:
        if self.missing not in _POLICIES:
            raise ValueError(f"missing must be one of {list(_POLICIES)}, got {self.missing!r}")
        if self.scale not in SCALERS:
            raise ValueError(f"scale must be one of {list(SCALERS)}, got {self.scale!r}")
        most, least = self.max_categories, self.min_frequency
        if most is not None and not (_is_whole(most) and most >= 2):
            raise ValueError(f"max_categories must be None or an integer from 2 on, got {most!r}")
        share = isinstance(least, float) and 0 < least < 1
        if least != "auto" and not share and not (_is_whole(least) and int(least) >= 1):
            raise ValueError(
                "min_frequency must be 'auto', an integer from 1 on or a share between 0 and 1, "
                f"got {least!r}"
            )
        for name in ("categorical", "drop", "keep"):
            value = getattr(self, name)
            if isinstance(value, str) or not hasattr([] if value is None else value, "__iter__"):
                raise ValueError(f"{name} must be a list of names, got {value!r}")

    def _plan(self, columns: dict[str, np.ndarray]) -> list[Plan]:
        named = {name: self._chosen(name, columns) for name in ("categorical", "drop", "keep")}
        least = self._least_count(_n_rows(columns))
        return [
            Plan(name, DROPPED, "", "chosen")
            if name in named["drop"]
            else plan_column(
                name, values, name in named["categorical"], name in named["keep"], least
            )
            for name, values in columns.items()
        ]

    def _chosen(self, parameter: str, columns: dict[str, np.ndarray]) -> set[str]:
        """The columns that a parameter names; a number is the position of a column."""
        names, given = list(columns), getattr(self, parameter)
        chosen = set()
        for name in given if given is not None else ():
            if isinstance(name, int | np.integer) and str(name) not in columns:
                name = names[name] if -len(names) <= name < len(names) else name
            if str(name) not in columns:
                raise ValueError(
                    f"{parameter} names the column {shown(name)}, which the table does not have: "
                    f"its columns are {listed(names, 30)}"
                )
            chosen.add(str(name))
        return chosen

    def _least_count(self, n_rows: int) -> int:
        least = self.min_frequency
        if least == "auto":
            return max(1, min(10, n_rows // 100))
        if isinstance(least, float):
            return max(1, int(np.ceil(least * n_rows)))
        return int(least)

    def _names(self, *kinds: str) -> list[str]:
        return [plan.name for kind in kinds for plan in self.plans_ if plan.kind == kind]

    def _read(self, columns: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """The columns of numbers (then dates, then truth values), and those of text."""
        plans = {plan.name: plan for plan in self.plans_}
        numbers, texts = self._names(NUMBER, DATE, BOOLEAN), self._names(CATEGORY)
        n_rows = _n_rows(columns)
        block = np.empty((n_rows, len(numbers)), np.float64)
        for i, name in enumerate(numbers):
            block[:, i] = plans[name].read(columns[name])
        text_block = np.empty((n_rows, len(texts)), object)
        for i, name in enumerate(texts):
            text_block[:, i] = plans[name].read(columns[name])
        return block, text_block

    def _matched(self, X: Any) -> dict[str, np.ndarray]:
        """The columns of a later table by the names that they had in training."""
        columns, named = columns_of(X)
        known = list(self.feature_names_in_)
        if not _n_rows(columns):
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        if not (named and self._named):
            if len(columns) != len(known):
                raise ValueError(
                    f"X has {len(columns)} features, but TablePreprocessor is expecting "
                    f"{len(known)} features as input"
                )
            return dict(zip(known, columns.values(), strict=True))
        used = [plan.name for plan in self.plans_ if plan.kind != DROPPED]
        lacking = [name for name in used if name not in columns]
        extra = [name for name in columns if name not in set(known)]
        if lacking:
            beside = f"; columns that it did not have in training: {listed(extra)}" * bool(extra)
            raise ValueError(
                f"the table lacks columns that were there in training: {listed(lacking)}{beside}"
            )
        if extra:
            warnings.warn(
                f"columns that were not there in training are ignored: {listed(extra)}",
                stacklevel=3,
            )
        return columns

    def _check_missing(self, blocks: tuple[np.ndarray, np.ndarray]) -> None:
        if self.missing == "impute":
            return
        names = self._names(NUMBER, DATE, BOOLEAN), self._names(CATEGORY)
        for block, block_names in zip(blocks, names, strict=True):
            for name, values in zip(block_names, block.T, strict=True):
                rows = np.flatnonzero(missing_in(values))
                if len(rows):
                    self._refuse_missing(name, rows)

    def _refuse_missing(self, name: str, rows: np.ndarray) -> None:
        n_more = len(rows) - 1
        more = f", and in {n_more} more row{'s' * (n_more > 1)}" if n_more else ""
        advice = (
            "use missing='impute', or drop the column"
            if self.missing == "refuse"
            else "a transformer cannot drop rows, so keep those of complete_rows(X) of X and y "
            "beforehand, or use missing='impute'"
        )
        raise ValueError(
            f"the column {shown(name)} has no value in row {rows[0]}, counted from 0{more}; "
            f"missing is {self.missing!r}: {advice}"
        )

    def _is_thin(self, n_rows: int) -> bool:
        if self.categorical_ is None:
            return False
        width = len(self.get_feature_names_out())
        texts = len(self._names(CATEGORY))
        numbers = width - len(self.categorical_.get_feature_names_out(self._names(CATEGORY)))
        return width >= _WIDE and texts + numbers < _THIN * width

    def _stack(self, numbers: np.ndarray, texts: np.ndarray) -> Any:
        blocks = []
        with config_context(transform_output="default"):
            if self.numeric_ is not None:
                blocks.append(self.numeric_.transform(numbers))
            if self.categorical_ is not None:
                blocks.append(self.categorical_.transform(texts))
        if self.sparse_:
            return sp.csr_array(sp.hstack([sp.csr_array(block) for block in blocks]))
        return np.hstack([b.toarray() if sp.issparse(b) else b for b in blocks])

    def _findings(
        self, columns: dict[str, np.ndarray], numbers: np.ndarray, texts: np.ndarray
    ) -> Findings:
        gaps = [int(missing_in(column).sum()) for block in (numbers, texts) for column in block.T]
        names = self._names(NUMBER, DATE, BOOLEAN, CATEGORY)
        texts_of = self._names(CATEGORY)
        counts: tuple[list[int], list[int]] = ([], [])
        if self.categorical_ is not None:
            counts = count_categories(self.categorical_)
        signs = {plan.name: plan.signs_in(columns[plan.name]) for plan in self.plans_}
        return Findings(
            {name: count for name, count in zip(names, gaps, strict=True) if count},
            dict(zip(texts_of, counts[0], strict=True)),
            dict(zip(texts_of, counts[1], strict=True)),
            [name for name, found in signs.items() if "%" in found],
            [name for name, found in signs.items() if "," in found],
            self.sparse_,
            [name for name, found in signs.items() if "$" in found],
        )


def _n_rows(columns: dict[str, np.ndarray]) -> int:
    return len(next(iter(columns.values())))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
