"""The MLflow flavour against MLflow itself, with a store of files."""

import json
import os

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from largemargin import SVC, OneClassSVM
from largemargin.interchange import mlflow as flavor

X, Y = load_iris(return_X_y=True)


def test_the_flavour_is_told_without_mlflow(monkeypatch, tmp_path):
    monkeypatch.setattr("largemargin.interchange.packages.find_spec", lambda name: None)
    for call in (flavor.save_model, flavor.log_model):
        with pytest.raises(
            ImportError, match=r"needs the package mlflow, which is not .* 'largemargin\[mlflow\]'"
        ):
            call(SVC(), str(tmp_path / "m"))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """MLflow with a store of files and no word to its makers."""
    settings = {
        "MLFLOW_ALLOW_FILE_STORE": "true",  # newer versions would rather have a database
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "DO_NOT_TRACK": "true",
    }
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    import mlflow

    mlflow.set_tracking_uri((tmp_path_factory.mktemp("mlflow") / "store").as_uri())
    yield mlflow
    mlflow.set_tracking_uri(None)
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})


@pytest.fixture(scope="module")
def model():
    return make_pipeline(StandardScaler(), SVC()).fit(X, Y)


@pytest.mark.full
def test_a_model_is_logged_and_loaded(store, model):
    info = flavor.log_model(model, name="iris", input_example=X[:3])
    again = flavor.load_model(info.model_uri)
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    served = store.pyfunc.load_model(info.model_uri)
    assert np.array_equal(served.predict(X), model.predict(X))
    assert np.array_equal(served.predict(pd.DataFrame(X)), model.predict(X))
    assert isinstance(served.get_raw_model(), type(model))
    assert "float64" in str(info.signature.inputs)
    scores = store.pyfunc.load_model(
        info.model_uri, model_config={"predict_fn": "decision_function"}
    )
    assert np.array_equal(scores.predict(X), model.decision_function(X))


@pytest.mark.full
def test_a_registered_model(store, model):
    flavor.log_model(model, name="iris", registered_model_name="flowers", metadata={"a": 1})
    again = flavor.load_model("models:/flowers/1")
    assert np.array_equal(again.predict(X), model.predict(X))


@pytest.mark.full
def test_a_folder_has_no_pickle(store, tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = OneClassSVM(nu=0.1).fit(frame)
    path = tmp_path / "model"
    flavor.save_model(model, path, predict_fn="decision_function")
    names = {file.name for file in path.iterdir()}
    assert names == {
        "MLmodel", "model.safetensors", "requirements.txt", "conda.yaml", "python_env.yaml",
    }  # fmt: skip
    assert (path / "requirements.txt").read_text().startswith("largemargin==")
    assert json.loads((path / "python_env.yaml").read_text())["dependencies"]
    served = store.pyfunc.load_model(str(path))
    assert np.array_equal(served.predict(frame), model.decision_function(frame))
    assert np.array_equal(flavor.load_model(path).predict(frame), model.predict(frame))


@pytest.mark.full
def test_refusals(store, model, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="exists and is not empty: name another folder"):
        flavor.save_model(model, tmp_path)
    with pytest.raises(ValueError, match=r"predict_fn must be one of .* got 'predict_proba'"):
        flavor.save_model(model, tmp_path / "b", predict_fn="predict_proba")
    with pytest.raises(ValueError, match="is code and cannot be saved"):
        flavor.save_model(SVC(kernel=lambda A, B: A @ B.T).fit(X, Y), tmp_path / "c")
    path = tmp_path / "other"
    described = store.models.Model()
    described.add_flavor("strange", data="x")
    path.mkdir()
    described.save(str(path / "MLmodel"))
    with pytest.raises(ValueError, match="holds no model of largemargin, only strange"):
        flavor.load_model(str(path))
