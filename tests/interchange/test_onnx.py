"""Graphs of ONNX answer as the models that they were made from, in onnxruntime."""

import json
import subprocess
import sys

import numpy as np
import onnx
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

import largemargin
from largemargin import (
    ALMA,
    LPSVC,
    MIRA,
    ROMMA,
    SVC,
    AdaBoost,
    AdaptiveMarginSVC,
    AggressivePerceptron,
    KernelAdatron,
    LeaveOneOutSVC,
    MaxMarginHyperplane,
    NuLPSVC,
    NuSVC,
    OneClassSVM,
    RBFNetwork,
    VotedPerceptron,
)
from largemargin.interchange import to_onnx
from largemargin.kernels.choosing import KERNEL_NAMES
from largemargin.machines import CARDS

from .closeness import EXACT, SINGLE, answers, assert_same

KERNELS = ("linear", "poly", "rbf", "laplacian", "sigmoid", "matern")
TEXT = np.array(["a", "bé", "c"])


def problem(seed=0, n_classes=3, n_rows=60):
    """Rows and labels that no machine separates, and other rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    y = (X[:, 0] + 0.3 * rng.normal(size=n_rows) > 0).astype(int)
    if n_classes == 3:
        y[X[:, 1] > 0.7] = 2
    return X, y, rng.normal(size=(30, 4))


MACHINES = {
    "SVC": lambda: SVC(),
    "NuSVC": lambda: NuSVC(nu=0.1),
    "KernelAdatron": lambda: KernelAdatron(C=1.0, max_iter=20),
    "OneClassSVM": lambda: OneClassSVM(nu=0.3),
    "LPSVC": lambda: LPSVC(),
    "NuLPSVC": lambda: NuLPSVC(nu=0.3),
    "LeaveOneOutSVC": lambda: LeaveOneOutSVC(),
    "AdaptiveMarginSVC": lambda: AdaptiveMarginSVC(),
    "MaxMarginHyperplane": lambda: MaxMarginHyperplane(norm=1),
    "AggressivePerceptron": lambda: AggressivePerceptron(average=True),
    "MIRA": lambda: MIRA(budget=10, policy="projectron"),
    "ROMMA": lambda: ROMMA(),
    "ALMA": lambda: ALMA(),
    "AdaBoost": lambda: AdaBoost(n_rounds=20),
    "RBFNetwork": lambda: RBFNetwork(n_centers=5, random_state=0),
    "VotedPerceptron": lambda: VotedPerceptron(degree=2, epochs=2),
}
QUICK = ("SVC", "OneClassSVM", "MaxMarginHyperplane", "AdaBoost", "VotedPerceptron")


def quick_or_full(names, quick):
    return [name if name in quick else pytest.param(name, marks=pytest.mark.full) for name in names]


def test_every_machine_and_kernel_is_tried():
    assert set(MACHINES) == {card.name for card in CARDS}
    assert {*KERNELS, "precomputed"} == set(KERNEL_NAMES)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", quick_or_full(MACHINES, QUICK))
def test_every_machine(name):
    X, y, rows = problem()
    model = MACHINES[name]()
    model.fit(X) if name == "OneClassSVM" else model.fit(X, y)
    assert_same(model, rows)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_every_machine_on_random_problems(name, n_classes, seed):
    X, y, rows = problem(seed, n_classes)
    model = MACHINES[name]()
    model.fit(X) if name == "OneClassSVM" else model.fit(X, TEXT[y])
    assert_same(model, rows)


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel(kernel):
    X, y, rows = problem(1)
    assert_same(SVC(kernel=kernel, multiclass="ovo", matern_nu=2.5).fit(X, TEXT[y]), rows)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "crammer-singer"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("sparse", [False, True])
def test_every_kernel_and_reduction(kernel, multiclass, n_classes, precision, sparse):
    for matern_nu in (0.5, 1.5, 2.5) if kernel == "matern" else (1.5,):
        X, y, rows = problem(2, n_classes)
        X[np.abs(X) < 0.5] = 0
        model = SVC(
            kernel=kernel, multiclass=multiclass, precision=precision, matern_nu=matern_nu
        ).fit(sp.csr_array(X) if sparse else X, y)
        assert_same(model, rows, EXACT if precision == "float64" else SINGLE)


def test_values_in_float32():
    X, y, rows = problem(3)
    assert_same(SVC(precision="float32").fit(X, y), rows, SINGLE)


@pytest.mark.parametrize("method", ["average", "last", "longest", "pocket", "holdout"])
def test_rules_of_the_voted_perceptron(method):
    X, y, rows = problem(4)
    normalize, kernel = method in ("average", "longest"), "linear" if method == "last" else "rbf"
    model = VotedPerceptron(
        kernel=kernel, method=method, normalize=normalize, fit_intercept=True, random_state=0
    )
    assert_same(model.fit(X, y), rows)


def test_votes_with_a_threshold():
    X, y, rows = problem(5, 2)
    assert_same(VotedPerceptron(kernel="rbf", fit_intercept=True, epochs=2).fit(X, y), rows)


def test_a_precomputed_kernel_reads_the_columns_of_support_vectors():
    X, y, rows = problem(6)
    model = SVC(kernel="precomputed").fit(X @ X.T, y)
    assert_same(model, rows @ X.T)


@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        MinMaxScaler((-1, 2), clip=True),
        MinMaxScaler(),
        MaxAbsScaler(),
    ],
    ids=str,
)
def test_scalers(scaler):
    X, y, rows = problem(7)
    assert_same(make_pipeline(scaler, SVC()).fit(50 * X + 7, y), 60 * rows + 7)


def test_an_ensemble_of_one_perfect_stump():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = AdaBoost().fit(X, ["low", "low", "high", "high"])
    assert np.isinf(model.alphas_[-1])
    assert_same(model, np.linspace(-1, 4, 21)[:, None])


def test_a_machine_that_learned_nothing_answers_with_its_threshold():
    model = MIRA(kernel="linear").partial_fit(np.zeros((1, 2)), [1], classes=[0, 1])
    assert model.n_support_ == 0
    label, scores = answers(model, np.ones((3, 2)))
    assert np.array_equal(scores, model.decision_function(np.ones((3, 2))))
    assert np.array_equal(label, model.predict(np.ones((3, 2))))


def test_a_graph_is_sound_and_equal_models_give_equal_bytes(tmp_path):
    X, y, _ = problem(8)
    model = make_pipeline(StandardScaler(), SVC(kernel="laplacian", multiclass="ovo")).fit(X, y)
    graph = to_onnx(model, tmp_path / "a.onnx", feature_names=["a", "b", "c", "d"])
    onnx.checker.check_model(graph, full_check=True)
    assert {node.domain for node in graph.graph.node} == {""}  # no operator of one runtime alone
    facts = {entry.key: entry.value for entry in graph.metadata_props}
    assert facts == {"class": "SVC", "feature_names": json.dumps(["a", "b", "c", "d"])}
    again = to_onnx(model, feature_names=["a", "b", "c", "d"])
    assert (tmp_path / "a.onnx").read_bytes() == again.SerializeToString(deterministic=True)


def test_columns_of_a_data_frame_are_named():
    pandas = pytest.importorskip("pandas")
    X, y, _ = problem(9)
    graph = to_onnx(SVC().fit(pandas.DataFrame(X, columns=list("wxyz")), y))
    facts = {entry.key: entry.value for entry in graph.metadata_props}
    assert json.loads(facts["feature_names"]) == list("wxyz")


def refused(model, words):
    with pytest.raises(ValueError, match=words):
        to_onnx(model)


def test_refusals():
    X, y, _ = problem(10)
    refused(SVC(), "is not fitted: call fit first")
    refused(SVC(kernel=lambda A, B: A @ B.T).fit(X, y), "is code, which no other program can run")
    refused(VotedPerceptron(method="random").fit(X, y), "draws a vector anew")
    network = AdaBoost(RBFNetwork(n_centers=2), n_rounds=2, random_state=0)
    refused(network.fit(X, y), "AdaBoost over RBFNetwork .* boost stumps")
    refused(SVC().fit(X, y.astype(float)), "type float64, such as 0.0")
    refused(SVC().fit(X, y > 0), "type bool, such as False")
    refused(StandardScaler().fit(X), "is not a machine of largemargin")
    one = AggressivePerceptron().partial_fit(X[:2], [1, 1])
    refused(one, "has seen the class 1 only")


def test_a_step_without_a_formula_is_refused():
    from sklearn.decomposition import PCA

    X, y, _ = problem(11)
    refused(make_pipeline(PCA(2), SVC()).fit(X, y), "a PCA before the machine has no formula here")


def test_what_is_too_large_for_a_file_is_refused(monkeypatch):
    X, y, _ = problem(12)
    model = SVC().fit(X, y)
    for module in ("graph", "onnx_scores"):
        monkeypatch.setattr(f"largemargin.interchange.{module}.LARGEST_FILE", 1000)
        refused(model, "an ONNX file holds less than 2 GB")


def test_integers_of_any_type_are_labels():
    X, y, rows = problem(13)
    label, _ = answers(SVC().fit(X, y.astype(np.uint8)), rows)
    assert label.dtype == np.int64
    refused(SVC().fit(X, y.astype(np.uint64) + np.uint64(2**63)), "type uint64")


def test_the_package_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setattr("largemargin.interchange.packages.find_spec", lambda name: None)
    X, y, _ = problem(14)
    with pytest.raises(ImportError, match=r"pip install 'largemargin\[interchange\]'"):
        to_onnx(SVC().fit(X, y))


def test_public_names():
    assert largemargin.interchange.to_onnx is to_onnx


@pytest.mark.full
def test_the_import_loads_nothing_of_others():
    code = (
        "import sys, largemargin.interchange, largemargin.interchange.mlflow\n"
        "print(*{'numba', 'onnx', 'onnxruntime', 'mlflow', 'typer'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""
