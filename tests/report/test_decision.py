"""`plot_decision`: every classifier of two features, read back from what was drawn."""

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from matplotlib.figure import Figure
from sklearn import linear_model, svm
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import largemargin as lm
from largemargin.base.pipelines import deciding_model
from largemargin.report import plane, plot_decision

matplotlib.use("Agg")

OURS = (
    lm.VotedPerceptron(),
    lm.SVC(),
    lm.NuSVC(),
    lm.KernelAdatron(C=1.0),
    lm.AggressivePerceptron(),
    lm.MIRA(budget=20),
    lm.ROMMA(),
    lm.ALMA(),
    lm.LPSVC(),
    lm.NuLPSVC(),
    lm.LeaveOneOutSVC(),
    lm.AdaptiveMarginSVC(lam=2.0),
    lm.MaxMarginHyperplane(),
    lm.AdaBoost(n_rounds=5),
    lm.RBFNetwork(n_centers=4, random_state=0),
)
PEERS = (
    svm.SVC(),
    svm.NuSVC(nu=0.1),
    svm.LinearSVC(),
    linear_model.Perceptron(),
    linear_model.LogisticRegression(),
    KNeighborsClassifier(),
    GridSearchCV(make_pipeline(StandardScaler(), lm.SVC()), {"svc__C": [1.0, 10.0]}, cv=2),
)
WITHOUT_MARGIN = {"VotedPerceptron", "ALMA", "AdaBoost", "RBFNetwork", "Perceptron"} | {
    "LogisticRegression",
    "KNeighborsClassifier",
}


def name_of(model):
    return type(model).__name__ + ("" if model in OURS else "-peer")


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(80, noise=0.25, random_state=1)
    return X.round(3), np.array(["dark", "light"])[y]


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(60, centers=[[0, 0], [4, 0], [2, 3]], cluster_std=1.2, random_state=3)


def draw(model, X, y, **options):
    return plot_decision(model, X, y, Figure().subplots(), resolution=40, **options)


def marked(ax, label):
    """The points drawn under a label of the legend."""
    handles = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    return np.asarray(handles[label].get_offsets()) if label in handles else np.empty((0, 2))


def same_points(one, other):
    return np.array_equal(np.unique(one, axis=0), np.unique(other, axis=0))


@pytest.mark.parametrize("model", OURS + PEERS, ids=name_of)
@pytest.mark.parametrize("kind", ["moons", "blobs"])
def test_every_classifier(request, model, kind):
    X, y = request.getfixturevalue(kind)
    model.fit(X, y)
    ax = draw(model, X, y)
    assert same_points(marked(ax, "error"), X[model.predict(X) != y])
    for label in model.classes_:
        assert same_points(marked(ax, f"class {label}"), X[y == label])
    last = deciding_model(model)
    ringed = X[last.support_] if hasattr(last, "support_") else X[:0]
    assert same_points(marked(ax, "support vector"), ringed)
    has_margin = "margin" in ax.get_legend_handles_labels()[1]
    if kind == "moons":
        assert has_margin == (type(model).__name__ not in WITHOUT_MARGIN)


def test_the_lead_is_positive_where_a_class_is_the_answer(blobs):
    X, y = blobs
    for model in (lm.SVC().fit(X, y), svm.SVC().fit(X, y), KNeighborsClassifier().fit(X, y)):
        lead = plane.leads(model, X)
        assert np.array_equal(model.classes_[lead.argmax(axis=0)], model.predict(X))
        assert ((lead > 0).sum(axis=0) == 1).all()


def test_the_lead_against_its_definition(blobs):
    X, y = blobs
    model = lm.SVC().fit(X, y)
    scores = model.decision_function(X).T
    for k, found in enumerate(plane.leads(model, X)):
        others = np.delete(scores, k, axis=0).max(axis=0)
        assert found == pytest.approx(scores[k] - others)


def zeros_of(ax, style):
    """The vertices of contour lines of a style."""
    return np.vstack(
        [
            path.vertices
            for lines in ax.collections
            if isinstance(lines, matplotlib.contour.QuadContourSet) and not lines.filled
            if (lines.linestyles == "dashed") == (style == "dashed")
            for path in lines.get_paths()
        ]
    )


@pytest.mark.parametrize(
    ("model", "level"),
    [
        (lm.SVC(kernel="linear"), lambda model: 1.0),
        (svm.SVC(kernel="linear"), lambda model: 1.0),
        (lm.NuLPSVC(kernel="linear", nu=0.4), lambda model: model.margin_[0]),
        (lm.AggressivePerceptron(kernel="linear", margin=0.5), lambda model: 0.5),
        (lm.MIRA(kernel="linear", margin=0.5), lambda model: 0.25),
        (lm.MaxMarginHyperplane(norm=1), lambda model: 1.0),
    ],
    ids=lambda value: getattr(type(value), "__name__", ""),
)
def test_lines_are_where_the_function_says(moons, model, level):
    X, y = moons
    model.fit(X, y)
    ax = draw(model, X, y, regions=False)
    assert model.decision_function(zeros_of(ax, "solid")) == pytest.approx(0.0, abs=1e-6)
    found = model.decision_function(zeros_of(ax, "dashed"))
    assert np.abs(found) == pytest.approx(level(model), rel=1e-6)


