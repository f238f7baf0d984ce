"""Linear machines of few columns on a cluster: the plain machine, and the same bits on any number
of workers, for any cut of the rows.
"""

import time

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp

from largemargin.dask import DaskNuSVC, DaskSVC
from largemargin.dask.rows import ShardedKernel, ShardedRows
from largemargin.svm import SVC, NuSVC

from .conftest import cluster_of

pytestmark = pytest.mark.slow

N = 20_000
MACHINES = {
    "linear": (DaskSVC, SVC, {"C": 0.1}),
    "float64": (DaskSVC, SVC, {"C": 0.1, "precision": "float64"}),
    "squared": (DaskSVC, SVC, {"slack": "squared", "C": 0.1}),
    "no threshold": (DaskSVC, SVC, {"fit_intercept": False}),
    "nu": (DaskNuSVC, NuSVC, {"nu": 0.5}),
    "hard": (DaskSVC, SVC, {"C": np.inf}),
}


@pytest.fixture(autouse=True)
def no_kernel_values(monkeypatch):
    def refuse(*_):
        raise AssertionError("kernel values were asked for")

    monkeypatch.setattr(ShardedKernel, "columns", refuse)


def data_for(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 12)) + 0.5
    f = X @ rng.normal(size=12)
    noise = 0 if name == "hard" else 2
    return X, np.where(f + noise * rng.normal(size=N) > 2, "b", "a")


def assert_same_machine(found, plain):
    assert found.objective_ == pytest.approx(plain.objective_, rel=1e-8)
    assert np.allclose(found.coef_, plain.coef_, rtol=1e-6, atol=1e-7)
    assert np.allclose(found.intercept_, plain.intercept_, rtol=1e-6, atol=1e-6)
    assert (found.dual_gap_ <= np.maximum(2 * plain.dual_gap_, 1e-8)).all()


@pytest.mark.parametrize("name", MACHINES)
def test_the_plain_machine(client, name):
    ours, plain, parameters = MACHINES[name]
    X, y = data_for(name)
    found = ours(kernel="linear", client=client, **parameters).fit(
        da.from_array(X, chunks=(7000, -1)), y
    )
    assert_same_machine(found, plain(kernel="linear", **parameters).fit(X, y))


def test_weights_and_sparse_rows(client):
    X, y = data_for("linear")
    X[np.abs(X) < 0.5] = 0
    weight = np.random.default_rng(1).integers(0, 3, N)
    blocks = da.from_array(X, chunks=(11_000, -1)).map_blocks(sp.csr_array, dtype=X.dtype)
    found = DaskSVC(kernel="linear", C=0.1, client=client).fit(blocks, y, weight)
    assert_same_machine(found, SVC(kernel="linear", C=0.1).fit(X, y, weight))


def test_several_classes(client):
    X, _ = data_for("linear")
    y = np.argmax(X[:, :3] + np.random.default_rng(1).normal(size=(N, 3)), axis=1)
    found = DaskSVC(kernel="linear", C=0.01, client=client).fit(X, y)
    assert_same_machine(found, SVC(kernel="linear", C=0.01).fit(X, y))


def test_a_path(client):
    X, y = data_for("linear")
    Cs = [0.001, 0.1]
    found = DaskSVC(kernel="linear", client=client).path(X, y, Cs)
    for ours, plain in zip(found, SVC(kernel="linear").path(X, y, Cs), strict=True):
        assert_same_machine(ours, plain)


def test_few_rows_come_to_the_client(client, monkeypatch):
    """Samples, bands and, in the end, the support vectors."""
    X, y = data_for("linear")
    fetched, fetch = [], ShardedRows.__getitem__

    def watched(self, rows):
        found = fetch(self, rows)
        fetched.append(found.shape[0])
        return found

    monkeypatch.setattr(ShardedRows, "__getitem__", watched)
    monkeypatch.setattr("largemargin.runtime.arrays.FEW_NUMBERS", 36_000)
    monkeypatch.setattr("largemargin.runtime.arrays.NUMBERS_PER_ROW", 0)
    found = DaskSVC(kernel="linear", C=0.1, client=client).fit(X, y)
    assert fetched[-1] == len(found.support_)
    assert all(count <= 3000 or count == len(found.support_) for count in fetched)
    monkeypatch.undo()
    assert_same_machine(found, SVC(kernel="linear", C=0.1).fit(X, y))


def test_the_same_bits_on_any_number_of_workers(client):
    X, y = data_for("linear")
    machines = [{"C": 0.1}, {"slack": "squared", "precision": "float64"}]
    truth = [DaskSVC(kernel="linear", client=client, **one).fit(X, y) for one in machines]
    with cluster_of(3, threads=2, set_as_default=False) as other:
        for n_workers, rows in [(3, 4097), (1, 9000)]:
            other.cluster.scale(n_workers)
            while len(other.scheduler_info()["workers"]) != n_workers:
                time.sleep(0.05)
            for one, first in zip(machines, truth, strict=True):
                model = DaskSVC(kernel="linear", client=other, **one)
                model.fit(da.from_array(X, chunks=(rows, -1)), y)
                assert len(model.cluster_stats_) == n_workers
                for name in ("support_", "dual_coef_", "intercept_", "objective_", "dual_gap_"):
                    assert np.array_equal(getattr(model, name), getattr(first, name))
