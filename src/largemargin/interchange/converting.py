"""A model file of one tool as that of another, told by its ending."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from largemargin.interchange.libsvm import read_libsvm, write_libsvm
from largemargin.interchange.onnx_export import to_onnx

MODEL_FILES, ONNX, LIBSVM = (".safetensors",), (".onnx",), (".model", ".libsvm")
LIBSVM_START = b"svm_type"
OWN_START = b"{"  # after eight bytes, the length of the header
LONGEST_START = 24  # bytes that are looked at, and shown


def convert(
    source: str | PathLike[str], target: str | PathLike[str], n_features: int | None = None
) -> Any:
    """Read a model and write it in the format that the ending of `target` names.

    Parameters
    ----------
    source : str or path-like
        A model file of this library, or one of LIBSVM or ThunderSVM.
    target : str or path-like
        With the ending .safetensors, .onnx, .model or .libsvm.
    n_features : int, optional
        As for `read_libsvm`.

    Returns
    -------
    estimator
        The model.
    """
    from largemargin.model_file import save

    ending = Path(target).suffix.lower()
    if ending not in (*MODEL_FILES, *ONNX, *LIBSVM):
        raise ValueError(
            f"{target} has no ending that names a format: give it one of "
            f"{', '.join((*MODEL_FILES, *ONNX, *LIBSVM))}"
        )
    model, info = _read(Path(source), n_features)
    if ending in ONNX:
        to_onnx(model, target, feature_names=info.get("feature_names"))
    elif ending in LIBSVM:
        write_libsvm(model, target)
    else:
        save(model, target, info={**info, "converted_from": Path(source).name})
    return model


def _read(source: Path, n_features: int | None) -> tuple[Any, dict[str, Any]]:
    from largemargin.model_file.saving import load_with_info

    if source.suffix.lower() in ONNX:
        raise ValueError(
            f"{source}: a graph of ONNX can be written and not read, since it does not say which "
            "machine it was; convert the model file that it was made from"
        )
    if source.is_file():
        with source.open("rb") as file:
            start = file.read(LONGEST_START)
        if start.startswith(LIBSVM_START):
            return read_libsvm(source, n_features), {}
        if start and start[8:9] != OWN_START:
            raise ValueError(
                f"{source} is in no format that can be converted: it begins with "
                f"{start.splitlines()[0]!r}; give a model file of largemargin (.safetensors), or "
                f"one of LIBSVM or ThunderSVM, which begins with {LIBSVM_START.decode()}"
            )
    if n_features is not None:
        raise ValueError("n_features is for files of LIBSVM, which do not say how many there are")
    return load_with_info(source)
