"""The Dask classes are the plain ones with a client: for scikit-learn, pickle and model files."""

import asyncio
import inspect
import pickle

import cloudpickle
import dask.array as da
import numpy as np
import pytest
from distributed import Client
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from largemargin import SVC, NuSVC, calibrated, load, save
from largemargin.dask import DaskNuSVC, DaskSVC, DaskVotedPerceptron, collections, estimators

pytestmark = pytest.mark.slow

PAIRS = [(DaskSVC, SVC), (DaskNuSVC, NuSVC)]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    return X, np.where(X[:, 0] * X[:, 1] > 0, "in", "out")


@pytest.fixture
def alone(monkeypatch):
    """There is no client, whatever other tests have made."""

    def none():
        raise ValueError("no client")

    monkeypatch.setattr(collections, "get_client", none)


@parametrize_with_checks([DaskSVC(), DaskNuSVC(nu=0.3)])
def test_estimator_checks(client, estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore:there is no Dask client")
@parametrize_with_checks([DaskSVC()])
def test_estimator_checks_without_client(alone, estimator, check):
    check(estimator)


@pytest.mark.parametrize(("machine", "plain"), PAIRS)
def test_parameters_are_those_of_the_plain_class_and_the_client(machine, plain):
    ours, theirs = (dict(inspect.signature(one).parameters) for one in (machine, plain))
    assert ours.pop("client").default is None
    assert [(p.name, p.default, p.kind) for p in ours.values()] == [
        (p.name, p.default, p.kind) for p in theirs.values()
    ]
    assert set(machine().get_params()) == {*plain().get_params(), "client"}


def test_rows_on_a_cluster_are_not_held_out(alone):
    X, y = np.eye(4), [0, 1, 0, 1]
    for machine in (DaskSVC, DaskNuSVC, DaskVotedPerceptron):
        with pytest.raises(ValueError, match=r"got calibrate=True: leave it out, and give model"):
            machine(calibrate=True).fit(X, y)
    with pytest.raises(ValueError, match="got calibrate=True"):
        DaskSVC(calibrate=True).path(X, y, [1.0])
    with pytest.warns(UserWarning, match="there is no Dask client"):
        model = DaskSVC().fit(X, y)
    with pytest.raises(TypeError, match=r"give model\.to_local\(\)"):
        calibrated(model, X + 1, y)
    assert hasattr(calibrated(model.to_local(), X + 1, y), "predict_proba")


@pytest.mark.parametrize(("machine", "plain"), PAIRS)
def test_without_a_client_it_is_the_plain_class_and_says_so(alone, data, machine, plain):
    X, y = data
    with pytest.warns(UserWarning, match=f"is fitted in this process, as {plain.__name__}"):
        model = machine().fit(X, y)
    assert np.array_equal(model.dual_coef_, plain().fit(X, y).dual_coef_)
    assert not hasattr(model, "cluster_stats_")
    with pytest.warns(UserWarning, match="there is no Dask client"):
        lazy = machine().fit(da.from_array(X, chunks=60), da.from_array(y, chunks=60))
    assert np.array_equal(model.dual_coef_, lazy.dual_coef_)


@pytest.mark.parametrize("dumped", [pickle, cloudpickle])
@pytest.mark.parametrize("given", [True, False])
def test_pickles_leave_the_client_behind(client, data, dumped, given):
    X, y = data
    model = DaskSVC(C=3.0, client=client if given else None).fit(X, y)
    again = dumped.loads(dumped.dumps(model))
    assert again.client is None
    assert again.C == 3.0
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert model.client is (client if given else None)
    unfitted = dumped.loads(dumped.dumps(DaskSVC(client=client, C=2.0)))
    assert unfitted.get_params() == DaskSVC(C=2.0).get_params()


def test_clones_keep_the_client(client, data):
    model = DaskSVC(client=client, C=3.0).fit(*data)
    again = clone(model)
    assert again.client is client
    assert again.C == 3.0
    assert not hasattr(again, "dual_coef_")
    assert clone(DaskNuSVC(nu=0.2)).client is None


def test_asynchronous_clients_are_refused(client, data):
    async def fit():
        async with Client(client.scheduler.address, asynchronous=True) as other:
            with pytest.raises(ValueError, match="the client is asynchronous"):
                DaskSVC(client=other).fit(*data)

    asyncio.run(fit())


def test_closed_and_strange_clients_are_refused(client, data):
    other = Client(client.scheduler.address, set_as_default=False)
    other.close()
    with pytest.raises(ValueError, match="the client is closed"):
        DaskSVC(client=other).fit(*data)
    with pytest.raises(TypeError, match=r"client must be a distributed\.Client or None, got 'tcp"):
        DaskSVC(client="tcp://127.0.0.1:1").fit(*data)
    with pytest.raises(ValueError, match="got kernel='precomputed': use SVC"):
        DaskSVC(client=client, kernel="precomputed").fit(np.eye(200), data[1])


@pytest.mark.parametrize(("machine", "plain"), PAIRS)
def test_the_local_model_saves_certifies_and_answers(client, data, tmp_path, machine, plain):
    X, y = data
    model = machine(client=client).fit(da.from_array(X, chunks=60), y)
    local = model.to_local()
    assert type(local) is plain
    assert set(vars(local)) == set(vars(plain().fit(X, y)))
    save(local, tmp_path / "model.safetensors")
    loaded = load(tmp_path / "model.safetensors")
    expected = model.decision_function(X)
    assert np.array_equal(local.decision_function(X), expected)
    assert np.array_equal(loaded.decision_function(X), expected)
    assert np.array_equal(loaded.predict(X), model.predict(da.from_array(X, chunks=60)).compute())
    told = [str(one.certificate(X, y, leave_one_out=False)) for one in (model, local)]
    assert told[0].replace("Dask", "") == told[1]


def test_a_failed_fit_leaves_the_model_as_it_was(client, data):
    X, y = data
    model = DaskSVC(client=client).fit(X, y)
    before, scores = dict(vars(model)), model.decision_function(X)
    with pytest.raises(ValueError, match="y has 7 values"):
        model.fit(da.from_array(X, chunks=60), y[:7])
    assert set(vars(model)) == set(before)
    assert np.array_equal(model.decision_function(X), scores)


def test_different_processors_are_told(client, data, monkeypatch):
    monkeypatch.setattr(estimators, "processor", named_by_process)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2 * collections.STRETCH, 2))
    with pytest.warns(UserWarning, match="not to the last bit"):
        DaskSVC(client=client, C=0.01).fit(X, X[:, 0] > 0)


def named_by_process(shard):
    import os

    return (str(os.getpid()),)
