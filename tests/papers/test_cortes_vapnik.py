"""The reproduction of Cortes and Vapnik, on small stand-ins for USPS and MNIST."""

import io
import json
import os
import warnings
from dataclasses import replace
from math import comb

import numpy as np
import pytest
from rich.console import Console
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC as PeerSVC

from largemargin import SVC, data
from largemargin.papers import PAPERS, cortes_vapnik, rendering
from largemargin.papers.cortes_vapnik import PARTS, Plan, published, reproduce, run_experiment
from largemargin.papers.cortes_vapnik.experiments import (
    CLASSIFIERS,
    SETS,
    BenchmarkExperiment,
    MachineExperiment,
    PlaneExperiment,
    SearchForC,
    draw_points,
    smooth,
)
from largemargin.papers.cortes_vapnik.slack import slack_mnist, slack_usps
from largemargin.papers.cortes_vapnik.tables import bound_figure, bounds, table3
from largemargin.papers.experiments import Images, interruptions_raised

PLAN = replace(Plan.quick(), degrees=(1, 3))
SEARCH = SearchForC((0.1, 10.0), folds=3)


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def report(small_usps, small_mnist, work):
    return reproduce(PLAN, small_usps, small_mnist, work)


@pytest.fixture
def whole(small_usps, small_mnist, work, report, monkeypatch):
    """The report as if the small data were as large as the paper's."""
    monkeypatch.setattr(cortes_vapnik, "is_comparable", lambda data, sizes: True)
    return reproduce(PLAN, small_usps, small_mnist, work)


def table(report, name):
    return next(table for table in report.tables if table.id == name)


def row(table, group, name):
    return next(row for row in table.groups[group].rows if row.name == name)


@pytest.mark.parametrize("degree", [1, 4])
def test_machine_against_a_peer(small_usps, degree):
    found, seconds = MachineExperiment(Images(small_usps), degree, 1 / 64, SEARCH).run()
    X, y, X_test, y_test = small_usps.X, small_usps.y, small_usps.X_test, small_usps.y_test

    def peer(C, X, y, label):
        machine = PeerSVC(C=C, kernel="poly", degree=degree, gamma=1 / 64, coef0=1.0, tol=1e-5)
        return machine.fit(X, np.where(y == label, 1, -1))

    wrong = []
    for C in SEARCH.Cs:
        fraction = []
        for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
            scores = [peer(C, X[train], y[train], k).decision_function(X[test]) for k in range(10)]
            fraction.append(np.mean(np.argmax(scores, axis=0) != y[test]))
        wrong.append(100 * np.mean(fraction))
    assert found["search"]["errors"] == pytest.approx(wrong, abs=0.7)  # two images
    assert found["C"] == SEARCH.Cs[int(np.argmin(found["search"]["errors"]))]
    machines = [peer(found["C"], X, y, label) for label in range(10)]
    assert found["n_support"] == pytest.approx([m.n_support_.sum() for m in machines], abs=2)
    scores = np.stack([m.decision_function(X_test) for m in machines], axis=1)
    signs = np.where(y_test[:, None] == np.arange(10), 1, -1)
    assert found["test"]["wrong"] == pytest.approx((signs * scores <= 0).sum(axis=0), abs=1)
    assert found["test"]["combined"] == pytest.approx(
        np.sum(scores.argmax(axis=1) != y_test), abs=1
    )
    assert found["train"]["n"] == 300
    assert set(seconds) == {"search", "fit", "predict", "evaluate"}


def test_the_papers_slack_is_the_usual_machine_with_a_C_of_its_own(small_usps):
    """With (sum of slacks)^2 the box is 2 C times the sum of slacks, one for each class."""
    images, C = Images(small_usps), 0.02
    found, _ = MachineExperiment(
        images, 2, 1 / 64, SearchForC((C,), folds=3), slack="squared-sum"
    ).run()
    X, y = small_usps.X, np.where(small_usps.y == 3, 1, -1)
    model = SVC(C=C, kernel="poly", degree=2, gamma=1 / 64, coef0=1.0, slack="squared-sum")
    model.fit(X, y)
    assert np.count_nonzero(model.dual_coef_) == found["n_support"][3]
    slacks = np.maximum(0, 1 - y * model.decision_function(X)).sum()
    peer = PeerSVC(C=2 * C * slacks, kernel="poly", degree=2, gamma=1 / 64, coef0=1.0, tol=1e-5)
    assert slacks > 0.1
    assert model.decision_function(X) == pytest.approx(
        peer.fit(X, y).decision_function(X), abs=0.01
    )


