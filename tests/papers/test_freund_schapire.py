"""The reproduction of Freund and Schapire, on a small stand-in for MNIST."""

import json
import os
import signal
from dataclasses import replace

import numpy as np
import pytest

from largemargin.papers import PAPERS, freund_schapire, rendering
from largemargin.papers.experiments import Images
from largemargin.papers.freund_schapire import Plan, published, reproduce
from largemargin.papers.freund_schapire.experiments import (
    BINARY_RULES,
    RULES,
    TABLE_EPOCHS,
    Experiment,
    make_model,
    pixels,
    run_experiment,
    stages,
)
from largemargin.papers.freund_schapire.misses import LastVector, RandomRule
from largemargin.perceptron import VotedPerceptron

PLAN = Plan(degrees=(1, 4), permutations=2, epochs=2)


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def report(small_mnist, work):
    return reproduce(PLAN, small_mnist, work)


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_experiment_against_its_definition(small_mnist, degree):
    data = small_mnist
    results, seconds = run_experiment(Experiment(degree, 7, 2, Images(data)))
    order = np.random.RandomState(7).permutation(len(data.y))
    paper = {"epochs": 1, "shuffle": False}
    model = VotedPerceptron(kernel="poly", degree=degree, gamma=1.0, coef0=1.0, **paper)
    X, y = data.X[order].astype(float), data.y[order]
    # training stopped after a tenth, one and two epochs, each on its own
    stopped = {
        0.1: model.fit(X[:30], y[:30]),
        1: VotedPerceptron(**model.get_params()).fit(X, y),
        2: VotedPerceptron(**{**model.get_params(), "epochs": 2}).fit(X, y),
    }
    assert results["stages"] == stages(2)
    assert results["table_epochs"] == [0.1, 1, 2]
    for column, (epochs, stopped_there) in enumerate(stopped.items()):
        found = stopped_there.decision_functions(data.X_test.astype(float), RULES.values())
        s = results["stages"].index(epochs)
        for name, rule in RULES.items():
            if rule[0] != "random":
                wrong = np.sum(stopped_there.classes_[found[rule].argmax(axis=1)] != data.y_test)
                assert results["wrong"][name][s] == wrong, (name, epochs)
        for name in set(BINARY_RULES) - {"random"}:
            for c, label in enumerate(stopped_there.classes_):
                truth = np.where(data.y_test == label, 1, -1)
                wrong = np.sum(truth * found[RULES[name]][:, c] <= 0)
                assert results["binary_wrong"][name][column][c] == wrong, (name, epochs, label)
        assert results["n_support"][column] == stopped_there.n_support_
        assert results["n_mistakes"][column] == stopped_there.n_mistakes_.sum()
        assert results["binary_n_mistakes"][column] == stopped_there.n_mistakes_.tolist()
        assert sum(results["binary_n_support"][column]) >= stopped_there.n_support_
    assert set(seconds) == {"fit", "evaluate"}


def test_chunks_of_the_test_set_change_nothing_but_the_draws(small_mnist, monkeypatch):
    panel = np.resize(np.arange(150), 256)
    twice = np.concatenate([panel, panel])
    data = replace(small_mnist, X_test=small_mnist.X_test[twice], y_test=small_mnist.y_test[twice])
    experiment = Experiment(3, 0, 1, Images(data))
    whole, _ = run_experiment(experiment)
    monkeypatch.setattr("largemargin.papers.freund_schapire.experiments.SCORES_AT_ONCE", 1)
    parts, _ = run_experiment(experiment)
    for rule in ("vote", "average", "average normalized", "last", "last normalized"):
        assert whole["wrong"][rule] == parts["wrong"][rule]
    # with the same draws for both halves, which are equal, every number of errors would be even
    assert any(wrong % 2 for wrong in parts["wrong"]["random"])


def test_random_is_worse_than_vote(small_mnist):
    results, _ = run_experiment(Experiment(2, 0, 3, Images(small_mnist)))
    assert np.mean(results["wrong"]["random"]) > np.mean(results["wrong"]["vote"])


def test_same_seed_same_numbers(small_mnist):
    experiment = Experiment(2, 3, 1, Images(small_mnist))
    assert run_experiment(experiment)[0] == run_experiment(experiment)[0]


def test_resumes(small_mnist, work, report, monkeypatch):
    names = sorted(path.name for path in work.iterdir())
    assert len(names) == 4
    (work / names[0]).unlink()
    (work / names[2]).write_text((work / names[2]).read_text()[:100])
    ran = []

    def watched(experiment):
        ran.append(experiment.file_name)
        return run_experiment(experiment)

    monkeypatch.setattr(freund_schapire, "run_experiment", watched)
    again = reproduce(PLAN, small_mnist, work)
    assert sorted(ran) == [names[0], names[2]]
    assert again.tables == report.tables
    assert again.figures == report.figures


