"""The numbers are those of plain scikit-learn, and later tables are matched by their names."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from largemargin import SVC
from largemargin.data import Table
from largemargin.tables import TablePreprocessor

from .samples import mixed, twin

TABLE, Y = mixed()
FRAME = pd.DataFrame(TABLE)


@parametrize_with_checks([TablePreprocessor()])
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("scale", "scaler"),
    [("standard", StandardScaler), ("minmax", MinMaxScaler), ("none", FunctionTransformer)],
)
def test_the_twin(scale, scaler):
    found = TablePreprocessor(scale=scale, min_frequency=10).fit(TABLE)
    expected = twin(TABLE, scaler, 10)
    # sums over columns that lie otherwise in memory are rounded otherwise
    np.testing.assert_allclose(found.transform(TABLE), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(clone(found).fit_transform(TABLE), found.transform(TABLE))
    assert found.get_feature_names_out().size == expected.shape[1]
    assert expected.dtype == found.transform(TABLE).dtype == np.float64


def test_decisions():
    assert TablePreprocessor(min_frequency=10).fit(TABLE).decisions_ == [
        "The columns 'age', 'income' and 'share' are numbers, scaled to mean 0 and variance 1.",
        "The column 'income' has separators of thousands.",
        "The column 'share' has percent signs: 12 % is read as 0.12.",
        "The column 'since' is a date, in days since 1970-01-01, scaled to mean 0 and variance 1.",
        "The column 'paid' is a truth value, written as 0 and 1.",
        "The column 'job' (4 values, 1 rare of them pooled) is one-hot encoded.",
        "Missing values of the column 'age' (11) are replaced by the median, and marked.",
        "Missing values of the column 'job' (12) are a category of their own.",
        "The column 'country' is dropped because all values are equal.",
        "The column 'row' is dropped because its integers count the rows.",
    ]


def test_money():
    amounts = np.random.default_rng(0).normal(scale=1e4, size=50).round(2).tolist()
    written = [f"{'-' * (a < 0)}${abs(a):,.2f}" for a in amounts]
    found = TablePreprocessor(scale="none").fit({"price": written})
    np.testing.assert_array_equal(found.transform({"price": written})[:, 0], amounts)
    assert "The column 'price' has signs of money, which are left out." in found.decisions_


def test_a_sentence_with_many_columns():
    draw = np.random.default_rng(0)
    (told,) = TablePreprocessor().fit({f"c{i}": draw.normal(size=9) for i in range(50)}).decisions_
    assert "'c11' and 38 more are numbers" in told


def test_columns_are_matched_by_their_names():
    found = TablePreprocessor().fit(FRAME)
    expected = found.transform(FRAME)
    backwards = FRAME[FRAME.columns[::-1]]
    np.testing.assert_array_equal(found.transform(backwards), expected)
    with pytest.warns(UserWarning, match=r"ignored: \['new'\]"):
        rows = found.transform(backwards.assign(new=1))
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(found.transform(FRAME.drop(columns=["row", "country"])), expected)
    with pytest.raises(ValueError, match=r"lacks .*: \['age', 'job'\]$"):
        found.transform(FRAME.drop(columns=["age", "job"]))
    with pytest.raises(ValueError, match=r"\['age'\]; columns .* not have in training: \['Age'\]"):
        found.transform(FRAME.rename(columns={"age": "Age"}))
    np.testing.assert_array_equal(found.transform(FRAME.to_numpy(object)), expected)
    with pytest.raises(ValueError, match="X has 7 features, but TablePreprocessor is expecting 8"):
        found.transform(FRAME.to_numpy(object)[:, 1:])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"age": "old"}, "'age' had numbers .* and has 'old' in row 0"),
        ({"age": "2020-01-01"}, "'age' had numbers"),
        ({"income": "12 EUR"}, "'income' had numbers .* and has '12 EUR' in row 0"),
        ({"paid": 0.5}, "'paid' had truth values .* and has 0.5 in row 0"),
        ({"since": "soon"}, "'since' had dates .* and has 'soon' in row 0"),
        ({"since": 5.0}, "'since' had dates .* and has 5.0 in row 0"),
        ({"age": np.inf}, "'age' has inf in row 0"),
        ({"age": np.datetime64("2020-01-01")}, "'age' had numbers"),
    ],
)
def test_values_of_another_kind(change, words):
    found = TablePreprocessor().fit(TABLE)
    row = {name: [values[0]] for name, values in TABLE.items()}
    found.transform(row)
    with pytest.raises(ValueError, match=words) as error:
        found.transform({**row, **{name: [value] for name, value in change.items()}})
    assert "\n" not in str(error.value)


def test_values_that_are_missing_only_later():
    found = TablePreprocessor().fit(TABLE)
    rows = found.transform({name: [None] for name in TABLE})
    assert np.isfinite(rows).all()
    for gap in ([np.nan], [np.datetime64("NaT")], [""]):
        np.testing.assert_array_equal(found.transform(dict.fromkeys(TABLE, gap)), rows)
    marks = [i for i, name in enumerate(found.get_feature_names_out()) if "missing" in name]
    assert rows[0, marks].tolist() == [1, 1]


@pytest.mark.parametrize("policy", ["refuse", "drop"])
def test_missing_values_are_refused(policy):
    found = TablePreprocessor(missing=policy)
    advice = {"refuse": "missing='impute'", "drop": r"complete_rows\(X\)"}[policy]
    with pytest.raises(ValueError, match=rf"'age' has no value in row \d+.* and in 10 .*{advice}"):
        found.fit(FRAME)
    rows = found.complete_rows(FRAME)
    np.testing.assert_array_equal(rows, FRAME[["age", "job"]].notna().all(axis=1))
    found.fit(FRAME[rows])
    np.testing.assert_array_equal(found.complete_rows(FRAME), rows)
    complete = {name: values[rows] for name, values in TABLE.items()}
    np.testing.assert_allclose(found.transform(FRAME[rows]), twin(complete), rtol=1e-12, atol=1e-14)
    with pytest.raises(ValueError, match="has no value in row"):
        found.transform(FRAME)


def test_rows_that_are_complete_but_for_dropped_columns():
    table = {"x": [1.5, 2.5, None, 0.1], "empty": [None] * 4, "left out": [None, 1, 2, 3]}
    found = TablePreprocessor(missing="drop", drop=["left out"])
    assert found.complete_rows(table).tolist() == [True, True, False, True]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"missing": "ignore"}, "missing must be one of .*, got 'ignore'"),
        ({"scale": "robust"}, "scale must be one of .*, got 'robust'"),
        ({"categorical": "job"}, "categorical must be a list of names, got 'job'"),
        ({"categorical": 5}, "categorical must be a list of names, got 5"),
        ({"drop": ["agee"]}, r"drop names the column 'agee', .*: its columns are \['age', 'job'"),
        ({"keep": [8]}, "keep names the column 8"),
        ({"max_categories": 1}, "max_categories must be .*, got 1"),
        ({"max_categories": "many"}, "max_categories must be .*, got 'many'"),
        ({"min_frequency": 0}, "min_frequency must be .*, got 0"),
        ({"min_frequency": 1.5}, "min_frequency must be .*, got 1.5"),
        ({"min_frequency": "few"}, "min_frequency must be .*, got 'few'"),
        ({"min_frequency": True}, "min_frequency must be .*, got True"),
        ({"drop": list(TABLE)}, "no column of the table can be used: .* as asked for"),
    ],
)
def test_parameters(parameters, words):
    with pytest.raises(ValueError, match=words):
        TablePreprocessor(**parameters).fit(TABLE)


def test_numbers_that_are_too_large():
    for large in (1e300, -np.inf, "1e400"):
        with pytest.raises(ValueError, match=r"'b' has .* in row 1, .* beyond 1e\+100"):
            TablePreprocessor().fit({"a": [1, 2], "b": [1, large]})


def test_wide_tables_are_sparse():
    draw = np.random.default_rng(0)
    table = {f"c{i}": draw.choice([f"v{j}" for j in range(70)], 700) for i in range(5)}
    found = TablePreprocessor(min_frequency=1).fit(table | {"x": draw.normal(size=700)})
    rows = found.transform(table | {"x": draw.normal(size=700)})
    assert found.sparse_
    assert sp.issparse(rows)
    assert rows.format == "csr"
    assert rows.dtype == np.float64
    assert rows.shape[1] == found.get_feature_names_out().size
    assert found.decisions_[-1].startswith("The rows are sparse")
    assert not TablePreprocessor(max_categories=20).fit(table).sparse_


def test_output_of_pandas():
    found = TablePreprocessor().set_output(transform="pandas").fit(FRAME)
    rows = found.transform(FRAME)
    assert list(rows.columns) == list(found.get_feature_names_out())
    with sklearn.config_context(transform_output="pandas"):
        other = TablePreprocessor().fit(FRAME).transform(FRAME)
    np.testing.assert_array_equal(other, rows)


@pytest.mark.parametrize("table", [FRAME, Table({
    name: values if values.dtype.kind in "fbO" else values.astype(str).astype(object)
    for name, values in TABLE.items()
})], ids=["pandas", "Table"])  # fmt: skip
def test_pipelines(table):
    model = make_pipeline(TablePreprocessor(), SVC())
    assert cross_val_score(model, table, Y, cv=3).mean() > 0.8
    grid = clone(model).set_params(tablepreprocessor__scale="minmax")
    assert grid.fit(table, Y).score(table, Y) > 0.8


@pytest.mark.data
@pytest.mark.full
@pytest.mark.skipif(
    "LARGEMARGIN_DATA" not in os.environ,
    reason="needs adult: set LARGEMARGIN_DATA to the folder that holds the data sets",
)
def test_adult():
    path = Path(os.environ["LARGEMARGIN_DATA"], "adult", "adult.data")
    frame = pd.read_csv(path, header=None, skipinitialspace=True, keep_default_na=False)
    y = frame.pop(14)
    X, X_test, y, y_test = train_test_split(frame, y, test_size=0.25, random_state=0, stratify=y)
    model = make_pipeline(TablePreprocessor(), SVC()).fit(X, y)
    assert 1 - model.score(X_test, y_test) < 0.152


def test_another_word_among_truth_values_is_not_known():
    table = {"paid": ["yes", "no", "yes", "yes"], "age": [1.0, 5.0, 2.0, 9.0]}
    found = TablePreprocessor().fit(table)
    row = {"paid": ["perhaps"], "age": [1.0]}
    assert np.array_equal(found.transform(row), found.transform({**row, "paid": [None]}))
