"""Measuring one machine: search, training, test, size, certificate.

The search may take half of the processor time that there is. It tries settings in their order; one
counts when all its folds are done, and of equal errors the first is taken. If not even the first is
done in time, it is taken unsearched.
"""

from __future__ import annotations

import contextlib
import pickle
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from largemargin.base.labels import numbers_in
from largemargin.base.pipelines import before_final_step
from largemargin.compare.candidates import OURS, Candidate
from largemargin.compare.results import Certified, Result
from largemargin.compare.task import Task
from largemargin.report.intervals import ErrorRate
from largemargin.report.measures import Measures
from largemargin.report.measures import measure as measure_answers

SEARCH_SHARE = 0.5
SHORT_SECONDS = (
    0.05  # below which the clock of a processor, which may tick every 10 ms, is too coarse
)
WARM_UP_ROWS = 100  # rows of the first fit, which loads compiled code so that no later one does

Tell = Callable[[str, Result], None]


class Stopwatch:
    """How long it is since now: of a processor, and by the clock."""

    def __init__(self) -> None:
        self._processor, self._clock = time.process_time(), time.perf_counter()

    @property
    def processor(self) -> float:
        return time.process_time() - self._processor

    @property
    def clock(self) -> float:
        return time.perf_counter() - self._clock

    @property
    def taken(self) -> float:
        """Of a processor; what is too short for its clock, by the other one."""
        processor = self.processor
        return processor if processor >= SHORT_SECONDS else self.clock

    def by_the_clock(self, seconds: float) -> float:
        """What so much of a processor is on a computer that stays as busy as it was."""
        return max(seconds, 1e-3) * (max(1.0, self.clock / self.processor) if self.processor else 1)


def new_result(candidate: Candidate) -> Result:
    return Result(
        candidate.title, candidate.library, candidate.name, candidate.fixed,
        settings=len(candidate.settings),
    )  # fmt: skip


def measure(task: Task, candidate: Candidate, tell: Tell) -> Result:
    """Everything, telling what is known after each step."""
    result = new_result(candidate)
    warm_up(task, candidate)
    watch = Stopwatch()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a setting that is not chosen need not be told of
        search(task, candidate, result, watch, tell)
    tell("training", result)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = train(task, candidate, result, watch)
    result.notes = tuple(dict.fromkeys(" ".join(str(w.message).split()) for w in caught))
    result.seconds = watch.clock
    if candidate.library == OURS:
        tell("certifying", result)
        certify(task, model, result)
    result.seconds, result.processor_seconds = watch.clock, watch.processor
    return result


def warm_up(task: Task, candidate: Candidate) -> None:
    """Fit a few rows, so that compiled code is loaded, or compiled if this is its first use."""
    rows = np.random.default_rng(task.seed).permutation(len(task.y))[:WARM_UP_ROWS]
    if len(np.unique(task.y[rows])) < 2:
        return
    model = task.pipeline(candidate.make(candidate.settings[0], task.seed))
    with warnings.catch_warnings(), contextlib.suppress(ValueError):
        # whatever is wrong with a few rows: it is said of all of them, if it is so there
        warnings.simplefilter("ignore")
        model.fit(task.X[rows], task.y[rows]).predict(task.X_test)


def search(task: Task, candidate: Candidate, result: Result, watch: Stopwatch, tell: Tell) -> None:
    """Note the best setting and its cross-validated error."""
    settings = candidate.settings
    result.chosen = settings[0]
    if len(settings) == 1:
        return
    splits = task.splits()
    tell("searching", result)
    for setting in settings:
        tell(f"searching, setting {result.searched + 1} of {len(settings)}", result)
        error = cross_validated(task, candidate, setting, splits, watch)
        if error is None:
            break
        result.searched += 1
        if result.cv_error is None or error < result.cv_error:
            result.chosen, result.cv_error = setting, error


def cross_validated(
    task: Task, candidate: Candidate, setting: dict[str, Any], splits: Any, watch: Stopwatch
) -> float | None:
    """The mean error over the folds; None if time is up. A setting that is refused is all wrong."""
    errors, most = [], SEARCH_SHARE * task.max_seconds
    for rows, others in splits:
        remaining = most - watch.processor
        if remaining <= 0:
            return None
        machine = _limited(candidate.make(setting, task.seed), watch.by_the_clock(remaining))
        model = task.pipeline(machine)
        try:
            model.fit(task.X[rows], task.y[rows])
        except ValueError:
            return 1.0
        errors.append(float((model.predict(task.X[others]) != task.y[others]).mean()))
    return None if watch.processor > most else float(np.mean(errors))


def train(task: Task, candidate: Candidate, result: Result, watch: Stopwatch) -> Any:
    """Fit with the chosen setting, and test."""
    remaining = watch.by_the_clock(0.9 * (task.max_seconds - watch.processor))
    machine = _limited(candidate.make(result.chosen, task.seed), remaining)
    model = task.pipeline(machine)
    fitting = Stopwatch()
    model.fit(task.X, task.y)
    result.fit_seconds = fitting.taken
    predicting = Stopwatch()
    predicted = model.predict(task.X_test)
    result.predict_seconds = predicting.taken
    result.error = ErrorRate(int((predicted != task.y_test).sum()), len(task.y_test))
    result.measures = _measures(model, task, predicted)
    result.support_vectors = _n_support(model[-1])
    result.size = _size(model, candidate)
    return model


def _measures(model: Any, task: Task, predicted: np.ndarray) -> Measures:
    """Balanced error, recalls and AUC; peers may have no decision values."""
    classes = np.unique(task.y)
    scores = model.decision_function(task.X_test) if len(classes) == 2 else None
    truth, answers = numbers_in(classes, task.y_test), numbers_in(classes, predicted)
    return measure_answers(truth, answers, classes, scores)


def certify(task: Task, model: Any, result: Result) -> None:
    begun = time.perf_counter()
    X = before_final_step(model, task.X)
    found = model[-1].certificate(X, task.y, leave_one_out=False)  # that is no bound
    bounds = [s for s in found if s.bounds_error and s.applies and not s.vacuous]
    if bounds:
        best = min(bounds, key=lambda s: s.value)
        result.certificate = Certified(best.name, float(best.value), best.kind, best.sentence)
    result.certificate_seconds = time.perf_counter() - begun


def _limited(machine: Any, seconds: float) -> Any:
    """The machine with a time limit, if it can have one."""
    if "max_seconds" in machine.get_params(deep=False):
        machine.set_params(max_seconds=seconds)
    return machine


def _n_support(machine: Any) -> int | None:
    n = getattr(machine, "n_support_", None)
    return None if n is None else int(np.sum(n))


def _size(model: Any, candidate: Candidate) -> int:
    """Bytes of the model file; of a peer, which has none, of its pickle."""
    if candidate.library != OURS:
        return len(pickle.dumps(model))
    from largemargin.model_file import save

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.safetensors"
        save(model, file)
        return file.stat().st_size
