"""Model files of LIBSVM: files that LIBSVM 3.37 and ThunderSVM 0.3.3 wrote, with what they answered
themselves (`data/answers.json`), and files of ours, read by a plain reader of the format.
"""

import json
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from largemargin import (
    LPSVC,
    MIRA,
    SVC,
    AdaBoost,
    MaxMarginHyperplane,
    NuSVC,
    OneClassSVM,
    VotedPerceptron,
    load,
    save,
)
from largemargin.interchange import read_libsvm, write_libsvm

DATA = Path(__file__).parent / "data"
FOUND = json.loads((DATA / "answers.json").read_text())
TRAINING, ROWS = np.array(FOUND["training"]), np.array(FOUND["rows"])


class Twin:
    """LIBSVM's decision, as its documentation has it, one row and one pair at a time."""

    def __init__(self, path):
        head, body = re.split("\nSV *\n", Path(path).read_text())
        self.head = {line.split()[0]: line.split()[1:] for line in head.splitlines()}
        self.vectors, n_coefs = [], max(1, int(self.head["nr_class"][0]) - 1)
        for line in body.splitlines():
            parts = line.split()
            entries = {int(k): float(v) for k, v in (p.split(":") for p in parts[n_coefs:])}
            self.vectors.append(([float(c) for c in parts[:n_coefs]], entries))
        assert len(self.vectors) == int(self.head["total_sv"][0])

    def kernel(self, entries, x):
        number = {key: float(self.head.get(key, ["0"])[0]) for key in ("gamma", "coef0", "degree")}
        kind = self.head["kernel_type"][0]
        if kind == "precomputed":
            return x[int(entries[0]) - 1]
        v = np.array([entries.get(j + 1, 0.0) for j in range(len(x))])
        inner = number["gamma"] * (v @ x) + number["coef0"]
        return {
            "linear": lambda: v @ x,
            "polynomial": lambda: inner ** number["degree"],
            "rbf": lambda: np.exp(-number["gamma"] * ((v - x) ** 2).sum()),
            "sigmoid": lambda: np.tanh(inner),
        }[kind]()

    def answer(self, x):
        """The values of the pairs, and the label."""
        values = [self.kernel(entries, x) for _, entries in self.vectors]
        rho = [float(r) for r in self.head["rho"]]
        if self.head["svm_type"] == ["one_class"]:
            score = sum(c[0] * k for (c, _), k in zip(self.vectors, values, strict=True)) - rho[0]
            return [score], 1 if score > 0 else -1
        labels = [int(label) for label in self.head["label"]]
        owner = np.repeat(range(len(labels)), [int(n) for n in self.head["nr_sv"]])
        scores, votes = [], [0] * len(labels)
        for (i, j), r in zip(combinations(range(len(labels)), 2), rho, strict=True):
            mine = zip(owner, self.vectors, values, strict=True)
            score = -r
            for c, (coefs, _), k in mine:
                score += {i: coefs[j - 1], j: coefs[i]}.get(c, 0.0) * k
            scores.append(score)
            votes[i if score > 0 else j] += 1
        return scores, labels[votes.index(max(votes))]


def values_of_pairs(model, rows):
    """The values of the pairs in the order and with the signs of LIBSVM, for its labels 7 -1 3."""
    scores = model.problem_scores(rows)
    if len(scores) == 1:
        return scores.T
    pairs = dict(zip(combinations(model.classes_.tolist(), 2), scores, strict=True))
    theirs = [(7, -1), (7, 3), (-1, 3)]
    return np.array([-pairs[p] if p in pairs else pairs[p[::-1]] for p in theirs]).T


def tied(model, rows):
    """Rows in which every class has won as many pairs."""
    if not hasattr(model, "classes_") or len(model.classes_) < 3:
        return np.zeros(len(rows), bool)
    won = model.decision_function(rows).round()
    return (won == won.max(axis=1, keepdims=True)).sum(axis=1) > 1


@pytest.mark.parametrize("name", FOUND["answers"])
def test_files_of_others_answer_as_their_tools_did(name):
    told = FOUND["answers"][name]
    rows = ROWS @ TRAINING.T if name == "libsvm-precomputed" else ROWS
    width = len(TRAINING) if name == "libsvm-precomputed" else 4
    model = read_libsvm(DATA / f"{name}.model", n_features=width)
    values, labels = np.array(told["values"]), np.array(told["labels"])
    ours = values_of_pairs(model, rows)
    if hasattr(model, "classes_") and len(model.classes_) == 2:
        first = Twin(DATA / f"{name}.model").head["label"][0]
        ours = ours if int(first) == model.classes_[1] else -ours
    tolerance = 2e-5 if name.startswith("thundersvm") else 1e-12  # it computes in float32
    assert np.abs(ours - values).max() < tolerance * max(1.0, np.abs(values).max())
    clear = ~tied(model, rows)
    assert clear.sum() >= 10
    assert np.array_equal(model.predict(rows)[clear], labels[clear])


