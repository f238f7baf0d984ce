from __future__ import annotations

import difflib
import importlib.util
import operator
import os
import tempfile
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.data.adult import ADULT_COLUMNS, ADULT_LABEL, adult_table, read_adult
from largemargin.data.dataset import Dataset
from largemargin.data.downloading import download
from largemargin.data.errors import DataError
from largemargin.data.reading import read
from largemargin.data.small_sets import SMALL_SETS, load_small
from largemargin.runtime.showing import shown

_IDA_SIZES = {
    "banana": (400, 4900),
    "breast-cancer": (200, 77),
    "diabetes": (468, 300),
    "heart": (170, 100),
    "thyroid": (140, 75),
    "titanic": (150, 2051),
}
# Training and test rows of a split; together they are all the rows there are.
SPLIT_SIZES = {**_IDA_SIZES, "covtype": (464_809, 116_203)}
N_SPLITS = 100  # splits that a data set without a test set has

_FILES = {
    "mnist": (
        "mnist/train-images-idx3-ubyte.gz",
        "mnist/train-labels-idx1-ubyte.gz",
        "mnist/t10k-images-idx3-ubyte.gz",
        "mnist/t10k-labels-idx1-ubyte.gz",
    ),
    "usps": ("usps/usps.bz2", "usps/usps.t.bz2"),
    "letter": ("letter/letter-recognition.data",),
    **{name: (f"ida/{name}.csv",) for name in _IDA_SIZES},
    "covtype": ("covtype/covtype.data.gz",),
    "ijcnn1": ("ijcnn1/ijcnn1.bz2", "ijcnn1/ijcnn1.t.bz2"),
    "a9a": ("a9a/a9a.bz2", "a9a/a9a.t.bz2"),
    "adult": ("adult/adult.data",),
}
# Training and test rows of the data sets that come with a test set; the training rows are first.
_TEST_SET_SIZES = {
    "mnist": (60_000, 10_000),
    "usps": (7_291, 2_007),
    "letter": (16_000, 4_000),
    "ijcnn1": (49_990, 91_701),
    "a9a": (32_561, 16_281),
}
_SIZES = {**SPLIT_SIZES, **_TEST_SET_SIZES, "adult": (32_561,)}
_ORIGINS = {
    "mnist": "the original MNIST files",
    "usps": "the USPS files of the LIBSVM data page",
    "letter": "the file of the UCI repository",
    **dict.fromkeys(_IDA_SIZES, "the table of the IDA benchmark repository"),
    "covtype": "the file of the UCI repository",
    "ijcnn1": "the files of the LIBSVM data page",
    "a9a": "the files of the LIBSVM data page",
    "adult": "the file of the UCI repository",
}

NAMES = ("digits", *_FILES, *SMALL_SETS[1:])


