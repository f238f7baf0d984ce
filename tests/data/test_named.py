import io
import os
from http.client import IncompleteRead

import numpy as np
import pytest
import scipy.sparse as sp

from largemargin.data import NAMES, DataError, load, named
from largemargin.data.adult import read_adult
from largemargin.data.named import (
    OPENML_SETS,
    ORIGINALS,
    SPLIT_SIZES,
    Fingerprint,
    OpenMLSet,
    Originals,
    fetch_openml_set,
)
from largemargin.data.small_sets import SMALL_SETS

from .writers import put

needs_data = pytest.mark.skipif(
    "LARGEMARGIN_DATA" not in os.environ,
    reason="set LARGEMARGIN_DATA to the folder of the data sets to run this",
)


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """No data set anywhere, and a network that answers nothing."""
    monkeypatch.delenv("LARGEMARGIN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def unreachable(*args, **kwargs):
        raise OSError("no network")

    monkeypatch.setattr("largemargin.data.named._download", unreachable)
    monkeypatch.setattr("largemargin.data.downloading.urlopen", unreachable)
    return tmp_path


def banana_rows():
    rng = np.random.default_rng(0)
    return "".join(
        f"{a!r},{b!r},{1 if a > b else -1}\n" for a, b in rng.normal(size=(5300, 2)).tolist()
    )


def test_digits():
    data = load("digits")
    assert data.X.shape == (1347, 64)
    assert data.X_test.shape == (450, 64)
    assert data.X.dtype == np.float64
    assert (data.X.min(), data.X.max()) == (0, 16)
    assert data.y.dtype == np.int64
    counts = np.bincount(data.y_test) / np.bincount(data.y)
    np.testing.assert_allclose(counts, 1 / 3, atol=0.02)
    np.testing.assert_array_equal(data.X_test, load("digits").X_test)


@pytest.mark.parametrize(
    ("name", "shape", "tests", "label", "classes"),
    [
        ("iris", (112, 4), 38, "species", ["setosa", "versicolor", "virginica"]),
        ("wine", (133, 13), 45, "cultivar", [0, 1, 2]),
        ("moons", (300, 2), 100, "moon", [0, 1]),
    ],
)
def test_small_sets(nowhere, name, shape, tests, label, classes):
    data = load(name)
    assert data.X.shape == shape
    assert len(data.feature_names) == shape[1]
    assert data.label_name == label
    assert len(data.X_test) == len(data.y_test) == tests
    found, counts = np.unique(data.y_test, return_counts=True)
    assert found.tolist() == classes
    np.testing.assert_allclose(counts / np.unique(data.y, return_counts=True)[1], 1 / 3, atol=0.03)
    np.testing.assert_array_equal(data.X_test, load(name).X_test)
    assert data.y.dtype.kind in "iU"


def test_adult_as_a_table(nowhere, monkeypatch):
    X = np.array([[39.0, "clerk"], [50.0, np.nan]], object)
    monkeypatch.setattr(named, "_find_rows", lambda name: (X, np.array(["a", "b"])))
    monkeypatch.setattr("largemargin.data.adult.ADULT_COLUMNS", ("age", "job"))
    data = load("adult", mixed=True)
    assert data.X.kinds == {"age": "number", "job": "text"}
    assert data.X.column("job").tolist() == ["clerk", None]
    assert data.label_name == "income"


def test_a_path_is_read(tmp_path):
    path = put(tmp_path / "a.csv", "1,2,0\n3,4,1\n")
    for given in (path, str(path)):
        data = load(given)
        assert data.X.tolist() == [[1, 2], [3, 4]]
        assert data.X_test is None


def test_unknown_name():
    with pytest.raises(DataError, match=r"called 'mnits'; .*digits, mnist.*did you mean mnist\?"):
        load("mnits")


def test_missing_path_object(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        load(tmp_path / "digits")


@pytest.mark.parametrize("name", ["digits", "mnist"])
def test_split_of_a_set_with_its_own_test_set(name):
    with pytest.raises(ValueError, match=rf"split is for banana, .*; {name} has its own test set"):
        load(name, split=0)


def test_adult_has_no_split():
    with pytest.raises(ValueError, match=r"split is for banana, .*covtype; adult has none"):
        load("adult", split=0)


def test_split_of_a_file(tmp_path):
    with pytest.raises(ValueError, match="split is for banana"):
        load(put(tmp_path / "a.csv", "1,0\n"), split=0)


@pytest.mark.parametrize("split", [-1, 100, 1.5, True, "0"])
def test_split_out_of_range(split):
    with pytest.raises(ValueError, match=r"split must be .*from 0 to 99, got"):
        load("banana", split=split)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in SMALL_SETS])
