"""Write the model files of this folder, and record what the library makes of them.

The files here were written by largemargin 0.1.0 of format 2, but for those whose names begin with
`format1`, which earlier states of 0.1.0 wrote: what people have on their disks. Later versions must
read them and give the same scores (`tests/model_file/test_older_files.py`). They are never written
again: this script refuses to touch a file that exists, and to record a code path twice.

To add files for a new machine, or for an old one with something new in its file: give it a line
below under a new name, and run from the root of the repository

    python -m tests.model_file.data.write files      writes the files that are not there
    python -m tests.model_file.data.write record     records the results that are not there

The second can be run again on another processor, or with OPENBLAS_CORETYPE and NUMBA_CPU_NAME as
`.ci/code_paths` sets them, to record the last bits of that code path too; labels must be the same
on all of them. `files` takes names, with which it writes no others; so were the files of format 1
written, with the sources of an earlier commit on PYTHONPATH.
"""

import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

import largemargin as lm

from ..older_files import (
    EXPECTED,
    FOLDER,
    about,
    code_path,
    digest,
    exact,
    outcome,
    outcome_of_file,
    path_of,
)

ANIMALS = np.array(["ant", "bee", "cat"])
THREE = np.arange(3)
NAMES = ["length", "width", "height", "weight"]
N_QUERIES, N_FURTHER = 4, 20
CLEAR = 0.02  # of the largest score: how far a query must be from a tie
STOPPED = 40  # lines after which a stream was stopped


def examples(n, seed, n_classes=3):
    """Rows of small integers and the number of a class: arithmetic on them is exact."""
    numbers = np.random.default_rng(seed)
    X = numbers.integers(-4, 5, size=(n, 4)).astype(float)
    y = 1 * (X[:, 0] + X[:, 1] > 0) + (X[:, 1] * X[:, 2] > 1) * (n_classes == 3)
    return X, np.where(numbers.random(n) < 0.1, (y + 1) % n_classes, y)


def fit(model, *, labels=THREE, n=40, form=np.asarray):
    X, y = examples(n, 0, len(labels))
    return model.fit(form(X), labels[y])


def frame(X):
    import pandas as pd

    return pd.DataFrame(X, columns=NAMES)


def products(X):
    return X @ X.T + 1.0