def load(
    name_or_path: str | PathLike[str], split: int | None = None, *, mixed: bool = False
) -> Dataset:
    """Load a data set by its name, or read a file.

    A named data set is looked for in the folder that ``$LARGEMARGIN_DATA`` names, then in the
    user's cache (``~/.cache/largemargin``, or under ``$XDG_CACHE_HOME``), and then, for mnist,
    usps, diabetes and heart, on OpenML, for covtype and adult at the UCI repository, for ijcnn1
    and a9a on the LIBSVM data page, from where it goes into the cache. The first four are always
    there: scikit-learn has them.

    Parameters
    ----------
    name_or_path : str or path-like
        One of the names below, or a file, which is read with `read` and has no test set.

        =============  ==============================================================
        digits         8 x 8 pixels 0..16; a fixed stratified quarter is the test set,
                       here and in the next three
        iris           150 x 4; three species
        wine           178 x 13; labels 0 to 2
        moons          400 x 2, two noisy half circles, generated; labels 0 and 1
        mnist          28 x 28 pixels 0..255, float32; 60,000 and 10,000
        usps           16 x 16 values -1..1, float32; 7,291 and 2,007
        letter         16 integers 0..15, float32; labels A to Z; 16,000 and 4,000
        banana         5,300 x 2; splits of 400 and 4,900; labels -1 and 1, as below
        breast-cancer  277 x 9; splits of 200 and 77
        diabetes       768 x 8; splits of 468 and 300
        heart          270 x 13; splits of 170 and 100
        thyroid        215 x 5; splits of 140 and 75
        titanic        2,201 x 3; splits of 150 and 2,051
        covtype        581,012 x 54 integers, float32; labels 1 to 7; splits of four
                       fifths (464,809) and one fifth (116,203)
        ijcnn1         22 values -1..1, float32; labels -1 and 1; 49,990 and 91,701
        a9a            123 indicators, sparse, float32; labels -1 and 1; 32,561 and
                       16,281
        adult          32,561 x 14, an array of objects: numbers and text as in the
                       file, NaN where it has ``?``; labels ``<=50K`` and ``>50K``;
                       with ``mixed=True`` a `Table`
        =============  ==============================================================

    split : int from 0 to 99, default=None
        Which of 100 seeded random splits into training and test rows; only for the data sets from
        banana to covtype. None gives all rows and no test set.
    mixed : bool, default=False
        Whether columns may be text and values missing, as for `read`.

    Returns
    -------
    Dataset
        With `X`, `y`, `X_test`, `y_test` and `name`; adult, iris, wine and moons have
        `feature_names` and `label_name` too. The columns of text of adult have to become numbers
        before a machine can use them.

    Raises
    ------
    DataError
        If there is no such name or file, or if the data set cannot be found.
    ValueError
        If `split` is not one of those the data set has.

    Examples
    --------
    >>> digits = load("digits")
    >>> digits
    Dataset('digits', 1347 x 64, 10 classes, 450 test rows)
    """
    name = os.fspath(name_or_path)
    if name not in NAMES or not isinstance(name_or_path, str):
        if split is not None:
            raise ValueError(f"split is for {', '.join(SPLIT_SIZES)}; {name!r} has none")
        return _load_file(name_or_path, mixed)
    if name not in SPLIT_SIZES:
        if split is not None:
            own = "has none" if name == "adult" else "has its own test set"
            raise ValueError(f"split is for {', '.join(SPLIT_SIZES)}; {name} {own}")
        if name == "adult":
            X, y = _find_rows(name)
            X = adult_table(X) if mixed else X
            return Dataset(X, y, name=name, feature_names=ADULT_COLUMNS, label_name=ADULT_LABEL)
        return load_small(name) if name in SMALL_SETS else _load_with_test_set(name)
    if split is not None:
        split = _check_split(split)
    X, y = _find_rows(name)
    return Dataset(X, y, name=name) if split is None else _take_split(name, X, y, split)


