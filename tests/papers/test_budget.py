"""The reproduction of Crammer, Kandola and Singer, on small stand-ins for its data sets."""

import io
import json
import os
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console
from sklearn.datasets import load_digits

from largemargin import data
from largemargin.data.dataset import Dataset
from largemargin.online import MIRA
from largemargin.papers import PAPERS, budget, rendering
from largemargin.papers.budget import PARTS, Plan, published, reproduce
from largemargin.papers.budget.choosing import MACHINE, ONLINE, ChoiceExperiment, split
from largemargin.papers.budget.experiments import (
    TASKS,
    Problem,
    SeparableExperiment,
    StreamExperiment,
    View,
    bound,
    draw_separable,
    draw_stream,
    some_of,
)
from largemargin.papers.experiments import Images

PLAN = Plan.quick()


@pytest.fixture(scope="module")
def small_letter():
    X, y = load_digits(return_X_y=True)
    X = X[:, 20:36].astype(np.float32)
    letters = np.array(list("ABCDEFGHIJ"))[y]
    return Dataset(X[:300], letters[:300], X[300:450], letters[300:450], name="letter")


@pytest.fixture(scope="module")
def small(small_mnist, small_usps, small_letter):
    return {"mnist": small_mnist, "usps": small_usps, "letter": small_letter}


@pytest.fixture(scope="module", autouse=True)
def tiny_caches():
    """Caches that fill up with 300 examples."""
    patch = pytest.MonkeyPatch()
    for name, task in TASKS.items():
        patch.setitem(TASKS, name, replace(task, quick_sizes=(20, 60), Cs=(1.0,)))
    patch.setattr(published, "BUDGETS", (15, 40))
    patch.setattr(budget, "QUICK_NOISE_BUDGETS", (15, 60))
    patch.setattr(budget, "QUICK_SEPARABLE_ROWS", 300)
    yield
    patch.undo()


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def report(small, work, tiny_caches):
    return reproduce(PLAN, small, work)


def problem_of(small, name):
    return Problem(TASKS[name], Images(small[name]))


def table(report, name):
    return next(table for table in report.tables if table.id == name)


def row(table, group, name):
    return next(row for row in table.groups[group].rows if row.name == name)


def test_stream_against_the_estimator(small):
    problem, view = problem_of(small, "usps"), View(blank=True, scale="each")
    found, seconds = StreamExperiment(problem, view, "margin", 40, 3).run()
    X, X_test = (x + 1 for x in (small["usps"].X, small["usps"].X_test))
    X, X_test = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (X, X_test))
    order = np.random.RandomState(3).permutation(300)
    paper = {"policy": "margin", "average": False, "shuffle": False, "margin": 0.01, "budget": 40}
    model = MIRA(**paper, kernel="poly", degree=9, gamma=1.0, coef0=0.0)
    model.fit(X[order], small["usps"].y[order])
    assert found["size"] == model.n_support_ == 40
    assert found["wrong"] == np.sum(model.predict(X_test) != small["usps"].y_test)
    assert found["online_errors"] == model.online_errors_
    assert found["margin_errors"] == model.margin_errors_ == found["insertions"]
    assert found["insertions"] - found["removals"] == found["size"]
    assert set(seconds) == {"fit", "predict"}


def test_the_margin_only_sets_the_scale(small):
    X = View(blank=True, scale="each").of(small["usps"]).X
    models = [
        MIRA(margin=margin, average=False, kernel="poly", degree=9, gamma=1.0, coef0=0.0)
        for margin in (published.MARGIN, 2 * published.MARGIN)
    ]
    one, two = (model.fit(X, small["usps"].y) for model in models)
    assert one.support_.tolist() == two.support_.tolist()
    assert two.dual_coef_ == pytest.approx(2 * one.dual_coef_)
    assert np.abs(two.dual_coef_).max() < 0.5


def test_views(small_usps):
    each = View(blank=True, scale="each").of(small_usps)
    assert each.X.min() == 0
    assert np.linalg.norm(each.X_test, axis=1) == pytest.approx(1, abs=1e-6)
    common = View(scale="common").of(small_usps)
    assert np.mean(np.linalg.norm(common.X, axis=1) ** 2) == pytest.approx(1, abs=1e-5)
    factor = common.X_test[0, 0] / small_usps.X_test[0, 0]
    assert common.X_test == pytest.approx(small_usps.X_test * factor, abs=1e-6)
    blank = Dataset(np.zeros((2, 3)), np.array([0, 1]), np.zeros((1, 3)), np.array([0]))
    assert np.all(View(scale="each").of(blank).X == 0)


