"""Lazy answers are those of the model on the whole, and the model travels once."""

import os
from concurrent.futures import ThreadPoolExecutor

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from dask import delayed
from distributed import wait

from largemargin import SVC, NuSVC, OneClassSVM, VotedPerceptron
from largemargin.dask.prediction import answers

pytestmark = pytest.mark.cluster

METHODS = ("predict", "decision_function")
LENGTHS = (40, 0, 7, 53)


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(1).normal(size=(100, 3))


@pytest.fixture(scope="module")
def models(X):
    two = X[:, 0] * X[:, 1] > 0
    three = np.array(["low", "middle", "high"])[two + (X[:, 2] > 0).astype(int)]
    return {
        "two": SVC().fit(X, two),
        "three": SVC(n_jobs=2).fit(X, three),
        "linear": SVC(kernel="linear").fit(X, three),
        "nu": NuSVC(nu=0.2).fit(X, two),
        "perceptron": VotedPerceptron(random_state=0).fit(X, three),
        "one class": OneClassSVM().fit(X),
    }


def parts(X, make=np.array):
    ends = np.cumsum(LENGTHS)
    return [delayed(make)(X[e - n : e]) for e, n in zip(ends, LENGTHS, strict=True)]


def frames(X):
    return dd.from_delayed(parts(X, pd.DataFrame), meta=pd.DataFrame(X[:0]))


KINDS = {
    "array": lambda X: da.from_array(X, chunks=(LENGTHS, 3)),
    "columns": lambda X: da.from_array(X, chunks=(LENGTHS, 2)),
    "csr blocks": lambda X: da.from_array(X, chunks=(LENGTHS, 3)).map_blocks(sp.csr_matrix),
    "csr columns": lambda X: da.from_array(X, chunks=(LENGTHS, 2)).map_blocks(sp.csr_array),
    "unknown": lambda X: frames(X).to_dask_array(),
    "frame": frames,
    "delayed": parts,
    "delayed polars": lambda X: parts(X, lambda p: pl.from_numpy(p, schema=["x", "y", "z"])),
}


def check_answers(lazy, plain):
    """The twin is the model itself; types and shapes are right before and after computing."""
    assert isinstance(lazy, da.Array)
    assert lazy.dtype == lazy._meta.dtype == plain.dtype
    assert lazy.ndim == lazy._meta.ndim == plain.ndim
    assert lazy.shape[1:] == plain.shape[1:]
    assert lazy.numblocks == (len(LENGTHS), *(1 for _ in plain.shape[1:]))
    if not np.isnan(lazy.shape[0]):
        assert lazy.chunks[0] == LENGTHS
    found = lazy.compute()
    assert found.dtype == plain.dtype
    if plain.dtype.kind == "f":
        np.testing.assert_allclose(found, plain, rtol=1e-10, atol=1e-10)
    else:
        np.testing.assert_array_equal(found, plain)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "method"), [("two", "predict"), ("three", "decision_function")])
def test_lazy_answers(client, X, models, name, method, kind):
    model = models[name]
    lazy = answers(model, method, KINDS[kind](X), client)
    assert np.isnan(lazy.shape[0]) == (kind in ("unknown", "frame", "delayed", "delayed polars"))
    check_answers(lazy, getattr(model, method)(X))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["two", "three", "linear", "nu", "perceptron", "one class"])
def test_lazy_answers_of_every_family(client, X, models, name, method):
    model = models[name]
    check_answers(answers(model, method, KINDS["array"](X), client), getattr(model, method)(X))


@pytest.mark.parametrize("make", [np.array, np.ndarray.tolist, sp.csr_array, pd.DataFrame])
def test_plain_data_is_answered_at_once(X, models, make):
    found = answers(models["three"], "decision_function", make(X), None)
    assert type(found) is np.ndarray
    np.testing.assert_allclose(found, models["three"].decision_function(X), rtol=1e-12)


def test_answers_keep_float32(client, X, models):
    lazy = answers(models["two"], "decision_function", KINDS["array"](X.astype("f4")), client)
    check_answers(lazy, models["two"].decision_function(X.astype("f4")))


