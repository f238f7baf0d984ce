"""Each machine in a process of its own, which is ended when its time is up.

That time is the processor's, so that what else the computer does decides little.

A library without a time limit cannot be stopped in any other way, and a crash of one machine is
then not the end of the others. Several run at a time, on one thread each. Processes start from a
small server that has imported the libraries and has no threads, where the system has such a thing.

On a cluster each machine is a task, which starts its process beside the worker.
"""

from __future__ import annotations

import contextlib
import multiprocessing as mp
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from largemargin.base.labels import numbers_in
from largemargin.compare.candidates import OURS, Candidate
from largemargin.compare.measuring import measure, new_result
from largemargin.compare.results import INTERRUPTED, Comparison, Result
from largemargin.compare.task import Task
from largemargin.report.machine import describe_machine
from largemargin.report.measures import measure as measure_answers
from largemargin.runtime.threads import count_workers

MOST_AT_ONCE = 4  # each holds its own data and kernel values
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
DONE = "done"
OUT_OF_TIME = getattr(signal, "SIGXCPU", 0)  # what ends a process that used up its time
POLL_SECONDS = 0.2  # time between two looks at whether to stop
# what a machine may take by the clock, as a multiple of its processor time
CLOCK_FACTOR = 5.0
GRACE_SECONDS = 2.0  # time for a machine that keeps the limit itself to say what it found
START_SECONDS = 300.0  # time to start, to read the data, and to compile at the very first use

Progress = Callable[[int, str, str], None]
Tell = Callable[[str], None]
Heard = Callable[[Result], None] | None


def compare(
    task: Task,
    machines: Sequence[Candidate],
    progress: Progress | None = None,
    at_once: int | None = None,
    client: Any = None,
    heard: Heard = None,
) -> Comparison:
    """Measure each machine, `at_once` of them at a time and each on one thread.

    `progress` is told how many are done, which one is on, and its stage, and `heard` what was found
    of each machine as soon as it is known. Ctrl-C ends the comparison
    with the machines done so far, if there are any. With a `client` they are measured on the
    workers of its cluster, as many at a time as these have threads.
    """
    start = time.perf_counter()
    tellers = _tellers(machines, progress)
    if client is None:
        at_once = max(1, min(at_once or min(count_workers(-1), MOST_AT_ONCE), len(machines)))
        computer = describe_machine()
        found = _measured_here(task, machines, tellers, at_once, heard)
    else:
        at_once = min(sum(client.nthreads().values()), len(machines))
        computer = "; ".join(dict.fromkeys(client.run(describe_machine).values()))
        found = _measured_on_workers(task, machines, tellers, client, heard)
    return Comparison(
        task.name, len(task.y), len(task.y_test), task.X.shape[1], task.n_classes,
        task.held_out, task.scale, task.folds, len(task.sample()), task.seed, task.max_seconds,
        at_once, time.perf_counter() - start, computer, tuple(found), **_guess(task),
    )  # fmt: skip


def _guess(task: Task) -> dict[str, Any]:
    """What always answering with the commonest class of the test set would be worth."""
    classes = np.unique(task.y)
    truth = numbers_in(classes, task.y_test)
    commonest = np.bincount(truth[truth >= 0], minlength=len(classes)).argmax()
    found = measure_answers(truth, np.full(len(truth), commonest), classes)
    return {
        "guess_errors": found.rate.errors, "commonest": found.commonest,
        "imbalanced": found.imbalanced, "label": task.label,
    }  # fmt: skip


def _measured_here(
    task: Task, machines: Sequence[Candidate], tellers: list[Tell], at_once: int, heard: Heard
) -> list[Result]:
    stop = threading.Event()

    def measured(file: Path, candidate: Candidate, tell: Tell) -> Result:
        result = _measure_apart(file, task.max_seconds, candidate, tell, stop)
        if heard and result.trouble != INTERRUPTED:
            heard(result)
        return result

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(at_once) as pool:
        file = _put(task, Path(folder))
        found = [
            pool.submit(measured, file, candidate, tell)
            for candidate, tell in zip(machines, tellers, strict=True)
        ]
        try:
            while wait(found, POLL_SECONDS).not_done:  # Ctrl-C is heard between two waits
                pass
        except KeyboardInterrupt:
            stop.set()
            if all(one.result().trouble == INTERRUPTED for one in found):
                raise
        return [one.result() for one in found]


