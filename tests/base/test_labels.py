"""Labels of every type: learned as they are, or refused in a sentence."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import largemargin as lm
from largemargin.base.labels import numbers_in, plain_labels, united

TEXT = np.dtypes.StringDType()
X = np.random.default_rng(0).normal(size=(12, 2))
MODELS = [
    lm.SVC(kernel="linear"),
    lm.VotedPerceptron(),
    lm.MIRA(),
    lm.AdaBoost(n_rounds=2),
    lm.AdaBoost(lm.RBFNetwork(n_centers=2, max_iter=2), n_rounds=2),
    lm.MaxMarginHyperplane(),
    lm.LPSVC(),
    lm.RBFNetwork(n_centers=2, max_iter=2),
]


def rows_of(a, b):
    return [a, b] * 6


def array_of(a, b, dtype=object):
    found = np.empty(12, dtype)
    found[:] = rows_of(a, b)
    return found


LEARNED = {
    "text of any length": array_of("a", "b", TEXT),
    "text that may be missing": array_of("a", "b", np.dtypes.StringDType(na_object=None)),
    "bytes": rows_of(b"a", b"b"),
    "truth": rows_of(True, False),
    "integers beside floats": rows_of(1, 2.0),
    "integers and floats beyond 2^53": rows_of(2**53 + 1, 2.0**53),
    "integers beyond 2^63": rows_of(2**63, 2**63 + 1),
    "objects that are integers": array_of(1, 2),
    "dates": np.array(rows_of("2020-01-01", "2021-01-01"), "M8[D]"),
    "zeros at the end": rows_of("a", "a\0"),
    "blanks at the end": rows_of("a", "a "),
    "long": rows_of("x" * 4096, "b"),
    "negative zero": rows_of(-0.0, 1.0),
    "nullable": pd.Series(rows_of(1, 2), dtype="Int64"),
    "categories": pd.Series(rows_of("a", "b"), dtype="category"),
    "arrow": pd.Series(rows_of("a", "b"), dtype="string[pyarrow]"),
    "polars": pl.Series(rows_of("a", "b")),
    "polars categories": pl.Series(rows_of("a", "b"), dtype=pl.Categorical),
    "polars enum": pl.Series(rows_of("a", "b"), dtype=pl.Enum(["b", "a"])),
    "range": range(12),
    "no text in UTF-8": rows_of("\udc80", "b"),
}
REFUSED = {
    "several types": (rows_of(1, "1"), "several types, such as 1 and '1'"),
    "several types of objects": (array_of(1, "1"), "several types, such as 1 and '1'"),
    "too large together": (rows_of(2**63, -1), "do not fit in one type of number"),
    "too large": (rows_of(10**30, 1), "do not fit in one type of number"),
    "5,000 digits": (rows_of(10**5000, 1), "do not fit in one type of number"),
    "5,000 digits in an array": (array_of(10**5000, 1), "do not fit in one type of number"),
    "none": (rows_of(None, "a"), "a label is missing"),
    "not a number among text": (array_of(np.nan, "a"), "a label is missing"),
    "not a number": (rows_of(np.nan, 1.0), "contains NaN"),
    "not a time": (np.array(rows_of("NaT", "2021-01-01"), "M8[D]"), "a label is missing"),
    "missing text": (
        array_of("a", np.nan, np.dtypes.StringDType(na_object=np.nan)), "a label is missing"
    ),
    "missing in arrow": (pd.Series(rows_of("a", None), dtype="string[pyarrow]"), "is missing"),
    "null": (pl.Series(rows_of(1, None)), "contains NaN"),
    "decimals": (rows_of(decimal.Decimal(1), decimal.Decimal(2)), "Python objects such as Decimal"),
    "days": (rows_of(datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)), "Python objects"),
    "fields": (np.array(rows_of((1, 2), (2, 3)), [("a", int), ("b", int)]), "several fields"),
    "complex": (rows_of(1j, 2.0), "several types|[Cc]omplex"),
    "long": (rows_of("x" * 4097, "b"), r"\(4097 characters\) is longer than the 4096"),
    "30 MB": (rows_of("x" * 30_000_000, "b"), r"\(30000000 characters\) is longer"),
    "long objects": (array_of("x" * 4097, "b"), "is longer than"),
    "long text of fixed width": (np.array(rows_of("x" * 4097, "b")), "is longer than"),
    "long text of any length": (array_of("x" * 4097, "b", TEXT), "is longer than"),
    "bytes with a zero at the end": (rows_of(b"a", b"a\0"), "ends with a zero byte"),
    "a dictionary": ({}, "1d array"),
    "ragged": ([[1, 2], [3]] * 6, "inhomogeneous"),
}  # fmt: skip


@pytest.mark.parametrize("name", LEARNED)
@pytest.mark.parametrize("model", MODELS[:4], ids=lambda model: type(model).__name__)
def test_learned(name, model):
    y = LEARNED[name]
    model.fit(X, y)
    values = np.asarray(y).tolist() if isinstance(y, pd.Series | pl.Series) else list(y)
    values = [v.item() if isinstance(v, np.datetime64) else v for v in values]
    assert model.classes_.tolist() == sorted(set(values))
    predicted = model.predict(X)
    assert set(predicted.tolist()) <= set(values)
    right = np.mean([p == v for p, v in zip(predicted.tolist(), values, strict=True)])
    assert model.score(X, y) == pytest.approx(right)


@pytest.mark.parametrize("name", ["text of any length", "integers beyond 2^63", "zeros at the end"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_everything_else_works_with_them(name, model, tmp_path):
    y = LEARNED[name]
    model.fit(X, y)
    model.certificate(X, y)
    lm.save(model, tmp_path / "model")
    again = lm.load(tmp_path / "model")
    assert again.classes_.dtype == model.classes_.dtype
    assert again.predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("model", MODELS[:4], ids=lambda model: type(model).__name__)
def test_refused(name, model):
    y, message = REFUSED[name]
    with pytest.raises(ValueError, match=message) as caught:
        model.fit(X, y)
    assert len(str(caught.value)) < 500


def stream_of(*chunks):
    model = lm.MIRA()
    for chunk in chunks:
        model.partial_fit(X[: len(chunk)], chunk)
    return model.classes_


def test_chunks_of_several_types():
    assert stream_of(np.array([2**53 + 1, 5]), np.array([2.0**53])).tolist() == [
        5, 2**53, 2**53 + 1,
    ]  # fmt: skip
    found = stream_of(np.array([1, 2], np.uint64), np.array([-3, 1]))
    assert (found.tolist(), found.dtype) == ([-3, 1, 2], np.int64)
    found = stream_of(np.array([2**64 - 1], np.uint64), np.array([1, 2]))
    assert (found.tolist(), found.dtype) == ([1, 2, 2**64 - 1], np.uint64)
    assert stream_of(np.array([True, False]), np.array([2, 1])).tolist() == [0, 1, 2]
    assert stream_of(["a", "b"], np.array(["c", "a"], TEXT)).tolist() == ["a", "b", "c"]
    assert stream_of(["a", "b"], np.array(["c", "a"], object)).tolist() == ["a", "b", "c"]
    assert stream_of(["a", "b"], ["x" * 300]).tolist() == ["a", "b", "x" * 300]
    with pytest.raises(ValueError, match="do not fit in one type of number"):
        stream_of(np.array([2**64 - 1], np.uint64), np.array([-1]))
    for before, after in ((["a"], [b"a"]), (["1"], [1]), ([True], ["True"])):
        with pytest.raises(ValueError, match="use one type of label"):
            stream_of(before, after)


def test_named_classes_are_told_apart():
    model = lm.VotedPerceptron().partial_fit(X[:2], [2.0**53, 1.0], classes=[1, 2**53, 2**53 + 1])
    assert model.classes_.tolist() == [1, 2**53, 2**53 + 1]
    model.partial_fit(X[:1], [2**53 + 1])
    with pytest.raises(ValueError, match=r"y holds the label 2, which is not in classes=\[1, "):
        model.partial_fit(X[:1], [2])
    many = lm.VotedPerceptron().partial_fit(X[:1], [0], classes=range(100_000))
    with pytest.raises(ValueError, match="99990 more") as caught:
        many.partial_fit(X[:1], [-1])
    assert len(str(caught.value)) < 500


NUMBERS = st.one_of(
    st.integers(-(2**63), 2**64 - 1),
    st.sampled_from([2**53, 2**53 + 1, 2.0**53, 2.0**63, 2**63, 2**63 - 1, -0.0, 0, True]),
    st.floats(allow_nan=False, allow_infinity=False),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=6), st.lists(NUMBERS, min_size=1, max_size=6))
def test_no_two_numbers_become_one(first, second):
    try:
        before, after = (np.unique(plain_labels(part)) for part in (first, second))
        classes = united(before, after)
    except ValueError as error:
        message = str(error)
    else:
        message = ""
    if message:
        assert "number" in message
        return
    assert classes.tolist() == sorted({*first, *second})
    for part in (first, second):
        numbers = numbers_in(classes, np.asarray(plain_labels(part)))
        assert [classes.tolist()[k] for k in numbers] == part
