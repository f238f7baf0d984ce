"""The picture of the decision: lines where the function is zero, every row on its side."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs, make_moons
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from largemargin import SVC, OneClassSVM
from largemargin.report import fit_report
from largemargin.report.charts import svg
from largemargin.report.contours import line_path, region_path
from largemargin.report.fit.picture import directions, runner_up


def points_of(path):
    return np.array(re.findall(r"(-?[\d.]+) (-?[\d.]+)", path), float)


@pytest.mark.parametrize("seed", range(3))
def test_lines_are_where_the_function_is_zero(seed):
    a, b, c = np.random.default_rng(seed).normal(size=3)
    xs, ys = np.linspace(0, 100, 13), np.linspace(0, 80, 9)
    x, y = np.meshgrid(xs, ys)
    path = line_path(a * (x - 50) + b * (y - 40) + c, xs, ys)
    found = points_of(path)
    off = a * (found[:, 0] - 50) + b * (found[:, 1] - 40) + c
    assert np.abs(off).max() <= 0.06 * (abs(a) + abs(b))  # coordinates have one digit
    assert path.count("M") == 1  # one line, joined from cell to cell


def test_a_closed_line_and_a_region_of_the_right_size():
    xs = np.linspace(-2, 2, 61)
    x, y = np.meshgrid(xs, xs)
    inside = 1.0 - x**2 - y**2
    scale = 100 * (xs + 2)
    line = points_of(line_path(inside, scale, scale))
    assert np.hypot(*(line / 100 - 2).T) == pytest.approx(1.0, abs=0.01)
    assert line[0] == pytest.approx(line[-1])
    strips = re.findall(r"M([\d.]+) ([\d.]+)H([\d.]+)V([\d.]+)", region_path(inside, scale, scale))
    left, top, right, bottom = np.array(strips, float).T
    assert ((right - left) * (bottom - top)).sum() == pytest.approx(np.pi * 1e4, rel=0.01)


def test_nothing_to_draw():
    values = np.ones((3, 4))
    assert line_path(values, np.arange(4.0), np.arange(3.0)) == ""
    assert region_path(-values, np.arange(4.0), np.arange(3.0)) == ""


def test_directions_are_principal_components():
    X = np.random.default_rng(0).normal(size=(40, 6)) * [5, 3, 1, 1, 1, 1]
    expected = PCA(2).fit(X)
    for rows in (X, sp.csr_matrix(X)):
        found, share = directions(rows, None)
        assert np.abs(found) == pytest.approx(np.abs(expected.transform(X)))
        assert share == pytest.approx(expected.explained_variance_ratio_.sum())
    f = X @ np.arange(6.0) + 2.0
    found, _ = directions(X, f)
    assert found[:, 0] @ (f - f.mean()) == pytest.approx(0, abs=1e-8)
    rest = X - X.mean(axis=0)
    rest -= np.outer(f - f.mean(), (f - f.mean()) @ rest) / ((f - f.mean()) ** 2).sum()
    assert np.abs(found[:, 0]) == pytest.approx(np.abs(PCA(1).fit_transform(rest)[:, 0]))


def test_there_may_be_no_other_direction():
    assert directions(np.arange(5.0)[:, None], np.arange(5.0)) == (None, 0.0)
    assert directions(np.zeros((5, 3)), None) == (None, 0.0)


def picture_of(model, X, y, **more):
    picture = fit_report(model.fit(X, y), X_train=X, y_train=y, **more).picture
    ET.fromstring(svg("p", picture.says, picture.body))
    return picture, [name for _, name in picture.keys]


def test_two_features():
    X, y = make_moons(120, noise=0.25, random_state=1)
    picture, keys = picture_of(SVC(C=10), X, y, feature_names=["length", "width"])
    assert (picture.x_label, picture.y_label) == ("length", "width")
    assert keys == ["0", "1", "decision line", "margin", "support vector", "classified wrongly"]
    assert len(re.findall('class="region', picture.body)) == 2
    model = SVC(C=10).fit(X, y)
    crosses = re.search('class="cross" d="([^"]*)"', picture.body)[1]
    assert crosses.count("M") == (model.predict(X) != y).sum()
    # the same coordinates where a scaler comes first
    assert picture_of(make_pipeline(StandardScaler(), SVC(C=10)), X, y)[0].x_label == "x0"


def test_two_classes_of_many_features():
    X, y = make_blobs(90, 5, centers=2, cluster_std=4.0, random_state=0)
    picture, keys = picture_of(SVC(kernel="linear"), X, np.array(["no", "yes"])[y])
    assert picture.x_label == "decision value f(x)"
    assert keys[:4] == ["no", "yes", "decision line", "margin"]
    zero = float(re.search(r'class="decision" d="M([\d.]+)', picture.body)[1])
    model = SVC(kernel="linear").fit(X, y)
    for k in range(2):
        drawn = points_of(re.search(f'class="points k{k} .*?d="([^"]*)"', picture.body)[1])
        right = (model.decision_function(X[y == k]) > 0).sum()
        assert abs((drawn[:, 0] > zero).sum() - right) <= 2  # one at each end may be cut off
    assert "Every row is on the side of its answer" in picture.notes[0]


def test_more_classes_and_many():
    X, y = make_blobs(90, 5, centers=4, random_state=0)
    picture, keys = picture_of(SVC(), X, y)
    assert "first two principal components" in picture.notes[0]
    assert keys[:5] == ["0", "1", "2", "3", "decision line"]
    X, y = make_blobs(260, 5, centers=26, cluster_std=3.0, random_state=0)
    picture, keys = picture_of(SVC(), X, y)
    assert "the two that the model confuses most often" in picture.notes[0]
    assert len(keys) >= 3


def test_the_pair_is_the_commonest_confusion_of_the_page():
    X, y = make_blobs(520, 5, centers=26, cluster_std=3.0, random_state=0)
    report = fit_report(SVC().fit(X[::2], y[::2]), X[1::2], y[1::2], X[::2], y[::2])
    counts = np.array(report.confusion.counts)
    both = counts + counts.T
    np.fill_diagonal(both, 0)
    a, b = (int(k) for k in re.search(r"often, (\d+) and (\d+)", report.picture.notes[0]).groups())
    assert both[a, b] == both.max()
    X, y = make_blobs(260, 5, centers=26, cluster_std=0.1, random_state=0)
    assert "the most similar scores" in picture_of(SVC(C=100), X, y)[0].notes[0]


def test_the_runner_up_is_the_best_wrong_class():
    scores = np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0], [1.0, 2.0, 0.0]])
    assert runner_up(scores, np.array([0, 2, -1])).tolist() == [2, 1, 1]


def test_detectors_have_a_page_too():
    X = np.random.default_rng(0).normal(size=(80, 2))
    model = OneClassSVM(nu=0.2).fit(X)
    report = fit_report(model, X_train=X, name="rows")
    outside = int((model.decision_function(X) < 0).sum())
    assert repr(report).startswith(f"FitReport(OneClassSVM on rows: {100 * outside / 80:.2f} %")
    assert f"{outside} of 80 rows are outside" in report.html
    assert [name for _, name in report.picture.keys][:3] == ["outlier", "inside", "decision line"]
    assert report.confusion is None
    with pytest.raises(ValueError, match="OneClassSVM learns without labels: leave out y_test"):
        fit_report(model, X, np.ones(80))
    with pytest.raises(ValueError, match="a report needs rows"):
        fit_report(model)