MODELS = {
    # support vector machines
    "svc": lambda: fit(lm.SVC(C=2.0, gamma=0.125)),
    "svc_pairs_squared": lambda: fit(
        lm.SVC(multiclass="ovo", slack="squared", kernel="laplacian", gamma=0.25),
        labels=ANIMALS,
        form=frame,
    ),
    "svc_crammer_singer": lambda: fit(
        lm.SVC(multiclass="crammer-singer", kernel="poly", degree=2, tol=1e-2), labels=ANIMALS
    ),
    "svc_float32": lambda: fit(
        lm.SVC(precision="float32", gamma=0.125, class_weight={-1: 2.0, 1: 1.0}),
        labels=np.array([-1, 1]),
    ),
    "svc_sparse": lambda: fit(
        lm.SVC(kernel="linear", fit_intercept=False),
        labels=np.array([-1.0, 2.0]),
        form=sp.csr_array,
    ),
    "svc_precomputed": lambda: fit(
        lm.SVC(kernel="precomputed"), labels=np.array([False, True]), form=products
    ),
    "nu_svc": lambda: fit(lm.NuSVC(nu=0.25, gamma=0.125), labels=ANIMALS),
    "kernel_adatron": lambda: fit(
        lm.KernelAdatron(C=1.0, kernel="poly", degree=2), labels=np.array([1, 2])
    ),
    "one_class_svm": lambda: fit(lm.OneClassSVM(nu=0.25, gamma=0.125)),
    # linear programs
    "lp_svc": lambda: fit(lm.LPSVC(gamma=0.125)),
    "nu_lp_svc": lambda: fit(lm.NuLPSVC(nu=0.25, gamma=0.125, class_weight="balanced")),
    "leave_one_out_svc": lambda: fit(lm.LeaveOneOutSVC(gamma=0.125), labels=ANIMALS),
    "adaptive_margin_svc": lambda: fit(
        lm.AdaptiveMarginSVC(lam=0.5, gamma=0.125), labels=np.array(["no", "yes"])
    ),
    "max_margin_hyperplane": lambda: fit(
        lm.MaxMarginHyperplane(norm=np.inf), labels=np.array([-1, 1])
    ),
    "max_margin_hyperplane_euclidean": lambda: fit(lm.MaxMarginHyperplane(C=0.5), form=frame),
    # learners that go on
    "voted_perceptron": lambda: fit(
        lm.VotedPerceptron(degree=2, epochs=3, shuffle=True, random_state=np.random.RandomState(3)),
        labels=ANIMALS,
    ),
    "voted_perceptron_average": lambda: fit(
        lm.VotedPerceptron(
            kernel="rbf", gamma=0.125, epochs=2, method="average", fit_intercept=True
        ),
        labels=np.array([-1, 1]),
    ),
    "aggressive_perceptron": lambda: fit(
        lm.AggressivePerceptron(gamma=0.125, budget=10, policy="margin", average=True),
        labels=ANIMALS,
        form=frame,
    ),
    "aggressive_perceptron_sparse": lambda: fit(
        lm.AggressivePerceptron(kernel="poly", degree=2, policy="keep"), form=sp.csr_array
    ),
    "mira": lambda: fit(lm.MIRA(gamma=0.125), n=24),
    "mira_budget": lambda: fit(
        lm.MIRA(kernel="poly", degree=2, budget=8, policy="forgetron"), labels=ANIMALS
    ),
    "mira_float32": lambda: fit(
        lm.MIRA(gamma=0.125, precision="float32", average=True), labels=np.array([-1, 1])
    ),
    "romma": lambda: fit(lm.ROMMA(gamma=0.125), labels=np.array(["no", "yes"])),
    "romma_projectron": lambda: fit(
        lm.ROMMA(aggressive=False, gamma=0.125, budget=10, policy="projectron", average=True)
    ),
    "alma": lambda: fit(lm.ALMA(alpha=0.5, gamma=0.125), labels=ANIMALS, n=24),
    "alma_random": lambda: fit(
        lm.ALMA(gamma=0.125, budget=10, policy="random", random_state=5), labels=np.array([1, 2])
    ),
    # boosting
    "adaboost": lambda: fit(lm.AdaBoost(n_rounds=12), labels=ANIMALS),
    "adaboost_networks": lambda: fit(
        lm.AdaBoost(lm.RBFNetwork(3, max_iter=4), n_rounds=4, random_state=0)
    ),
    "rbf_network": lambda: fit(lm.RBFNetwork(4, random_state=0), labels=ANIMALS),
    # pipelines
    "pipeline_svc": lambda: fit(
        make_pipeline(StandardScaler(), lm.SVC(gamma=0.25)), labels=ANIMALS, form=frame
    ),
    "pipeline_mira": lambda: fit(
        make_pipeline(MinMaxScaler(feature_range=(-1, 1)), MaxAbsScaler(), lm.MIRA(gamma=0.5)), n=24
    ),
    # of format 1; the commits whose sources wrote them are 5a06af9, b3e47c8 and 7144b78
    "format1_svc": lambda: fit(lm.SVC(C=2.0, gamma=0.125), labels=ANIMALS),
    "format1_voted_perceptron": lambda: fit(lm.VotedPerceptron(degree=2, epochs=3)),
    "format1_mira": lambda: fit(lm.MIRA(gamma=0.125, budget=10, average=True), labels=ANIMALS),
}

LIST, NAMED = "events.jsonl", "events_named.jsonl"
GAUSSIAN = ["--gamma", "0.125", "--scores"]
STREAMS = {
    "stream_aggressive_perceptron": (
        LIST, ["aggressive-perceptron", *GAUSSIAN, "--on-error", "skip", "--average"]
    ),
    "stream_mira": (
        LIST, ["mira", *GAUSSIAN, "--on-error", "skip", "--classes", "ant,bee,cat", "--budget", "9"]
    ),
    "stream_romma": (NAMED, ["romma", *GAUSSIAN, "--max-features", "6"]),
    "stream_alma": (
        NAMED, ["alma", *GAUSSIAN, "--budget", "9", "--policy", "random", "--seed", "4"]
    ),
    "format1_stream_mira": (NAMED, ["mira", *GAUSSIAN]),  # of commit 089411b
}  # fmt: skip


