"""Fitted models of scikit-learn become machines here and back, with the same decision values."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Perceptron
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
from largemargin.interchange import from_sklearn, to_sklearn

TEXT = np.array(["x", "y", "z"])


def problem(n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 5))
    X[rng.random(X.shape) < 0.3] = 0
    y = (X[:, 0] + 0.3 * rng.normal(size=60) > 0).astype(int)
    if n_classes == 3:
        y[X[:, 1] > 0.6] = 2
    return X, TEXT[y], rng.normal(size=(30, 5))


def assert_close(found, wanted):
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() < 1e-10 * max(1.0, np.abs(wanted).max())


def assert_converted(theirs, rows):
    """There, through a file, and back."""
    ours = from_sklearn(theirs)
    wanted = theirs.decision_function(rows)
    assert_close(ours.decision_function(rows), wanted)
    detector = isinstance(theirs, sklearn.svm.OneClassSVM)
    if wanted.ndim == 1 or isinstance(theirs, sklearn.svm.LinearSVC | Perceptron):
        assert np.array_equal(ours.predict(rows), theirs.predict(rows))
    else:  # `predict` here is the argmax of the scores; theirs does not look at margins
        best = theirs.classes_[wanted.argmax(axis=1)]
        assert np.array_equal(ours.predict(rows), best)
        clear = np.sort(wanted.round(), axis=1)
        clear = clear[:, -1] > clear[:, -2]
        assert np.array_equal(ours.predict(rows)[clear], theirs.predict(rows)[clear])
    back = to_sklearn(ours)
    assert_close(back.decision_function(rows), wanted)
    assert np.array_equal(back.predict(rows), ours.predict(rows))
    if detector:
        assert_close(back.score_samples(rows), theirs.score_samples(rows))
    return ours, back


MACHINES = {
    "SVC": lambda: sklearn.svm.SVC(C=3.0),
    "NuSVC": lambda: sklearn.svm.NuSVC(nu=0.2),
    "OneClassSVM": lambda: sklearn.svm.OneClassSVM(nu=0.3),
    "LinearSVC": lambda: sklearn.svm.LinearSVC(),
    "Perceptron": lambda: Perceptron(),
}


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_machine_of_theirs(name, n_classes, tmp_path):
    X, y, rows = problem(n_classes)
    ours, back = assert_converted(MACHINES[name]().fit(X, y), rows)
    assert type(back).__name__ == ("LinearSVC" if name == "Perceptron" else name) or n_classes == 2
    save(ours, tmp_path / "a.safetensors")
    again = load(tmp_path / "a.safetensors")
    assert np.array_equal(again.decision_function(rows), ours.decision_function(rows))


@pytest.mark.full
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
@pytest.mark.parametrize("name", ["SVC", "NuSVC", "OneClassSVM"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_every_kernel(kernel, name, n_classes, sparse, seed):
    X, y, rows = problem(n_classes, seed)
    X[np.abs(X) < 1.0] *= 1 - sparse  # so few entries that they are kept sparse
    theirs = MACHINES[name]().set_params(kernel=kernel, gamma=0.1, coef0=0.5)
    theirs.fit(sp.csr_matrix(X) if sparse else X, y)
    ours, back = assert_converted(theirs, rows)
    if sparse and sp.issparse(ours.support_vectors_):
        data = sp.csr_matrix(rows)
        assert_close(back.decision_function(data), theirs.decision_function(data))


def test_parameters_and_names_are_kept():
    pandas = pytest.importorskip("pandas")
    X, y, _ = problem()
    frame = pandas.DataFrame(X, columns=list("abcde"))
    theirs = sklearn.svm.SVC(C=3.0, kernel="poly", degree=2, coef0=0.5, tol=1e-4).fit(frame, y)
    ours = from_sklearn(theirs)
    kept = ours.C, ours.kernel, ours.degree, ours.coef0, ours.tol, ours.multiclass
    assert kept == (3.0, "poly", 2, 0.5, 1e-4, "ovo")
    assert ours.feature_names_in_.tolist() == list("abcde")
    assert ours.support_.tolist() == sorted(theirs.support_.tolist())
    assert ours.n_trained == 60
    assert to_sklearn(ours).feature_names_in_.tolist() == list("abcde")


def test_a_fit_goes_on_as_a_fit_of_ours():
    X, y, rows = problem(2)
    ours = from_sklearn(sklearn.svm.SVC(C=3.0).fit(X, y))
    again = SVC(**ours.get_params()).fit(X, y)
    assert np.abs(again.decision_function(rows) - ours.decision_function(rows)).max() < 0.01


def test_a_precomputed_kernel():
    X, y, rows = problem()
    theirs = sklearn.svm.SVC(kernel="precomputed").fit(X @ X.T, y)
    assert_converted(theirs, rows @ X.T)


def test_pipelines():
    X, y, rows = problem()
    theirs = make_pipeline(StandardScaler(), sklearn.svm.SVC()).fit(9 * X + 4, y)
    ours = from_sklearn(theirs)
    assert list(ours.named_steps) == ["standardscaler", "svc"]
    assert_close(ours.decision_function(9 * rows), theirs.decision_function(9 * rows))
    assert_close(to_sklearn(ours).decision_function(rows), theirs.decision_function(rows))
    ours[0].mean_ += 1  # a copy
    assert not np.array_equal(ours[0].mean_, theirs[0].mean_)


OURS = {
    "SVC": (lambda: SVC(), "SVC", "OneVsRestClassifier"),
    "pairs": (lambda: SVC(multiclass="ovo", kernel="poly"), "SVC", "SVC"),
    "linear": (lambda: SVC(kernel="linear"), "SVC", "LinearSVC"),
    "NuSVC": (lambda: NuSVC(nu=0.2, multiclass="ovo"), "NuSVC", "NuSVC"),
    "LPSVC": (lambda: LPSVC(), "SVC", "OneVsRestClassifier"),
    "MIRA": (lambda: MIRA(), "SVC", "OneVsRestClassifier"),
    "hyperplane": (lambda: MaxMarginHyperplane(), "LinearSVC", "LinearSVC"),
    "perceptron": (
        lambda: VotedPerceptron(method="average", fit_intercept=True),
        "SVC",
        "OneVsRestClassifier",
    ),
    "linear perceptron": (
        lambda: VotedPerceptron(kernel="linear", method="last", fit_intercept=True),
        "SVC",
        "LinearSVC",
    ),
}


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_machines_of_ours(name, n_classes):
    X, y, rows = problem(n_classes)
    make, two, more = OURS[name]
    model = make().fit(X, y)
    theirs = to_sklearn(model)
    assert type(theirs).__name__ == (two if n_classes == 2 else more)
    assert_close(theirs.decision_function(rows), model.decision_function(rows))
    assert np.array_equal(theirs.predict(rows), model.predict(rows))


def test_an_outlier_detector_of_ours():
    X, _, rows = problem()
    model = OneClassSVM(nu=0.3).fit(X)
    theirs = to_sklearn(model)
    assert_close(theirs.decision_function(rows), model.decision_function(rows))
    assert_close(theirs.score_samples(rows), model.score_samples(rows))
    assert np.array_equal(theirs.predict(rows), model.predict(rows))


def test_what_cannot_be_converted_gets_a_sentence():
    X, y, _ = problem()

    def refused(convert, model, words):
        with pytest.raises(ValueError, match=words):
            convert(model)

    kernel = sklearn.svm.SVC(kernel=lambda A, B: A @ B.T).fit(X, y)
    refused(from_sklearn, kernel, "is a function, which is code")
    refused(from_sklearn, sklearn.svm.SVC(), "this SVC is not fitted")
    refused(
        from_sklearn, LogisticRegression().fit(X, y), "a LogisticRegression cannot be converted"
    )
    refused(from_sklearn, SVC().fit(X, y), "a SVC cannot be converted: of scikit-learn's models")
    pipe = make_pipeline(PCA(2), sklearn.svm.SVC()).fit(X, y)
    refused(from_sklearn, pipe, "a PCA before the machine cannot be converted")
    refused(to_sklearn, SVC(kernel="laplacian").fit(X, y), "has no laplacian kernel by name")
    refused(to_sklearn, AdaBoost(n_rounds=2).fit(X, y), "has no machine that decides as AdaBoost")
    refused(to_sklearn, VotedPerceptron().fit(X, y), "decides as VotedPerceptron does")
    refused(to_sklearn, SVC(), "this SVC is not fitted")


def test_probabilities_are_left_out_with_a_warning():
    X, y, rows = problem(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some versions warn of the parameter itself
        theirs = sklearn.svm.SVC(probability=True, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="probability=True is left out"):
        ours = from_sklearn(theirs)
    assert_close(ours.decision_function(rows), theirs.decision_function(rows))


def test_nothing_is_said_of_a_training_that_is_not_known():
    X, y, _ = problem(2)
    ours = from_sklearn(sklearn.svm.SVC().fit(X, y))
    assert not ours.converged_
    assert ours.dual_gap_.tolist() == [np.inf]
    assert ours.objective_.tolist() == [-np.inf]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        ours.predict(X)
    told = str(ours.certificate(X, y))
    assert "error" in told
