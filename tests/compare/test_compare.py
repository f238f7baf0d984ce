"""A comparison against training each machine by hand, its time limit, and bad input."""

import io
import json
import multiprocessing
import re
import signal
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass, replace
from typing import get_type_hints

import numpy as np
import pytest
from rich.console import Console
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler
from threadpoolctl import threadpool_info

from largemargin.cli.compare import compare as compare_command
from largemargin.compare import candidates, compare
from largemargin.compare.candidates import KERNELS, MULTICLASS, OURS, Candidate, our_classes
from largemargin.compare.measuring import measure
from largemargin.compare.page import render, widest_error
from largemargin.compare.picture import beyond, draw
from largemargin.compare.results import (
    COLUMNS,
    Certified,
    Comparison,
    Result,
    row,
)
from largemargin.compare.running import _put, _work
from largemargin.compare.task import make_task
from largemargin.compare.watching import FillingTable
from largemargin.kernels.choosing import KERNEL_NAMES, make_kernel
from largemargin.report.intervals import ErrorRate
from largemargin.runtime.threads import count_workers


def quiet(stage, result):
    pass


@pytest.fixture(scope="module")
def task():
    X, y = load_iris(return_X_y=True)
    return make_task("iris", X, y, folds=2, max_seconds=60.0, search_rows=60)


def by_hand(task, candidate):
    """The plain way: every setting on every fold of the sample, then the best on all rows."""
    best, least = None, np.inf
    folds = StratifiedKFold(task.folds, shuffle=True, random_state=task.seed)
    X, y = task.X[task.sample()], task.y[task.sample()]
    for setting in candidate.settings:
        errors = []
        for rows, others in folds.split(X, y):
            model = Pipeline([("s", MinMaxScaler()), ("m", candidate.make(setting, task.seed))])
            model.fit(X[rows], y[rows])
            errors.append(np.mean(model.predict(X[others]) != y[others]))
        if np.mean(errors) < least:
            best, least = setting, np.mean(errors)
    model = Pipeline([("s", MinMaxScaler()), ("m", candidate.make(best, task.seed))])
    model.fit(task.X, task.y)
    return best, least, model


def test_every_machine_and_every_peer_is_there():
    names = [(c.library, c.name) for c in candidates("rbf", 1.0)]
    assert {name for library, name in names if library == OURS} == set(our_classes())
    assert {name for library, name in names if library != OURS} == {
        "SVC", "LinearSVC", "LogisticRegression", "Perceptron",
    }  # fmt: skip
    assert {"VotedPerceptron", "SVC", "NuSVC", "KernelAdatron", "MIRA"} <= set(our_classes())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("candidate", candidates("rbf", 2.5), ids=lambda c: c.title)
def test_it_agrees_with_training_by_hand(task, candidate):
    found = measure(task, candidate, quiet)
    best, least, model = by_hand(task, candidate)
    if len(candidate.settings) > 1:
        assert found.chosen == best
        assert found.cv_error == pytest.approx(least)
        assert found.searched == len(candidate.settings)
    wrong = int((model.predict(task.X_test) != task.y_test).sum())
    assert (found.error.errors, found.error.rows) == (wrong, len(task.y_test))
    assert found.trouble == ""
    assert found.size > 0
    assert found.fit_seconds > 0
    machine = model[-1]
    if candidate.library == OURS:
        X = model[:-1].transform(task.X)
        stated = machine.certificate(X, task.y, leave_one_out=False)
        says = [s.value for s in stated if s.bounds_error and s.applies and s.value < 1]
        assert (found.certificate.value if found.certificate else None) == (
            pytest.approx(min(says)) if says else None
        )
    if hasattr(machine, "n_support_"):
        assert found.support_vectors == np.sum(machine.n_support_)


class Sleeper(ClassifierMixin, BaseEstimator):
    """Learns the first rows at once, and never finishes with many."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if X.shape[0] > 100:
            time.sleep(600)
        return self

    def predict(self, X):
        return np.full(X.shape[0], self.classes_[0])


class Worker(Sleeper):
    """Has something to do for ever."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        while X.shape[0] > 100:
            pass
        return self


