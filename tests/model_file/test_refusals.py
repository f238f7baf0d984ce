"""What cannot be saved, and files that are not models: one sentence, and nothing happens."""

import pickle
import random

import numpy as np
import pytest
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from largemargin import ModelFileError, VotedPerceptron, describe, load, save
from largemargin.kernels.functions import Kernel, Polynomial
from largemargin.model_file.container import FORMAT

from .models import changed, data, fitted, forge, parts_of, put, small_model


class Sub(VotedPerceptron):
    pass


class OwnKernel(Kernel):
    def from_products(self, products, a_squares, b_squares):
        return products


def product(A, B):
    return A @ B.T


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: VotedPerceptron(), "not fitted"),
        (lambda: small_model(kernel=product), "precomputed"),
        (lambda: small_model(kernel=OwnKernel()), "precomputed"),
        (lambda: small_model(kernel=Polynomial(2, -1.0)), "gamma must be"),
        (lambda: small_model(random_state=0).set_params(kernel=product), "function product"),
        (lambda: fitted(Sub()), "cannot hold this Sub"),
        (lambda: fitted(LogisticRegression()), "VotedPerceptron"),
        (lambda: "model", "cannot hold this str"),
        (lambda: VotedPerceptron, "cannot hold this"),
        (
            lambda: fitted(make_pipeline(FunctionTransformer(np.tanh), VotedPerceptron())),
            "FunctionTransformer",
        ),
        (lambda: fitted(make_pipeline("passthrough", VotedPerceptron())), "cannot hold this str"),
        (
            lambda: fitted(make_pipeline(StandardScaler(), VotedPerceptron(), memory="x")),
            "memory of a Pipeline",
        ),
        (lambda: make_pipeline(StandardScaler(), VotedPerceptron()), "not fitted"),
        (
            lambda: small_model().set_params(random_state=np.random.default_rng(0)),
            "integer seed",
        ),
    ],
)
def test_models_that_cannot_be_saved(make, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = make()
    for file in tmp_path.iterdir():
        if file.is_dir():
            continue
        file.unlink()
    with pytest.raises(ModelFileError, match=words) as error:
        save(model, tmp_path / "m")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "m").exists()


def test_labels_of_mixed_objects(tmp_path):
    model = small_model()
    model.classes_ = np.array([1, "a", 2.5], object)
    with pytest.raises(ModelFileError, match="all numbers or all text"):
        save(model, tmp_path / "m")
    model.classes_ = np.array(["2020-01-01", "2020-01-02", "2020-01-03"], "M8[D]")
    with pytest.raises(ModelFileError, match="datetime64"):
        save(model, tmp_path / "m")


@pytest.mark.parametrize(
    "info",
    [
        {"f": print},
        {1: 2},
        {"$float": 1},
        {"a": np.zeros(2)},
        {"a": object()},
        {"a": 2**70},
        [1],
        {"big": "x" * 60_000_000},
    ],
    ids=lambda info: repr(info)[:20],
)
def test_info_that_cannot_be_saved(info, tmp_path):
    with pytest.raises(ModelFileError):
        save(small_model(), tmp_path / "m", info=info)
    info = {}
    info["self"] = info
    with pytest.raises(ModelFileError, match="deeply"):
        save(small_model(), tmp_path / "m", info=info)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "m.safetensors"
    save(small_model(), path, info={"note": 'a "quoted" note'})
    return path


def assert_refused(path):
    for function in (load, describe):
        with pytest.raises(ModelFileError) as error:
            function(path)
        message = str(error.value)
        assert str(path) in message
        assert "\n" not in message
    return message


def test_every_flipped_byte(saved, tmp_path):
    raw = saved.read_bytes()
    path = tmp_path / "flipped"
    header = 8 + int.from_bytes(raw[:8], "little")
    numbers = random.Random(0)
    places = {*range(0, header, 3), *numbers.sample(range(header, len(raw)), 400), len(raw) - 1}
    for place in sorted(places):
        flipped = bytearray(raw)
        flipped[place] ^= 1 << numbers.randrange(8)
        path.write_bytes(flipped)
        with pytest.raises(ModelFileError, match="flipped"):
            load(path)