def test_the_twin_answers_as_libsvm_did():
    for name, told in FOUND["answers"].items():
        if name.startswith("libsvm"):
            rows = ROWS @ TRAINING.T if name == "libsvm-precomputed" else ROWS
            found = [Twin(DATA / f"{name}.model").answer(x) for x in rows]
            assert np.abs(np.array([v for v, _ in found]) - told["values"]).max() < 1e-12
            assert [label for _, label in found] == told["labels"]


def test_a_file_tells_what_it_holds(tmp_path):
    model = read_libsvm(DATA / "libsvm-poly-nu.model")
    assert isinstance(model, NuSVC)
    assert (model.kernel, model.degree, model.gamma, model.coef0) == ("poly", 2, 0.7, 0.5)
    assert (model.multiclass, model.classes_.tolist()) == ("ovo", [-1, 3, 7])
    assert not model.converged_
    assert np.isinf(model.dual_gap_).all()
    w = model.dual_coef_ @ model.expansion.basis.kernel(*[model.support_vectors_] * 2)
    squares = (w * model.dual_coef_).sum(axis=1)
    assert np.allclose(model.margin_, 1 / np.sqrt(squares))
    save(model, tmp_path / "a.safetensors")
    again = load(tmp_path / "a.safetensors")
    assert np.array_equal(again.decision_function(ROWS), model.decision_function(ROWS))
    text = str(model.certificate(TRAINING, np.resize([-1, 3, 7], len(TRAINING))))
    assert "error" in text  # what is measured is said, and nothing of a training that is not known


def written(model, tmp_path, rows):
    """The values and labels of the twin, from the file of a model."""
    path = tmp_path / "ours.model"
    write_libsvm(model, path)
    found = [Twin(path).answer(x) for x in rows]
    return np.array([v for v, _ in found]), np.array([label for _, label in found]), path


def problem(n_classes, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 4))
    X[rng.random(X.shape) < 0.3] = 0
    y = (X[:, 0] + 0.3 * rng.normal(size=50) > 0).astype(int)
    if n_classes > 2:
        y[X[:, 1] > 0.5] = 2
    if n_classes > 3:
        y[X[:, 2] > 0.8] = 3
    return X, np.array([-5, 0, 2, 9])[y], rng.normal(size=(20, 4))


def assert_written(model, rows, tmp_path):
    values, labels, path = written(model, tmp_path, rows)
    if hasattr(model, "problem_scores"):
        scores = model.problem_scores(rows)
    else:
        scores = model.decision_function(rows)[None]
    scores = scores if isinstance(model, OneClassSVM) else -scores
    size = max(1.0, np.abs(scores).max())
    assert np.abs(values.T - scores).max() < 1e-11 * size
    clear = ~tied(model, rows) & (np.abs(scores) > 1e-9 * size).all(axis=0)
    assert clear.mean() > 0.5
    assert np.array_equal(labels[clear], model.predict(rows)[clear])
    again = read_libsvm(path, n_features=rows.shape[1])
    ours, theirs = model.decision_function(rows), again.decision_function(rows)
    assert np.abs(theirs - ours)[clear].max() < 1e-11 * size


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_pairs_are_written(kernel, tmp_path):
    X, y, rows = problem(4)
    assert_written(SVC(kernel=kernel, multiclass="ovo").fit(X, y), rows, tmp_path)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_every_kernel_is_written(kernel, n_classes, sparse, precision, tmp_path):
    X, y, rows = problem(n_classes, 3)
    X = X.astype(np.float32).astype(float)
    rows = rows.astype(np.float32).astype(float)
    data = sp.csr_array(X) if sparse else X
    for model in (
        SVC(kernel=kernel, multiclass="ovo"),
        NuSVC(kernel=kernel, multiclass="ovo", nu=0.1),
    ):
        model.set_params(precision=precision).fit(data, y)
        if precision == "float64":
            assert_written(model, rows, tmp_path)
        else:
            values, _, _ = written(model, tmp_path, rows)
            scores = -model.problem_scores(rows).T
            sizes = np.abs(model.dual_coef_).sum(axis=1) + np.abs(model.intercept_)
            largest = np.abs(model.expansion.basis.kernel(X, X)).max()
            assert (np.abs(values - scores) <= 1e-5 * sizes * max(1, largest)).all()


@pytest.mark.parametrize(
    "model",
    [
        OneClassSVM(nu=0.3),
        LPSVC(kernel="poly"),
        MIRA(average=True),
        MaxMarginHyperplane(),
        VotedPerceptron(method="average", fit_intercept=True),
    ],
    ids=lambda model: type(model).__name__,
)
def test_other_machines_of_two_classes_are_written(model, tmp_path):
    X, y, rows = problem(2)
    model.fit(X) if isinstance(model, OneClassSVM) else model.fit(X, y)
    assert_written(model, rows, tmp_path)


def test_a_precomputed_kernel_is_written(tmp_path):
    X, y, rows = problem(3)
    assert_written(
        SVC(kernel="precomputed", multiclass="ovo").fit(X @ X.T, y), rows @ X.T, tmp_path
    )