class Crasher(Sleeper):
    def fit(self, X, y):
        import os

        os._exit(7)


@dataclass(frozen=True)
class Made(Candidate):
    """A candidate that is not from a library."""

    cls: type = Sleeper

    def make(self, setting, seed):
        return self.cls()


@pytest.mark.full
def test_processes_keep_the_time_and_survive_a_crash(task):
    stages = []
    machines = [
        Made("elsewhere", "Sleeper", cls=Sleeper),
        Made("elsewhere", "Worker", cls=Worker),
        Made("elsewhere", "Crasher", cls=Crasher),
        *candidates("rbf", 2.5, ["perceptron"]),
    ]
    X, y = np.vstack([task.X] * 2), np.r_[task.y, task.y]
    short = make_task("iris twice", X, y, task.X_test, task.y_test, max_seconds=0.4)
    start = time.perf_counter()
    found = compare(short, machines, lambda *seen: stages.append(seen))
    assert time.perf_counter() - start < 300
    sleeper, worker, crasher, perceptron = found.results
    assert sleeper.trouble == "no result after 2 s by the clock"
    assert worker.trouble in (
        "no result after 0.4 s",
        sleeper.trouble,
    )  # the latter on a busy computer
    assert crasher.trouble == "its process ended with code 7"
    assert (sleeper.error, worker.error, crasher.error) == (None, None, None)
    assert perceptron.error is not None
    assert found.ranked[0].name == "Perceptron"
    assert [done for done, _, stage in stages if stage == "done"] == [1, 2, 3, 4]
    assert ("Perceptron (scikit-learn)", "training") in [seen[1:] for seen in stages]


class Counter(Sleeper):
    """Fails with the number of threads that it was given."""

    def fit(self, X, y):
        pools = [pool["num_threads"] for pool in threadpool_info()]
        raise RuntimeError(f"most threads {max([count_workers(None), *pools])}")


@pytest.mark.full
def test_every_machine_has_one_thread(task):
    (found,) = compare(task, [Made("elsewhere", "Counter", cls=Counter)]).results
    assert found.trouble == "most threads 1"


def test_the_search_has_a_sample_by_strata(task):
    assert np.array_equal(np.bincount(task.y[task.sample()]), [20, 20, 20])
    assert len(np.unique(task.sample())) == 60
    rare = make_task("x", np.zeros((1000, 1)), np.r_[np.zeros(997), 1, 1, 1], np.zeros((1, 1)),
                     np.zeros(1), search_rows=100)  # fmt: skip
    assert np.bincount(rare.y[rare.sample()].astype(int)).tolist() == [100, 3]
    assert len(make_task("x", task.X, task.y, search_rows=105).sample()) == 84
    for rows, others in rare.splits():
        assert not set(rows) & set(others)
        assert 1 in rare.y[others]


def test_ctrl_c_keeps_what_is_done(task):
    (quick,) = candidates("rbf", 2.5, ["perceptron"])
    with pytest.raises(KeyboardInterrupt):
        compare(task, [Made("elsewhere", "Sleeper", cls=Sleeper)], _interrupting("starting"))
    machines = [quick, Made("elsewhere", "Sleeper", cls=Sleeper), quick]
    heard = []
    found = compare(task, machines, _interrupting("done"), at_once=1, heard=heard.append)
    first, *others = found.results
    assert first.error is not None
    assert [one.trouble for one in others] == ["interrupted"] * 2
    assert [one.title for one in heard] == [first.title]
    assert found.as_json()["unfinished"] == 2
    assert "2 of 3 machines were not measured" in render(found)


def _interrupting(when):
    """Progress that presses Ctrl-C at the first such stage."""
    pressed = []

    def progress(done, title, stage):
        if stage == when and not pressed:
            pressed.append(stage)
            signal.raise_signal(signal.SIGINT)

    return progress


