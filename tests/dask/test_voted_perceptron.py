"""The voted perceptron on a cluster: the mistakes of the plain class, to the last bit."""

import contextlib
import os
import pickle
import signal
import threading
import time
from unittest import SkipTest

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import estimator_checks_generator

from largemargin import VotedPerceptron, load, save
from largemargin.dask import DaskVotedPerceptron
from largemargin.dask.perceptron_pass import ClusterKernelPass

from .conftest import cluster_of
from .test_collections import no_client

pytestmark = pytest.mark.cluster

N = 9000  # three stretches, so that each of three workers has one, and more blocks than are ahead


def examples():
    """Rows with zeros in them, and labels of three classes."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(N, 12)).astype(np.float32)
    X[:, 6:] *= rng.random((N, 6)) < 0.3
    y = np.digitize(X[:, 0] * X[:, 1] + X[:, 2], [-0.5, 0.5])
    return X, np.array(["low", "middle", "high"])[y]


X, y = examples()
# 1 is added to the kernel, and its values do not come from registers
TILED = {"degree": 2, "fit_intercept": True, "epochs": 1, "shuffle": False}


def workers(count, threads=1, processes=True):
    return cluster_of(count, threads, set_as_default=False, processes=processes)


@pytest.fixture(scope="module")
def three():
    with workers(3) as client:
        yield client


def assert_same(one, other):
    """The same model, to the last bit."""
    ours, theirs = one.trace_.arrays(), other.trace_.arrays()
    for name in ours:
        assert np.array_equal(ours[name], theirs[name]), name
    for name in ("n_steps", "epoch_length"):
        assert getattr(one.trace_, name) == getattr(other.trace_, name)
    for name in ("support_", "dual_coef_", "classes_", "n_mistakes_"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert (one.converged_, one.n_epochs_) == (other.converged_, other.n_epochs_)
    assert (one._correct is None) == (other._correct is None)
    if one._correct is not None:
        assert np.array_equal(one._correct, other._correct)
    assert one.training_record.data == other.training_record.data


@pytest.mark.parametrize(
    ("how", "rows"),
    [
        ({"degree": 2, "epochs": 2}, X),
        ({**TILED, "epochs": 2, "shuffle": True, "random_state": 1}, X),
        ({"kernel": "rbf", "shuffle": True, "random_state": 2, "precision": "float64"}, X),
        ({"kernel": "laplacian", "method": "holdout", "random_state": 3}, X),
        ({**TILED, "gamma": "scale", "method": "pocket"}, X),
        (TILED, sp.csr_array(X)),
        ({"kernel": "linear", "epochs": 2, "fit_intercept": True}, X),
        ({"kernel": "linear", "shuffle": True, "random_state": 4}, sp.csr_array(X)),
        ({"degree": 2}, X[:500]),
    ],
)
def test_the_plain_class_makes_the_same_mistakes(client, how, rows):
    labels = y[: rows.shape[0]]
    found = DaskVotedPerceptron(client=client, **how).fit(rows, labels)
    assert_same(VotedPerceptron(**how).fit(rows, labels), found)


def test_two_classes(client):
    labels = y == "low"
    plain = VotedPerceptron(kernel="sigmoid", coef0=0.0, epochs=1, shuffle=False).fit(X, labels)
    assert_same(
        plain,
        DaskVotedPerceptron(kernel="sigmoid", coef0=0.0, epochs=1, shuffle=False).fit(X, labels),
    )


def test_regulars_are_added_as_the_plain_class_adds_them(client):
    """Examples that err in five epochs, more than a tile of them, are added in another order."""
    rows, labels = X[:2500], np.random.default_rng(0).integers(0, 2, 2500)
    how = {**TILED, "epochs": 7}
    plain = VotedPerceptron(**how).fit(rows, labels)
    _, counts = np.unique(plain.trace_.slot, return_counts=True)
    assert (counts >= 5).sum() > 512
    assert_same(plain, DaskVotedPerceptron(client=client, **how).fit(rows, labels))


def test_the_number_of_workers_does_not_matter(three):
    how = {"degree": 2, "shuffle": True, "random_state": 0}
    plain, tiled = VotedPerceptron(**how).fit(X, y), VotedPerceptron(**TILED).fit(X, y)
    with workers(1, threads=2, processes=False) as one:
        for client, count in ((one, 1), (three, 3)):
            found = DaskVotedPerceptron(client=client, **how).fit(X, y)
            assert len(found.cluster_stats_) == count
            assert_same(plain, found)
            assert_same(tiled, DaskVotedPerceptron(client=client, **TILED).fit(X, y))


@pytest.mark.full
def test_what_scikit_learn_asks_of_an_estimator():
    with workers(1, processes=False) as client, client.as_current():
        for model, check in estimator_checks_generator(
            DaskVotedPerceptron(epochs=1, shuffle=False)
        ):
            with contextlib.suppress(SkipTest):
                check(model)


@pytest.mark.parametrize("chunks", [(N,), (0, 1, 4999, 0, 4000), (1000,) * 9])
def test_partitions_do_not_matter(client, chunks):
    plain = VotedPerceptron(degree=2, epochs=1, shuffle=False).fit(X, y)
    rows = da.from_array(X, chunks=(chunks, -1))
    labels = da.from_array(y, chunks=3000)
    found = DaskVotedPerceptron(degree=2, client=client, epochs=1, shuffle=False).fit(rows, labels)
    assert_same(plain, found)
    answers = found.predict(rows, method="last")
    assert isinstance(answers, da.Array)
    assert np.array_equal(answers[:3000].compute(), plain.predict(X[:3000], method="last"))


def test_a_worker_that_dies_loses_nothing(three, monkeypatch):
    visit = ClusterKernelPass.visit
    kills = []

    def visit_and_kill(self, block):
        if block == 2 and not kills:
            # so that it dies in the middle of the visit, with blocks brought up to date ahead
            pid = next(iter(self.cluster.client.run(os.getpid).values()))
            kills.append(pid)
            threading.Timer(0.02, os.kill, (pid, signal.SIGKILL)).start()
        return visit(self, block)

    monkeypatch.setattr(ClusterKernelPass, "visit", visit_and_kill)
    how = {**TILED, "shuffle": True, "random_state": 0}
    rows = da.from_array(X, chunks=(2500, -1))
    found = DaskVotedPerceptron(client=three, **how).fit(rows, y)
    assert len(kills) == 1
    assert sum(one["deaths"] for one in found.cluster_stats_) == 1
    assert_same(VotedPerceptron(**how).fit(X, y), found)


def test_time_is_up(client):
    how = {"degree": 3, "shuffle": False}
    DaskVotedPerceptron(epochs=1, client=client, **how).fit(X, y)  # workers load compiled code
    model = DaskVotedPerceptron(epochs=10**6, max_seconds=0.5, client=client, **how)
    began = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match="max_seconds=0.5 was reached"):
        model.fit(X, np.random.default_rng(0).integers(0, 2, N))
    assert time.perf_counter() - began < 5
    steps = model.trace_.n_steps
    plain = VotedPerceptron(epochs=-(-steps // N), **how)
    plain.fit(X, np.random.default_rng(0).integers(0, 2, N))
    made = plain.trace_.mistakes_by(steps)
    assert np.array_equal(plain.trace_.score[:made], model.trace_.score)
    assert model.predict(X[:5]).shape == (5,)


def test_ctrl_c_leaves_a_model(client):
    model = DaskVotedPerceptron(degree=3, epochs=10**6, client=client)
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.warns(ConvergenceWarning, match="it was interrupted"):
        model.fit(X, np.random.default_rng(0).integers(0, 2, N))
    assert model.predict(X[:5]).shape == (5,)


def test_parameters_are_those_of_the_plain_class():
    plain, ours = (
        VotedPerceptron(epochs=1, shuffle=False).get_params(),
        DaskVotedPerceptron(epochs=1, shuffle=False).get_params(),
    )
    assert ours == {**plain, "client": None}


def test_the_model_does_not_need_the_cluster(client, tmp_path):
    model = DaskVotedPerceptron(degree=2, client=client, epochs=1, shuffle=False).fit(
        X[:1000], y[:1000]
    )
    assert clone(model).client is client
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None
    local = model.to_local()
    assert type(local) is VotedPerceptron
    for one in (again, local):
        assert_same(model, one)
        assert np.array_equal(one.predict(X), model.predict(X))
    save(local, tmp_path / "model.lm")
    assert np.array_equal(load(tmp_path / "model.lm").predict(X), model.predict(X))
    assert "margin" in str(local.certificate(X[:1000], y[:1000]))
    local.partial_fit(X[1000:1500], y[1000:1500])
    assert len(local.trace_) > len(model.trace_)
    plain = (
        VotedPerceptron(degree=2, epochs=1, shuffle=False)
        .fit(X[:1000], y[:1000])
        .partial_fit(X[1000:1500], y[1000:1500])
    )
    assert np.array_equal(plain.trace_.score, local.trace_.score)


def test_streams_are_of_this_process(client):
    parts = da.from_array(X, chunks=(1000, -1))
    with pytest.raises(ValueError, match="partial_fit goes over a stream in this process"):
        DaskVotedPerceptron(client=client, epochs=1, shuffle=False).partial_fit(
            parts, y, classes=np.unique(y)
        )
    ours = DaskVotedPerceptron(degree=2, epochs=1, shuffle=False).partial_fit(
        X[:600], y[:600], classes=np.unique(y)
    )
    plain = VotedPerceptron(degree=2, epochs=1, shuffle=False).partial_fit(
        X[:600], y[:600], classes=np.unique(y)
    )
    assert np.array_equal(plain.trace_.score, ours.trace_.score)


def test_what_cannot_be_done_is_said(client):
    model = DaskVotedPerceptron(client=client, epochs=1, shuffle=False)
    with pytest.raises(ValueError, match="use VotedPerceptron"):
        clone(model).set_params(kernel="precomputed").fit(X[:9, :9], y[:9])
    with pytest.raises(ValueError, match="DaskVotedPerceptron"):
        model.fit(X[:9], np.zeros(9))
    with pytest.raises(ValueError, match="y has 8 values, and X has 9 rows"):
        model.fit(X[:9], y[:8])
    with pytest.raises(ValueError, match="requires y to be passed"):
        model.fit(X[:9], None)
    assert not hasattr(model, "trace_")


def test_an_error_of_the_kernel_is_that_of_the_user(client):
    def kernel(A, B):
        raise ZeroDivisionError("of the user")

    with pytest.raises(ZeroDivisionError, match="of the user"):
        DaskVotedPerceptron(kernel=kernel, client=client, epochs=1, shuffle=False).fit(
            X[:2000], y[:2000]
        )


def test_without_a_client_the_plain_class_is_used_and_that_is_said(monkeypatch):
    monkeypatch.setattr("largemargin.dask.collections.get_client", no_client)
    with pytest.warns(UserWarning, match="no Dask client: DaskVotedPerceptron .* VotedPerceptron"):
        model = DaskVotedPerceptron(degree=2, epochs=1, shuffle=False).fit(
            X[:500], da.from_array(y[:500])
        )
    assert_same(model, VotedPerceptron(degree=2, epochs=1, shuffle=False).fit(X[:500], y[:500]))