def cache_folder() -> Path:
    """The folder of the user in which downloaded data sets are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "largemargin"


def _load_file(path: str | PathLike[str], mixed: bool) -> Dataset:
    name = os.fspath(path)
    if isinstance(path, str) and not Path(path).exists():
        close = difflib.get_close_matches(name.lower(), NAMES, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise DataError(
            f"there is no file and no data set called {shown(name)}; the data sets are "
            f"{', '.join(NAMES)}{hint}"
        )
    return read(path, mixed=mixed)


def _load_with_test_set(name: str) -> Dataset:
    X, y = _find_rows(name)
    n = _TEST_SET_SIZES[name][0]
    return Dataset(X[:n], y[:n], X[n:], y[n:], name=name)


def _check_split(split: int) -> int:
    if isinstance(split, bool) or not hasattr(split, "__index__"):
        raise ValueError(f"split must be an integer from 0 to {N_SPLITS - 1}, got {shown(split)}")
    if not 0 <= operator.index(split) < N_SPLITS:
        raise ValueError(f"split must be from 0 to {N_SPLITS - 1}, got {split}")
    return operator.index(split)


def _take_split(name: str, X: np.ndarray, y: np.ndarray, split: int) -> Dataset:
    # RandomState, since its stream is frozen: a split is the same with every version of NumPy.
    order = np.random.RandomState(split).permutation(len(y))
    train, test = np.split(order, [SPLIT_SIZES[name][0]])
    return Dataset(X[train], y[train], X[test], y[test], name=name)


def _find_rows(name: str) -> tuple[Any, np.ndarray]:
    """All rows of a data set, those for training first."""
    folders = [cache_folder()]
    if root := os.environ.get("LARGEMARGIN_DATA"):
        folders.insert(0, Path(root))
    for folder in folders:
        files = [folder / file for file in _FILES[name]]
        if all(file.is_file() for file in files):
            return _checked_size(name, folder, *_read_rows(name, files))
    if name in ORIGINALS:
        return _fetch_originals(name, cache_folder())
    if name not in OPENML_SETS:
        raise _not_found(name, "and OpenML does not have the same data")
    try:
        return fetch_openml_set(name, cache_folder())
    except DataError:
        raise
    except (OSError, ValueError) as error:
        raise _not_found(name, f"and OpenML did not send it ({error})") from error


def _fetch_originals(name: str, cache: Path) -> tuple[Any, np.ndarray]:
    """The rows and labels of a data set from its page, whose files go into the cache."""
    online = ORIGINALS[name]
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        files = [Path(folder) / Path(file).name for file in _FILES[name]]
        for address, file in zip(online.addresses, files, strict=True):
            try:
                download(address, file)
            except OSError as error:
                raise _not_found(name, f"and {address} did not send it ({error})") from error
        X, y = _read_rows(name, files)
        if not Fingerprint.of(X, y).matches(online.fingerprint):
            raise DataError(
                f"{', '.join(online.addresses)}: not the {name} data expected here, saw shape "
                f"{X.shape} with other values or another order"
            )
        for place, file in zip(_FILES[name], files, strict=True):
            (cache / place).parent.mkdir(exist_ok=True)
            os.replace(file, cache / place)
    return X, y


def _read_rows(name: str, files: list[Path]) -> tuple[Any, np.ndarray]:
    if name == "mnist":
        (X, y), (X_test, y_test) = read(files[0]), read(files[2])
        return np.concatenate([X, X_test]), np.concatenate([y, y_test])
    if name in ("usps", "ijcnn1", "a9a"):
        width = {"usps": 256, "ijcnn1": 22, "a9a": 123}[name]
        (X, y), (X_test, y_test) = (
            read(file, format="svmlight", n_features=width) for file in files
        )
        rows, labels = sp.vstack([X, X_test]).astype(np.float32), np.concatenate([y, y_test])
        if name == "a9a":
            return rows, labels
        return rows.toarray(), labels - 1 if name == "usps" else labels
    if name == "letter":
        X, y = read(files[0], label=0)
        return X.astype(np.float32), y
    if name == "adult":
        return read_adult(files[0])
    X, y = read(files[0], header=False)
    return X.astype(np.float32) if name == "covtype" else X, y


def _checked_size(name: str, folder: Path, X: Any, y: np.ndarray) -> tuple[Any, np.ndarray]:
    rows = sum(_SIZES[name])
    if len(y) != rows:
        raise DataError(
            f"{folder / _FILES[name][0]}: expected {rows} rows of {name}, saw {len(y)}; put "
            f"{_ORIGINS[name]} there"
        )
    return X, y


def _not_found(name: str, online: str) -> DataError:
    folder = os.environ.get("LARGEMARGIN_DATA")
    places = f"$LARGEMARGIN_DATA ({folder or 'not set'}) and {cache_folder()}"
    return DataError(
        f"the data set {name} is not there: looked for {', '.join(_FILES[name])} in {places}, "
        f"{online}; put {_ORIGINS[name]} in one of these folders under that name"
    )


@dataclass(frozen=True)
class Fingerprint:
    """What tells a data set, the order of its rows included.

    The checksum is of the labels in order; `total` sums all features that are numbers, `moment`
    those of each row times its position from 1, divided by the number of rows.
    """

    shape: tuple[int, int]
    checksum: int
    total: float
    moment: float

    @classmethod
    def of(cls, X: Any, y: np.ndarray) -> Fingerprint:
        numbers = X
        if X.dtype == object:
            numbers = X[:, [isinstance(cell, float) and cell == cell for cell in X[0]]].astype(
                np.float64
            )
        sums = np.asarray(numbers.sum(axis=1, dtype=np.float64)).ravel()
        moment = np.arange(1, len(y) + 1) @ sums / len(y)
        checksum = zlib.crc32(" ".join(map(str, y)).encode())
        return cls(X.shape, checksum, float(sums.sum()), float(moment))

    def matches(self, other: Fingerprint) -> bool:
        same = self.shape == other.shape and self.checksum == other.checksum
        sums = [self.total, self.moment], [other.total, other.moment]
        return same and np.allclose(*sums, rtol=1e-6)


@dataclass(frozen=True)
class OpenMLSet:
    """A data set on OpenML, and how it becomes the one that is meant here."""

    data_id: int
    convert: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    fingerprint: Fingerprint


@dataclass(frozen=True)
class Originals:
    """The addresses of the files of a data set, and what must be in them."""

    addresses: tuple[str, ...]
    fingerprint: Fingerprint


def fetch_openml_set(name: str, cache: Path) -> tuple[np.ndarray, np.ndarray]:
    """The rows and labels of a data set, from an earlier download or a new one.

    Raises
    ------
    OSError
        If OpenML cannot be reached.
    DataError
        If what it sends is not the data set that is meant.
    """
    stored = cache / "openml" / f"{name}.npz"
    if stored.is_file():
        X, y = read(stored)
        return X, y
    online = OPENML_SETS[name]
    X, y = online.convert(*_download(online.data_id))
    if not Fingerprint.of(X, y).matches(online.fingerprint):
        raise DataError(
            f"the data set {online.data_id} of OpenML is not the {name} data expected here, saw "
            f"shape {X.shape} with other values or another order"
        )
    _store(stored, X, y)
    return X, y


def _download(data_id: int) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import fetch_openml

    with warnings.catch_warnings():
        # A failed attempt warns and then raises; the error alone says it all.
        warnings.simplefilter("ignore")
        bunch = fetch_openml(
            data_id=data_id,
            as_frame=False,
            cache=False,
            n_retries=1,
            parser="pandas" if importlib.util.find_spec("pandas") else "liac-arff",
        )
    return np.asarray(bunch.data, dtype=np.float64), np.asarray(bunch.target).astype(np.str_)


def _store(path: Path, X: np.ndarray, y: np.ndarray) -> None:
    """Write a cache file in one step, so that an interrupted write leaves none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(suffix=".npz", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, X=X, y=y)
        os.replace(partial, path)
    except BaseException:
        os.unlink(partial)
        raise


