"""The numbers of the page of a fit, beside their definitions and scikit-learn's."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import metrics
from sklearn.datasets import load_digits, load_iris
from sklearn.feature_selection import f_classif
from sklearn.model_selection import GridSearchCV

from largemargin import MIRA, SVC, AdaBoost
from largemargin.certificates.certificate import Statement
from largemargin.data import Table
from largemargin.report import fit_report
from largemargin.report.charts import Curve, LineChart, draw
from largemargin.report.fit.confusion import Confusion
from largemargin.report.fit.curves import margin_histogram
from largemargin.report.fit.error_axis import error_axis, place
from largemargin.report.fit.importance import eta_squared, ranking, stump_importance, tau
from largemargin.report.fit.outcome import Outcome, Rows
from largemargin.report.fit.page import by_problem, stated
from largemargin.report.fit.sizes import _mixed
from largemargin.report.fit.thresholds import Counts, thresholds_of
from largemargin.report.fit.use import use_of
from largemargin.report.intervals import ErrorRate
from largemargin.report.measures import measure


@pytest.mark.parametrize("seed", range(4))
def test_thresholds_beside_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    truth = np.concatenate([[0, 1], rng.integers(0, 2, 60)])
    scores = (rng.normal(size=62) + truth).round(1)  # with ties
    counts = Counts.of(scores, truth == 1)
    false, true, t = metrics.roc_curve(truth, scores, drop_intermediate=False)
    assert counts.false_alarms == pytest.approx(false)
    assert counts.recall == pytest.approx(true)
    assert counts.t[1:] == pytest.approx(t[1:])
    at = counts.own
    answers = (scores > 0).astype(int)
    assert counts.recall[at] == pytest.approx(metrics.recall_score(truth, answers))
    assert counts.precision[at] == pytest.approx(metrics.precision_score(truth, answers))
    assert counts.errors[at] == pytest.approx((answers != truth).mean())
    for k in range(len(counts.t)):  # each threshold gives what is told of it
        taken = scores > counts.between(k)
        assert taken.sum() == counts.hits[k] + counts.alarms[k]


def test_the_table_of_thresholds():
    truth = np.array([0, 0, 0, 1, 1, 1])
    scores = np.array([-2.0, -1.0, 0.5, -0.5, 1.0, 2.0])
    outcome = Outcome(
        Rows("r", np.zeros((6, 1)), truth), (scores > 0).astype(int), scores, 0, scores
    )
    found = thresholds_of(outcome, ["no", "yes"], metrics.roc_auc_score(truth, scores))
    own = next(choice for choice in found.choices if choice.own)
    assert (own.threshold, own.recall, own.precision, own.error) == ("0", 2 / 3, 2 / 3, 2 / 6)
    assert "0.889" in found.charts[0].says
    assert thresholds_of(outcome, ["no", "yes"], None) is None
    none, every = np.array([0, 0, 0, 1]), np.array([2.0, 1.0, 3.0, -4.0])
    counts = Counts.of(every, none == 1)
    assert (counts.written(0), counts.written(4)) == ("3 or more", "below -4")


def test_decision_values_that_differ_by_rounding_have_no_thresholds():
    truth, scores = np.array([0, 0, 1, 1]), -1 + 1e-14 * np.arange(4)
    rows = Rows("r", np.zeros((4, 1)), truth)
    auc = measure(truth, np.zeros(4, int), np.array(["no", "yes"]), scores).auc
    assert auc == 0.5
    outcome = Outcome(rows, np.zeros(4, int), scores, 0, scores)
    assert thresholds_of(outcome, ["no", "yes"], auc) is None


def test_the_curve_of_a_stream_begins_when_gamma_is_fixed():
    """Until then all rows are answered once more after each, and the errors may fall."""
    rng = np.random.default_rng(0)
    y = np.arange(230) % 2
    X = rng.normal(size=(230, 2)) + np.outer(y, [1.0, -0.5])
    report = fit_report(MIRA(budget=50, random_state=0).fit(X, y), X_train=X, y_train=y)
    (chart,) = report.chart("progressive")
    so_far, lately = chart.curves
    assert len(so_far.x) <= 230 // 25
    assert min(lately.y) >= 0
    assert max(lately.y) <= 100


def test_a_search_by_the_auc_says_so():
    rows = [{"parameters": {"C": C}, "mean": mean, "spread": 0.01, "seconds": 0.1}
            for C, mean in ((1.0, 0.2), (10.0, 0.1))]  # fmt: skip
    cv = {"table": rows, "chosen": {"C": 10.0}, "folds": 5, "scoring": "auc"}
    X, y = load_iris(return_X_y=True)
    page = fit_report(SVC().fit(X, y), X_train=X, y_train=y, info={"cv": cv}).html
    assert "mean 1 - AUC" in page
    assert "mean error" not in page


def test_a_model_that_takes_no_row_for_a_class_has_no_precision():
    truth, scores = np.array([0, 0, 1]), np.array([-3.0, -2.0, -1.0])
    outcome = Outcome(Rows("r", np.zeros((3, 1)), truth), np.zeros(3, int), scores, 0, scores)
    found = thresholds_of(outcome, ["no", "yes"], 1.0)
    (own,) = (choice for choice in found.choices if choice.own)
    assert own.precision is None
    roc, precision = found.charts
    assert roc.curves[1].y == (0.0,)
    assert precision.curves[1].y == ()
    assert "takes no row for yes" in precision.says


def test_eta_squared_is_that_of_the_analysis_of_variance():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, 50)
    X = rng.normal(size=(50, 4)) + groups[:, None] * [0, 1, 2, 0]
    X[:, 3] = 7.0
    F, _ = f_classif(X[:, :3], groups)
    expected = F * 2 / (F * 2 + 47)
    for rows in (X, sp.csr_matrix(X)):
        found = eta_squared(rows, groups)
        assert found[:3] == pytest.approx(expected)
        assert found[3] == 0


def test_tau_by_counting():
    rng = np.random.default_rng(1)
    kinds, groups = rng.integers(0, 4, 80), rng.integers(0, 3, 80)
    wrong = np.mean(groups[:, None] != groups[None])
    left = 0.0
    for k in range(4):
        mine = groups[kinds == k]
        left += len(mine) / 80 * np.mean(mine[:, None] != mine[None])
    assert tau(kinds, groups) == pytest.approx((wrong - left) / wrong)


def test_the_most_telling_columns_are_shown_first():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 12))
    X[:, 9] += 3 * y
    model = SVC().fit(X, y)
    report = fit_report(model, X, y)
    assert report.galleries[-1].columns[0] == "x9"
    told = np.where(y == 1, "a", "b").astype(object)
    table = Table({"noise": X[:, 0], "name": np.array([f"n{i}" for i in range(200)], object),
                   "kind": told})  # fmt: skip
    outcome = Outcome(Rows("t", table, y), y, np.ones(200), 0.0)
    assert ranking(outcome)[0] == 2


def test_weights_and_importance_as_bars():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X, y = X[y > 0], y[y > 0] - 1
    model = AdaBoost(n_rounds=12).fit(X, y)
    shares = stump_importance(model)
    by_hand = np.zeros(4)
    for stump, alpha in zip(model.estimators_, model.alphas_, strict=True):
        by_hand[stump.feature] += abs(alpha)
    assert shares == pytest.approx(by_hand / by_hand.sum())
    bars = fit_report(model, X, y).bars
    ((_, rows),) = bars.groups
    assert rows[0].name == X.columns[shares.argmax()]
    assert rows[0].length == 1.0
    linear = SVC(kernel="linear").fit(X, y)
    ((heading, rows),) = fit_report(linear, X, y).bars.groups
    assert heading == "1 rather than 0"
    assert rows[0].name == X.columns[np.abs(linear.coef_[0]).argmax()]
    assert fit_report(SVC().fit(X, y), X, y).bars is None


def test_the_axis_has_every_number():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.repeat([0, 1], 30)
    model = SVC().fit(X + y[:, None], y)
    found = model.certificate(X + y[:, None], y)
    axis = error_axis(ErrorRate(2, 40), ErrorRate(5, 60), 0.5, found)
    names = [mark.name for mark in axis.marks]
    assert names[:3] == ["training error", "test error", "always the commonest class"]
    for s in found:
        if not s.applies:
            assert s in axis.silent
        elif s.vacuous:
            assert s.name in axis.vacuous
        elif s.bounds_error or s.name == "leave-one-out error":
            mark = axis.marks[names.index(s.name)]
            assert mark.value == s.value
            if s.bounds_error:
                assert float(mark.shown.split()[2]) >= 100 * s.value
    assert axis.marks[1].low < 0.05 < axis.marks[1].high
    assert float(axis.marks[1].at) == pytest.approx(place(0.05), abs=0.01)


def test_many_classes_are_drawn_and_told():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 3, (26, 26)) + 50 * np.eye(26, dtype=int)
    labels = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    matrix = Confusion(labels, tuple(map(tuple, counts.tolist())))
    root = ET.fromstring(str(matrix.drawing()))
    titles = [title.text for title in root.iter("title")]
    assert len(titles) == (counts > 0).sum()
    assert matrix.told(25, 25) in titles
    assert all(label in {text.text for text in root.iter("text")} for label in labels)
    assert not matrix.is_table
    few = Confusion(("<a>", "b"), ((3, 1), (0, 4)))
    cells = few.rows()[0][1]
    assert "true class &lt;a&gt;, predicted class b: 1 of 4 rows (25.0 %)" in str(cells[1])
    assert few.is_table


def test_the_commonest_confusions_have_pictures():
    X, y = load_digits(return_X_y=True)
    report = fit_report(MIRA(budget=10).fit(X[:100] / 16, y[:100]), X[100:300] / 16, y[100:300])
    wrong = np.array(report.confusion.counts) - np.diag(np.diag(report.confusion.counts))
    first = report.confusion.commonest[0]
    assert first.count == wrong.max()
    assert len(first.pictures) == min(4, first.count)
    assert "data:image/png" in report.html


def test_an_answer_with_the_margin_zero_is_coloured_by_what_it_is():
    truth = np.array([0, 0, 1, 1])
    scores = np.zeros(4)
    outcome = Outcome(Rows("r", np.zeros((4, 1)), truth), np.zeros(4, int), scores, 0.0, scores)
    chart = margin_histogram(None, outcome)
    assert sum(chart.wrong) == sum(chart.bars) / 2 == 0.5
    drawn = draw(chart)
    assert 'class="bar wrong"' in drawn
    assert 'class="bar right"' in drawn


def test_a_chart_of_zeros_has_a_plain_axis():
    chart = LineChart("c", "t", "x", "y", (Curve("none", (1.0, 2.0), (0.0, 0.0)),), "says")
    numbers = [text.text for text in ET.fromstring(draw(chart)).iter("text")]
    assert not any("e-" in number for number in numbers)
    assert "1" in numbers


def test_a_bound_of_a_count_is_a_count():
    one = Statement("mistake bound", 12948.7, "At most 12,948 ...", "", "always", counts=True)
    assert stated(one) == one.written == "12,948"
    several = replace(one, value=21.4, by_problem=(10.7, 10.7))
    assert (stated(several), by_problem(several)) == ("20", "10, 10")
    assert replace(one, value=np.inf).written == "inf"
    assert replace(one, value=None).written == "-"


def test_the_search_of_scikit_learn_has_a_surface(three_digits):
    (X, y), test = three_digits
    grid = {"C": [1.0, 10.0], "gamma": [0.01, 0.1]}
    search = GridSearchCV(SVC(), grid, cv=2).fit(X, y)
    report = fit_report(search, *test)
    assert report.chosen == search.best_params_
    cells = [cell for _, row in report.surface.rows for cell in row]
    expected = {1 - score for score in search.cv_results_["mean_test_score"]}
    assert {cell[0] for cell in cells} == expected
    assert sum(cell[2] for cell in cells) == 1
    assert "Surface of the search" in report.html


def test_errors_by_size_and_along_a_stream(three_digits):
    training, test = three_digits
    report = fit_report(MIRA(gamma=0.05).fit(*training), *test, *training)
    (sizes,) = report.chart("sizes")
    assert sizes.curves[0].x == (8.0, 15.0, 30.0, 60.0, 120.0)
    assert sizes.curves[0].y[-1] == pytest.approx(100 * report.error.share)
    order = _mixed(training[1])
    part = np.sort(order[:30])
    again = MIRA(gamma=0.05).fit(training[0][part], training[1][part])
    assert sizes.curves[0].y[2] == pytest.approx(100 * (again.predict(test[0]) != test[1]).mean())
    (progress,) = report.chart("progressive")
    model = MIRA(gamma=0.05)
    for k in range(120):
        model.partial_fit(training[0][k : k + 1], training[1][k : k + 1], classes=[0, 1, 2])
    assert progress.curves[0].y[-1] == pytest.approx(100 * model.online_errors_ / 120)
    assert progress.curves[0].x[-1] == 120
    noted = [[50, 20], [100, 30], [150, 33]]
    again = fit_report(MIRA(gamma=0.05).fit(*training), *test, info={"progress": noted})
    assert again.chart("progressive")[0].curves[1].y == pytest.approx((40.0, 20.0, 6.0))
    muddled = fit_report(MIRA(gamma=0.05).fit(*training), *test, info={"progress": noted[::-1]})
    assert not muddled.chart("progressive")


def test_how_to_use_it():
    use = use_of("folder/my model.safetensors")
    assert "load('my model.safetensors')" in use.python
    assert use.shell.startswith("largemargin predict 'my model.safetensors' new.csv")
    assert use.python.count("\n") == use.shell.count("\n") == 2
    assert "largemargin.save(model" in use_of("").note


def test_a_page_is_small_and_has_no_script(three_digits):
    training, test = three_digits
    page = fit_report(SVC().fit(*training), *test, *training).html
    assert len(page) < 200_000
    assert "<script" not in page
    assert not re.search(r'(src|href)="(?!#|data:)', page)
