"""What the library makes of a model file in `data`: what it says, and what comes of going on.

`data/write.py` records this for each file in `data/expected.json`, and `test_older_files.py`
compares. Models are read and used by their public names only.
"""

import contextlib
import hashlib
import io
import json
import shutil
import sys
from pathlib import Path

import llvmlite.binding
import numba
import numpy as np
import scipy.linalg  # noqa: F401, whose OpenBLAS is one of those asked
import threadpoolctl

from largemargin import load

FOLDER = Path(__file__).parent / "data"
EXPECTED = FOLDER / "expected.json"


def code_path():
    """By what the last bits of a score may differ: the instructions that OpenBLAS, Numba and NumPy
    choose by the processor, and their versions.
    """
    libraries = threadpoolctl.threadpool_info()
    blas = {
        (one["architecture"], one["version"])
        for one in libraries
        if one["internal_api"] == "openblas"
    }
    processor = numba.core.config.CPU_NAME or llvmlite.binding.get_host_cpu_name()
    numpy_simd = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])[-1:]
    parts = [" ".join(["OpenBLAS", *pair]) for pair in sorted(blas)]
    parts.append(f"Numba {processor} {numba.__version__}")
    parts.append(" ".join(["NumPy", *numpy_simd, np.__version__]))
    return ", ".join(parts)


def path_of(name):
    return FOLDER / f"{name}.safetensors"


def run_command(*args, stdin=None):
    """Run a command in this process; returns its exit code and what it printed."""
    from largemargin.cli.app import app

    printed, before = io.StringIO(), sys.stdin
    with contextlib.ExitStack() as stack:
        if stdin is not None:
            sys.stdin = stack.enter_context(open(stdin))
        stack.callback(setattr, sys, "stdin", before)
        stack.enter_context(contextlib.redirect_stdout(printed))
        try:
            app([str(arg) for arg in args], prog_name="largemargin")
        except SystemExit as end:
            return end.code or 0, printed.getvalue()
    return 0, printed.getvalue()


def resume(name, stream, folder):
    """Go on with a stream from its checkpoint to its end; returns the model and the answers that
    came after the checkpoint.
    """
    shutil.copy(path_of(name), folder / "checkpoint")
    shutil.copy(FOLDER / f"{name}.answers.jsonl", folder / "answers")
    before = (folder / "answers").read_text()
    with contextlib.chdir(folder):
        code, _ = run_command(
            "stream", *stream["arguments"], "--checkpoint", "checkpoint", "--resume",
            "-o", "answers", "--save", "model", "-q", stdin=FOLDER / stream["events"],
        )  # fmt: skip
    assert code == 0
    after = (folder / "answers").read_text()
    assert after.startswith(before)
    return load(folder / "model"), [json.loads(line) for line in after[len(before) :].splitlines()]


def parameters_of(value):
    """The parameters of a model, or one of their values, as JSON can say it."""
    if hasattr(value, "steps"):
        return [[name, parameters_of(step)] for name, step in value.steps]
    if hasattr(value, "get_params"):
        found = {name: parameters_of(one) for name, one in value.get_params(deep=False).items()}
        return {"class": type(value).__name__, **found}
    if isinstance(value, dict):
        return [[key, parameters_of(one)] for key, one in value.items()]
    if isinstance(value, list | tuple):
        return [parameters_of(one) for one in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return {"class": type(value).__name__, **getattr(value, "__dict__", {})}


def about(model):
    """What a loaded model says of itself."""
    names, classes = (getattr(model, name, None) for name in ("feature_names_in_", "classes_"))
    return {
        "parameters": parameters_of(model),
        "classes": None if classes is None else classes.tolist(),
        "label_type": None if classes is None else str(classes.dtype),
        "n_features": model.n_features_in_,
        "feature_names": None if names is None else names.tolist(),
    }


def rows_of(numbers, said):
    """Rows for a model: with the names of columns, if it knows them, and with columns of zeros, if
    it has room for more than there are.
    """
    rows = np.array(numbers, float)
    rows = np.pad(rows, ((0, 0), (0, said["n_features"] - rows.shape[1])))
    if said["feature_names"] is None:
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=said["feature_names"])


def outcome(model, case):
    """The labels and scores of the queries, and again after `partial_fit` with further rows."""
    queries = rows_of(case["queries"], case["about"])

    def asked():
        return [model.predict(queries).tolist(), model.decision_function(queries).tolist()]

    labels, scores = {}, {}
    labels["loaded"], scores["loaded"] = asked()
    if "further" in case:
        further = rows_of(case["further"]["rows"], case["about"])
        y = np.array(case["further"]["labels"])
        if hasattr(model, "steps"):
            model[-1].partial_fit(model[:-1].transform(further), y)
        else:
            model.partial_fit(further, y)
        labels["went on"], scores["went on"] = asked()
    return labels, scores


def outcome_of_file(name, case, folder):
    """`outcome` of a file; for a checkpoint, also what its stream answers to its end, and of the
    model that it saves then. The folder is for what a stream writes.
    """
    if "stream" not in case:
        return outcome(load(path_of(name)), case)
    model, answers = resume(name, case["stream"], folder)
    labels, scores = outcome(model, case)
    labels["answers"] = [
        {key: value for key, value in answer.items() if not key.startswith("score")}
        for answer in answers
    ]
    scores["answers"] = []
    for answer in answers:
        given = answer.get("scores", {"": answer.get("score", 0.0)})
        scores["answers"].append(list(given.values()))
    return labels, scores


def exact(scores):
    """Lists of numbers as lists of texts that have every bit."""
    return [exact(one) for one in scores] if isinstance(scores, list) else scores.hex()


def numbers_in(scores):
    """The numbers of what `exact` made, one after the other."""
    if isinstance(scores, list):
        return [number for one in scores for number in numbers_in(one)]
    return [float.fromhex(scores)]


def digest(scores):
    """By which all bits of the scores of a file are known again."""
    text = json.dumps({when: exact(found) for when, found in scores.items()})
    return hashlib.sha256(text.encode()).hexdigest()[:16]
