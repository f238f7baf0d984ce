"""An MLflow flavour: models of this library saved, logged and loaded, without pickle.

An MLflow model is a folder. This one holds the safe file of `largemargin.save`, what it takes to
run it, and `MLmodel`, which describes it: as the flavour "largemargin", which `load_model` makes
the estimator of, and as "python_function", which MLflow's own tools serve.

    from largemargin.interchange import mlflow as largemargin_mlflow

    largemargin_mlflow.log_model(model, name="iris")
"""

from __future__ import annotations

import json
import platform
import sys
from os import PathLike
from pathlib import Path
from typing import Any

from largemargin.interchange.packages import needed

FLAVOR_NAME = "largemargin"
MODEL_FILE = "model.safetensors"
_CONDA, _PYTHON, _REQUIREMENTS = "conda.yaml", "python_env.yaml", "requirements.txt"
ANSWERS = ("predict", "decision_function", "predict_proba")


def save_model(
    model: Any,
    path: str | PathLike[str],
    mlflow_model: Any = None,
    signature: Any = None,
    input_example: Any = None,
    pip_requirements: list[str] | None = None,
    metadata: dict[str, Any] | None = None,
    predict_fn: str = "predict",
) -> None:
    """Write a fitted model as a folder that MLflow knows.

    Parameters
    ----------
    model : estimator
        What `largemargin.save` takes.
    path : str or path-like
        The folder, which must be empty or not there.
    mlflow_model : mlflow.models.Model, optional
        The description that MLflow adds this flavour to; `log_model` gives it.
    signature : mlflow.models.ModelSignature, optional
        The columns and types of input and output.
    input_example : array or data frame, optional
        Some rows that the signature is inferred from, if none is given. They are not stored.
    pip_requirements : list of str, optional
        What a server installs; by default this version of largemargin.
    metadata : dict, optional
        Notes for `MLmodel`.
    predict_fn : {"predict", "decision_function", "predict_proba"}, default="predict"
        What the model answers with as a python_function.
    """
    needed("mlflow")
    import mlflow.pyfunc
    from mlflow.models import Model, infer_signature

    from largemargin import __version__
    from largemargin.model_file import save

    if predict_fn not in ANSWERS or not hasattr(model, predict_fn):
        raise ValueError(
            f"predict_fn must be one of {', '.join(ANSWERS)} that the model has, got {predict_fn!r}"
        )
    folder = Path(path)
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} exists and is not empty: name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    save(model, folder / MODEL_FILE)
    described = Model() if mlflow_model is None else mlflow_model
    if signature is None and input_example is not None:
        signature = infer_signature(input_example, getattr(model, predict_fn)(input_example))
    if signature is not None:
        described.signature = signature
    if metadata is not None:
        described.metadata = metadata
    _write_requirements(folder, pip_requirements or [f"largemargin=={__version__}"])
    mlflow.pyfunc.add_to_model(
        described, loader_module=__name__, data=MODEL_FILE, conda_env=_CONDA, python_env=_PYTHON,
        model_config={"predict_fn": predict_fn},
    )  # fmt: skip
    described.add_flavor(FLAVOR_NAME, data=MODEL_FILE, largemargin_version=__version__)
    described.save(str(folder / "MLmodel"))


def _write_requirements(folder: Path, requirements: list[str]) -> None:
    """The three files by which MLflow installs what a model needs; JSON is YAML too."""
    python = platform.python_version()
    (folder / _REQUIREMENTS).write_text("\n".join([*requirements, ""]))
    packages = [f"python={python}", "pip", {"pip": requirements}]
    conda = {"name": "mlflow-env", "channels": ["conda-forge"], "dependencies": packages}
    (folder / _CONDA).write_text(json.dumps(conda, indent=2))
    plain = {
        "python": python,
        "build_dependencies": ["pip"],
        "dependencies": [f"-r {_REQUIREMENTS}"],
    }
    (folder / _PYTHON).write_text(json.dumps(plain, indent=2))


def log_model(
    model: Any, name: str = "model", registered_model_name: str | None = None, **settings: Any
) -> Any:
    """Log a fitted model to the tracking server of MLflow, in the active run or a new one.

    Parameters
    ----------
    model : estimator
        What `largemargin.save` takes.
    name : str, default="model"
        Its name there.
    registered_model_name : str, optional
        The name of a registered model that this becomes a version of.
    **settings :
        As for `save_model`: signature, input_example, pip_requirements, metadata, predict_fn.

    Returns
    -------
    mlflow.models.model.ModelInfo
        With `model_uri`, which `load_model` takes.
    """
    needed("mlflow")
    from mlflow.models import Model

    return Model.log(
        artifact_path=None, flavor=sys.modules[__name__], name=name,
        registered_model_name=registered_model_name, model=model, **settings,
    )  # fmt: skip


def load_model(model_uri: str, dst_path: str | None = None) -> Any:
    """The estimator that `save_model` or `log_model` was given.

    Parameters
    ----------
    model_uri : str
        A folder, or an address of MLflow such as runs:/... or models:/...
    dst_path : str, optional
        Where to put what is downloaded.
    """
    needed("mlflow")
    from mlflow.artifacts import download_artifacts
    from mlflow.models import Model

    from largemargin.model_file import load

    folder = download_artifacts(artifact_uri=str(model_uri), dst_path=dst_path)
    flavors = Model.load(folder).flavors
    if FLAVOR_NAME not in flavors:
        raise ValueError(
            f"{model_uri} holds no model of largemargin, only {', '.join(sorted(flavors))}: load "
            "it with the flavour that wrote it"
        )
    return load(Path(folder) / flavors[FLAVOR_NAME]["data"])


class Served:
    """A model as MLflow's python_function."""

    def __init__(self, model: Any, answer: str) -> None:
        self.model, self.answer = model, answer

    def predict(self, rows: Any, params: dict[str, Any] | None = None) -> Any:
        """What the model answers with for the rows of a data frame or an array."""
        if not hasattr(self.model, "feature_names_in_") and hasattr(rows, "to_numpy"):
            rows = rows.to_numpy()
        return getattr(self.model, self.answer)(rows)

    def get_raw_model(self) -> Any:
        return self.model


def _load_pyfunc(path: str, model_config: dict[str, Any] | None = None) -> Served:
    """What MLflow calls with the path of the model file."""
    from largemargin.model_file import load

    answer = (model_config or {}).get("predict_fn", "predict")
    if answer not in ANSWERS:
        raise ValueError(f"predict_fn must be one of {', '.join(ANSWERS)}, got {answer!r}")
    return Served(load(path), answer)
