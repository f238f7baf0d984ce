"""`largemargin train FILE --stream`: a file learned in chunks."""

import json
import os

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from largemargin import MIRA, data, describe, load

from .conftest import table


@pytest.mark.parametrize("chunk", [None, 1, 7])
def test_is_partial_fit(chunk, run, animals, tmp_path, monkeypatch):
    test = table(tmp_path / "test.csv", seed=1)
    monkeypatch.setattr(data, "read", None)  # the file is never read whole
    args = ["--chunk", chunk] if chunk else []
    result = run("train", animals, "--model", "mira", "--budget", 20, "--stream", *args, "--json")
    assert result.exit_code == 0, result.stderr
    monkeypatch.undo()
    X, y = data.read(animals)
    model = MIRA(budget=20, random_state=0).partial_fit(X, y)
    loaded = load(tmp_path / "animals.safetensors")
    np.testing.assert_array_equal(loaded.support_, model.support_)
    np.testing.assert_allclose(loaded.dual_coef_, model.dual_coef_, atol=1e-12)
    found = json.loads(result.stdout)
    assert found["progressive_error"] == model.online_errors_ / 90
    assert (found["rows"], found["features"], found["test_rows"]) == (90, 3, None)
    assert describe(tmp_path / "animals.safetensors")["info"]["feature_names"] == [
        "length", "width", "height",
    ]  # fmt: skip
    monkeypatch.chdir(tmp_path)
    shown = run("train", animals, "--model", "mira", "--budget", 20, "--stream", "--test", test)
    X, y = data.read(test)
    assert f"{100 * np.mean(model.predict(X) != y):.2f} % (95 % interval " in shown.stdout
    assert ") of 90 rows" in shown.stdout
    assert f"{model.online_errors_} ({100 * model.online_errors_ / 90:.2f} %)" in shown.stdout


def test_sparse_file(run, tmp_path):
    X = sp.random(60, 5, density=0.5, random_state=np.random.default_rng(0), format="csr")
    dump_svmlight_file(X, np.arange(60) % 3, str(tmp_path / "data.svm"), zero_based=False)
    args = ("--model", "romma", "--stream", "--chunk", 9, "-q", "-o", "m")
    assert run("train", "data.svm", *args).output == ""
    assert load(tmp_path / "m").learner_state.tally[0] == 60


def test_max_seconds(run, animals, tmp_path):
    result = run(
        "train", animals, "--model", "mira", "--stream", "--chunk", 30, "--max-seconds", 1e-9
    )
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: stopped after 30 examples because max_seconds")
    assert load(tmp_path / "animals.safetensors").learner_state.tally[0] == 30


@pytest.mark.parametrize("change", ["grows", "replaced", "removed", "stays"])
def test_a_file_that_changes_while_it_is_read(change, run, animals, tmp_path, monkeypatch):
    def changing(path, chunk, read=data.stream, **options):
        for i, part in enumerate(read(path, chunk, **options)):
            if i == 1 and change == "grows":
                animals.write_text(animals.read_text() + "1,2,3,ant\n")
            elif i == 1 and change == "replaced":
                os.replace(table(tmp_path / "other.csv"), animals)
            elif i == 1 and change == "removed":
                animals.unlink()
            yield part

    monkeypatch.setattr(data, "stream", changing)
    result = run("train", animals, "--model", "mira", "--stream", "--chunk", 30, "--json")
    if change == "replaced":
        assert result.exit_code == 2
        assert "the file changed while it was read" in result.stderr
        return
    assert result.exit_code == 0
    warned = json.loads(result.stdout).get("warnings", [])
    assert ["changed while it was read" in warning for warning in warned] == [True] * (
        change != "stays"
    )
    assert ("warning: " in result.stderr) == bool(warned)


def test_the_model_is_written_though_the_test_fails(run, animals, tmp_path):
    result = run("train", animals, "--model", "mira", "--stream", "--test", "none.csv")
    assert result.exit_code == 2
    assert "no file and no data set" in result.stderr
    assert load(tmp_path / "animals.safetensors").n_features_in_ == 3


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["animals.csv", "--model", "svc", "--stream"], "--stream is for models that learn as"),
        (["animals.csv", "--model", "mira", "--chunk", "5"], "--chunk is for --stream"),
        (["animals.csv", "--model", "mira", "--stream", "--chunk", "0"], "--chunk must be at"),
        (["animals.csv", "--model", "mira", "--stream", "--scale", "minmax"], "--scale minmax"),
        (["animals.csv", "--model", "mira", "--stream", "--cv", "margin=1,2"], "--cv needs all"),
        (["animals.csv", "--model", "mira", "--stream", "--gamma", "scale"], "gamma='stream'"),
        (["digits", "--model", "mira", "--stream"], "digits is a named data set"),
        (["none.csv", "--model", "mira", "--stream"], "none.csv"),
        (["one.csv", "--model", "mira", "--stream"], "only one class, ant"),
        (["nan.csv", "--model", "mira", "--stream"], "missing value"),
        (["bare.npz", "--model", "mira", "--stream"], "has no labels to learn from"),
    ],
)
def test_mistakes_are_one_line(args, words, fails, animals, tmp_path):
    (tmp_path / "one.csv").write_text("a,b\n1,ant\n2,ant\n")
    (tmp_path / "nan.csv").write_text("a,b\n1,ant\nnan,bee\n")
    np.savez(tmp_path / "bare.npz", X=np.eye(3))
    assert words in fails("train", *args)
    assert not list(tmp_path.glob("*.safetensors"))