def test_tables_with_the_papers_slack(report, work):
    usps = {d: json.loads(next(work.glob(f"usps_degree-{d}_smoothed*")).read_text())["results"]
            for d in (1, 3)}  # fmt: skip
    found = slack_usps(usps, usps, comparable=True)
    assert [g.title[:3] for g in found.groups] == ["squ", "sum"]
    assert {c.state for c in row(found, 0, "Test error").cells} == {"other"}
    assert len(slack_usps(usps, {}, comparable=False).groups) == 1
    mnist = json.loads(next(work.glob("mnist*.json")).read_text())["results"]
    found = slack_mnist(mnist, mnist, comparable=True)
    assert row(found, 0, "Train errors").cells[9].sentence.endswith("against 1 of 300")
    assert row(found, 1, "SupVec").cells[10].ours == mnist["n_distinct"]
    assert len(slack_mnist(mnist, None, comparable=False).groups) == 1


def test_search_prefers_the_smaller_of_equal_values():
    search = SearchForC((0.1, 1.0, 10.0))
    assert search.best([3.0, 2.0, 2.0]) == 1.0


def test_smoothing_keeps_the_background_and_spreads_ink():
    X = np.full((2, 256), -1.0)
    X[1, 7 * 16 + 7] = 1.0
    blank, dot = smooth(X).reshape(2, 16, 16)
    assert blank == pytest.approx(-1)
    assert np.sum(dot + 1) == pytest.approx(2)
    neighbour = np.exp(-1 / (2 * 0.75**2))
    assert (dot[7, 8] + 1) / (dot[7, 7] + 1) == pytest.approx(neighbour)
    assert dot == pytest.approx(dot.T)


@pytest.mark.parametrize("name", SETS)
def test_plane_against_its_definition(name):
    found, _ = PlaneExperiment(name).run()
    points, labels = draw_points(name, 1995)
    assert found["points"] == points.tolist()
    x, y = points.T
    conic = np.array(found["conic"])
    values = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=1) @ conic
    margins = labels * values
    support = np.zeros(len(x), bool)
    support[found["support"]] = True
    assert np.flatnonzero(margins <= 0).tolist() == found["errors"]
    assert margins[~support].min() > 1 - 1e-2
    assert margins[support].max() < 1 + 1e-2
    assert bool(found["errors"]) == (name == "overlap")
    assert set(found["errors"]) <= set(found["support"])


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_benchmark_classifiers(small_mnist, name):
    images = Images(Plan().mnist_images(small_mnist))
    found, seconds = BenchmarkExperiment(images, name).run()
    assert found["n_test"] == 150
    assert 0 < found["wrong"] < 75
    assert set(seconds) == {"fit", "predict"}


def test_tables_and_figures(report):
    assert [t.id for t in report.tables] == [
        "table2", "table3", "benchmark-table", "bound-usps", "bound-mnist",
    ]  # fmt: skip
    assert [f.id for f in report.figures] == ["planes", "benchmark", "bound"]
    for found in report.tables:
        for group in found.groups:
            assert all(len(r.cells) == len(found.columns) for r in group.rows)
    assert table(report, "table2").columns == ("1", "3")
    dimension = row(table(report, "table2"), 2, "Dimension")
    assert [cell.ours for cell in dimension.cells] == [comb(65, 1), comb(67, 3)]
    assert table(report, "table3").columns == (*"0123456789", "all")
    assert table(report, "benchmark-table").columns == (*CLASSIFIERS, "SVC")


