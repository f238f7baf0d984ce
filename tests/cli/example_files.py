"""The small files that examples name: what they are of, and how hard they are."""

import gzip
import json

import numpy as np
from sklearn.datasets import dump_svmlight_file, load_breast_cancer, load_digits, load_iris

# How often always answering the commonest class errs.
GUESS = {
    "digits": 0.89, "usps": 0.82, "mnist": 0.88, "letter": 0.95, "thyroid": 0.3,
    "flowers.csv": 0.66, "letters.svm": 0.88, "heart.csv": 0.37, "later.csv": 0.37,
    "spam.csv": 0.37, "clicks.svm.gz": 0.45, "later.svm.gz": 0.45,
}  # fmt: skip


def write_table(path, X, y, names, label):
    lines = [",".join([*names, *([label] if label else [])])]
    for k, row in enumerate(X.tolist()):
        lines.append(",".join([*map(repr, row), *([str(y[k])] if label else [])]))
    path.write_text("\n".join(lines) + "\n")


def _flowers(folder):
    iris = load_iris()
    names = [name.replace(" (cm)", "").replace(" ", "_") for name in iris.feature_names]
    labels = iris.target_names[iris.target]
    write_table(folder / "flowers.csv", iris.data, labels, names, "species")
    write_table(folder / "new.csv", iris.data[::7], labels, names, None)


def _patients(folder):
    data = load_breast_cancer()
    order = np.random.default_rng(0).permutation(len(data.target))
    names = [name.replace(" ", "_") for name in data.feature_names]
    X, y = data.data[order], np.array(["no", "yes"])[data.target[order]]
    for name, rows in (
        ("heart", slice(0, 300)),
        ("later", slice(300, 500)),
        ("spam", slice(0, 400)),
    ):
        write_table(folder / f"{name}.csv", X[rows], y[rows], names, "disease")


def _letters(folder):
    X, y = load_digits(return_X_y=True)
    dump_svmlight_file(X[:500] / 16, y[:500], str(folder / "letters.svm"))


def _clicks(folder):
    numbers = np.random.default_rng(0)
    X = numbers.normal(size=(1500, 5))
    y = np.where(X[:, 0] * X[:, 1] > -0.1, 1, -1)
    for name, rows in (("clicks", slice(0, 1000)), ("later", slice(1000, None))):
        with gzip.open(folder / f"{name}.svm.gz", "wb") as file:
            dump_svmlight_file(X[rows], y[rows], file, zero_based=False)
    events = [json.dumps({"x": x, "y": int(k)}) for x, k in zip(X.tolist(), y, strict=True)]
    (folder / "events.jsonl").write_text("\n".join(events[:1200]) + "\n")
    (folder / "more.jsonl").write_text("\n".join([*events[1200:], "not an event"]) + "\n")


def _sensors(folder):
    numbers = np.random.default_rng(0)
    X = numbers.normal(size=(300, 4)) * [1, 10, 100, 1000] + 50
    X[::30] *= 3  # sensors that went wrong
    write_table(folder / "sensors.csv", X, X, ["a", "b", "c", "d"], None)


def write_parts(folder):
    import pandas as pd

    (folder / "parts").mkdir()
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.columns = ["a", "b", "c", "d"]
    for k in range(3):
        pd.concat([X, y.rename("kind")], axis=1)[k::3].to_parquet(folder / f"parts/{k}.parquet")


def write_files(folder):
    for make in (_flowers, _patients, _letters, _clicks, _sensors):
        make(folder)