@pytest.mark.parametrize("noise", [0.0, 0.2, 1.0])
def test_noise_flips_its_share_of_labels_to_other_classes(noise):
    y = np.repeat(np.array(list("abcde")), 400)
    order, labels = draw_stream(y, 7, noise)
    assert sorted(order) == list(range(2000))
    assert np.mean(labels != y[order]) == pytest.approx(noise, abs=0.03)
    assert set(labels) == set("abcde")
    assert np.array_equal(order, draw_stream(y, 7, 0.0)[0])  # the order has nothing to do with it


def test_choice_is_made_on_held_out_examples(small):
    problem = problem_of(small, "letter")
    choice = ChoiceExperiment(problem, ONLINE, 200)
    results, _ = choice.run()
    train, test = split(300, 200)
    assert (len(train), len(test), results["n"]) == (160, 40, 40)
    assert not set(train) & set(test)
    X, y = small["letter"].X, small["letter"].y
    for view, wrong in zip(problem.task.views, results["wrong"], strict=True):
        model = MIRA(policy="distill", average=False, shuffle=False, gamma=view.gamma)
        model.fit(X[train], y[train])
        assert wrong == np.sum(model.predict(X[test]) != y[test])
    machine = ChoiceExperiment(problem, MACHINE, 200)
    assert [c.view for c in machine.candidates] == list(problem.task.views)
    assert machine.chosen({"wrong": [3, 1, 1, 2], "n": 40}) == machine.candidates[1]


@pytest.mark.parametrize(("beta", "gamma"), [(0.01, 0.05), (1.0, 0.2)])
def test_separable_data_and_the_theorem(beta, gamma):
    X, y, u = draw_separable(500, gamma, 1)
    assert np.linalg.norm(X, axis=1) == pytest.approx(1)
    assert np.linalg.norm(u) == pytest.approx(1)
    assert gamma <= np.min(y * (X @ u)) < 1.1 * gamma
    found, _ = SeparableExperiment(beta, gamma, 1, 500).run()
    assert found["bound"] == pytest.approx((1 + 2 * beta) / found["gamma"] ** 2)
    assert found["gamma"] == pytest.approx(np.min(y * (X @ u)))
    assert 0 < found["distill"]["last"] <= found["distill"]["largest"] <= found["bound"]
    assert found["keep"]["insertions"] == found["keep"]["largest"] <= found["bound"]
    assert bound(2.0, 0.5, 0.1) == pytest.approx(500)


def test_tables_and_figures(report):
    assert [t.id for t in report.tables] == [
        "statements", "mnist", "usps", "letter", "one-pass", "bound-table", "noise-table",
    ]  # fmt: skip
    assert [f.id for f in report.figures] == ["panels", "bound", "noise"]
    assert [p.title for p in report.figures[0].panels] == [
        f"{name}, {quantity}"
        for quantity in ("test error", "online errors", "margin errors")
        for name in ("MNIST", "USPS", "LETTER")
    ]
    for found in report.tables:
        for group in found.groups:
            assert all(len(r.cells) == len(found.columns) for r in group.rows)
    assert table(report, "usps").columns == ("20", "60", "variable", "plain", "machine")
    curves = {c.name: c for c in report.figures[0].panels[1].curves}
    assert curves["fixed cache"].x == (20, 60)
    assert len(curves["fixed cache"].spread) == 2
    assert set(curves) == {"fixed cache", "variable cache", "plain MIRA", "machine"}
    assert "machine" not in {c.name for c in report.figures[0].panels[4].curves}


def test_cells_come_from_the_records(report, work):
    def results(pattern):
        return [json.loads(p.read_text())["results"] for p in sorted(work.glob(pattern))]

    fixed = results("usps_margin-60_permutation-*_noise-0_*.json")
    assert len(fixed) == 2
    errors = [100 * run["wrong"] / 150 for run in fixed]
    cell = row(table(report, "usps"), 0, "Test error").cells[1]
    assert cell.ours == pytest.approx(np.mean(errors))
    assert cell.deviation == pytest.approx(np.std(errors, ddof=1))
    (machine,) = results("usps_machine_*.json")
    assert row(table(report, "usps"), 1, "Stored").cells[-1].ours == machine["size"]
    noisy = results("usps_projectron-60_permutation-*_noise-0.2_*.json")
    cell = row(table(report, "noise-table"), 2, "projectron").cells[1]
    assert cell.ours == pytest.approx(np.mean([100 * run["wrong"] / 150 for run in noisy]))
    separable = results("separable_beta-0.1_gamma-0.2_*.json")
    sizes = [run["distill"]["largest"] for run in separable]
    column = table(report, "bound-table").columns.index("0.2")
    largest = row(table(report, "bound-table"), 1, "Variable, largest").cells[column]
    assert largest.ours == np.mean(sizes)
    exceeded = [row(table(report, "bound-table"), g, "Exceeded").cells for g in range(3)]
    assert {cell.ours for cells in exceeded for cell in cells} == {0.0}