def test_other_data_is_another_experiment(small_mnist, work, report):
    y = small_mnist.y.copy()
    y[0] = (y[0] + 1) % 10
    other = Experiment(1, 0, 2, Images(replace(small_mnist, y=y)))
    assert other.as_json() != Experiment(1, 0, 2, Images(small_mnist)).as_json()


def test_interrupted_fit_is_not_an_experiment(small_mnist, monkeypatch):
    """The estimator swallows the first Ctrl-C and returns what it has."""
    fit = VotedPerceptron.fit

    def cut_short(self, X, y):
        return fit(self.set_params(max_seconds=1e-9), X, y)

    monkeypatch.setattr(VotedPerceptron, "fit", cut_short)
    with pytest.raises(KeyboardInterrupt):
        run_experiment(Experiment(2, 0, 5, Images(small_mnist)))


def test_interrupt_between_experiments_keeps_the_first(small_mnist, tmp_path, monkeypatch):
    def interrupted(experiment):
        if experiment.degree == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return run_experiment(experiment)

    monkeypatch.setattr(freund_schapire, "run_experiment", interrupted)
    with pytest.raises(KeyboardInterrupt):
        reproduce(Plan(degrees=(1, 2), permutations=1, epochs=1), small_mnist, tmp_path)
    assert [path.name.split("_")[0] for path in tmp_path.iterdir()] == ["degree-1"]


def test_tables_have_the_shape_of_the_paper(report):
    table1, table2, table3 = report.tables
    assert table1.columns == table3.columns == ("0.1", "1", "2")
    assert [group.title for group in table1.groups] == ["d = 1", "d = 4"]
    assert [row.name for row in table1.groups[0].rows] == [
        "Vote", "Avg", "Avg norm", "Last", "Last norm", "Rand", "Rand norm", "SupVec", "Mistake",
    ]  # fmt: skip
    assert table2.columns == tuple("0123456789")
    assert [group.title for group in table2.groups] == ["T = 0.1", "T = 1", "T = 2"]
    names = ["Vote", "Avg", "Last", "Rand", "SupVec", "Mistake"]
    for group in (*table2.groups, *table3.groups):
        assert [row.name for row in group.rows] == names
    for table in report.tables:
        for group in table.groups:
            assert all(len(row.cells) == len(table.columns) for row in group.rows)


def test_cells_are_means_and_deviations(report, work):
    records = [json.loads(path.read_text()) for path in work.glob("degree-4_*.json")]
    wrong = [100 * r["results"]["wrong"]["last"][9] / 150 for r in records]
    cell = report.tables[0].groups[1].rows[3].cells[1]
    assert cell.ours == pytest.approx(np.mean(wrong))
    assert cell.deviation == pytest.approx(np.std(wrong, ddof=1))
    nine = [r["results"]["binary_n_mistakes"][2][9] for r in records]
    assert report.tables[1].groups[2].rows[5].cells[9].ours == np.mean(nine)
    assert report.tables[2].groups[1].rows[5].cells[2].ours == np.mean(nine)


def test_little_data_is_not_compared_with_published_numbers(report):
    assert not any(cell.published for table in report.tables for cell in table.cells)
    assert "300 training images in place of 60,000" in report.reduced
    assert any("left out" in sentence for sentence in report.reduced)


def test_as_much_data_is_compared(small_mnist, work, report, monkeypatch):
    monkeypatch.setattr(published, "N_TRAIN", 300)
    monkeypatch.setattr(published, "N_TEST", 150)
    table1, table2, _ = reproduce(PLAN, small_mnist, work).tables
    vote = table1.groups[1].rows[0]
    assert [cell.published.value for cell in vote.cells] == [5.4, 2.2, 1.8]
    assert vote.cells[0].published.label == "recalled"
    assert vote.cells[0].difference == vote.cells[0].ours - 5.4
    assert vote.cells[0].agrees is False
    assert table1.groups[1].rows[1].cells[0].published is None
    machine = table2.groups[-1]
    assert [row.cells[9].published.value for row in machine.rows] == [0.6, 2765]
    assert [row.cells[9].published.label for row in machine.rows] == ["derived", "print"]


def test_figure_has_a_point_every_tenth_of_an_epoch(report):
    (figure,) = report.figures
    assert [panel.title for panel in figure.panels] == ["d = 1", "d = 4"]
    for panel in figure.panels:
        assert [curve.name for curve in panel.curves] == ["random", "last", "average", "vote"]
        assert all(curve.x == tuple(stages(2)) for curve in panel.curves)