def write_events():
    X, y = examples(60, 1)
    lists, named = [], []
    for i, (x, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        labelled = {} if i % 10 == 7 else {"y": ANIMALS[label].item()}
        lists.append(json.dumps({"x": x, **labelled, "id": i}))
        values = {name: value for name, value in zip(NAMES, x, strict=True) if value}
        named.append(json.dumps({"x": values, **({"y": label} if labelled else {})}))
    lists[50:50] = ['{"x": [1, 2], "y": "ant"}', ""]
    for file, texts in ((LIST, lists), (NAMED, named)):
        if not (FOLDER / file).exists():
            (FOLDER / file).write_text("".join(f"{text}\n" for text in texts))


def write_stream(name):
    """Begin a stream, and stop it by a signal when it has answered so many lines."""
    events, arguments = STREAMS[name]
    lines = (FOLDER / events).read_text().splitlines(keepends=True)[:STOPPED]
    with tempfile.TemporaryDirectory() as scratch:
        answers = Path(scratch, "answers")
        files = ["--checkpoint", "checkpoint", "-o", "answers", "--save", "model"]
        running = subprocess.Popen(
            [sys.executable, "-m", "largemargin", "stream", *arguments, *files],
            cwd=scratch, stdin=subprocess.PIPE, text=True,
        )  # fmt: skip
        running.stdin.write("".join(lines))
        running.stdin.flush()
        while not answers.exists() or len(answers.read_text().splitlines()) < STOPPED:
            assert running.poll() is None, "it ended by itself"
            time.sleep(0.1)
        running.send_signal(signal.SIGTERM)
        assert running.wait() == 128 + signal.SIGTERM
        path_of(name).write_bytes(Path(scratch, "checkpoint").read_bytes())
        (FOLDER / f"{name}.answers.jsonl").write_bytes(answers.read_bytes())


def write_files(names):
    write_events()
    for name in names or [*MODELS, *STREAMS]:
        if path_of(name).exists():
            continue
        if name in STREAMS:
            write_stream(name)
        else:
            lm.save(MODELS[name](), path_of(name), info={"written by": "write.py"})
        print(f"{name}: {path_of(name).stat().st_size} bytes")


def clear(scores):
    """For each row, whether its label is far from a tie."""
    scores = np.array(scores)
    if scores.ndim == 1:
        gaps = np.abs(scores)
    else:
        ranked = np.sort(scores, axis=1)
        gaps = ranked[:, -1] - ranked[:, -2]
    return gaps > CLEAR * np.abs(scores).max()


def new_case(name):
    """A model's description, queries that are far from ties before and after it goes on, and
    further rows to go on with.
    """
    model = lm.load(path_of(name))
    written = lm.describe(path_of(name))
    case = {
        "written": {key: written[key] for key in ("library", "format")},
        "about": about(model),
    }
    rows = np.random.default_rng(2).integers(-7, 8, size=(80, 4)) / 2
    if name == "svc_precomputed":
        rows = rows @ examples(40, 0)[0].T + 1.0
    if name in STREAMS:
        events, arguments = STREAMS[name]
        case["stream"] = {"events": events, "arguments": arguments}
    elif hasattr(model[-1] if hasattr(model, "steps") else model, "partial_fit"):
        X, y = examples(N_FURTHER, 3, len(model.classes_))
        case["further"] = {"rows": X.astype(int).tolist(), "labels": model.classes_[y].tolist()}
    case["queries"] = rows.tolist()
    _, scores = outcome(model, case)
    good = np.logical_and.reduce([clear(one) for one in scores.values()])
    case["queries"] = rows[good][:N_QUERIES].tolist()
    assert len(case["queries"]) == N_QUERIES, f"{name}: too few queries are far from a tie"
    return case


def record():
    """Record what is not recorded yet: what a file holds and gives, and its bits on this path."""
    found = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {"files": {}, "bits": {}}
    files, bits = found["files"], found["bits"].setdefault(code_path(), {})
    for name in [*MODELS, *STREAMS]:
        if name in bits:
            continue
        case = files[name] if name in files else new_case(name)
        with tempfile.TemporaryDirectory() as scratch:
            labels, scores = outcome_of_file(name, case, Path(scratch))
        if name not in files:
            hexadecimal = {when: exact(numbers) for when, numbers in scores.items()}
            files[name] = {**case, "labels": labels, "scores": hexadecimal}
        elif labels != case["labels"]:
            raise ValueError(f"{name} has other labels on this code path, {code_path()}")
        bits[name] = digest(scores)
    lines = [f"{json.dumps(name)}: {json.dumps(case)}" for name, case in files.items()]
    EXPECTED.write_text(
        '{"files": {\n' + ",\n".join(lines) + '\n},\n"bits": '
        + json.dumps(found["bits"], indent=1) + "}\n"
    )  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:2] == ["files"]:
        write_files(sys.argv[2:])
    elif sys.argv[1:] == ["record"]:
        record()
    else:
        sys.exit(__doc__)