def test_a_process_is_silent_when_the_comparison_has_ended(task, tmp_path):
    gone, ours = multiprocessing.Pipe(duplex=False)
    gone.close()
    handler = signal.getsignal(signal.SIGINT)
    machine = candidates("rbf", task.scale_gamma, ["svc"])[0]
    try:
        _work(tmp_path / "gone", machine, ours)
        _work(_put(task, tmp_path), machine, ours)
    finally:
        signal.signal(signal.SIGINT, handler)


def test_a_search_that_is_out_of_time_takes_the_first_setting(task):
    (candidate,) = [c for c in candidates("rbf", 2.5, ["svc"]) if c.library == OURS]
    from largemargin.compare.measuring import Stopwatch, search

    result, watch = Result("", "", ""), Stopwatch()
    watch._processor -= 100
    search(task, candidate, result, watch, quiet)
    assert (result.chosen, result.searched, result.cv_error) == (candidate.settings[0], 0, None)


def test_a_setting_that_is_refused_is_not_chosen(task):
    candidate = Candidate(OURS, "SVC", {"kernel": "rbf"}, {"C": [-1.0, 1.0]})
    assert measure(task, candidate, quiet).chosen == {"C": 1.0}


def test_warnings_of_the_fit_are_noted_and_those_of_the_search_are_not(task):
    grid = {"max_iter": [500, 1]}
    found = measure(task, Candidate(OURS, "KernelAdatron", {"C": 1.0}, grid), quiet)
    assert found.chosen == {"max_iter": 500}
    assert found.notes == ()
    found = measure(task, Candidate(OURS, "KernelAdatron", {"C": 1.0, "max_iter": 1}), quiet)
    assert "stopped before it converged" in found.notes[0]


@pytest.fixture
def found():
    rate = ErrorRate(3, 50)
    bound = Certified("xi-alpha", 0.25, "always", "At most <25> %.")
    good = Result("SVC", OURS, "SVC", chosen={"C": 10.0}, searched=1, settings=2, error=rate,
                  support_vectors=1234, fit_seconds=0.5, predict_seconds=0.001, size=81_234,
                  certificate=bound, notes=("a <warning>",))  # fmt: skip
    bad = Result("LinearSVC (scikit-learn)", "scikit-learn", "LinearSVC",
                 trouble="no result after 5 s")  # fmt: skip
    return Comparison("d<a>ta", 100, 50, 4, 2, True, "minmax", 3, 80, 0, 5.0, 2, 7.0, "a machine",
                      (bad, good))  # fmt: skip


def test_the_table(found):
    cells = [dict(zip(COLUMNS, row(result), strict=True)) for result in found.ranked]
    assert cells[0]["error, %"] == "6.00"
    assert cells[0]["95 % interval"] == "1.25 to 16.55"
    assert cells[0]["certified error"] == "0.25 (xi-alpha)"
    assert cells[0]["model"] == "81 kB"
    assert cells[0]["chosen"] == "C 10 (1 of 2 settings tried)"
    assert cells[1]["chosen"] == "no result after 5 s"
    assert json.loads(json.dumps(found.as_json()))["results"][0]["error"]["errors"] == 3