def test_not_found(nowhere, name):
    with pytest.raises(DataError) as caught:
        load(name)
    message = str(caught.value)
    assert f"the data set {name} is not there" in message
    assert "$LARGEMARGIN_DATA (not set)" in message
    assert str(nowhere / "cache" / "largemargin") in message
    assert (ORIGINALS[name].addresses[0] if name in ORIGINALS else "OpenML") in message
    assert "in one of these folders" in message
    assert "\n" not in message


@pytest.mark.parametrize("place", ["environment", "cache"])
def test_is_found_in_both_places(nowhere, monkeypatch, place):
    root = nowhere / "cache" / "largemargin"
    if place == "environment":
        root = nowhere / "data"
        monkeypatch.setenv("LARGEMARGIN_DATA", str(root))
    (root / "ida").mkdir(parents=True)
    put(root / "ida" / "banana.csv", banana_rows())
    assert load("banana").X.shape == (5300, 2)


def test_splits_are_fixed_and_different(nowhere):
    folder = nowhere / "cache" / "largemargin" / "ida"
    folder.mkdir(parents=True)
    put(folder / "banana.csv", banana_rows())
    whole, first, again, other = (load("banana", split=k) for k in (None, 0, 0, 1))
    assert whole.X_test is None
    np.testing.assert_array_equal(first.X, again.X)
    assert not np.array_equal(first.X, other.X)
    assert first.X.shape == (400, 2)
    both = np.vstack([first.X, first.X_test])
    np.testing.assert_array_equal(np.sort(both, axis=0), np.sort(whole.X, axis=0))
    # Written down, since a split must never change.
    np.testing.assert_array_equal(first.X[:3], whole.X[[1855, 3728, 5141]])


def test_another_number_of_rows(nowhere):
    folder = nowhere / "cache" / "largemargin" / "ida"
    folder.mkdir(parents=True)
    put(folder / "heart.csv", "1,2,1\n3,4,-1\n")
    with pytest.raises(DataError, match=r"heart\.csv: expected 270 rows of heart, saw 2"):
        load("heart")


@pytest.mark.data
@needs_data
@pytest.mark.parametrize(
    ("name", "train", "test", "low", "high", "dtype"),
    [
        pytest.param("mnist", (60000, 784), 10000, 0, 255, np.float32, marks=pytest.mark.full),
        ("usps", (7291, 256), 2007, -1, 1, np.float32),
        ("letter", (16000, 16), 4000, 0, 15, np.float32),
    ],
)
def test_sets_with_a_test_set(load_once, name, train, test, low, high, dtype):
    data = load_once(name)
    assert data.X.shape == train
    assert data.X_test.shape == (test, train[1])
    assert data.X.dtype == dtype
    assert (data.X.min(), data.X.max()) == (low, high)
    classes = (
        [chr(c) for c in range(ord("A"), ord("Z") + 1)] if name == "letter" else list(range(10))
    )
    assert np.unique(data.y).tolist() == classes
    assert np.unique(data.y_test).tolist() == classes


@pytest.mark.data
@needs_data
def test_usps_classes_are_the_digits(load_once):
    # Class sizes of the published training set.
    sizes = [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644]
    assert np.bincount(load_once("usps").y).tolist() == sizes


