import os

import numpy as np
import pytest

from largemargin.data import DataError, openml
from largemargin.data.openml import ONLINE, Fingerprint, OnlineSet, fetch

needs_data = pytest.mark.skipif(
    "LARGEMARGIN_DATA" not in os.environ,
    reason="set LARGEMARGIN_DATA to the folder of the data sets to run this",
)

X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
Y = np.array([1, -1, 1])


@pytest.fixture
def downloads(monkeypatch):
    """An OpenML with one small data set, which counts how often it is asked."""
    asked = []

    def download(data_id):
        asked.append(data_id)
        return X, np.array(["tested_positive", "tested_negative", "tested_positive"])

    online = OnlineSet(37, openml._diabetes, Fingerprint.of(X, Y))
    monkeypatch.setitem(ONLINE, "diabetes", online)
    monkeypatch.setattr(openml, "_download", download)
    return asked


def test_is_downloaded_once(downloads, tmp_path):
    for _ in range(2):
        rows, labels = fetch("diabetes", tmp_path)
        assert rows.tolist() == X.tolist()
        assert labels.tolist() == Y.tolist()
    assert downloads == [37]
    assert os.listdir(tmp_path / "openml") == ["diabetes.npz"]


def test_another_order_is_refused(downloads, tmp_path, monkeypatch):
    monkeypatch.setattr(openml, "_download", lambda _: (X[::-1], np.array(["tested_positive"] * 3)))
    with pytest.raises(DataError, match="data set 37 of OpenML is not the diabetes data"):
        fetch("diabetes", tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_interrupted_write_leaves_nothing(downloads, tmp_path, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch("diabetes", tmp_path)
    assert not list((tmp_path / "openml").iterdir())


def test_fingerprint_sees_order_and_values():
    print_ = Fingerprint.of(X, Y)
    assert print_.matches(Fingerprint.of(X * (1 + 1e-9), Y))
    assert not print_.matches(Fingerprint.of(X[[2, 1, 0]], Y))
    assert not print_.matches(Fingerprint.of(X, -Y))
    assert not print_.matches(Fingerprint.of(X[:, :1], Y))


def test_heart_is_scaled_to_the_unit_interval():
    rows, labels = ONLINE["heart"].convert(X, np.array(["present", "absent", "absent"]))
    assert rows.tolist() == [[0, 0], [0.5, 0.5], [1, 1]]
    assert labels.tolist() == [1, -1, -1]


def test_usps_labels_become_digits():
    assert ONLINE["usps"].convert(X, np.array(["1", "10", "4"]))[1].tolist() == [0, 9, 3]


@pytest.mark.data
@needs_data
@pytest.mark.parametrize("name", list(ONLINE))
def test_fingerprints_are_those_of_the_files(load_once, name):
    data = load_once(name)
    X, y = data
    if data.X_test is not None:
        X, y = np.concatenate([X, data.X_test]), np.concatenate([y, data.y_test])
    assert Fingerprint.of(X, y).matches(ONLINE[name].fingerprint)