def test_report_files(report, tmp_path):
    written = rendering.write(report, tmp_path / "new")
    stem = "freund-schapire-reduced"
    assert {path.name for path in written.paths} == {
        f"{stem}.json", f"{stem}.html", f"{stem}.md", f"{stem}-figure2.svg", f"{stem}-figure2.png",
    }  # fmt: skip
    found = json.loads((tmp_path / "new" / f"{stem}.json").read_text())
    assert found["settings"]["epochs"] == {"1": 2, "4": 2}
    assert [table["id"] for table in found["tables"]] == ["table1", "table2", "table3"]
    row = found["tables"][0]["groups"][0]["rows"][0]
    assert (row["name"], row["unit"]) == ("Vote", "percent")
    assert set(row["cells"][0]) == {
        "ours", "deviation", "published", "label", "difference", "agrees", "runs",
    }  # fmt: skip
    assert len(found["figures"][0]["panels"]) == 2


def test_the_random_rule_in_expectation(small_mnist):
    """Against the error of the last vector at each stage, from fits of their own."""
    found, _ = RandomRule(1, 2, Images(small_mnist)).run()
    assert [len(counts) for counts in found["wrong"].values()] == [20] * 3
    order = np.random.RandomState(1).permutation(300)
    model = make_model(1, 1, None).fit(small_mnist.X[order], small_mnist.y[order])
    for name, normalize in (("nothing", False), ("norm", True)):
        answers = model.predict(small_mnist.X_test, method="last", normalize=normalize)
        assert found["wrong"][name][9] == np.sum(answers != small_mnist.y_test)
    scores = model.decision_function(small_mnist.X_test, method="last", normalize=False)
    answers = (scores / np.sqrt(model.n_mistakes_)).argmax(axis=1)
    assert found["wrong"]["root of mistakes"][9] == np.sum(answers != small_mnist.y_test)


def test_the_last_vector_after_a_tenth_of_an_epoch(small_mnist, work, report):
    found, _ = LastVector(0, 2, Images(small_mnist)).run()
    order = np.random.RandomState(1).permutation(300)
    model = make_model(2, 1, None)
    model.fit(pixels(small_mnist.X[order], 2), small_mnist.y[order])
    X_test = pixels(small_mnist.X_test, 2)
    ((scores),) = model.staged_decision_functions(X_test, [0.1], [("last", False)])
    wrong = scores["last", False].argmax(axis=1) != small_mnist.y_test
    assert found["errors"][1][0] == pytest.approx(100 * np.mean(wrong))


def test_the_misses_are_a_part_of_the_full_plan_only(small_mnist, tmp_path):
    assert "misses" in Plan().parts
    assert "misses" not in Plan.quick().parts
    plan = Plan("misses", permutations=1, epochs=3)
    (found,) = reproduce(plan, small_mnist, tmp_path).tables
    assert found.columns == ("0.1", "3")
    assert [len(group.rows) for group in found.groups] == [3, 2]
    assert found.groups[1].rows[0].cells[0].runs == 10


def test_published_table_is_whole():
    for degree in published.DEGREES:
        rows = published.TABLE_1[degree]
        assert (
            {"vote", "n_support", "n_mistakes"} <= set(rows) <= {*RULES, "n_support", "n_mistakes"}
        )
        for row, numbers in rows.items():
            assert len(numbers) == (6 if degree == 1 else len(TABLE_EPOCHS)), (degree, row)
            ascending = row.startswith("n_")
            assert not ascending or list(numbers) == sorted(numbers)
            assert ascending or all(1 < number < 25 for number in numbers)
    assert published.table_1(1, "vote", 30) is None
    assert published.table_1(5, "last", 1) is None
    assert len(published.svm_support_vectors()) == len(published.svm_test_errors()) == 10


def test_the_full_plan_is_the_papers(small_mnist):
    plan = Plan()
    experiments = plan.experiments(Images(small_mnist))
    assert len(experiments) == 60
    assert {e.epochs for e in experiments if e.degree == 1} == {10}
    assert {e.epochs for e in experiments if e.degree > 1} == {30}
    assert plan.reductions(60_000, 10_000) == ()
    assert Plan.quick().reductions(60_000, 10_000) == (
        "1 permutation in place of 10",
        "1 epoch in place of 30",
    )
    assert PAPERS["freund-schapire"] == freund_schapire.PARTS


def test_table2_needs_degree_4_only(small_mnist):
    assert {e.degree for e in Plan("table2").experiments(Images(small_mnist))} == {4}
    assert Plan("table2").reductions(60_000, 10_000) == ()
    assert "table2" not in Plan(degrees=(1, 2)).parts


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"part": "table9"}, "the parts are table1, table2, table3, figure2"),
        ({"degrees": (0, 1)}, "degrees must be some of 1 to 6, got 0, 1"),
        ({"degrees": ()}, "got none"),
        ({"part": "table2", "degrees": (1, 2)}, "table 2 is about degree 4"),
        ({"permutations": 0}, "permutations must be at least 1, got 0"),
        ({"epochs": 31}, "epochs must be from 1 to 30, got 31"),
    ],
)
def test_bad_plans(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        Plan(**wrong)