@pytest.mark.data
@needs_data
@pytest.mark.parametrize("name", [name for name in SPLIT_SIZES if name != "covtype"])
def test_benchmark_sets(name):
    data = load(name)
    assert len(data.X) == sum(SPLIT_SIZES[name])
    assert data.X.dtype == np.float64
    assert np.unique(data.y).tolist() == [-1, 1]
    part = load(name, split=99)
    assert (len(part.X), len(part.X_test)) == SPLIT_SIZES[name]


@pytest.mark.full
@pytest.mark.data
@needs_data
def test_covtype():
    data = load("covtype", split=0)
    assert (data.X.shape, data.X_test.shape) == ((464809, 54), (116203, 54))
    assert data.X.dtype == np.float32
    assert (data.X.min(), data.X.max()) == (-173, 7173)
    # Class sizes of the published data.
    sizes = [211840, 283301, 35754, 2747, 9493, 17367, 20510]
    assert (np.bincount(data.y) + np.bincount(data.y_test))[1:].tolist() == sizes
    # The first row of the split, written down, since a split must never change.
    assert data.X[0, :6].tolist() == [2767, 66, 17, 210, 18, 1190]


@pytest.mark.full
@pytest.mark.data
@needs_data
@pytest.mark.parametrize(
    ("name", "train", "test", "low", "positive"),
    [("ijcnn1", (49990, 22), 91701, -0.930435, 4853), ("a9a", (32561, 123), 16281, 0, 7841)],
)
def test_sets_of_the_libsvm_page(load_once, name, train, test, low, positive):
    data = load_once(name)
    assert (data.X.shape, data.X_test.shape) == (train, (test, train[1]))
    assert data.X.dtype == np.float32
    assert sp.issparse(data.X) == sp.issparse(data.X_test) == (name == "a9a")
    assert (data.X.min(), data.X.max()) == (np.float32(low), 1)
    assert np.unique(data.y).tolist() == np.unique(data.y_test).tolist() == [-1, 1]
    assert np.count_nonzero(data.y == 1) == positive


@pytest.mark.data
@needs_data
def test_adult_has_numbers_text_and_gaps():
    data = load("adult")
    assert data.X.shape == (32561, len(data.feature_names))
    columns = dict(zip(data.feature_names, data.X.T, strict=True))
    assert columns["age"].astype(float).max() == 90
    assert set(columns["sex"]) == {"Male", "Female"}
    # A missing value is the one thing that does not equal itself.
    gaps = {name: np.count_nonzero(column != column) for name, column in columns.items()}
    found = {name: count for name, count in gaps.items() if count}
    assert found == {"workclass": 1836, "occupation": 1843, "native-country": 583}
    assert np.unique(data.y, return_counts=True)[1].tolist() == [24720, 7841]


X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
Y = np.array([1, -1, 1])


@pytest.fixture
def downloads(monkeypatch):
    """An OpenML with one small data set, which counts how often it is asked."""
    asked = []

    def download(data_id):
        asked.append(data_id)
        return X, np.array(["tested_positive", "tested_negative", "tested_positive"])

    online = OpenMLSet(37, named._diabetes, Fingerprint.of(X, Y))
    monkeypatch.setitem(OPENML_SETS, "diabetes", online)
    monkeypatch.setattr(named, "_download", download)
    return asked


def test_is_downloaded_once(downloads, tmp_path):
    for _ in range(2):
        rows, labels = fetch_openml_set("diabetes", tmp_path)
        assert rows.tolist() == X.tolist()
        assert labels.tolist() == Y.tolist()
    assert downloads == [37]
    assert os.listdir(tmp_path / "openml") == ["diabetes.npz"]


