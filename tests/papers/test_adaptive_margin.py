"""The reproduction of the adaptive-margin chapter, on small stand-ins for its data sets."""

import io
import json
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from rich.console import Console
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC as Peer

from largemargin import LeaveOneOutSVC, VotedPerceptron
from largemargin.data.dataset import Dataset
from largemargin.papers import PAPERS, adaptive_margin, rendering
from largemargin.papers.adaptive_margin import PARTS, Plan, choosing, published, reproduce
from largemargin.papers.adaptive_margin.choosing import (
    ChoiceExperiment,
    GridSearch,
    TestExperiment,
    median_of,
)
from largemargin.papers.adaptive_margin.experiments import (
    GRID,
    OUTLIER,
    PICTURES,
    HyperplaneExperiment,
    PlaneExperiment,
    draw_points,
    make_model,
    share_below,
)
from largemargin.papers.adaptive_margin.machines import (
    LP_C,
    MACHINES,
    NOTHING,
    WIDTH,
    Axis,
    Setting,
    Trial,
    folds,
    load_splits,
    standardise,
    train_boosted,
)
from largemargin.papers.adaptive_margin.tables import figure_of, outlier_is_given_up

PLAN = Plan.quick()


def load(name, split):
    """Two overlapping classes in the plane; another draw for each name and split."""
    random = np.random.RandomState(100 * list(published.SETS).index(name) + split)
    y = np.repeat([-1, 1], 35)
    X = random.normal(size=(70, 2)) * [1.0, 5.0] + np.outer(y, [1.2, 0.0]) + 3.0
    order = random.permutation(70)
    X, y = X[order], y[order]
    return Dataset(X[:40], y[:40], X[40:], y[40:], name=name)


@pytest.fixture(scope="module", autouse=True)
def few_rounds():
    patch = pytest.MonkeyPatch()
    boosted = {"train": partial(train_boosted, rounds=3), "try_out": None}
    for name in ("ab", "ab-r"):
        patch.setitem(MACHINES, name, replace(MACHINES[name], **boosted))
    patch.setattr("largemargin.papers.adaptive_margin.experiments.ROUNDS", 6)
    yield
    patch.undo()


@pytest.fixture(scope="module")
def splits():
    return PLAN.load(load)


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def report(splits, work, few_rounds):
    return reproduce(PLAN, splits, work)


def test_inputs_are_standardised_on_the_training_part():
    data = load("heart", 3)
    data.X[:, 1] = 7.0
    found = standardise(data)
    assert found.X[:, 0].mean() == pytest.approx(0)
    assert found.X[:, 0].std() == pytest.approx(1)
    assert np.all(found.X[:, 1] == 0)
    mean, deviation = data.X[:, 0].mean(), data.X[:, 0].std()
    assert found.X_test[:, 0] == pytest.approx((data.X_test[:, 0] - mean) / deviation)


def test_an_axis():
    axis = Axis("C", (1.0, 100.0), refined=True)
    assert axis.around(100.0) == (10.0, 100.0, 1000.0)
    assert Axis("n", (4, 8)).around(4) == (4,)
    assert WIDTH.on(9) == (12.0, 6.0, 3.0, 1.5)
    assert LP_C.on(9) == LP_C.values
    small = MACHINES["svm"].small()
    assert (small.outer.values, small.inner.values) == ((2.0, 1.0, 0.5), (1.0, 10.0, 100.0))


def test_choice_against_all_settings_one_by_one(splits):
    one = splits["heart"].some(1, 1)
    results, _ = ChoiceExperiment(one, MACHINES["svm"], 5, refined=False).run()
    (data,) = one.parts
    wrong = {}
    for width in WIDTH.on(2):
        for C in MACHINES["svm"].inner.values:
            model = Peer(C=C, gamma=1 / (2 * width**2), tol=1e-6)
            wrong[width, C] = 0
            splitter = StratifiedKFold(5, shuffle=True, random_state=0)
            for train, test in splitter.split(data.X, data.y):
                model.fit(data.X[train], data.y[train])
                wrong[width, C] += np.sum(model.predict(data.X[test]) != data.y[test])
    assert abs(results["wrong"] - min(wrong.values())) <= 1  # an output may be zero to rounding
    assert abs(wrong[tuple(results["best"])] - results["wrong"]) <= 1
    assert (results["tried"], results["n"]) == (20, 40)


