"""Pipelines of transformers and machines go through a file bit for bit, raw rows and all."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

from largemargin import MIRA, SVC, AdaBoost, ModelFileError, VotedPerceptron, describe, load, save
from largemargin.tables import TablePreprocessor

from .models import changed, forge, parts_of, put

DRAW = np.random.default_rng(0)
N = 60
FRAME = pd.DataFrame(
    {
        "age": DRAW.integers(18, 90, N).astype(float),
        "job": DRAW.choice(np.array(["clerk", "smith", "nurse", "pilot é"], object), N),
        "paid": DRAW.choice(["yes", "no"], N).astype(object),
        "since": [f"{1 + i % 28}.{1 + i % 12}.20{10 + i % 9}" for i in range(N)],
        "share": [f"{x:.1f} %" for x in 100 * DRAW.random(N)],
        "code": DRAW.integers(0, 3, N),
        "row": np.arange(N),
    }
)
Y = np.where(FRAME["age"] + 30 * (FRAME["job"] == "nurse") > 60, "yes", "no")
FRAME.loc[::7, "age"] = np.nan
FRAME["job"] = FRAME["job"].astype(object)
FRAME.loc[::9, "job"] = None
NUMBERS = FRAME[["age", "code"]].to_numpy()
ODD = FRAME.assign(job="never seen", share="1,234 %")[FRAME.columns[::-1]]


def assert_same(model, loaded, *tables):
    assert repr(loaded) == repr(model)
    for table in tables:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "Found unknown categories")
            scores = loaded.decision_function(table)
        np.testing.assert_array_equal(scores, model.decision_function(table), strict=True)
        np.testing.assert_array_equal(loaded.predict(table), model.predict(table), strict=True)


@pytest.mark.parametrize(
    ("preprocessor", "machine"),
    [
        (TablePreprocessor(), SVC()),
        (TablePreprocessor(scale="minmax", min_frequency=12, max_categories=3), VotedPerceptron()),
        (TablePreprocessor(["code"], drop=["age"], scale="none", keep=["row"]), MIRA()),
        (TablePreprocessor(drop=["job"]), AdaBoost(n_rounds=5)),
        (TablePreprocessor(drop=["age", "paid", "since", "share", "code"]), SVC()),
    ],
    ids=lambda part: repr(part)[:50],
)
def test_tables(preprocessor, machine, again):
    model = make_pipeline(preprocessor, machine).fit(FRAME, Y)
    loaded = again(model)
    assert_same(model, loaded, FRAME, ODD, FRAME[:1])
    for name in ("decisions_", "plans_", "n_features_in_", "sparse_"):
        assert getattr(loaded[0], name) == getattr(model[0], name), name
    names = model[0].get_feature_names_out()
    assert loaded[0].get_feature_names_out().tolist() == names.tolist()
    with pytest.raises(ValueError, match="lacks columns"):
        loaded.predict(FRAME[["row"]])
    assert_same(model, again(loaded), FRAME)
    assert_same(model.fit(FRAME[:40], Y[:40]), loaded.fit(FRAME[:40], Y[:40]), FRAME)


def test_sparse_tables_and_arrays(again):
    wide = {f"c{i}": DRAW.choice([f"v{j}" for j in range(20)], 200) for i in range(15)}
    y = wide["c0"] < "v2"
    model = make_pipeline(TablePreprocessor(), SVC()).fit(wide, y)
    assert model[0].sparse_
    loaded = again(model)
    np.testing.assert_array_equal(loaded.decision_function(wide), model.decision_function(wide))
    rows = FRAME.to_numpy(object)
    model = make_pipeline(TablePreprocessor(), SVC()).fit(rows, Y)
    assert_same(model, again(model), rows)


TEXT_ENCODERS = [
    OneHotEncoder(),
    OneHotEncoder(drop="first", sparse_output=False, dtype=np.float32),
    OneHotEncoder(drop="if_binary", handle_unknown="ignore"),
    OneHotEncoder(min_frequency=14, handle_unknown="infrequent_if_exist"),
    OneHotEncoder(max_categories=2, drop="first"),
    OneHotEncoder(categories=[["none", "smith", "pilot é", "nurse", "clerk"], ["no", "yes"]]),
]


@pytest.mark.parametrize("encoder", TEXT_ENCODERS, ids=lambda encoder: repr(encoder)[:60])
def test_encoders(encoder, again):
    filled = FRAME[["job", "paid"]].fillna("none").astype(object)
    model = make_pipeline(encoder, VotedPerceptron()).fit(filled, Y)
    assert_same(model, again(model), filled)
    unseen = filled.assign(job="never seen")
    if encoder.handle_unknown != "error":
        assert_same(model, again(model), unseen)
    else:
        with pytest.raises(ValueError, match="never seen"):
            again(model).predict(unseen)


@pytest.mark.parametrize(
    "values",
    [
        NUMBERS,
        FRAME[["code", "row"]].to_numpy(),
        FRAME[["age"]].to_numpy(np.float32),
        FRAME[["job"]].to_numpy(object),
        FRAME[["job"]].fillna("none").to_numpy(str),
        FRAME[["job"]].to_numpy(object)[FRAME["job"].notna().to_numpy().argsort()],
        (FRAME[["code"]] > 1).to_numpy(),
    ],
    ids=lambda values: values.dtype.str,
)
def test_types_of_categories(values, again):
    model = make_pipeline(OneHotEncoder(), VotedPerceptron()).fit(values, Y)
    assert_same(model, again(model), values)
    for one, other in zip(model[0].categories_, again(model)[0].categories_, strict=True):
        assert one.dtype == other.dtype


@pytest.mark.parametrize(
    "imputer",
    [
        SimpleImputer(),
        SimpleImputer(strategy="median", add_indicator=True),
        SimpleImputer(strategy="most_frequent", keep_empty_features=True),
        SimpleImputer(strategy="constant", fill_value=-1.0),
        SimpleImputer(strategy="constant", add_indicator=True, copy=False),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_imputers(imputer, dtype, again):
    rows = np.column_stack([NUMBERS, np.full(N, np.nan)]).astype(dtype)
    if imputer.strategy == "constant":
        rows = rows.astype(np.float64)
    model = make_pipeline(imputer, StandardScaler(), VotedPerceptron())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a feature without values
        model.fit(rows.copy(), Y)
        loaded = again(model)
        np.testing.assert_array_equal(
            loaded.decision_function(rows.copy()), model.decision_function(rows.copy())
        )
    assert loaded[0].statistics_.dtype == model[0].statistics_.dtype
    assert loaded[0].get_feature_names_out().tolist() == model[0].get_feature_names_out().tolist()


def test_other_marks_of_missing_values(again):
    rows = FRAME[["code", "row"]].to_numpy()
    model = make_pipeline(SimpleImputer(missing_values=2, add_indicator=True), SVC()).fit(rows, Y)
    assert_same(model, again(model), rows)
    both = make_column_transformer(
        (SimpleImputer(missing_values=2), [0]), (MissingIndicator(missing_values=2), [0, 1])
    )
    model = make_pipeline(both, SVC()).fit(rows, Y)
    assert_same(model, again(model), rows)


def by_name():
    texts = Pipeline(
        [("fill", SimpleImputer(missing_values=None, strategy="most_frequent")),
         ("encode", OneHotEncoder(min_frequency=5, handle_unknown="infrequent_if_exist"))]
    )  # fmt: skip
    return ColumnTransformer(
        [
            (
                "numbers",
                make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()),
                ["age"],
            ),
            ("texts", texts, ["job", "paid"]),
            ("code", "passthrough", ["code"]),
            ("since", "drop", ["since"]),
        ]
    )


def test_columns_by_name(again):
    frame = FRAME.drop(columns=["share", "row"])
    model = make_pipeline(by_name(), SVC()).fit(frame, Y)
    loaded = again(model)
    assert_same(model, loaded, frame, frame[frame.columns[::-1]])
    names = model[0].get_feature_names_out().tolist()
    assert loaded[0].get_feature_names_out().tolist() == names
    assert loaded[0].output_indices_ == model[0].output_indices_
    assert_same(model.fit(frame[:30], Y[:30]), loaded.fit(frame[:30], Y[:30]), frame)


@pytest.mark.parametrize("columns", [[0], [-2], slice(0, 1), [True, False], np.array([1])], ids=str)
def test_columns_by_position(columns, again):
    rows = np.nan_to_num(NUMBERS)
    transformer = make_column_transformer((MinMaxScaler(), columns), remainder="passthrough")
    model = make_pipeline(transformer, MaxAbsScaler(), SVC()).fit(rows, Y)
    np.testing.assert_array_equal(
        again(model).decision_function(rows), model.decision_function(rows)
    )


def test_frames_between_the_steps(again):
    frame = FRAME[["age", "code"]].fillna(0)
    inner = make_pipeline(MinMaxScaler(), StandardScaler())
    model = make_pipeline(inner, MaxAbsScaler(), SVC()).set_output(transform="pandas")
    model.fit(frame, Y)
    assert_same(model, again(model), frame)
    both = make_column_transformer((MinMaxScaler(), ["age"]), remainder="passthrough")
    model = make_pipeline(both, SVC()).set_output(transform="pandas").fit(frame, Y)
    assert_same(model, again(model), frame)
    assert list(again(model)[0].transform(frame)) == list(model[0].transform(frame))


def test_describe(tmp_path):
    save(make_pipeline(TablePreprocessor(), SVC()).fit(FRAME, Y), tmp_path / "m")
    table, final = describe(tmp_path / "m")["steps"]
    assert table["class"] == "TablePreprocessor"
    assert "The column 'job' (4 values) is one-hot encoded." in table["facts"]["decisions"]
    assert final["labels"] == ["no", "yes"]
    inner = make_pipeline(MinMaxScaler(), StandardScaler())
    rows = np.nan_to_num(NUMBERS)
    save(Pipeline([("scale", inner), ("svc", SVC())]).fit(rows, Y), tmp_path / "m")
    names = [step["name"] for step in describe(tmp_path / "m")["steps"]]
    assert names == ["scale/minmaxscaler", "scale/standardscaler", "svc"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: (OrdinalEncoder(), FRAME[["code"]]), "cannot hold this OrdinalEncoder"),
        (lambda: (SimpleImputer(strategy=np.mean), NUMBERS), "strategy .* function"),
        (lambda: (OneHotEncoder(drop=["no"]), FRAME[["paid"]]), "drop of OneHotEncoder"),
        (lambda: (OneHotEncoder(dtype=float), FRAME[["paid"]]), "numpy.float64"),
        (
            lambda: (OneHotEncoder(feature_name_combiner=max), FRAME[["paid"]]),
            "feature_name_combiner",
        ),
        (
            lambda: (make_column_transformer((MinMaxScaler(), make_column_selector("row"))), FRAME),
            "list of names or of positions",
        ),
        (
            lambda: (
                make_column_transformer((MinMaxScaler(), ["code"]), (StandardScaler(), [])), FRAME,
            ),
            "has no columns",
        ),
        (
            lambda: (make_column_transformer((MinMaxScaler(), slice("code", "row"))), FRAME),
            "slice of names",
        ),
        (
            lambda: (
                make_column_transformer((MinMaxScaler(), ["row"]), remainder=StandardScaler()),
                FRAME[["row", "code"]],
            ),
            "remainder",
        ),
        (
            lambda: (
                ColumnTransformer([("a", MinMaxScaler(), ["row"])], transformer_weights={"a": 2}),
                FRAME,
            ),
            "transformer_weights",
        ),
        (
            lambda: (make_column_transformer((OrdinalEncoder(), ["code"])), FRAME),
            "cannot hold this OrdinalEncoder",
        ),
    ],
)  # fmt: skip
def test_transformers_that_cannot_be_saved(make, words, tmp_path):
    transformer, X = make()
    model = make_pipeline(transformer, SVC()).fit(X, Y)
    with pytest.raises(ModelFileError, match=words) as error:
        save(model, tmp_path / "m")
    assert "\n" not in str(error.value)


PREPROCESSOR = ("model", "steps", 0, 1)
NUMERIC = (*PREPROCESSOR, "parts", 0)
ENCODER = (*PREPROCESSOR, "parts", 1, "steps", 1, 1)
HOSTILE = [
    ((*PREPROCESSOR, "facts", "kinds", 0), "code"), ((*PREPROCESSOR, "facts", "kinds", 0), []),
    ((*PREPROCESSOR, "facts", "kinds", 0), "category"), ((*PREPROCESSOR, "facts", "kinds"), []),
    ((*PREPROCESSOR, "facts", "forms", 3), "%Z"), ((*PREPROCESSOR, "facts", "forms", 3), 5),
    ((*PREPROCESSOR, "facts", "reasons", 0), "empty"), ((*PREPROCESSOR, "facts", "named"), 1),
    ((*PREPROCESSOR, "facts", "decisions"), [5]), ((*PREPROCESSOR, "facts", "extra"), 5),
    ((*PREPROCESSOR, "parts"), []), ((*PREPROCESSOR, "parts", 0), None),
    ((*PREPROCESSOR, "parts"), KeyError), ((*PREPROCESSOR, "feature_names"), KeyError),
    ((*PREPROCESSOR, "feature_names", 0), "job"), ((*PREPROCESSOR, "parameters", "scale"), "x"),
    ((*PREPROCESSOR, "parameters", "missing"), 5), ((*PREPROCESSOR, "n_features"), 8),
    ((*NUMERIC, "facts", "columns", 0), [0]), ((*NUMERIC, "facts", "columns", 0, 0), -1),
    ((*NUMERIC, "facts", "columns", 0, 0), "age"), ((*NUMERIC, "facts", "names", 0), "remainder"),
    ((*NUMERIC, "facts", "names", 0), "booleans"), ((*NUMERIC, "facts", "words", 0), "drop"),
    ((*NUMERIC, "facts", "words", 0), "os.system"), ((*NUMERIC, "facts", "sparse"), 1),
    ((*NUMERIC, "parameters", "transformers"), []), ((*NUMERIC, "parameters", "n_jobs"), 10**6),
    ((*NUMERIC, "parameters", "verbose_feature_names_out"), "{feature_name.__class__}"),
    ((*NUMERIC, "parameters", "remainder"), "x"), ((*NUMERIC, "n_features"), 10**12),
    ((*NUMERIC, "class"), "Pipeline"), ((*NUMERIC, "class"), "SVC"),
    ((*ENCODER, "facts", "categories", 0), []), ((*ENCODER, "facts", "categories", 0, 0), "smith"),
    ((*ENCODER, "facts", "categories", 0, 0), ["x"]), ((*ENCODER, "facts", "types", 0), "<i8"),
    ((*ENCODER, "facts", "types", 0), "O"), ((*ENCODER, "facts", "pooled", 0), [99]),
    ((*ENCODER, "facts", "pooled", 0), [1, 0]), ((*ENCODER, "facts", "pooled"), []),
    ((*ENCODER, "parameters", "dtype"), {"$dtype": "object"}),
    ((*ENCODER, "parameters", "dtype"), "float64"), ((*ENCODER, "parameters", "drop"), [1]),
    ((*ENCODER, "parameters", "handle_unknown"), "run"), ((*ENCODER, "n_features"), 2),
    ((*ENCODER, "parameters", "feature_name_combiner"), "x"), ((*ENCODER, "facts"), {}),
]  # fmt: skip


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "m"
    save(make_pipeline(TablePreprocessor(), SVC()).fit(FRAME, Y), path)
    return path


def assert_refused(path):
    with pytest.raises(ModelFileError, match="not a valid model") as error:
        load(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("way", "value"), HOSTILE, ids=lambda x: repr(x)[-60:])
def test_hostile_headers(way, value, saved, tmp_path):
    header, arrays = parts_of(saved)
    forge(tmp_path / "m", changed(header, way, value), arrays)
    assert_refused(tmp_path / "m")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("0/0/0/0/statistics_", lambda a: a[:-1]), ("0/0/0/0/statistics_", put(0, np.inf)),
        ("0/0/0/0/statistics_", None), ("0/0/0/1/scale_", put(0, 0.0)),
        ("0/0/2/features_", put(0, 5)), ("0/0/2/features_", lambda a: a[:0]),
        ("0/0/2/features_", lambda a: a.astype(np.float64)), ("0/0/9/more", lambda a: np.zeros(2)),
        ("0/0/more", lambda a: np.zeros(2)), ("0/more", lambda a: np.zeros(2)),
        ("0/1/1/more", lambda a: np.zeros(2)),
    ],
)  # fmt: skip
def test_hostile_arrays(name, change, saved, tmp_path):
    header, arrays = parts_of(saved)
    assert ("more" in name) != (name in arrays)
    if change is None:
        del arrays[name]
    else:
        arrays[name] = change(arrays.get(name))
    forge(tmp_path / "m", header, arrays)
    assert_refused(tmp_path / "m")


def test_a_forged_file_is_otherwise_fine(saved, tmp_path):
    forge(tmp_path / "m", *parts_of(saved))
    assert load(tmp_path / "m").score(FRAME, Y) > 0.6