def test_cells_come_from_the_records(report, work):
    (path,) = work.glob("usps_degree-3_smoothed*.json")
    results = json.loads(path.read_text())["results"]
    error = row(table(report, "table2"), 0, "Test error").cells[1]
    assert error.ours == pytest.approx(100 * results["test"]["combined"] / 150)
    support = row(table(report, "table2"), 0, "SupVec, mean").cells[1]
    assert support.ours == np.mean(results["n_support"])
    largest = row(table(report, "bound-usps"), 0, "Bound, largest").cells[1]
    assert largest.ours == pytest.approx(max(results["n_support"]) / 3)
    (path,) = work.glob("mnist*.json")
    record = json.loads(path.read_text())
    machine = table(report, "benchmark-table")
    assert row(machine, 0, "Fit, seconds").cells[4].ours == record["seconds"]["fit"]
    combined = record["results"]["test"]["combined"]
    assert row(machine, 0, "Test error").cells[4].ours == pytest.approx(100 * combined / 150)
    assert row(table(report, "table3"), 0, "Test errors").cells[10].ours == combined


@pytest.mark.full
def test_the_page_says_how_C_was_chosen_and_that_it_is_quick(report, tmp_path):
    assert report.reduced[0] == "a quick run"
    assert any("cross-validation on the training set" in d for d in report.differences)
    rendering.write(report, tmp_path)
    for name in ("cortes-vapnik-reduced.html", "cortes-vapnik-reduced.md"):
        text = (tmp_path / name).read_text()
        assert "chosen by cross-validation on the training set" in text
        assert "a quick run" in text
    pictures = {path.name for path in tmp_path.glob("*.svg")}
    stem = "cortes-vapnik-reduced"
    assert pictures == {f"{stem}-{id}.svg" for id in ("planes", "benchmark", "bound")}


def test_little_data_is_not_compared_with_published_numbers(report):
    assert not any(cell.published for t in report.tables for cell in t.cells)
    assert sum("without the published numbers" in r for r in report.reduced) == 2


def test_as_much_data_is_compared(whole):
    errors = row(table(whole, "table2"), 0, "Test error")
    assert [cell.published.value for cell in errors.cells] == [12.0, 4.4]
    assert {cell.published.label for cell in errors.cells} == {"print"}
    assert row(table(whole, "table2"), 1, "Test error").labels == []  # not smoothed, not printed
    nist = table(whole, "table3")
    assert [c.published.value for c in row(nist, 0, "Train errors").cells[:-1]] == [
        7, 16, 8, 11, 2, 4, 8, 16, 4, 1,
    ]  # fmt: skip
    assert row(nist, 0, "Test error").cells[10].published.value == 1.1
    assert row(nist, 1, "Test error").cells[10].published == published.OTHER_SOLVER_COMBINED
    assert table(whole, "benchmark-table").columns[-2:] == ("LeNet1", "LeNet4")
    assert set(whole.labels) == {"print", "recalled", "derived", "run"}


@pytest.mark.parametrize(("C", "compared"), [(1e-7, True), (1e-6, False)])
def test_another_solver_is_compared_at_the_same_C_only(report, work, C, compared):
    results = json.loads(next(work.glob("mnist*.json")).read_text())["results"]
    found = table3({**results, "C": C}, comparable=True)
    support = row(found, 1, "SupVec")
    assert support.has_ours is compared
    assert row(found, 1, "Test error").has_ours is compared
    assert support.cells[9].published.value == 3589
    assert support.labels == ["run"]


def test_wide_tables_fit_into_the_terminal(whole):
    out = io.StringIO()
    rendering.show(whole, Console(file=out, width=100))
    assert "…" not in out.getvalue()
    assert max(map(len, out.getvalue().splitlines())) <= 100


def test_bound_figure_has_a_point_a_machine(report, work):
    figure = report.figures[2]
    assert [len(panel.curves[1].x) for panel in figure.panels] == [20, 20, 10]
    results = json.loads(next(work.glob("mnist*.json")).read_text())["results"]
    assert figure.panels[2].curves[1].y == tuple(bounds(results))
    perfect = {**results, "test": {**results["test"], "wrong": [0] * 10}}
    machines = {True: {1: perfect}, False: {1: perfect}}
    assert bound_figure(machines, perfect).panels[0].summary.endswith("in 0 of 10 machines")


def test_resumes(small_usps, small_mnist, work, report, monkeypatch):
    (work / "plane-ellipse_seed-1995.json").unlink()
    ran = []

    def watched(experiment):
        ran.append(experiment.name)
        return run_experiment(experiment)

    monkeypatch.setattr(cortes_vapnik, "run_experiment", watched)
    again = reproduce(PLAN, small_usps, small_mnist, work)
    assert ran == ["points in the plane, ellipse"]
    assert again.tables == report.tables
    assert again.figures == report.figures