def _measured_on_workers(
    task: Task, machines: Sequence[Candidate], tellers: list[Tell], client: Any, heard: Heard
) -> list[Result]:
    from largemargin.dask.spreading import spread

    found = [replace(new_result(candidate), trouble=INTERRUPTED) for candidate in machines]
    n_done = 0
    try:
        for k, result in spread(client, partial(_measure_there, task), machines, "compare"):
            found[k] = result
            n_done += 1
            tellers[k](DONE)
            if heard:
                heard(result)
    except KeyboardInterrupt:
        if not n_done:
            raise
    return found


def _measure_there(task: Task, candidate: Candidate) -> Result:
    """On a worker, which as a daemonic process may have no children unless it is told so. This one
    has an end, and is waited for.
    """
    worker = mp.current_process()
    if worker.daemon:
        worker.daemon = False
    with tempfile.TemporaryDirectory() as folder:
        file = _put(task, Path(folder))
        never, silent = threading.Event(), lambda stage: None
        return _measure_apart(file, task.max_seconds, candidate, silent, never)


def _tellers(machines: Sequence[Candidate], progress: Progress | None) -> list[Tell]:
    """For each machine, what tells its stage together with how many are done."""
    lock, done = threading.Lock(), 0

    def tell(title: str, stage: str) -> None:
        nonlocal done
        with lock:
            done += stage == DONE
            if progress:
                progress(done, title, stage)

    return [partial(tell, candidate.title) for candidate in machines]


def _measure_apart(
    file: Path, max_seconds: float, candidate: Candidate, tell: Tell, stop: threading.Event
) -> Result:
    """What a process finds, or found until its time was up."""
    context = _context()
    known = new_result(candidate)
    if stop.is_set():
        return replace(known, trouble=INTERRUPTED)
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(file, candidate, theirs), daemon=True)
    process.start()
    theirs.close()
    left, begun = START_SECONDS, False
    try:
        while True:
            looked = time.perf_counter()
            while not ours.poll(POLL_SECONDS):
                if stop.is_set():
                    return replace(known, trouble=INTERRUPTED)
                # a computer that slept meanwhile is no fault of the machine
                left -= min(time.perf_counter() - looked, 2 * POLL_SECONDS)
                looked = time.perf_counter()
                if left <= 0:
                    return _out_of_time(known, f"{CLOCK_FACTOR * max_seconds:g} s by the clock")
            try:
                stage, known = ours.recv()
            except EOFError:
                process.join()
                if process.exitcode == -OUT_OF_TIME:
                    return _out_of_time(known, f"{max_seconds:g} s")
                return replace(known, trouble=f"its process ended with code {process.exitcode}")
            if stage == DONE:
                found: Result = known
                return found
            if not begun and _counts(stage, candidate):
                left, begun = CLOCK_FACTOR * max_seconds + GRACE_SECONDS, True
            tell(stage)
    finally:
        process.kill()
        process.join()
        ours.close()
        tell(DONE)


def _counts(stage: str, candidate: Candidate) -> bool:
    """What is compiled at its very first use is ours, and is not the machine's time."""
    return stage != "starting" or candidate.library != OURS


def _out_of_time(known: Result, limit: str) -> Result:
    what = "no certificate" if known.error else "no result"
    return replace(known, trouble=f"{what} after {limit}")


def _limit_processor_time(seconds: float) -> None:
    """Have the system end this process when it has used so much more of a processor; where the
    system cannot do that, the clock alone decides.
    """
    try:
        import resource
    except ImportError:
        return
    limit = ceil(time.process_time() + seconds)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    if most == resource.RLIM_INFINITY or limit < most:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, most))


def _work(file: Path, candidate: Candidate, pipe: Any) -> None:
    """What the process does, without a word if the comparison has ended meanwhile."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    with contextlib.suppress(FileNotFoundError, BrokenPipeError):
        _measure_here(file, candidate, pipe)


def _measure_here(file: Path, candidate: Candidate, pipe: Any) -> None:
    """Read the data, measure, tell."""
    import joblib
    from threadpoolctl import threadpool_limits

    # one thread for everybody: that is fair, and threads of BLAS that wait for each other on a
    # busy computer take a hundred times as long as one alone
    os.environ.update(dict.fromkeys(THREADS, "1"))
    threadpool_limits(1)
    task = joblib.load(file)
    known, limited = new_result(candidate), False

    def tell(stage: str, result: Result) -> None:
        nonlocal known, limited
        known = result
        if not limited and _counts(stage, candidate):
            _limit_processor_time(task.max_seconds + GRACE_SECONDS)
            limited = True
        pipe.send((stage, result))

    tell("starting", known)
    try:
        result = measure(task, candidate, tell)
    except Exception as error:
        result = replace(known, trouble=" ".join(str(error).split()) or type(error).__name__)
    pipe.send((DONE, result))
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