def machine_with(errors, outer=WIDTH, inner=LP_C):
    """A machine that has, with a width and a C, so many errors."""

    def train(width, Cs, data):
        return [Trial(errors(width / math.sqrt(2), C)) for C in Cs]

    return replace(MACHINES["lp"], outer=outer, inner=inner, train=train)


def test_of_equal_settings_the_smoothest_wins(splits):
    part = splits["heart"].parts[0]
    search = GridSearch(machine_with(lambda width, C: 3), [part])
    assert search.best_of(WIDTH.on(2), LP_C.values) == Setting(4 * math.sqrt(2), 1.0)
    search = GridSearch(machine_with(lambda width, C: int(width > 1) + int(C < 10)), [part] * 2)
    assert search.best_of(WIDTH.on(2), LP_C.values) == Setting(math.sqrt(2), 10.0)


def test_refinement_looks_between_and_beyond_the_candidates(splits):
    def errors(width, C):
        return round(100 * (abs(math.log2(width) + 1.5) + abs(math.log10(C) - 0.5)))

    machine = machine_with(errors)
    results, _ = ChoiceExperiment(splits["heart"].some(0, 1), machine, 2).run()
    assert results["best"] == pytest.approx([0.5, 10**0.5])  # 2^-1.5 times the root of 2
    assert results["wrong"] == 0


def test_the_median_of_each_number():
    settings = [Setting(1.0, 9.0), Setting(3.0, 5.0), Setting(2.0, 7.0)]
    assert median_of(settings) == Setting(2.0, 7.0)


def test_folds_are_a_partition(splits):
    data = splits["heart"].parts[0]
    found = list(folds(data, 5))
    assert [len(part.X_test) for part in found] == [8] * 5
    together = np.vstack([part.X_test for part in found])
    assert sorted(map(tuple, together)) == sorted(map(tuple, data.X))


def test_test_errors_against_the_estimators(splits):
    two = splits["thyroid"].some(0, 2)
    results, _ = TestExperiment(two, MACHINES["loo"], Setting(1.1)).run()
    for part, error, size in zip(two.parts, results["errors"], results["sizes"], strict=True):
        model = LeaveOneOutSVC(gamma=1 / (2 * 1.1**2)).fit(part.X, part.y)
        assert error == pytest.approx(100 * np.mean(model.predict(part.X_test) != part.y_test))
        assert size == model.n_support_


def test_epochs_of_the_perceptron_are_read_from_one_run(splits):
    part = splits["banana"].parts[0]
    trials, _ = MACHINES["vp"].trials(0.8, (1, 4), part)
    for trial, epochs in zip(trials, (1, 4), strict=True):
        model = VotedPerceptron(
            kernel="rbf", gamma=1 / (2 * 0.8**2), epochs=epochs, shuffle=True, random_state=0
        ).fit(part.X, part.y)
        assert trial.wrong == np.sum(model.predict(part.X_test) != part.y_test)


@pytest.mark.parametrize("name", MACHINES)
def test_a_machine_tries_every_inner_value(splits, name):
    machine = MACHINES[name]
    trials, _ = machine.trials(
        machine.outer.on(2)[-1], machine.inner.values, splits["heart"].parts[0]
    )
    assert len(trials) == len(machine.inner)
    assert all(0 <= trial.wrong <= 15 for trial in trials[1:])


def test_the_leave_one_out_machine_against_loops(splits):
    data = splits["thyroid"].parts[0]
    found = choosing.describe_leave_one_out(0.6, data)
    model = LeaveOneOutSVC(gamma=1 / (2 * 0.6**2)).fit(data.X, data.y)
    coefficients = dict(zip(model.support_.tolist(), model.dual_coef_[0], strict=True))
    slacks, wrong = 0.0, 0
    for i, (x, label) in enumerate(zip(data.X, data.y, strict=True)):
        output = label * sum(
            a * math.exp(-np.sum((x - data.X[j]) ** 2) / (2 * 0.6**2))
            for j, a in coefficients.items()
            if j != i
        )
        slacks += max(0.0, 1 - output)
        wrong += output <= 0
    assert found["slacks"] == pytest.approx(100 * slacks / 40)
    assert found["slacks"] == pytest.approx(100 * float(np.ravel(model.objective_)[0]) / 40)
    assert found["bound"] == pytest.approx(100 * wrong / 40)
    assert found["train"] <= found["bound"] <= found["slacks"]
    assert found["support"] == pytest.approx(100 * len(coefficients) / 40)