def test_what_a_file_cannot_hold_is_refused(tmp_path):
    X, y, _ = problem(3)
    two = np.where(y == 0, "b", "a")

    def refused(model, words):
        with pytest.raises(ValueError, match=words):
            write_libsvm(model, tmp_path / "x.model")

    refused(SVC().fit(X, y), "by pairs, and this SVC has a function for each class")
    refused(SVC(kernel="linear").fit(X, y), "by pairs, and this SVC has")
    refused(MaxMarginHyperplane().fit(X, y), "by pairs, and this MaxMarginHyperplane has")
    refused(SVC().fit(X, two), "labels of LIBSVM are integers of 32 bits, and one of these is 'a'")
    refused(SVC().fit(X, np.where(y == 0, 2**40, 1)), "integers of 32 bits")
    refused(SVC(kernel="laplacian").fit(X, y == 0), "LIBSVM has no laplacian kernel")
    refused(AdaBoost(n_rounds=3).fit(X, y), "AdaBoost decides otherwise: convert it to .onnx")
    refused(make_pipeline(StandardScaler(), SVC()).fit(X, y == 0), "holds no scaling")
    assert not list(tmp_path.iterdir())


GOOD = (DATA / "libsvm-rbf-three.model").read_text()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("svm_type c_svc", "svm_type epsilon_svr", "svm_type is 'epsilon_svr'"),
        ("svm_type c_svc\n", "", "does not begin with svm_type"),
        ("kernel_type rbf", "kernel_type wavelet", "kernel_type is 'wavelet', where one of linear"),
        ("gamma 0.5", "gamma x", "gamma has the value 'x'"),
        ("gamma 0.5", "gamma 0", "gamma must be .* a positive number, got 0.0"),
        ("gamma 0.5\n", "", "the header has not 1 of gamma"),
        ("nr_class 3", "nr_class 4", "has not 3 finite coefficients"),
        ("label 7 -1 3", "label 7 7 3", "a label occurs twice"),
        ("label 7 -1 3", f"label 7 -1 {10**30}", "is no integer of 64 bits"),
        ("nr_sv 12 12 8", "nr_sv 12 12 9", "nr_sv does not add up to total_sv"),
        ("label 7 -1 3", "label 7 -1 3.5", "label has the value '7 -1 3.5'"),
        ("total_sv 32", "total_sv 33", "was it cut short"),
        ("\nSV\n", "\nSV\n1 nan 1:2\n", "has not 2 finite coefficients"),
        ("\nSV\n", "\nSV\n1 x 1:2\n", "holds what is no number"),
        ("1:0.13 ", "0:0.13 ", "features are counted from 1"),
        ("1:0.13 ", "1.5:0.13 ", "is no number of a feature"),
        ("1:0.13 ", "99999999999:0.13 ", "is no number of a feature"),
        ("1:0.13 ", "1:1e200 ", "more than float64 can compute with"),
    ],
)  # fmt: skip
def test_damaged_files_get_a_sentence(old, new, words, tmp_path):
    assert old in GOOD
    path = tmp_path / "bad.model"
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(ValueError, match=words) as caught:
        read_libsvm(path)
    assert str(caught.value).startswith(f"{path} cannot be read as a model of LIBSVM: ")


def test_a_number_of_features_that_is_too_small_is_refused():
    with pytest.raises(ValueError, match="it has the feature 4, and n_features is 3"):
        read_libsvm(DATA / "libsvm-rbf-three.model", n_features=3)
    assert read_libsvm(DATA / "libsvm-rbf-three.model", n_features=9).n_features_in_ == 9


def test_a_file_without_support_vectors_and_with_ends_of_lines_of_windows(tmp_path):
    path = tmp_path / "a.model"
    head = "svm_type c_svc,kernel_type linear,nr_class 2,total_sv 0,rho -3,label 1 -1,nr_sv 0 0,SV,"
    path.write_bytes(head.replace(",", "\r\n").encode())
    model = read_libsvm(path, n_features=2)
    assert model.decision_function(np.zeros((1, 2))) == [3.0]
    assert model.predict(np.zeros((1, 2))) == [1]


@pytest.mark.full
@pytest.mark.parametrize("name", FOUND["answers"])
def test_files_that_were_altered_are_read_or_refused_in_a_sentence(name, tmp_path):
    rng = np.random.default_rng(0)
    whole, path = (DATA / f"{name}.model").read_bytes(), tmp_path / "altered.model"
    refused = 0
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(rng.integers(1, 4)):
            place = int(rng.integers(len(data)))
            kind = rng.integers(4)
            if kind == 0:
                data[place] = int(rng.choice(list(b"0123456789-.:e \nxSV\xff")))
            elif kind == 1:
                del data[place : place + int(rng.integers(1, 30))]
            elif kind == 2:
                data[place:place] = data[:40]
            else:
                data = data[:place] or bytearray(b"x")
        path.write_bytes(data)
        try:
            model = read_libsvm(path)
        except ValueError as error:
            refused += str(error).startswith(str(path))
            continue
        if model.n_features_in_ < 10**6:
            assert np.isfinite(model.decision_function(np.ones((2, model.n_features_in_)))).all()
    assert refused > 50