def test_every_byte_of_padding_and_every_case_of_the_checksum(saved, tmp_path):
    raw = saved.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    path = tmp_path / "altered"
    spaces = [8 + i for i, byte in enumerate(raw[8 : 8 + length]) if byte == ord(" ")]
    for place in spaces:
        path.write_bytes(raw[:place] + b"\t" + raw[place + 1 :])
        assert_refused(path)
    start = raw.index(b'sha256\\":\\"') + len(b'sha256\\":\\"')
    path.write_bytes(raw[:start] + raw[start : start + 64].upper() + raw[start + 64 :])
    assert_refused(path)


def test_truncated_at_many_lengths(saved, tmp_path):
    raw = saved.read_bytes()
    path = tmp_path / "short"
    for size in {*range(0, 40), *range(40, len(raw), 97), len(raw) - 1}:
        path.write_bytes(raw[:size])
        assert_refused(path)
    path.write_bytes(raw + b"\0")
    assert_refused(path)


def test_foreign_files(tmp_path):
    class Evil:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was loaded",))

    path = tmp_path / "foreign"
    for content in (
        b"",
        b"\0" * 100,
        b"label,x\n1,2\n",
        b"\xff" * 4096,
        pickle.dumps(Evil()),
        (2).to_bytes(8, "little") + b"{}",
        (2).to_bytes(8, "little") + b"[]",
        (200_000).to_bytes(8, "little") + b'{"a":' * 40_000,
        (2**63).to_bytes(8, "little") + b"{}",
    ):
        path.write_bytes(content)
        assert_refused(path)
    save_file({"weights": np.zeros(3)}, path)
    assert "not a largemargin model" in assert_refused(path)
    save_file({"weights": np.zeros(3)}, path, metadata={"largemargin": "[" * 100_000})
    assert_refused(path)
    path.unlink()
    path.mkdir()
    assert "folder" in assert_refused(path)
    assert "there is no file" in assert_refused(tmp_path / "missing")
    (tmp_path / "there.safetensors").touch()
    assert "did you mean" in assert_refused(tmp_path / "there")
    assert_refused("/dev/null")


def test_newer_file(saved, tmp_path):
    header, arrays = parts_of(saved)
    path = tmp_path / "newer"
    forge(path, {**header, "format": FORMAT + 1, "library": "9.9"}, arrays)
    assert f"newer largemargin (9.9, format {FORMAT + 1}" in assert_refused(path)


def test_a_forged_file_is_otherwise_fine(saved, tmp_path):
    """So that the refusals below are for what was changed."""
    forge(tmp_path / "m", *parts_of(saved))
    assert load(tmp_path / "m").n_support_ > 0