@pytest.mark.full
def test_little_data_is_not_compared_with_published_numbers(report, tmp_path):
    assert not any(cell.published for t in report.tables for cell in t.cells)
    assert report.reduced[:2] == ("a quick run", "2 permutations in place of 5 or 11")
    assert "300 and 150 of MNIST" in report.reduced[2]
    assert "without the published numbers" in report.reduced[2]
    rendering.write(report, tmp_path)
    for name in ("budget-reduced.html", "budget-reduced.md"):
        text = (tmp_path / name).read_text()
        assert "held-out training examples" in text
        assert "a quick run" in text
    pictures = {path.name for path in tmp_path.glob("*.svg")}
    assert pictures == {f"budget-reduced-{id}.svg" for id in ("panels", "bound", "noise")}


def test_as_much_data_is_compared(small, work, report, monkeypatch):
    monkeypatch.setattr(published, "DATA_SIZES", dict.fromkeys(TASKS, (300, 150)))
    whole = reproduce(PLAN, small, work)
    for name, value in (("mnist", 1.42), ("usps", 4.38), ("letter", 1.95)):
        assert row(table(whole, name), 0, "Test error").cells[-1].published.value == value
    assert set(whole.labels) == {"recalled", "derived", "text"}
    out = io.StringIO()
    rendering.show(whole, Console(file=out, width=100))
    assert "…" not in out.getvalue()
    assert "statements hold here" in out.getvalue()


def test_only_what_is_missing_is_run(small, work, report, monkeypatch):
    next(work.glob("letter_keep_permutation-1*.json")).unlink()
    (work / "mnist_choice-online_rows-300-1500.json").write_text("{")
    ran = []

    def watched(experiment):
        ran.append(experiment.name)
        return experiment.run()

    monkeypatch.setattr(budget, "run_experiment", watched)
    again = reproduce(PLAN, small, work)
    assert ran == [
        "MNIST, choices for the online learners", "LETTER, plain MIRA, permutation 2",
    ]  # fmt: skip
    assert again.tables == report.tables
    assert again.figures == report.figures


def test_a_failure_keeps_what_is_finished(small, tmp_path, monkeypatch):
    ran = []

    def failing(experiment):
        if len(ran) == 4:
            raise MemoryError("no room")
        ran.append(experiment.file_name)
        return experiment.run()

    monkeypatch.setattr(budget, "run_experiment", failing)
    with pytest.raises(MemoryError):
        reproduce(replace(PLAN, part="bound"), {}, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(ran)


def test_a_part_needs_its_own_data_only(small, work, report):
    asked = []

    def load(name):
        asked.append(name)
        return small[name]

    for part, names in (("bound", []), ("noise", ["usps"]), ("one-pass", ["usps", "letter"])):
        asked.clear()
        found = budget.run(replace(PLAN, part=part), load, work, progress=False)
        assert asked == names
        assert found.slug == f"budget-{part}-reduced"
        assert {t.id for t in found.tables} <= {"bound-table", "noise-table", "one-pass"}


def test_the_full_plan(small):
    full = Plan()
    problems = {name: full.problem(small[name]) for name in full.data}
    settings = {
        (choice.problem.task.name, choice.kind): choice.candidates[0]
        for choice in full.choices(problems)
    }
    experiments = full.experiments(problems, settings)
    assert len(experiments) == len({e.file_name for e in experiments})
    streams = [e for e in experiments if isinstance(e, StreamExperiment) and not e.noise]
    for name, permutations in (("mnist", 5), ("usps", 11), ("letter", 11)):
        plain = [e for e in streams if e.problem.task.name == name and e.policy == "keep"]
        assert len(plain) == permutations
    assert full.command == "largemargin reproduce budget"
    assert PLAN.command == "largemargin reproduce budget --quick"
    assert Plan("noise", 3).command == "largemargin reproduce budget noise --permutations 3"
    assert full.reductions({}) == ()
    assert PAPERS["budget"] == PARTS


def test_a_quick_run_takes_some_of_the_examples(small_usps):
    some = some_of(small_usps, 50, 20)
    assert (len(some.X), len(some.y), len(some.X_test), len(some.y_test)) == (50, 50, 20, 20)
    kept = {x.tobytes(): label for x, label in zip(small_usps.X, small_usps.y, strict=True)}
    assert all(kept[x.tobytes()] == label for x, label in zip(some.X, some.y, strict=True))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"part": "table1"}, "the parts are panels, one-pass, bound, noise"),
        ({"permutations": 0}, "permutations must be at least 1, got 0"),
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
def test_usps_on_a_budget(tmp_path):
    problem = Problem(TASKS["usps"], Images(data.load("usps")))
    view = View(blank=True, scale="each")
    small, large = (StreamExperiment(problem, view, "margin", b, 0).run()[0] for b in (100, 1200))
    assert large["wrong"] < 130 < small["wrong"]
    assert problem.comparable