def test_another_order_is_refused(downloads, tmp_path, monkeypatch):
    monkeypatch.setattr(named, "_download", lambda _: (X[::-1], np.array(["tested_positive"] * 3)))
    with pytest.raises(DataError, match="data set 37 of OpenML is not the diabetes data"):
        fetch_openml_set("diabetes", tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_interrupted_write_leaves_nothing(downloads, tmp_path, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch_openml_set("diabetes", tmp_path)
    assert not list((tmp_path / "openml").iterdir())


def test_fingerprint_sees_order_and_values():
    print_ = Fingerprint.of(X, Y)
    assert print_.matches(Fingerprint.of(X * (1 + 1e-9), Y))
    assert not print_.matches(Fingerprint.of(X[[2, 1, 0]], Y))
    assert not print_.matches(Fingerprint.of(X, -Y))
    assert not print_.matches(Fingerprint.of(X[:, :1], Y))


def test_heart_is_scaled_to_the_unit_interval():
    rows, labels = OPENML_SETS["heart"].convert(X, np.array(["present", "absent", "absent"]))
    assert rows.tolist() == [[0, 0], [0.5, 0.5], [1, 1]]
    assert labels.tolist() == [1, -1, -1]


def test_usps_labels_become_digits():
    assert OPENML_SETS["usps"].convert(X, np.array(["1", "10", "4"]))[1].tolist() == [0, 9, 3]


ADULT = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, ?, Not-in-family, White, Male, 2174, 0, "
    "40, ?, <=50K\n"
    "50, ?, 83311, HS-grad, 9, Divorced, Sales, Husband, White, Female, 0, 0, 13, Cuba, >50K\n\n"
)


@pytest.fixture
def small_adult(nowhere, monkeypatch):
    """An adult of two rows, and a page that has it; the answers can be changed."""
    answers = [ADULT.encode()]
    monkeypatch.setitem(named._SIZES, "adult", (2,))
    X, y = read_adult(put(nowhere / "adult.data", ADULT))
    online = Originals(ORIGINALS["adult"].addresses, Fingerprint.of(X, y))
    monkeypatch.setitem(ORIGINALS, "adult", online)
    monkeypatch.setattr(
        "largemargin.data.downloading.urlopen", lambda *_, **__: io.BytesIO(answers.pop())
    )
    return answers


def test_originals_are_downloaded_once(small_adult, nowhere):
    for _ in range(2):
        data = load("adult")
        assert data.X[:, 0].tolist() == [39, 50]
        assert data.X[0, 3] == "Bachelors"
        assert [i for i, cell in enumerate(data.X[0]) if cell != cell] == [6, 13]
        assert data.y.tolist() == ["<=50K", ">50K"]
    cache = nowhere / "cache" / "largemargin"
    assert [path.name for path in cache.iterdir()] == ["adult"]
    assert (cache / "adult" / "adult.data").read_bytes() == ADULT.encode()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (ADULT.replace("39", "38"), r"adult\.data: not the adult data expected here"),
        ("<html>not found</html>", r"expected 15 cells, saw '<html>not found</html>'"),
    ],
)
def test_other_files_are_refused(small_adult, nowhere, answer, message):
    small_adult[:] = [answer.encode()]
    with pytest.raises(DataError, match=message):
        load("adult")
    assert not list((nowhere / "cache" / "largemargin").iterdir())


def test_half_a_download_is_none(small_adult, nowhere, monkeypatch):
    class Broken(io.BytesIO):
        def read(self, *_):
            raise IncompleteRead(b"39,")

    monkeypatch.setattr("largemargin.data.downloading.urlopen", lambda *_, **__: Broken())
    with pytest.raises(DataError, match=r"adult\.data did not send it \(IncompleteRead"):
        load("adult")
    assert not list((nowhere / "cache" / "largemargin").iterdir())


@pytest.mark.data
@needs_data
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("covtype", marks=pytest.mark.full),
        pytest.param("ijcnn1", marks=pytest.mark.full),
        "a9a",
        "adult",
    ],
)
def test_fingerprints_are_those_of_the_originals(name):
    assert Fingerprint.of(*named._find_rows(name)).matches(ORIGINALS[name].fingerprint)


@pytest.mark.data
@needs_data
@pytest.mark.parametrize("name", list(OPENML_SETS))
def test_fingerprints_are_those_of_the_files(load_once, name):
    data = load_once(name)
    X, y = data
    if data.X_test is not None:
        X, y = np.concatenate([X, data.X_test]), np.concatenate([y, data.y_test])
    assert Fingerprint.of(X, y).matches(OPENML_SETS[name].fingerprint)