def test_lazy_answers_are_collections_like_others(client, X, models):
    """They can be cut, compared and persisted, twice from one call."""
    lazy = answers(models["two"], "predict", KINDS["array"](X), client)
    plain = models["two"].predict(X)
    assert (lazy == da.from_array(plain, chunks=(LENGTHS,))).all().compute()
    np.testing.assert_array_equal(lazy[45:60].compute(), plain[45:60])
    np.testing.assert_array_equal(lazy.persist().compute(), plain)


class Counted:
    """A model that writes down in which process it was unpickled, and wants one job in a task."""

    n_features_in_ = 3

    def __init__(self, folder):
        self.folder, self.n_jobs, self.home = folder, None, os.getpid()
        self.weight = np.ones(2_000_000)  # of a graph Dask would say that it is large

    def __setstate__(self, state):
        self.__dict__.update(state)
        if os.getpid() != self.home:
            with open(self.folder / str(os.getpid()), "a") as file:
                file.write("unpickled\n")

    def predict(self, X):
        if self.n_jobs != 1 and len(X) > 1:
            raise ValueError(f"{self.n_jobs} jobs in a task")
        return np.asarray(X).sum(axis=1)


@pytest.mark.parametrize("kind", ["array", "columns", "delayed"])
def test_the_model_is_sent_to_each_worker_once(client, tmp_path, kind, recwarn):
    model = Counted(tmp_path)
    X = np.random.default_rng(2).normal(size=(4000, 3))
    if kind == "delayed":
        rows = [delayed(np.array)(part) for part in np.split(X, 40)]
    else:
        rows = da.from_array(X, chunks=(100, 3 if kind == "array" else 2))
    lazy = answers(model, "predict", rows, client)
    np.testing.assert_allclose(lazy.compute(), X.sum(axis=1))
    assert model.n_jobs is None
    workers = {str(process) for process in client.run(os.getpid).values()}
    seen = {file.name: file.read_text() for file in tmp_path.iterdir()}
    assert seen.keys() <= workers
    assert set(seen.values()) == {"unpickled\n"}
    assert not [w for w in recwarn if "large graph" in str(w.message)]


def test_threads_do_not_multiply(client, X, models):
    """In a task a model of two jobs starts no threads, as it would if it were just called."""
    model, many = models["three"], np.tile(X, (400, 1))
    before = client.run(pools)
    wait(answers(model, "predict", da.from_array(many, chunks=(20_000, 3)), client).persist())
    assert client.run(pools) == before
    assert model.n_jobs == 2
    client.submit(model.predict, many).result()
    assert client.run(pools) != before


def pools():
    """How many pools of threads without a name this process has made."""
    return repr(ThreadPoolExecutor._counter.__self__)


def test_names_of_columns(client, X, models):
    named = pd.DataFrame(X, columns=["a", "b", "c"])
    model = SVC().fit(named, X[:, 0] > 0)
    plain = model.predict(named)
    rows = dd.from_pandas(named, npartitions=3)
    np.testing.assert_array_equal(answers(model, "predict", rows, client).compute(), plain)
    with pytest.raises(ValueError, match="feature names should match"):
        answers(model, "predict", rows[["b", "a", "c"]], client)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        lazy = answers(model, "predict", KINDS["array"](X), client)
    np.testing.assert_array_equal(lazy.compute(), plain)


def test_wrong_widths_are_found_before_computing(client, X, models):
    for rows in (da.zeros((10, 2)), da.zeros((10, 2), chunks=1), frames(X)[[0, 1]]):
        with pytest.raises(ValueError, match="X has 2 features, but SVC is expecting 3"):
            answers(models["two"], "predict", rows, client)
    with pytest.raises(ValueError, match=r"X has shape \(10,\): give an array of rows"):
        answers(models["two"], "predict", da.zeros(10), client)
    with pytest.raises(ValueError, match="X has 2 features"):
        answers(models["two"], "predict", parts(X[:, :2]), client).compute()
