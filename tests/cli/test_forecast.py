"""What a long training will take is said before it begins."""

import time

import numpy as np
import pytest

from largemargin.cli import forecast
from largemargin.data import Dataset


class Slow:
    """Takes a time of its own: a millionth of a second for each pair of rows."""

    def get_params(self, deep=True):
        return {"kernel": "rbf"}

    def fit(self, X, y):
        time.perf_counter.now += 1e-6 * len(y) ** 2
        return self


@pytest.fixture
def clock(monkeypatch):
    def read():
        return read.now

    read.now = 0.0
    monkeypatch.setattr(time, "perf_counter", read)
    return read


def test_the_power_is_found(clock):
    data = Dataset(np.zeros((100_000, 1)), np.arange(100_000) % 2)
    assert forecast.seconds_for(Slow, data, 0) == pytest.approx(1e4, rel=0.01)
    few = Dataset(data.X[:1000], data.y[:1000])
    assert forecast.seconds_for(Slow, few, 0) is None


@pytest.mark.parametrize(
    ("parameters", "power"), [({"kernel": "rbf"}, 1.5), ({"kernel": "rbf", "budget": 9}, 1.0),
                              ({"kernel": "linear"}, 1.0),
                              ({"kernel": "poly", "epochs": 10}, 1.75)],
)  # fmt: skip
def test_few_rows_do_not_show_how_support_vectors_grow(parameters, power, clock):
    class Linear(Slow):
        def get_params(self, deep=True):
            return parameters

        def fit(self, X, y):
            time.perf_counter.now += 1e-4 * len(y)

    data = Dataset(np.zeros((102_400, 1)), np.arange(102_400) % 2)
    assert forecast.seconds_for(Linear, data, 0) == pytest.approx(0.64 * 16**power)


def test_loading_code_is_no_part_of_the_time(clock):
    """A solver for many rows is loaded at its first use."""
    loaded = []

    class Loads(Slow):
        def fit(self, X, y):
            if len(y) > 1000 and not loaded:
                loaded.append(time.perf_counter)
                time.perf_counter.now += 30.0
            return super().fit(X, y)

    data = Dataset(np.zeros((100_000, 1)), np.arange(100_000) % 2)
    assert forecast.seconds_for(Loads, data, 0) == pytest.approx(1e4, rel=0.01)
    assert loaded


def test_what_is_faster(capsys):
    forecast.tell(30.0, Slow(), 1)
    assert capsys.readouterr().err == ""
    forecast.tell(3000.0, Slow(), 2.5)
    told = capsys.readouterr().err
    assert "this may take 62 minutes to 4 hours" in told
    for words in ("--kernel linear", "voted-perceptron", "--budget", "--max-seconds"):
        assert words in told