def test_shares_of_margins():
    margins = np.array([-0.3, 0.0, 0.0, 0.5])
    found = share_below(margins)
    for share, value in zip(found, GRID, strict=True):
        assert share == 25 * sum(margin <= value for margin in margins)


@pytest.mark.parametrize("name", ["figure2-2", "figure2-4", "figure2-5", "figure2-6"])
def test_a_picture_draws_the_decision_function(name):
    results, _ = PlaneExperiment(name).run()
    points, labels = draw_points(PICTURES[name].points, PlaneExperiment(name).seed)
    figure = figure_of(name, results)
    for panel, (_, machine, value) in zip(figure.panels, PICTURES[name].machines, strict=True):
        model = make_model(machine, value).fit(points, labels)
        x, y = points.T
        assert panel.decision.values(x, y) == pytest.approx(
            model.decision_function(points), abs=1e-5
        )
        assert panel.margin > 0
    if name == "figure2-2":
        assert labels[OUTLIER] == 1
        assert np.argmax(points[:, 0]) == OUTLIER
        assert outlier_is_given_up(results)
        assert not outlier_is_given_up({"machines": [{"errors": []}] * 3})


def test_lines_in_the_plane():
    results, _ = HyperplaneExperiment().run()
    perceptron, one, two, infinite, soft = results["lines"]
    assert all(not line["errors"] for line in (perceptron, one, two, infinite))
    points, labels = np.array(results["points"]), np.array(one["labels"])
    for best, norm in ((one, 1), (two, 2), (infinite, np.inf)):
        margins = [
            np.min(labels * (points @ line["w"] + line["b"])) / np.linalg.norm(line["w"], norm)
            for line in (best, perceptron, one, two, infinite)
        ]
        assert margins[0] == pytest.approx(max(margins), rel=1e-5)
    assert two["distance"] > perceptron["distance"]
    assert len(soft["errors"]) >= 1
    for line in (one, two, infinite):
        assert np.min(labels * (points @ line["w"] + line["b"])) == pytest.approx(1, abs=1e-4)


def test_tables_and_figures(report):
    assert [table.id for table in report.tables] == ["table2-1", "statements"]
    assert [figure.id for figure in report.figures] == [
        "figure1-1", "margin-distribution", *(f"figure2-{k}" for k in range(2, 9)),
    ]  # fmt: skip
    table, statements = report.tables
    assert [group.title for group in table.groups] == list(published.SETS.values())
    assert table.columns == tuple(machine.title for machine in MACHINES.values())
    assert {"AB", "AB_R", "SVM", "LOO-SVM", "LP-SVM", "AM-SVM", "VP"} < set(table.columns)
    assert not table.has_published  # these are not the published data sets
    assert sum(len(group.rows) for group in statements.groups) == len(published.STATEMENTS)
    assert [len(panel.curves) for panel in report.figures[-2].panels] == [1, 4]
    assert [panel.curves[0].x for panel in report.figures[-1].panels] == [
        choosing.QUICK_LAMBDAS
    ] * 3


def test_cells_come_from_the_records(report, work):
    column = list(MACHINES).index("loo")
    (record,) = [json.loads(p.read_text()) for p in work.glob("heart_loo_splits-*.json")]
    (choice,) = [json.loads(p.read_text()) for p in work.glob("heart_choice-loo_*.json")]
    rows = {row.name: row.cells[column] for row in report.tables[0].groups[3].rows}
    errors = record["results"]["errors"]
    assert len(errors) == 2
    assert rows["Test error"].ours == pytest.approx(np.mean(errors))
    assert rows["Test error"].deviation == pytest.approx(np.std(errors, ddof=1))
    assert rows["Width"].ours == pytest.approx(choice["results"]["best"][0], rel=1e-2)
    assert rows["Regular."].ours is None
    assert MACHINES["loo"].inner is NOTHING


def test_the_published_machine_has_the_published_parameters(report):
    column = list(MACHINES).index("svm-published")
    for group, name in zip(report.tables[0].groups, published.SETS, strict=True):
        rows = {row.name: row.cells[column].ours for row in group.rows}
        width, C = published.machine_parameters(name)
        assert (rows["Width"], rows["Regular."]) == pytest.approx((width, C), rel=1e-2)
    assert published.machine_parameters("banana")[0] == pytest.approx(math.sqrt(0.5))