def _mnist(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return X.astype(np.float32), y.astype(np.int64)


def _usps(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return X.astype(np.float32), y.astype(np.int64) - 1


def _diabetes(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return X, np.where(y == "tested_positive", 1, -1)


def _heart(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / (high - low), np.where(y == "present", 1, -1)


OPENML_SETS = {
    "mnist": OpenMLSet(
        554, _mnist, Fingerprint((70000, 784), 4064519673, 1832221745.0, 915941697.7634715)
    ),
    "usps": OpenMLSet(
        41082, _usps, Fingerprint((9298, 256), 1531154645, -1155322.8749470199, -573168.5899909859)
    ),
    "diabetes": OpenMLSet(
        37, _diabetes, Fingerprint((768, 8), 3172495514, 276392.701, 138687.27314453127)
    ),
    "heart": OpenMLSet(
        53, _heart, Fingerprint((270, 13), 368487034, 1421.799563822, 714.1369481042259)
    ),
}

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
ORIGINALS = {
    "covtype": Originals(
        (f"{_UCI}/covtype/covtype.data.gz",),
        Fingerprint((581012, 54), 1020671816, 4854589843.0, 2263482679.798161),
    ),
    "ijcnn1": Originals(
        (f"{_LIBSVM}/ijcnn1.bz2", f"{_LIBSVM}/ijcnn1.t.bz2"),
        Fingerprint((141691, 22), 2898689266, 156755.42767694616, 74662.78261838148),
    ),
    "a9a": Originals(
        (f"{_LIBSVM}/a9a", f"{_LIBSVM}/a9a.t"),
        Fingerprint((48842, 123), 1359215886, 677323.0, 338656.0077392408),
    ),
    "adult": Originals(
        (f"{_UCI}/adult/adult.data",),
        Fingerprint((32561, 14), 3973134929, 6220206594.0, 3107182707.488621),
    ),
}
