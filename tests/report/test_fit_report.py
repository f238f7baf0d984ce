"""`fit_report`: the page of a fit from Python, and the same page as the command's."""

import re
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from typer.testing import CliRunner

import largemargin
from largemargin import MIRA, SVC, MaxMarginHyperplane, data
from largemargin.cli.app import app
from largemargin.report import FitReport, fit_report


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    return train_test_split(X, names[y], random_state=0)


@pytest.fixture(scope="module")
def fitted(iris):
    X, _, y, _ = iris
    return SVC().fit(X, y)


def without_times(page):
    """A page without what is measured, and without the file and the command that made it."""
    page = re.sub(r"<dt>(prediction|rows per second|certificate)</dt><dd>.*?</dd>\s*", "", page)
    page = re.sub(r"<section aria-labelledby=.use.>.*?</section>", "", page, flags=re.DOTALL)
    return re.sub(r"<footer>.*?</footer>", "", page, flags=re.DOTALL)


def test_the_page_is_that_of_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ["--model", "svc", "--scale", "standard", "-o", "m.model", "--report", "page.html"]
    made = CliRunner().invoke(app, ["train", "digits", *options])
    assert made.exit_code == 0, made.output
    model = largemargin.load("m.model")
    info = largemargin.describe("m.model")["info"]
    digits = data.load("digits")
    report = fit_report(model, digits.X_test, digits.y_test, digits.X, digits.y, info=info)
    assert isinstance(report, FitReport)
    theirs = (tmp_path / "page.html").read_text()
    assert "largemargin report m.model digits" in theirs
    assert without_times(report.html) == without_times(theirs)
    report.save("ours.html")
    assert (tmp_path / "ours.html").read_text() == report.html


def test_what_it_says(iris, fitted):
    X, X_test, y, y_test = iris
    report = fit_report(fitted, X_test, y_test, X, y, name="iris & co")
    wrong = int((fitted.predict(X_test) != y_test).sum())
    assert (report.error.errors, report.error.rows) == (wrong, len(y_test))
    assert report.tested
    assert report.certificate is not None
    assert repr(report) == f"FitReport(SVC on iris & co: test error {report.error})"
    assert "<h1>SVC on iris &amp; co</h1>" in report.html
    assert "38 rows of the test set of iris &amp; co" in report.html
    assert "versicolor" in report.html
    assert "Always answering with the commonest class would be wrong on" in report.html
    frame = report._repr_html_()
    assert frame.startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert frame.count('"') == 6


def test_without_a_test_and_without_a_training_set(iris, fitted):
    X, X_test, y, y_test = iris
    alone = fit_report(fitted, X_train=X, y_train=y)
    assert not alone.tested
    assert "the rows that the model was trained on, so the error says little" in alone.html
    unseen = fit_report(fitted, X_test, y_test)
    assert unseen.certificate is None
    assert unseen.title == "SVC on the test set"
    # rows that the model knows are its training set, whatever they are called
    assert not fit_report(fitted, X, y).tested


def test_a_model_that_does_not_beat_guessing_says_what_guessing_would_do():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 2)), np.repeat([0, 1, 1], 20)
    report = fit_report(MIRA().fit(X[:40], y[:40]), X[40:], np.zeros(20, int))
    assert report.guessing == 0
    assert "commonest class would be wrong on 0.0 %" in report.html


@pytest.mark.parametrize(
    "steps",
    [
        (StandardScaler(), SVC()),
        (PCA(2), SVC()),
        (PCA(2), MaxMarginHyperplane(tol=1e-2)),
        (FunctionTransformer(np.abs), StandardScaler(), SVC(C=3.0)),
    ],
)
def test_pipelines(iris, steps):
    X, X_test, y, y_test = iris
    model = make_pipeline(*steps).fit(X, y)
    report = fit_report(model, X_test, y_test, X, y)
    assert report.error.errors == int((model.predict(X_test) != y_test).sum())
    assert report.certificate is not None
    assert type(steps[0]).__name__ in report.html


def test_a_step_that_cannot_be_undone_leaves_its_examples_out(iris):
    from sklearn.preprocessing import Binarizer

    X, X_test, y, y_test = iris
    report = fit_report(make_pipeline(Binarizer(threshold=2.0), SVC()).fit(X, y), X_test, y_test)
    assert [gallery.id for gallery in report.galleries] == ["wrong", "hard"]