def test_margins_of_classes_against_the_rest_and_in_competition(blobs):
    X, y = blobs
    for multiclass in ("ovr", "crammer-singer"):
        model = lm.SVC(kernel="linear", multiclass=multiclass).fit(X, y)
        at = zeros_of(draw(model, X, y), "dashed")
        values = model.decision_function(at) if multiclass == "ovr" else plane.leads(model, at).T
        near = np.abs(values - 1).min(axis=1) < 1e-6
        assert near.mean() > 0.9  # but in the cells where the best other class changes
    model = lm.SVC(multiclass="ovo").fit(X, y)
    assert "margin" not in draw(model, X, y).get_legend_handles_labels()[1]


def test_parts_can_be_chosen(moons):
    X, y = moons
    model = lm.SVC().fit(X, y)
    ax = draw(model, X, y, regions=False, margin=None, support=[3, 5])
    assert same_points(marked(ax, "support vector"), X[[3, 5]])
    assert "margin" not in ax.get_legend_handles_labels()[1]
    assert "support vector" not in draw(model, X, y, support=None).get_legend_handles_labels()[1]
    assert not any(getattr(c, "filled", False) for c in ax.collections)
    assert any(getattr(c, "filled", False) for c in draw(model, X, y).collections)


def test_other_points_show_the_vectors_of_the_model(moons):
    X, y = moons
    model = lm.SVC().fit(X[:60], y[:60])
    ax = draw(model, X[60:], y[60:])
    assert same_points(marked(ax, "support vector"), model.support_vectors_)
    piped = make_pipeline(StandardScaler(), lm.SVC()).fit(X[:60], y[:60])
    assert not len(marked(draw(piped, X[60:], y[60:]), "support vector"))


def test_frames_and_sparse_rows(moons):
    X, y = moons
    for frame in (pd.DataFrame(X, columns=["a", "b"]), pl.DataFrame(X, schema=["a", "b"])):
        ax = draw(lm.SVC().fit(frame, y), frame, y)
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")
    rows = sp.csr_array(X)
    model = lm.SVC().fit(rows, y)
    assert same_points(marked(draw(model, rows, y), "support vector"), X[model.support_])


def test_the_current_axes_by_default(moons):
    from matplotlib import pyplot

    X, y = moons
    _, ax = pyplot.subplots()
    assert plot_decision(lm.SVC().fit(X, y), X, y, resolution=20) is ax
    pyplot.close("all")


def test_one_class_everywhere_and_constant_columns():
    X, y = np.zeros((4, 2)), np.array([0, 0, 0, 1])
    ax = draw(lm.SVC().fit(X, y), X, y)
    assert len(marked(ax, "error")) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros((3, 3)), "y": [0, 1, 0]}, "X must have two columns, got shape \\(3, 3\\)"),
        ({"X": np.zeros((0, 2)), "y": []}, "X must have rows"),
        ({"X": np.full((2, 2), np.nan), "y": [0, 1]}, "finite"),
        ({"y": ["dark"]}, "y must have one label a row of X, got shape \\(1,\\) for 80 rows"),
        ({"y": ["grey"] * 80}, "y has the class grey, which the model does not know"),
        ({"resolution": 1}, "resolution must be a whole number from 2 on, got 1"),
        ({"support": "all"}, "support must be positions, 'auto' or None, got 'all'"),
        ({"support": [80]}, "support must be positions of the 80 rows of X, got 80"),
        ({"margin": "wide"}, "margin must be positive, 'auto' or None, got 'wide'"),
        ({"margin": -1.0}, "margin must be positive, 'auto' or None, got -1.0"),
        ({"margin": [1.0, 1.0, 1.0]}, "margin must be one number or one a problem"),
        ({"model": StandardScaler()}, "plot_decision draws classifiers"),
        ({"model": linear_model.Ridge().fit(np.eye(2), [0, 1])}, "it has no classes_"),
        ({"model": lm.SVC().fit(np.eye(3), [0, 1, 1])}, "of two features, this one has 3"),
        (
            {"model": lm.SVC(kernel="precomputed").fit(np.eye(2), [0, 1])},
            "kernel='precomputed' has them for examples only",
        ),
    ],
)
def test_bad_input(moons, change, message):
    X, y = moons
    given = {"model": lm.SVC().fit(X, y), "X": X, "y": y, **change}
    with pytest.raises(ValueError, match=message):
        plot_decision(ax=Figure().subplots(), **given)


def test_unfitted(moons):
    with pytest.raises(NotFittedError):
        draw(lm.SVC(), *moons)
