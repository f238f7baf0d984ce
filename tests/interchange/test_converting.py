"""`largemargin convert`: from one file to another, and refusals of one sentence."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

from largemargin import SVC, describe, load, save
from largemargin.cli.app import app
from largemargin.interchange import read_libsvm

X, Y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def pairs():
    return SVC(multiclass="ovo").fit(X, Y)


def run(*words):
    return CliRunner().invoke(app, ["convert", *map(str, words)])


def test_from_a_model_file_to_the_others_and_back(pairs, tmp_path):
    first, onnx, libsvm = (tmp_path / f"a.{end}" for end in ("safetensors", "onnx", "libsvm"))
    save(pairs, first, info={"feature_names": ["a", "b", "c", "d"]})
    told = run(first, onnx)
    assert (told.exit_code, told.output) == (0, f"wrote {onnx}: SVC, 4 features, 3 classes\n")
    assert b"feature_names" in onnx.read_bytes()
    assert run(first, libsvm).exit_code == 0
    assert np.array_equal(read_libsvm(libsvm).predict(X), pairs.predict(X))
    again = tmp_path / "again.safetensors"
    assert run(libsvm, again).exit_code == 0
    assert describe(again)["info"] == {"converted_from": "a.libsvm"}
    difference = load(again).decision_function(X) - pairs.decision_function(X)
    assert np.abs(difference).max() < 1e-12


def test_a_model_file_may_have_the_ending_of_another(pairs, tmp_path):
    save(pairs, tmp_path / "a.model")  # what begins with svm_type is of LIBSVM
    assert run(tmp_path / "a.model", tmp_path / "b.safetensors").exit_code == 0


def test_the_number_of_features(pairs, tmp_path):
    save(pairs, tmp_path / "a.safetensors")
    run(tmp_path / "a.safetensors", tmp_path / "a.model")
    assert run(tmp_path / "a.model", tmp_path / "b.safetensors", "--n-features", 6).exit_code == 0
    assert load(tmp_path / "b.safetensors").n_features_in_ == 6


def test_refusals_are_one_sentence_and_write_nothing(pairs, tmp_path):
    source = tmp_path / "a.safetensors"
    save(SVC().fit(X, Y), source)
    (tmp_path / "a.onnx").write_bytes(b"")
    (tmp_path / "bad.model").write_text("svm_type c_svc\nkernel_type rbf\n")
    before = sorted(tmp_path.iterdir())
    for words, told in [
        ((source, tmp_path / "b.txt"), "has no ending that names a format: give it one of"),
        ((source, tmp_path / "b.model"), "LIBSVM decides between several classes by pairs"),
        ((tmp_path / "a.onnx", tmp_path / "b.model"), "can be written and not read"),
        ((tmp_path / "bad.model", tmp_path / "b.onnx"), "cannot be read as a model of LIBSVM"),
        ((tmp_path / "none.model", tmp_path / "b.onnx"), "there is no file"),
        ((source, tmp_path / "b.onnx", "--n-features", 4), "is for files of LIBSVM"),
        ((source, source), "a.safetensors"),
    ]:
        found = run(*words)
        assert found.exit_code == 2, words
        assert told in found.output, words
        assert found.output.count("\n") == 1, found.output
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", ["junk.model", "junk.libsvm", "junk.safetensors", "junk"])
def test_a_file_in_no_format_that_is_known(name, tmp_path):
    (tmp_path / name).write_bytes(b"hello world\nand more")
    found = run(tmp_path / name, tmp_path / "b.onnx")
    assert found.exit_code == 2
    said = found.output
    assert f"{name} is in no format that can be converted: it begins with b'hello world'" in said
    assert "give a model file of largemargin (.safetensors), or one of LIBSVM or ThunderSVM" in said
    assert not (tmp_path / "b.onnx").exists()