def test_searches_sparse_rows_and_lists(iris):
    X, X_test, y, y_test = iris
    search = GridSearchCV(SVC(), {"C": [1.0, 10.0]}, cv=2).fit(X, y)
    report = fit_report(search, sp.csc_matrix(X_test), y_test.tolist(), X.tolist(), y.tolist())
    assert report.error.errors == int((search.predict(X_test) != y_test).sum())
    assert report.certificate is not None


def test_names_of_features(iris):
    pd = pytest.importorskip("pandas")
    X, X_test, y, y_test = iris
    names = ["sepal length", "sepal width", "petal length", "petal width"]
    model = make_pipeline(StandardScaler(), SVC()).fit(pd.DataFrame(X, columns=names), y)
    frame = pd.DataFrame(X_test, columns=names)
    assert "petal width" in fit_report(model, frame, pd.Series(y_test)).html
    other = fit_report(model, X_test, y_test, feature_names=["a", "b", "c", "stamen"])
    assert "stamen" in other.html
    assert "petal width" not in other.html
    with pytest.raises(ValueError, match=r"^the columns of X_test are .* same order$"):
        fit_report(model, frame[names[::-1]], y_test)
    with pytest.raises(ValueError, match="feature_names has 1 names, and the model was trained"):
        fit_report(model, frame, y_test, feature_names=["a"])


def test_notes_of_another_shape_are_left_alone(iris, fitted):
    _, X_test, _, y_test = iris
    report = fit_report(
        fitted, X_test, y_test, info={"cv": "mine", "seed": 7, "rows": "many", "progress": [1]}
    )
    assert dict(report.facts)["seed"] == "7"
    assert "many" not in report.html


def test_labels_that_the_model_does_not_know_count_as_errors(iris, fitted):
    _, X_test, _, y_test = iris
    report = fit_report(fitted, X_test, np.where(y_test == "setosa", "rose", y_test))
    assert report.unknown_labels == (y_test == "setosa").sum()
    assert report.error.errors >= report.unknown_labels


def test_bad_input_is_told_in_sentences(iris, fitted):
    X, X_test, y, y_test = iris
    bad = pytest.raises
    with bad(NotFittedError, match="this SVC is not fitted: call its fit before fit_report"):
        fit_report(SVC(), X_test, y_test)
    with bad(NotFittedError, match="this SVC is not fitted"):
        fit_report(make_pipeline(StandardScaler(), SVC()), X_test, y_test)
    with bad(ValueError, match="must be a classifier of largemargin, .* got LogisticRegression"):
        fit_report(LogisticRegression().fit(X, y), X_test, y_test)
    with bad(ValueError, match="needs labelled rows, of a test or of the training set"):
        fit_report(fitted)
    with bad(ValueError, match="X_test has no labels to compare with: give y_test as well"):
        fit_report(fitted, X_test)
    with bad(ValueError, match="y_train has no rows that it belongs to: give X_train as well"):
        fit_report(fitted, X_test, y_test, y_train=y)
    with bad(ValueError, match="X_test has 38 rows, and y_test is of shape .37,.: give one label"):
        fit_report(fitted, X_test, y_test[1:])
    with bad(ValueError, match="X_test has 3 features, and the model was trained with 4: give"):
        fit_report(fitted, X_test[:, 1:], y_test)
    with bad(ValueError, match=r"the labels of y_test are not those the model knows, \['setosa', "):
        fit_report(fitted, X_test, np.arange(38))
    with bad(ValueError, match="y_train has labels that the model does not know, so it was not"):
        fit_report(fitted, X_test, y_test, X, np.where(y == "setosa", "rose", y))
    with bad(ValueError, match="X_test contains NaN"):
        fit_report(fitted, np.where(X_test == X_test[0, 0], np.nan, X_test), y_test)


def test_a_page_that_cannot_be_written_is_told(iris, fitted, tmp_path, monkeypatch):
    _, X_test, _, y_test = iris
    report = fit_report(fitted, X_test, y_test)
    with pytest.raises(OSError, match="does not exist; create it first"):
        report.save(tmp_path / "nowhere" / "page.html")
    with pytest.raises(OSError, match="it is a folder; give the name of a file"):
        report.save(tmp_path)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ValueError, match=r'pip install "largemargin\[report\]"'):
        fit_report(fitted, X_test, y_test)
