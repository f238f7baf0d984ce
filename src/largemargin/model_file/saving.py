"""Models to files and back: estimators of the registry, alone or as the last step of a pipeline."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from os import PathLike
from typing import Any

import numpy as np

from largemargin.base.fingerprint import PARTS, Fingerprint
from largemargin.base.training_record import TrainingRecord, parameters_of
from largemargin.model_file.arrays import LARGEST_COUNT
from largemargin.model_file.container import ModelFileError, named, read, refusal, write
from largemargin.model_file.refitting import width_of
from largemargin.model_file.registry import (
    ADDED,
    CALIBRATION,
    ESTIMATORS,
    TRANSFORMERS,
    Entry,
    find_entry,
)
from largemargin.model_file.values import (
    decode,
    decode_labels,
    encode,
    encode_labels,
    encode_parameter,
    plain,
)
from largemargin.runtime.showing import printable

Node = dict[str, Any]

_OUTPUTS = ("default", "pandas", "polars")
# What reading the content of a file that someone made up can raise, however carefully checked.
_CONTENT_ERRORS = (
    ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError,
    MemoryError,
)  # fmt: skip


def save(model: Any, path: str | PathLike[str], info: Mapping[str, Any] | None = None) -> None:
    """Write a fitted model to a file from which `load` makes it again, bit for bit.

    The file is written whole or not at all: whatever fails, a file that was there stays as it was.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this library, or a scikit-learn `Pipeline` that ends in one and
        otherwise has steps of `TablePreprocessor` or of scikit-learn's StandardScaler,
        MinMaxScaler, MaxAbsScaler, SimpleImputer, MissingIndicator, OneHotEncoder, and
        ColumnTransformer or Pipeline of these.
    path : str or path-like
        The file, by custom with the ending .safetensors.
    info : dict, default=None
        Notes to keep with the model, of what JSON can say: where the data came from, say.
        `describe` gives them back.

    Raises
    ------
    ModelFileError
        If the model holds what cannot be written without code (a function as kernel, another
        estimator), is not fitted, or the file cannot be written.

    Examples
    --------
    >>> import os, tempfile, largemargin
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = largemargin.VotedPerceptron(degree=2, epochs=3).fit(X, y)
    >>> path = os.path.join(tempfile.mkdtemp(), "iris.safetensors")
    >>> largemargin.save(model, path, info={"data": "iris"})
    >>> bool((largemargin.load(path).predict(X) == model.predict(X)).all())
    True
    >>> largemargin.describe(path)["info"]
    {'data': 'iris'}
    """
    from largemargin import __version__

    if info is not None and not isinstance(info, Mapping):
        raise ModelFileError(f"info must be a dict, got a {type(info).__name__}")
    arrays: dict[str, np.ndarray] = {}
    try:
        header = {
            "library": __version__,
            "model": _pack_model(model, arrays),
            "info": encode(info or {}, "info"),
        }
    except ValueError as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"cannot save to {named(path)}: {error}") from error
    write(path, header, arrays)


def load(path: str | PathLike[str]) -> Any:
    """Make the model that was saved to a file. Nothing in a file can run.

    Parameters
    ----------
    path : str or path-like
        A file that `save` wrote.

    Returns
    -------
    estimator
        It predicts bit for bit like the one that was saved, and `partial_fit` or a fit with
        `warm_start` goes on where that one was.

    Raises
    ------
    ModelFileError
        If the file is missing, cut short, altered, of another kind, or of a newer version.
    """
    return load_with_info(path)[0]


def load_with_info(path: str | PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """`load`, and the notes that were saved with the model."""
    contents = read(path)
    try:
        model, used = _unpack_model(contents.header["model"], contents.arrays)
        info = decode(contents.header["info"])
        extra = set(contents.arrays) - used
        if extra or set(contents.header) != {"format", "library", "model", "info"}:
            raise ValueError(f"it has parts that do not belong there, such as {sorted(extra)[:3]}")
    except _CONTENT_ERRORS as error:
        raise refusal(path, _one_line(error)) from error
    return model, info


def describe(path: str | PathLike[str]) -> dict[str, Any]:
    """What a model file holds, without making the model.

    Parameters
    ----------
    path : str or path-like
        A file that `save` wrote.

    Returns
    -------
    dict
        With the keys path, size (bytes), sha256, format, library, steps, arrays (type and shape of
        each) and info. `steps` has a dict for each step before the last and, last, for the
        estimator: name, class, parameters, n_features, labels and facts; calibration, if there is
        one.

    Raises
    ------
    ModelFileError
        As for `load`, but for what only the making of the model shows.
    """
    contents = read(path)
    header = contents.header
    try:
        info, top = header["info"], header["model"]
        decode(info)
        steps = []
        for name, node in _flat(top):
            decode([node["parameters"], node["facts"], node.get("calibration")])
            labels = decode_labels(node["labels"], 1).tolist() if "labels" in node else None
            shown = {
                key: plain(node[key]) for key in ("class", "parameters", "n_features", "facts")
            }
            kind = node["labels"]["type"] if labels else None
            step = {"name": name, **shown, "labels": labels, "label_type": kind}
            if "calibration" in node:
                step["calibration"] = plain(node["calibration"])
            steps.append(step)
        info = plain(info)
    except _CONTENT_ERRORS as error:
        raise refusal(path, _one_line(error)) from error
    return {
        "path": str(path),
        "size": contents.size,
        "sha256": contents.sha256,
        "format": header["format"],
        "library": header["library"],
        "steps": steps,
        "arrays": {
            name: {"type": str(array.dtype), "shape": list(array.shape)}
            for name, array in sorted(contents.arrays.items())
        },
        "info": info,
    }


def _flat(node: Any) -> list[Any]:
    """The names and nodes of the steps of a pipeline, those of pipelines within it too."""
    if node["class"] != "Pipeline":
        return [[None, node]]
    return [
        [name if inner is None else f"{name}/{inner}", part]
        for name, step in node["steps"]
        for inner, part in _flat(step)
    ]


def _pack_model(model: Any, arrays: dict[str, np.ndarray]) -> Node:
    if not _is_pipeline(model):
        return _pack(model, _entry_for(model, ESTIMATORS), "0/", arrays)
    return _pack_pipeline(model, "", arrays, ESTIMATORS)


def _pack_step(
    step: Any, prefix: str, arrays: dict[str, np.ndarray], entries: dict[str, Entry]
) -> Node:
    """A step of a pipeline, which may be a pipeline unless it is the last, or a part of a step."""
    if entries is TRANSFORMERS and _is_pipeline(step):
        return _pack_pipeline(step, prefix, arrays, TRANSFORMERS)
    return _pack(step, _entry_for(step, entries), prefix, arrays)


def _is_pipeline(model: Any) -> bool:
    from sklearn.pipeline import Pipeline

    return type(model) is Pipeline


def _pack_pipeline(
    model: Any, prefix: str, arrays: dict[str, np.ndarray], last: dict[str, Entry]
) -> Node:
    steps = []
    for i, (name, step) in enumerate(model.steps):
        entries = last if i == len(model.steps) - 1 else TRANSFORMERS
        steps.append([str(name), _pack_step(step, f"{prefix}{i}/", arrays, entries)])
    for name in ("memory", "transform_input"):
        if getattr(model, name, None) is not None:
            raise ValueError(f"the {name} of a Pipeline cannot be saved: set it to None first")
    kept = {"verbose": bool(model.verbose)}
    return {"class": "Pipeline", "parameters": kept, "steps": steps}


def _entry_for(model: Any, entries: dict[str, Entry]) -> Entry:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    entry = find_entry(model, entries)
    if entry is None:
        kind = type(model).__name__
        raise ValueError(
            f"a model file cannot hold this {kind}: it holds {', '.join(ESTIMATORS)}, alone or as "
            f"the last step of a Pipeline after {', '.join(TRANSFORMERS)}"
        )
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise ValueError(f"this {entry.name} is not fitted: call fit first") from error
    return entry


def _pack(model: Any, entry: Entry, prefix: str, arrays: dict[str, np.ndarray]) -> Node:
    facts, found = entry.pack(model)
    arrays.update({prefix + name: array for name, array in found.items()})
    parameters = model.get_params(deep=False)
    for name in entry.unsaved:
        parameters.pop(name, None)
    node: Node = {
        "class": entry.name,
        "parameters": _encode_parameters(parameters, entry.name),
        "n_features": int(model.n_features_in_),
        "facts": encode(facts, "what was learned"),
    }
    if hasattr(model, "classes_"):
        node["labels"] = encode_labels(model.classes_)
    if entry.has_parts:
        node["parts"] = [
            _pack_step(part, f"{prefix}{i}/", arrays, TRANSFORMERS)
            for i, part in enumerate(entry.parts(model))
        ]
    if hasattr(model, "feature_names_in_"):
        node["feature_names"] = [str(name) for name in model.feature_names_in_]
    if getattr(model, "calibration", None) is not None:
        packed = import_module(CALIBRATION).pack(model.calibration)
        node["calibration"] = encode(packed, "the calibration")
    if getattr(model, "training_record", None) is not None:
        node["training"] = _pack_record(model, entry.name)
    output = getattr(model, "_sklearn_output_config", {}).get("transform")
    if output in _OUTPUTS:
        node["output"] = output
    return node


def _pack_record(model: Any, name: str) -> Node:
    """The fingerprint of the training data, and what parameters were that are not so any more."""
    data = model.training_record.data
    sums = {part: f"{getattr(data, part):032x}" for part in PARTS}
    changed = _encode_parameters(model.training_record.changed(model), name)
    return {"n_rows": data.n_rows, **sums, "changed": changed}


def _unpack_record(node: Any, model: Any) -> TrainingRecord:
    if not isinstance(node, dict) or set(node) != {"n_rows", *PARTS, "changed"}:
        raise ValueError("the record of the training data is malformed")
    n_rows, sums = node["n_rows"], [node[part] for part in PARTS]
    if type(n_rows) is not int or not 0 <= n_rows < LARGEST_COUNT:
        raise ValueError("the number of training examples is malformed")
    if model.n_trained not in (None, n_rows):
        raise ValueError("the numbers of training examples disagree")
    for digits in sums:
        if type(digits) is not str or len(digits) != 32 or set(digits) - set("0123456789abcdef"):
            raise ValueError("the fingerprint of the training data is malformed")
    changed = _decode_parameters(node["changed"], type(model))
    data = Fingerprint(n_rows, *(int(digits, 16) for digits in sums))
    return TrainingRecord(data, {**parameters_of(model), **changed})


def _encode_parameters(parameters: dict[str, Any], name: str) -> Node:
    return {
        key: encode_parameter(value, f"the {key} of {name}") for key, value in parameters.items()
    }


def _unpack_model(node: Any, arrays: dict[str, np.ndarray]) -> tuple[Any, set[str]]:
    """The model, and the names of the arrays that it is made from."""
    if node["class"] != "Pipeline":
        return _unpack(node, ESTIMATORS, "0/", arrays)
    return _unpack_pipeline(node, "", arrays, ESTIMATORS)


def _unpack_step(
    node: Any, prefix: str, arrays: dict[str, np.ndarray], entries: dict[str, Entry]
) -> tuple[Any, set[str]]:
    if entries is TRANSFORMERS and node["class"] == "Pipeline":
        return _unpack_pipeline(node, prefix, arrays, TRANSFORMERS)
    return _unpack(node, entries, prefix, arrays)


def _unpack_pipeline(
    node: Any, prefix: str, arrays: dict[str, np.ndarray], last: dict[str, Entry]
) -> tuple[Any, set[str]]:
    from sklearn.pipeline import Pipeline

    steps: list[tuple[str, Any]] = []
    used: set[str] = set()
    if set(node) != {"class", "parameters", "steps"} or not isinstance(node["steps"], list):
        raise ValueError("the pipeline has no steps")
    for i, (name, part) in enumerate(node["steps"]):
        entries = last if i == len(node["steps"]) - 1 else TRANSFORMERS
        step, names = _unpack_step(part, f"{prefix}{i}/", arrays, entries)
        if not isinstance(name, str) or "__" in name or name in dict(steps):
            raise ValueError("the steps of the pipeline have no proper names")
        if steps and step.n_features_in_ != width_of(steps[-1][1]):
            raise ValueError("the steps of the pipeline differ in their number of features")
        steps.append((name, step))
        used |= names
    if not steps or set(node["parameters"]) != {"verbose"}:
        raise ValueError("the pipeline has no steps, or parameters that it cannot have")
    return Pipeline(steps, verbose=node["parameters"]["verbose"] is True), used


def _unpack(
    node: Any, entries: dict[str, Entry], prefix: str, arrays: dict[str, np.ndarray]
) -> tuple[Any, set[str]]:
    name = node["class"]
    if not isinstance(name, str) or name not in entries:
        raise ValueError(
            f"it asks for the class {str(name)[:60]!r}, where only {', '.join(entries)} may be"
        )
    entry = entries[name]
    wanted = {"class", "parameters", "n_features", "facts"}
    if entry.has_parts:
        wanted.add("parts")
    others = {"feature_names", "output"}
    if entry.n_labels:
        wanted.add("labels")
    if entries is ESTIMATORS:
        others |= {"calibration", "training"}
    if wanted - set(node) or set(node) - wanted - others:
        raise ValueError(f"{name} is described by {sorted(node)[:9]}")
    parameters = _decode_parameters(node["parameters"], entry.cls)
    if set(parameters) & set(entry.unsaved):
        raise ValueError(f"{name} has parameters that it cannot have here")
    if "transformers" in entry.unsaved:
        parameters["transformers"] = []  # it has no default; `unpack` makes it of the parts
    model = entry.cls(**{**ADDED.get(name, {}), **parameters})
    n_features = node["n_features"]
    if type(n_features) is not int or not 0 < n_features < LARGEST_COUNT:
        raise ValueError("the number of features is malformed")
    model.n_features_in_ = n_features
    if "labels" in wanted:
        model.classes_ = decode_labels(node["labels"], entry.n_labels)
    if "feature_names" in node:
        names = node["feature_names"]
        if len(names) != n_features or not all(type(n) is str for n in names):
            raise ValueError("there is not one name for each feature")
        model.feature_names_in_ = np.array(names, object)
    # copies, since a model goes on learning in its own arrays; what has a slash is of a part
    mine = {
        name: array.copy()
        for key, array in arrays.items()
        if key.startswith(prefix) and "/" not in (name := key[len(prefix) :])
    }
    used = {prefix + key for key in mine}
    parts = []
    for i, part in enumerate(node.get("parts", [])):
        made, names = _unpack_step(part, f"{prefix}{i}/", arrays, TRANSFORMERS)
        parts.append(made)
        used |= names
    if entry.has_parts:
        entry.unpack(model, decode(node["facts"]), mine, parts)
    else:
        entry.unpack(model, decode(node["facts"]), mine)
    if "output" in node:
        if node["output"] not in _OUTPUTS or not hasattr(model, "set_output"):
            raise ValueError("the output of a transformer is of no known kind")
        model.set_output(transform=node["output"])
    if "calibration" in node:
        import_module(CALIBRATION).unpack(model, decode(node["calibration"]))
    if "training" in node:
        model.training_record = _unpack_record(node["training"], model)
    return model, used


def _decode_parameters(encoded: Any, cls: Any) -> dict[str, Any]:
    if not isinstance(encoded, dict):
        raise ValueError("parameters are not a dict")
    unknown = set(encoded) - set(inspect.signature(cls).parameters)
    if unknown:
        raise ValueError(f"{cls.__name__} has no parameter {sorted(unknown)[0][:60]!r} here")
    return {key: decode(value) for key, value in encoded.items()}


def _one_line(error: BaseException) -> str:
    if isinstance(error, KeyError):
        return f"{printable(str(error)[:60])} is missing"
    return printable(" ".join(str(error).split())[:300]) or type(error).__name__
