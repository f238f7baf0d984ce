"""Files that hold no support vector machine, though their checksum is right."""

import numpy as np
import pytest
import scipy.sparse as sp

from largemargin import SVC, ModelFileError, NuSVC, load, save

from .models import changed, data, fitted, forge, parts_of, put

MOST_SPARSE = "largemargin.model_file.arrays.MOST_SPARSE"


def product(A, B):
    return A @ B.T


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: SVC(), "not fitted"),
        (lambda: fitted(SVC(kernel=product)), "precomputed"),
        (lambda: fitted(NuSVC(nu=0.1)).set_params(kernel=product), "function product"),
        (lambda: fitted(type("Sub", (SVC,), {"__init__": SVC.__init__})()), "cannot hold this Sub"),
    ],
)
def test_models_that_cannot_be_saved(make, words, tmp_path):
    with pytest.raises(ModelFileError, match=words) as error:
        save(make(), tmp_path / "m")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "m").exists()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Files by kind: dense and sparse coefficients, sparse vectors, a precomputed kernel."""
    folder = tmp_path_factory.mktemp("saved")
    X, y = data(60, 3)
    save(SVC().fit(X, y), folder / "dense")
    save(SVC(multiclass="ovo").fit(*data(200, 6)), folder / "pairs")
    save(SVC().fit(sp.csr_array(np.where(X > 0, X, 0)), y), folder / "sparse")
    save(SVC(kernel="precomputed").fit(X @ X.T, y), folder / "precomputed")
    save(SVC(multiclass="crammer-singer").fit(X, y), folder / "joint")
    return folder


def assert_refused(header, arrays, path):
    forge(path, header, arrays)
    with pytest.raises(ModelFileError, match="not a valid model") as error:
        load(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", ["dense", "pairs", "sparse", "precomputed", "joint"])
def test_forged_files_are_otherwise_fine(kind, saved, tmp_path):
    forge(tmp_path / "m", *parts_of(saved / kind))
    assert load(tmp_path / "m").n_support_ > 0


FACTS = ("model", "facts")
HEADERS = [
    (("model", "class"), "SupportVectorMachine"), (("model", "class"), "VotedPerceptron"),
    (("model", "parameters", "nu"), 0.5), (("model", "parameters", "__init__"), 1),
    (("model", "parameters", "class_weight"), {"$pairs": 3}),
    (("model", "parameters", "class_weight"), {"$pairs": [[1, 2, 3]]}),
    (("model", "parameters", "class_weight"), {"$pairs": [[[1], 2]]}),
    (("model", "parameters", "class_weight"), {"$pairs": [[{"$kernel": {"name": "linear"}}, 2]]}),
    (("model", "parameters", "C"), {"$float": "__import__('os')"}),
    (("model", "n_features"), 7), (("model", "n_features"), 0),
    (("model", "labels", "values"), [0, 1]), (("model", "labels", "values"), [0, 1, 2, 3]),
    ((*FACTS, "kernel"), None), ((*FACTS, "kernel"), "rbf"),
    ((*FACTS, "kernel"), {"$kernel": {"name": "FunctionKernel"}}),
    ((*FACTS, "kernel"), {"$kernel": {"name": "rbf", "gamma": 0.0}}),
    ((*FACTS, "kernel"), {"$kernel": {"name": "rbf", "gamma": {"$float": "nan"}}}),
    ((*FACTS, "kernel"), {"$kernel": {"name": "poly", "degree": 300, "gamma": 1e9, "coef0": 1.0}}),
    ((*FACTS, "kernel"), {"$kernel": {"name": "precomputed"}}),
    ((*FACTS, "precision"), "float32"), ((*FACTS, "precision"), "object"),
    ((*FACTS, "precision"), 64), ((*FACTS, "n_problems"), 1), ((*FACTS, "n_problems"), 3.0),
    ((*FACTS, "n_problems"), 2**40), ((*FACTS, "n_problems"), -3), ((*FACTS, "n_problems"), True),
    ((*FACTS, "n_support"), 10**9), ((*FACTS, "n_support"), "all"), ((*FACTS, "n_given"), 1),
    ((*FACTS, "n_given"), -1), ((*FACTS, "n_given"), 2**60), ((*FACTS, "n_given"), 60.0),
    ((*FACTS, "converged"), 1), ((*FACTS, "separable"), None), ((*FACTS, "by_pairs"), "no"),
    ((*FACTS, "largest_gap"), 1), ((*FACTS, "largest_gap"), 7.0),
    ((*FACTS, "largest_gap"), {"$float": "nan"}), ((*FACTS, "largest_gap"), KeyError),
    ((*FACTS, "separable"), KeyError), ((*FACTS, "extra"), 1),
]  # fmt: skip


@pytest.mark.parametrize(("way", "value"), HEADERS, ids=lambda x: repr(x)[:60])
def test_hostile_headers(way, value, saved, tmp_path):
    header, arrays = parts_of(saved / "dense")
    assert_refused(changed(header, way, value), arrays, tmp_path / "m")


def double(array):
    return np.concatenate([array, array])


REPORTS = ("objective", "dual_gap", "margin", "n_iter")
ARRAYS = [
    *(("dense", name, change) for name in REPORTS for change in (None, double, put(0, np.nan))
      if not (name == "n_iter" and change not in (None, double))),
    *(("dense", name, lambda a: a[:2]) for name in REPORTS),
    *(("dense", name, lambda a: a[:1]) for name in REPORTS),
    *(("dense", name, lambda a: a[:, None]) for name in REPORTS),
    *(("joint", name, lambda a: np.repeat(a, 3)) for name in REPORTS),
    ("dense", "objective", lambda a: a.astype(np.float32)), ("dense", "margin", put(0, 0.0)),
    ("dense", "margin", put(0, -1.0)), ("dense", "n_iter", put(0, 0)),
    ("dense", "n_iter", put(0, -(2**63))), ("dense", "n_iter", put(0, 2**60)),
    ("dense", "n_iter", lambda a: a.astype(float)), ("dense", "intercepts", None),
    ("dense", "intercepts", lambda a: a[:-1]), ("dense", "intercepts", put(0, np.inf)),
    ("dense", "intercepts", lambda a: a.astype(np.float32)), ("dense", "coefs", None),
    ("dense", "coefs", lambda a: a[:-1]), ("dense", "coefs", lambda a: a[:, :-1]),
    ("dense", "coefs", lambda a: a.T), ("dense", "coefs", lambda a: a.astype(np.float32)),
    ("dense", "coefs", put((0, 0), np.nan)), ("dense", "coefs", put((0, 0), -np.inf)),
    ("dense", "coefs", put(slice(None), 1e308)), ("dense", "coefs", lambda a: np.zeros(0)),
    ("dense", "coefs.data", lambda a: np.zeros(3)), ("dense", "more", lambda a: np.zeros(3)),
    ("dense", "basis.examples", None), ("dense", "basis.examples", put(0, -1)),
    ("dense", "basis.examples", put(0, 60)), ("dense", "basis.examples", lambda a: a[:-1]),
    ("dense", "basis.examples", lambda a: np.repeat(a[:1], len(a))),
    ("dense", "basis.examples", lambda a: a.astype(np.int32)), ("dense", "basis.vectors", None),
    ("dense", "basis.vectors", lambda a: a[:-1]), ("dense", "basis.vectors", lambda a: a[:, 1:]),
    ("dense", "basis.vectors", lambda a: a.astype(np.float32)),
    ("dense", "basis.vectors", put((0, 0), np.nan)), ("dense", "basis.vectors", put((0, 0), 1e200)),
    ("pairs", "coefs.data", None), ("pairs", "coefs.data", put(0, np.nan)),
    ("pairs", "coefs.data", lambda a: a[:-1]), ("pairs", "coefs.data", lambda a: a.astype("f4")),
    ("pairs", "coefs.indices", put(0, -1)), ("pairs", "coefs.indices", put(0, 10**9)),
    ("pairs", "coefs.indices", lambda a: a[::-1]), ("pairs", "coefs.indices", np.zeros_like),
    ("pairs", "coefs.indptr", put(3, 10**12)), ("pairs", "coefs.indptr", put(0, 1)),
    ("pairs", "coefs.indptr", lambda a: a[:-1]), ("pairs", "coefs.indptr", double),
    ("pairs", "coefs", lambda a: np.zeros((15, 3))),
    ("sparse", "basis.indptr", put(2, 10**9)), ("sparse", "basis.indices", put(0, 6)),
    ("sparse", "basis.data", put(0, np.inf)), ("sparse", "basis.data", None),
    ("precomputed", "basis.examples", put(0, 60)), ("precomputed", "basis.examples", put(0, -1)),
    ("precomputed", "basis.vectors", lambda a: np.zeros((3, 3))),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "change"), ARRAYS)
def test_hostile_arrays(kind, name, change, saved, tmp_path):
    header, arrays = parts_of(saved / kind)
    name = f"0/{name}"
    if change is None:
        del arrays[name]
    else:
        arrays[name] = change(arrays.get(name))
    assert_refused(header, arrays, tmp_path / "m")


def test_precomputed_kernels_have_one_column_per_example(saved, tmp_path):
    header, arrays = parts_of(saved / "precomputed")
    for way in (("model", "n_features"), (*FACTS, "n_given")):
        assert_refused(changed(header, way, 61), arrays, tmp_path / "m")


def test_a_small_file_does_not_claim_much_memory(saved, tmp_path, monkeypatch):
    header, arrays = parts_of(saved / "pairs")
    size = header["model"]["facts"]["n_problems"] * header["model"]["facts"]["n_support"]
    monkeypatch.setattr(MOST_SPARSE, size - 1)
    assert_refused(header, arrays, tmp_path / "m")
    model = load_with(monkeypatch, size, saved / "pairs")
    monkeypatch.setattr(MOST_SPARSE, size - 1)
    save(model, tmp_path / "whole")
    assert "0/coefs" in parts_of(tmp_path / "whole")[1]
    assert load(tmp_path / "whole").n_support_ == model.n_support_


def load_with(monkeypatch, limit, path):
    monkeypatch.setattr(MOST_SPARSE, limit)
    return load(path)