def test_other_settings_are_other_experiments(small_usps):
    images = Images(small_usps)
    one = MachineExperiment(images, 2, 1 / 64, SEARCH)
    for other in (
        replace(one, smoothed=True),
        replace(one, degree=3),
        replace(one, search=replace(SEARCH, rows=100)),
        replace(one, images=Images(replace(small_usps, y=small_usps.y[::-1].copy()))),
    ):
        assert other.as_json() != one.as_json()


def test_an_interrupted_fit_is_not_an_experiment():
    with pytest.raises(KeyboardInterrupt), interruptions_raised():
        warnings.warn("SVC stopped because it was interrupted", ConvergenceWarning, stacklevel=1)
    with pytest.raises(KeyboardInterrupt), interruptions_raised():
        warnings.warn("Training interrupted by user.", stacklevel=1)
    with pytest.warns(UserWarning, match="something else"), interruptions_raised():
        warnings.warn("something else", stacklevel=1)


def test_a_part_needs_its_own_data_only(small_usps, small_mnist, tmp_path):
    asked = []

    def load(name):
        asked.append(name)
        return {"usps": small_usps, "mnist": small_mnist}[name]

    found = cortes_vapnik.run(Plan.quick("planes"), load, tmp_path, progress=False)
    assert asked == []
    assert found.tables == ()
    cortes_vapnik.run(replace(PLAN, part="table2"), load, tmp_path, progress=False)
    assert asked == ["usps"]


def test_the_full_plan(small_usps, small_mnist):
    plan = Plan()
    experiments = plan.experiments(small_usps, plan.mnist_images(small_mnist))
    machines = [e for e in experiments if isinstance(e, MachineExperiment)]
    assert [(e.degree, e.smoothed) for e in machines] == [
        *((d, True) for d in range(1, 8)), *((d, False) for d in range(1, 8)),
        *((d, True) for d in range(1, 8)), (4, False), (4, False),
    ]  # fmt: skip
    own = [e for e in machines if e.slack == "squared-sum"]
    assert [(e.degree, e.smoothed) for e in own] == [*((d, True) for d in range(1, 8)), (4, False)]
    assert len({e.file_name for e in machines}) == len(machines)
    assert len(experiments) == 3 + 15 + 8 + 4
    assert {e.search.rows for e in machines} == {None}
    assert plan.command == "largemargin reproduce cortes-vapnik"
    assert PLAN.command == "largemargin reproduce cortes-vapnik --quick --degrees 1,3"
    assert PAPERS["cortes-vapnik"] == PARTS


def test_published_numbers_are_whole():
    rows = (
        published.NIST_SUPPORT, published.NIST_TRAIN_ERRORS, published.NIST_TEST_ERRORS,
        published.OTHER_SOLVER_SUPPORT,
    )  # fmt: skip
    assert [len(r) for r in rows] == [10] * 4
    assert published.nist_bounds()[0].value == 2.3
    assert published.usps_bound(1).value == 2.74
    assert published.nist_test_errors()[9].value == 0.63


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"part": "table1"}, "the parts are planes, table2, table3, benchmark, bound"),
        ({"degrees": (0, 1)}, "degrees must be some of 1 to 7, got 0, 1"),
        ({"degrees": ()}, "got none"),
    ],
)
def test_bad_plans(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        Plan(**wrong)


@pytest.mark.full
@pytest.mark.data
@pytest.mark.skipif(
    "LARGEMARGIN_DATA" not in os.environ,
    reason="needs USPS: set LARGEMARGIN_DATA to the folder that holds the data sets",
)
def test_usps_with_smoothing(tmp_path):
    plan = replace(Plan.quick("table2"), degrees=(1, 4))
    found = cortes_vapnik.run(plan, data.load, tmp_path, progress=False)
    smoothed, raw = (row(table(found, "table2"), group, "Test error") for group in (0, 1))
    assert smoothed.cells[0].ours < 9.5
    assert smoothed.cells[1].ours < 5.2
    assert smoothed.cells[1].ours < raw.cells[1].ours
    assert smoothed.cells[1].published.value == 4.3
    dimension = row(table(found, "table2"), 2, "Dimension")
    assert [cell.ours for cell in dimension.cells] == [257, 186_043_585]