FACTS = ("model", "facts")
HEADERS = [
    (("format",), 0), (("format",), True), (("format",), "1"), (("format",), None),
    (("library",), 3), (("model",), None), (("model",), []), (("model",), KeyError),
    (("info",), KeyError), (("info",), {"$float": "1; import os"}), (("info",), {"$code": "x"}),
    (("extra",), 1), (("model", "extra"), 1), (("model", "class"), "os.system"),
    (("model", "class"), "Pipeline"), (("model", "class"), ["VotedPerceptron"]),
    (("model", "class"), "StandardScaler"), (("model", "class"), "LogisticRegression"),
    (("model", "parameters"), []), (("model", "parameters", "__class__"), "x"),
    (("model", "parameters", "kernel"), {"$kernel": {"name": "FunctionKernel"}}),
    (("model", "parameters", "random_state"), {"$random_state": [[1], 0, 0, 0.0]}),
    (("model", "n_features"), 7), (("model", "n_features"), -1), (("model", "n_features"), 6.0),
    (("model", "n_features"), 10**18), (("model", "feature_names"), ["a"]),
    (("model", "feature_names"), [1] * 6), (("model", "output"), "pandas"),
    (("model", "labels"), KeyError), (("model", "labels", "values"), [0, 1]),
    (("model", "labels", "values"), [0, 2, 1]), (("model", "labels", "values"), [0, 1, 1]),
    (("model", "labels", "values"), [0, 1, "a"]), (("model", "labels", "values"), ["a", "b", 1]),
    (("model", "labels", "values"), [0, 1, 2, 3]), (("model", "labels", "values"), []),
    (("model", "labels", "values"), [0, 1, 10**30]), (("model", "labels", "type"), "O"),
    (("model", "labels", "type"), "V99999999"), (("model", "labels", "type"), "|i1,|i1"),
    (("model", "labels"), {"type": "<U999999999", "values": ["a", "b", "c"]}),
    (("model", "labels"), {"type": "<U1", "values": ["aa", "bb", "cc"]}),
    ((*FACTS, "kernel"), None), ((*FACTS, "kernel"), {"$kernel": None}),
    ((*FACTS, "kernel"), {"$kernel": {"name": "poly"}}),
    ((*FACTS, "kernel"), {"$kernel": {"name": "rbf", "gamma": -1.0}}),
    ((*FACTS, "kernel"), {"$kernel": {"name": "rbf", "gamma": "os"}}),
    ((*FACTS, "kernel"), {"$kernel": {"name": "rbf", "gamma": 1.0, "function": 1}}),
    ((*FACTS, "kernel"), {"$kernel": {"name": "poly", "degree": 300, "gamma": 1e9, "coef0": 1.0}}),
    ((*FACTS, "kernel"), {"$kernel": {"name": "precomputed"}}),
    ((*FACTS, "kernel"), "poly"), ((*FACTS, "precision"), "float16"),
    ((*FACTS, "precision"), "float32"), ((*FACTS, "precision"), ["float64"]),
    ((*FACTS, "n_problems"), 2), ((*FACTS, "n_problems"), 3.0), ((*FACTS, "n_support"), 10**9),
    ((*FACTS, "n_steps"), 0), ((*FACTS, "n_steps"), -1), ((*FACTS, "n_steps"), 2**63),
    ((*FACTS, "n_steps"), 80.5), ((*FACTS, "epoch_length"), "40"), ((*FACTS, "n_seen"), -1),
    ((*FACTS, "n_epochs"), True), ((*FACTS, "converged"), 1), ((*FACTS, "looked"), "pocket"),
    ((*FACTS, "looked"), []), ((*FACTS, "n_mistakes"), [0, 0, 0]), ((*FACTS, "n_steps"), KeyError),
    ((*FACTS, "extra"), 1),
]  # fmt: skip


@pytest.mark.parametrize(("way", "value"), HEADERS, ids=lambda x: repr(x)[:60])
def test_hostile_headers(way, value, saved, tmp_path):
    header, arrays = parts_of(saved)
    forge(tmp_path / "m", changed(header, way, value), arrays)
    with pytest.raises(ModelFileError, match="m ") as error:
        load(tmp_path / "m")
    assert "\n" not in str(error.value)


