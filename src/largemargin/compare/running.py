"""Each machine in a process of its own, which is ended when its time is up.

A library without a time limit cannot be stopped in any other way, and a crash of one machine is
then not the end of the others. Processes start from a small server that has imported the libraries
and has no threads, where the system has such a thing.
"""

from __future__ import annotations

import contextlib
import multiprocessing as mp
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from largemargin.compare.candidates import OURS, Candidate
from largemargin.compare.content import Comparison, Result
from largemargin.compare.measuring import measure, new_result
from largemargin.compare.task import Task
from largemargin.report.machine import describe_machine

GRACE = 2.0  # seconds for a machine that keeps the limit itself to say what it found
START = 300.0  # seconds to start, to read the data, and to compile at the very first use

Progress = Callable[[int, str, str], None]


def compare(
    task: Task, machines: Sequence[Candidate], progress: Progress | None = None
) -> Comparison:
    """Measure each machine; `progress` is told how many are done, which one is on, and its stage.

    Ctrl-C ends the comparison with the machines done so far, if there are any.
    """
    start = time.perf_counter()
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as folder:
        file = _put(task, Path(folder))
        for i, candidate in enumerate(machines):
            try:
                results.append(_measure_apart(file, task.max_seconds, candidate, i, progress))
            except KeyboardInterrupt:
                if not results:
                    raise
                left = [replace(new_result(c), trouble="interrupted") for c in machines[i:]]
                results += left
                break
    return Comparison(
        task.name, len(task.y), len(task.y_test), task.X.shape[1], len(np.unique(task.y)),
        task.held_out, task.scale, task.folds, task.seed, task.max_seconds,
        time.perf_counter() - start, describe_machine(), tuple(results),
    )  # fmt: skip


def _measure_apart(
    file: Path, max_seconds: float, candidate: Candidate, place: int, progress: Progress | None
) -> Result:
    """What a process finds, or found until its time was up."""
    context = _context()
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(file, candidate, theirs), daemon=True)
    process.start()
    theirs.close()
    known, until, begun = new_result(candidate), time.perf_counter() + START, False
    try:
        while True:
            if not ours.poll(max(until - time.perf_counter(), 0.0)):
                return _out_of_time(known, max_seconds)
            try:
                stage, known = ours.recv()
            except EOFError:
                process.join()
                return replace(known, trouble=f"its process ended with code {process.exitcode}")
            if stage == "done":
                return known
            # what is compiled at its very first use is ours, and is not the machine's time
            if not begun and (stage != "starting" or candidate.library != OURS):
                until, begun = time.perf_counter() + max_seconds + GRACE, True
            if progress:
                progress(place, candidate.title, stage)
    finally:
        process.kill()
        process.join()
        ours.close()


def _out_of_time(known: Result, max_seconds: float) -> Result:
    what = "no certificate" if known.error else "no result"
    return replace(known, seconds=max_seconds, trouble=f"{what} after {max_seconds:g} s")


def _work(file: Path, candidate: Candidate, pipe: Any) -> None:
    """What the process does, without a word if the comparison has ended meanwhile."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    with contextlib.suppress(FileNotFoundError, BrokenPipeError):
        _measure_here(file, candidate, pipe)


def _measure_here(file: Path, candidate: Candidate, pipe: Any) -> None:
    """Read the data, measure, tell."""
    import joblib

    task = joblib.load(file)
    known = new_result(candidate)

    def tell(stage: str, result: Result) -> None:
        nonlocal known
        known = result
        pipe.send((stage, result))

    tell("starting", known)
    try:
        result = measure(task, candidate, tell)
    except Exception as error:
        result = replace(known, trouble=" ".join(str(error).split()) or type(error).__name__)
    pipe.send(("done", result))
    pipe.close()


def _put(task: Task, folder: Path) -> Path:
    """The task in a file that every process reads."""
    import joblib

    file = folder / "task.joblib"
    joblib.dump(task, file)
    return file


def _context() -> Any:
    if "forkserver" not in mp.get_all_start_methods():
        return mp.get_context("spawn")
    context = mp.get_context("forkserver")
    context.set_forkserver_preload(
        ["largemargin.compare.measuring", "sklearn.svm", "sklearn.linear_model", "joblib", "numba"]
    )
    return context