def test_everything_is_shown(report, tmp_path):
    out = io.StringIO()
    rendering.show(report, Console(file=out, width=100))
    assert max(map(len, out.getvalue().splitlines())) <= 100
    assert "…" not in out.getvalue()
    kinds = [figure for figure in report.figures if figure.id in ("figure2-2", "figure2-7")]
    written = rendering.write(replace(report, figures=tuple(kinds)), tmp_path)
    names = {path.name for path in written.paths}
    assert {f"adaptive-margin-reduced-figure2-{k}.png" for k in (2, 7)} < names
    found = json.loads((tmp_path / "adaptive-margin-reduced.json").read_text())
    assert found["command"] == "largemargin reproduce adaptive-margin --quick"
    assert "heart, LOO-SVM" in found["settings"]["chosen"]


def test_a_second_run_runs_nothing(report, splits, work, monkeypatch):
    monkeypatch.setattr(adaptive_margin, "run_experiment", None)
    again = reproduce(PLAN, splits, work)
    assert again.as_json() == report.as_json()


def test_an_interrupted_run_goes_on(splits, tmp_path, monkeypatch):
    plan = Plan.quick("width")
    ran = []

    def run(experiment):
        if ran:
            raise KeyboardInterrupt
        ran.append(experiment.name)
        return experiment.run()

    monkeypatch.setattr(adaptive_margin, "run_experiment", run)
    with pytest.raises(KeyboardInterrupt):
        reproduce(plan, splits, tmp_path)
    assert ran == ["thyroid, widths, split 0"]
    monkeypatch.setattr(adaptive_margin, "run_experiment", lambda e: ran.append(e.name) or e.run())
    assert reproduce(plan, splits, tmp_path).n_runs == 2
    assert ran == ["thyroid, widths, split 0", "thyroid, widths, split 1"]


def test_an_experiment_belongs_to_its_splits(splits):
    one = TestExperiment(splits["heart"].some(0, 1), MACHINES["loo"], Setting(1.0))
    other = TestExperiment(load_splits(load, "titanic", 1), MACHINES["loo"], Setting(1.0))
    assert one.as_json()["data"]["checksum"] != other.as_json()["data"]["checksum"]
    assert one.as_json() != replace(one, setting=Setting(2.0)).as_json()
    assert splits["heart"].some(1, 1).words == "1-1"


def test_plan():
    full = Plan()
    assert PAPERS["adaptive-margin"] == PARTS
    assert full.command == "largemargin reproduce adaptive-margin"
    assert (full.n_splits, full.n_choosing) == (100, 5)
    assert full.data == tuple(published.SETS)
    assert Plan("planes").data == ()
    assert Plan("lambda", 3).command == "largemargin reproduce adaptive-margin lambda --splits 3"
    assert PLAN.reductions({}) == (
        "a quick run",
        "2 splits in place of 100",
        "choices made with 1 training set and 2 folds",
    )
    assert Plan("planes", small=True).reductions({}) == ()
    for bad in ({"part": "table7"}, {"splits": 0}, {"splits": 101}):
        with pytest.raises(ValueError, match=r"there is no|from 1 to 100"):
            Plan(**bad)


def test_experiments_of_a_full_run(splits):
    """Counted with two splits in place of a hundred, in which they come in tens."""
    settings = {(name, machine): Setting(1.0) for name in splits for machine in MACHINES}
    wanted = Plan(splits=2).experiments(splits, settings)
    tests = [one for one in wanted if isinstance(one, TestExperiment)]
    assert len(tests) == len(published.SETS) * len(MACHINES)
    assert len({one.file_name for one in wanted}) == len(wanted)
    chosen = Plan("lambda", small=True).choices(splits)
    assert [(one.splits.name, one.machine.name) for one in chosen] == [
        (name, "loo") for name in splits if name in choosing.LAMBDA_SETS
    ]


@pytest.mark.full
def test_processes_find_the_same(splits, tmp_path):
    plan = Plan.quick("width")
    one = reproduce(plan, splits, tmp_path / "one")
    two = reproduce(plan, splits, tmp_path / "two", processes=2)
    assert one.figures == two.figures