ARRAYS = [
    *((f"0/trace.{name}", lambda a: a[:-1]) for name in ("slot", "sign", "step", "score")),
    *((f"0/trace.{name}", lambda a: a[:, None]) for name in ("slot", "square")),
    *((f"0/trace.{name}", lambda a: a.astype(np.float32)) for name in ("slot", "score")),
    ("0/trace.slot", lambda a: a.astype(np.uint64)),
    ("0/trace.slot", put(3, -1)), ("0/trace.slot", put(3, 10**9)),
    ("0/trace.slot", put(3, -(2**63))), ("0/trace.problem", put(0, 3)),
    ("0/trace.problem", put(0, -1)), ("0/trace.sign", put(0, 0)), ("0/trace.sign", put(0, -128)),
    ("0/trace.step", put(-1, 10**6)), ("0/trace.step", put(5, -1)),
    ("0/trace.step", lambda a: a[::-1]), ("0/trace.step", lambda a: np.zeros_like(a)),
    ("0/trace.score", put(0, np.nan)), ("0/trace.square", put(0, np.inf)),
    ("0/trace.square", put(slice(None), 1e308)), ("0/basis.examples", put(0, -1)),
    ("0/basis.examples", lambda a: a[:-1]), ("0/basis.examples", lambda a: np.array(5)),
    ("0/basis.vectors", lambda a: a[:-1]), ("0/basis.vectors", lambda a: a[:, :-1]),
    ("0/basis.vectors", lambda a: a.astype(np.float32)), ("0/basis.vectors", lambda a: a.ravel()),
    ("0/basis.vectors", lambda a: a.astype(np.int64)), ("0/basis.vectors", put((0, 0), np.nan)),
    ("0/basis.vectors", put((0, 0), 1e200)), ("0/basis.vectors", lambda a: a[:, :0]),
    ("0/correct", lambda a: np.zeros(3, np.int64)), ("0/more", lambda a: np.zeros(3)),
    ("1/scale_", lambda a: np.zeros(3)), ("more", lambda a: np.zeros(3)),
    *((f"0/{name}", None) for name in ("trace.slot", "trace.square", "basis.examples")),
    ("0/basis.vectors", None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change"), ARRAYS)
def test_hostile_arrays(name, change, saved, tmp_path):
    header, arrays = parts_of(saved)
    if change is None:
        del arrays[name]
    else:
        arrays[name] = change(arrays.get(name))
    forge(tmp_path / "m", header, arrays)
    with pytest.raises(ModelFileError, match="not a valid model"):
        load(tmp_path / "m")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("indptr", put(0, 1)), ("indptr", put(2, 10**9)), ("indptr", put(2, -5)),
        ("indptr", put(-1, 0)), ("indptr", lambda a: a[:-1]), ("indices", put(0, 6)),
        ("indices", put(0, -1)), ("indices", lambda a: a[::-1]), ("indices", lambda a: a[:-1]),
        ("indices", lambda a: np.zeros_like(a)), ("data", lambda a: a[:-1]),
        ("data", put(0, np.inf)), ("data", lambda a: a.astype(np.float32)),
        ("indices", lambda a: a.astype(np.int32)), ("data", None),
    ],
)  # fmt: skip
def test_hostile_sparse_rows(name, change, tmp_path):
    import scipy.sparse as sp

    X, y = data(40)
    save(VotedPerceptron(degree=2).fit(sp.csr_array(np.where(X > 0, X, 0)), y), tmp_path / "good")
    header, arrays = parts_of(tmp_path / "good")
    name = f"0/basis.{name}"
    if change is None:
        del arrays[name]
    else:
        arrays[name] = change(arrays[name])
    forge(tmp_path / "m", header, arrays)
    with pytest.raises(ModelFileError, match="not a valid model"):
        load(tmp_path / "m")


@pytest.mark.parametrize(
    ("way", "value"),
    [
        (("model", "steps"), []), (("model", "steps"), None), (("model", "steps", 0), ["a"]),
        (("model", "steps", 0, 0), "votedperceptron"), (("model", "steps", 0, 0), 5),
        (("model", "steps", 0, 0), "a__b"), (("model", "steps", 0, 1, "n_features"), 5),
        (("model", "steps", 0, 1, "class"), "VotedPerceptron"),
        (("model", "steps", 0, 1, "class"), "Pipeline"),
        (("model", "steps", 0, 1, "output"), "evil"),
        (("model", "steps", 0, 1, "facts"), {}),
        (("model", "steps", 0, 1, "facts", "n_samples_seen"), -1),
        (("model", "steps", 1, 1, "class"), "StandardScaler"),
        (("model", "parameters", "memory"), "/tmp/cache"), (("model", "parameters"), {}),
    ],
    ids=lambda x: repr(x)[:60],
)  # fmt: skip
def test_hostile_pipelines(way, value, tmp_path):
    save(fitted(make_pipeline(StandardScaler(), VotedPerceptron())), tmp_path / "good")
    header, arrays = parts_of(tmp_path / "good")
    forge(tmp_path / "m", changed(header, way, value), arrays)
    with pytest.raises(ModelFileError, match="not a valid model"):
        load(tmp_path / "m")


@pytest.mark.parametrize(
    "change", [None, lambda a: a[:-1], lambda a: a.astype(np.int64), put(0, np.nan)]
)
def test_hostile_scalers(change, tmp_path):
    from sklearn.preprocessing import MinMaxScaler

    save(fitted(make_pipeline(MinMaxScaler(), VotedPerceptron())), tmp_path / "good")
    header, arrays = parts_of(tmp_path / "good")
    if change is None:
        del arrays["0/scale_"]
    else:
        arrays["0/scale_"] = change(arrays["0/scale_"])
    forge(tmp_path / "m", header, arrays)
    with pytest.raises(ModelFileError, match="not a valid model"):
        load(tmp_path / "m")
