"""Graphs of models of tables: imputation, one-hot encoding and scaling are in the graph, and what
must be read of text before it is said.
"""

import json
import warnings

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from largemargin import SVC, AdaBoost, VotedPerceptron
from largemargin.interchange import to_onnx
from largemargin.tables import TablePreprocessor


def table(seed, n=150):
    """A table with every kind of column, and labels."""
    rng = np.random.default_rng(seed)
    jobs = ["clerk", "smith", "nurse", "rare", "seldom"]
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "job": rng.choice(jobs, n, p=[0.4, 0.3, 0.28, 0.01, 0.01]),
            "hours": rng.normal(40, 8, n).round(1),
            "since": rng.choice(pd.date_range("2019-01-01", "2021-01-01"), n),
            "paid": rng.choice(["yes", "no"], n),
            "share": [f"{value} %" for value in rng.integers(0, 100, n)],
            "income": [f"{value:,}" for value in rng.integers(0, 9999, n)],
            "city": rng.choice(["Oslo", "Rome"], n),
            "constant": 1,
        }
    )
    y = np.where(frame["age"] + 20 * (frame["job"] == "nurse") + frame["hours"] > 90, "high", "low")
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "job"] = None
    return frame, y


def parsed(frame):
    """What a program without this library makes of the columns before the graph."""
    days = (frame["since"] - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    return frame.assign(
        since=days,
        paid=(frame["paid"] == "yes").astype(float),
        share=[float(value.removesuffix(" %")) / 100 for value in frame["share"]],
        income=[float(value.replace(",", "")) for value in frame["income"]],
    )


def session_of(model):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        graph = to_onnx(model)
    onnx.checker.check_model(graph, full_check=True)
    facts = {entry.key: entry.value for entry in graph.metadata_props}
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session, facts, [str(one.message) for one in told]


def assert_same_tables(model, frame):
    session, facts, _ = session_of(model)
    plain = parsed(frame)
    rows = {
        "numbers": plain[json.loads(facts["numbers"])].to_numpy(float),
        "text": plain[json.loads(facts["text"])].fillna("").to_numpy(object),
    }
    label, scores = session.run(["label", "scores"], rows)
    wanted = model.decision_function(frame)
    assert np.abs(scores - wanted).max() < 1e-12 * max(1.0, np.abs(wanted).max()) * 100
    assert np.array_equal(label, model.predict(frame))


def test_a_table_of_every_kind_of_column():
    frame, y = table(0)
    model = make_pipeline(TablePreprocessor(), SVC()).fit(frame, y)
    later, _ = table(1)
    later.loc[:10, "job"] = "never seen"
    assert_same_tables(model, later)
    _, facts, told = session_of(model)
    assert json.loads(facts["text"]) == ["job", "city"]
    assert told == [f"before this graph: {facts['to_be_read']}"]
    assert facts["to_be_read"] == (
        "the column 'since' must be given as days since 1970-01-01; the columns 'share', 'income' "
        "must be given as plain numbers, without percent signs (12 % is 0.12) and separators; the "
        "column 'paid' must be given as 1 and 0"
    )


@pytest.mark.full
@pytest.mark.parametrize("scale", ["standard", "minmax", "none"])
@pytest.mark.parametrize("machine", [SVC(), AdaBoost(n_rounds=20), VotedPerceptron(method="last")])
@pytest.mark.parametrize("max_categories", [2, 3, 100])
@pytest.mark.parametrize("seed", range(3))
def test_every_scale_and_limit(scale, machine, max_categories, seed):
    frame, y = table(seed)
    preprocessor = TablePreprocessor(scale=scale, max_categories=max_categories, min_frequency=2)
    if isinstance(machine, SVC) and scale == "none":
        machine = SVC(gamma=1e-8)
    model = make_pipeline(preprocessor, machine).fit(frame, y)
    later, _ = table(seed + 10)
    later.loc[:10, "job"] = "never seen"
    assert_same_tables(model, later)


def test_a_table_of_numbers_alone_has_one_input():
    frame, y = table(2)
    model = make_pipeline(TablePreprocessor(), SVC()).fit(frame[["age", "hours"]], y)
    session, facts, told = session_of(model)
    assert [one.name for one in session.get_inputs()] == ["numbers"]
    assert told == []
    rows = frame[json.loads(facts["numbers"])].to_numpy(float)
    _, scores = session.run(None, {"numbers": rows})
    assert np.abs(scores - model.decision_function(frame[["age", "hours"]])).max() < 1e-12


def test_transformers_of_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    X[:, 4] = rng.integers(0, 4, 80)
    y = (X[:, 0] + X[:, 4] > 1).astype(int)
    X[:, :3][rng.random((80, 3)) < 0.1] = np.nan
    steps = [
        ("filled", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), [0, 1]),
        ("marked", MissingIndicator(), [2]),
        ("kept", "passthrough", [-2]),
        ("codes", OneHotEncoder(handle_unknown="ignore"), [4]),
        ("gone", "drop", [3]),
    ]
    model = make_pipeline(ColumnTransformer(steps), MinMaxScaler(), SVC()).fit(X, y)
    session, _, told = session_of(model)
    X[:5, 4] = 9  # a code that was not there
    label, scores = session.run(None, {"X": X})
    assert told == []
    assert np.abs(scores - model.decision_function(X)).max() < 1e-12 * np.abs(scores).max() * 100
    assert np.array_equal(label, model.predict(X))


def test_what_has_no_formula_is_refused():
    X, y = np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]
    frame = pd.DataFrame(X, columns=["a", "b"])

    def refused(step, words, rows=X):
        with pytest.raises(ValueError, match=words):
            to_onnx(make_pipeline(step, SVC()).fit(rows, y))

    refused(SimpleImputer(missing_values=3.0), r"missing_values=3.0 has no formula")
    refused(OneHotEncoder(drop="first", sparse_output=False), "a OneHotEncoder with drop has no")
    by_name = ColumnTransformer([("one", StandardScaler(), ["a"])])
    refused(by_name, "are not given by their numbers", frame)