def test_the_page(found):
    html = render(found, "largemargin compare x")
    for text in ("6.00 %", "1.25 to 16.55", "0.25 (xi-alpha)", "1 of 2 settings tried in time",
                 "no result after 5 s", "a &lt;warning&gt;", "held out", "80 rows of the training",
                 "up to 1 other machine ran", "below 50 ms it is the time by the clock",
                 "d&lt;a&gt;ta"):  # fmt: skip
        assert text in html
    assert "<a>ta" not in html


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": "log"}, "scale must be one of minmax, standard, none, got 'log'"),
        ({"max_seconds": 0}, "max_seconds must be a positive number, got 0"),
        ({"search_rows": 0}, "search_rows must be at least 1, got 0"),
        ({"folds": 1}, "folds must be at least 2, got 1"),
        ({"folds": 40}, r"has 38 rows to train on of the class 0, fewer than the 40 folds"),
        ({"folds": 40, "label": "kind"}, r"of the class 0 of the column 'kind', fewer"),
    ],
)
def test_bad_tasks(options, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        make_task("iris", X, y, **options)


def test_the_picture(found):
    results = [
        replace(found.results[1], title=f"SVC{k}", fit_seconds=0.01 * 3**k, error=ErrorRate(k, 50))
        for k in range(4)
    ]
    found = replace(found, results=(*results, found.results[0]))
    drawn = draw(found, 0.2)
    ET.fromstring(drawn)
    assert drawn.count('class="machine ours"') == 4
    assert all(f">SVC{k}</text>" in drawn for k in range(4))
    places = [
        tuple(map(float, p)) for p in re.findall(r"translate\(([\d.]+) ([\d.]+)\)\" d", drawn)
    ]
    assert places == sorted(places, key=lambda p: (p[0], -p[1]))  # slower and worse, up and right
    assert places[1][0] - places[0][0] == pytest.approx(places[3][0] - places[2][0], abs=0.2)
    assert draw(replace(found, results=()), 0.2) == ""
    failed = replace(results[0], title="Far", error=ErrorRate(45, 50))
    far = replace(found, results=(*results, failed))
    assert [r.title for r in beyond(far, widest_error(far))] == ["Far"]
    assert "Above the picture: Far 90.0 %" in render(far)


def test_names_in_the_picture_do_not_hide_each_other(found):
    same = [replace(found.results[1], title=f"Machine{k}") for k in range(9)]
    drawn = draw(replace(found, results=tuple(same)), 0.2)
    boxes = re.findall(r'<text class="name (\w*)" x="([\d.]+)" y="([\d.]+)">Machine', drawn)
    assert 1 < len(boxes) < 9
    assert len(set(boxes)) == len(boxes)


def test_the_table_that_fills(found):
    out = io.StringIO()
    console = Console(file=out, width=80, height=30, force_terminal=True)
    bad, good = found.results
    with FillingTable(3, console) as table:
        table.told(0, "MIRA", "searching")
        table.heard(bad)
        table.heard(replace(good, title="Worse", error=ErrorRate(9, 50)))
        table.heard(good)
        with console.capture() as shown:
            console.print(table.drawn())
    text = re.sub("\x1b[^m]*m", "", shown.get())
    assert text.index("SVC ") < text.index("Worse") < text.index("LinearSVC")
    assert "3 of 3 machines measured. MIRA: searching" in text
    assert max(map(len, text.splitlines())) <= 80


def test_more_than_two_classes_are_compared_in_the_best_form():
    def forms(n_classes):
        found = candidates("rbf", 1.0, ["svc", "nu-svc", "mira"], n_classes)
        return {c.title: c.grid.get("multiclass") for c in found}

    assert forms(3) == {
        "SVC": ["ovr", "ovo", "crammer-singer"], "NuSVC": ["ovr", "ovo"], "MIRA": None,
        "SVC (scikit-learn)": None,
    }  # fmt: skip
    assert set(forms(2).values()) == {None}
    machines = {c.title: c for c in candidates("rbf", 1.0, n_classes=3)}
    for name, known in MULTICLASS.items():
        assert machines[name].settings[0]["multiclass"] == "ovr"
        assert all(machines[name].make({"multiclass": form}, 0) for form in known)


def test_bad_machines():
    with pytest.raises(ValueError, match="there is no machine 'forest'; there are ALMA"):
        candidates("rbf", 1.0, ["svc", "forest"])
    with pytest.raises(ValueError, match="kernel must be one of rbf"):
        candidates("cosine", 1.0)


def test_the_kernels_of_a_comparison():
    """Every positive definite one that is a function of rows; the help names them too."""
    definite = {name for name in KERNEL_NAMES if make_kernel(name, gamma=1.0).psd}
    assert set(KERNELS) == definite
    (kernel,) = get_type_hints(compare_command, include_extras=True)["kernel"].__metadata__
    assert set(re.findall(r"\w+", kernel.help.split(": ")[1])) - {"or"} == set(KERNELS)
