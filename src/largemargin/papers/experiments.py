"""Finished experiments, one JSON file each, so that an interrupted run resumes.

A file holds the settings of the experiment and its results. It counts only if its settings are
exactly those asked for; one that is unreadable, or belongs to other settings, is run again and
replaced. A file is whole or it is not there.
"""

from __future__ import annotations

import datetime
import json
import subprocess
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from largemargin.data.dataset import Dataset
from largemargin.papers.rendering import make_folder
from largemargin.report.machine import describe_machine
from largemargin.runtime.files import write_atomically

FORMAT = 1
PARTS = ("settings", "results", "seconds", "machine", "date")


class Identified(Protocol):
    """What identifies an experiment: the name of its file, and its settings."""

    @property
    def file_name(self) -> str: ...

    def as_json(self) -> dict[str, Any]: ...


class Store:
    """A folder of finished experiments."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        make_folder(folder)

    def load(self, settings: Identified) -> dict[str, Any] | None:
        """The experiment with these settings, or None if it has to be run."""
        try:
            found = json.loads((self.folder / settings.file_name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            return None
        whole = all(part in found for part in PARTS) and found["settings"] == settings.as_json()
        return found if whole else None

    def save(
        self,
        settings: Identified,
        results: dict[str, Any],
        seconds: dict[str, float],
        machine: str | None = None,
    ) -> dict[str, Any]:
        """Keep an experiment that was finished on a machine, or here; returns what `load` would."""
        record = {
            "format": FORMAT,
            "settings": settings.as_json(),
            "results": results,
            "seconds": {name: round(value, 3) for name, value in seconds.items()},
            "machine": machine or describe_machine(),
            "date": datetime.date.today().isoformat(),
            "commit": describe_commit(),
        }
        write_atomically(self.folder / settings.file_name, [json.dumps(record).encode()])
        return record


def run_missing(
    store: Store,
    wanted: Iterable[Any],
    run: Callable[[Any], tuple[dict[str, Any], dict[str, float]]],
    *,
    name: Callable[[Any], str],
    cost: Callable[[Any], float],
    progress: bool,
    processes: int = 1,
    client: Any = None,
) -> list[dict[str, Any]]:
    """The experiments in `wanted`, running those that the store does not have.

    `cost` is an estimate of the work of an experiment in any unit, for the time left. With several
    processes that many experiments run at the same time, each with one thread; with a `client`, as
    many as the workers of its cluster have threads. They are kept as soon as they finish, here.
    """
    wanted = list(wanted)
    done = {settings: store.load(settings) for settings in wanted}
    missing = [settings for settings in wanted if done[settings] is None]
    with _Bar(len(wanted), len(missing), sum(map(cost, missing)), progress) as bar:
        begin = lambda settings: bar.begin(name(settings))  # noqa: E731
        if client is not None and missing:
            found = _on_workers(run, missing, client, begin)
        else:
            found = _outcomes(run, missing, processes, begin)
        for settings, (results, seconds), machine in found:
            done[settings] = store.save(settings, results, seconds, machine)
            bar.finish(cost(settings))
    return [record for record in done.values() if record is not None]


def _outcomes(
    run: Callable[[Any], Any], missing: list[Any], processes: int, begin: Callable[[Any], None]
) -> Iterator[tuple[Any, Any, str | None]]:
    """The experiments with what they gave, as they finish; `begin` is told of each start."""
    if processes == 1 or len(missing) < 2:
        for settings in missing:
            begin(settings)
            yield settings, run(settings), None
        return
    from joblib import Parallel, delayed

    def dispatched() -> Iterator[Any]:
        for place, settings in enumerate(missing):
            begin(settings)
            yield delayed(_numbered)(run, place, settings)

    # loky keeps each process to its share of the cores; a killed one is an error, not a wait
    pool = Parallel(n_jobs=processes, return_as="generator_unordered", pre_dispatch=processes)
    for place, outcome in pool(dispatched()):
        yield missing[place], outcome, None


def _on_workers(
    run: Callable[[Any], Any], missing: list[Any], client: Any, begin: Callable[[Any], None]
) -> Iterator[tuple[Any, Any, str | None]]:
    """The same from the workers of a cluster, with the machine of each; told when they are done."""
    from largemargin.dask.spreading import spread

    for place, (outcome, machine) in spread(client, partial(_there, run), missing, "experiment"):
        begin(missing[place])
        yield missing[place], outcome, machine


def _there(run: Callable[[Any], Any], settings: Any) -> tuple[Any, str]:
    return run(settings), describe_machine()


def _numbered(run: Callable[[Any], Any], place: int, settings: Any) -> tuple[int, Any]:
    return place, run(settings)


@cache
def describe_commit() -> str:
    """The commit of this code, and whether there are changes; elsewhere the release."""
    from largemargin import __version__

    def ask(*question: str) -> str:
        command = ["git", "-C", str(Path(__file__).parent), *question]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=10, check=True
        ).stdout.strip()

    try:
        commit = ask("rev-parse", "--short=10", "HEAD")
        return f"{commit} with changes" if ask("status", "--porcelain", ".") else commit
    except (OSError, subprocess.SubprocessError):
        return f"of release {__version__}"


def provenance(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What a report says of its experiments: how many, how long, when and on what."""
    days = sorted(record["date"] for record in records)
    commits = tuple(dict.fromkeys(record.get("commit", "") for record in records))
    return {
        "machines": tuple(dict.fromkeys(record["machine"] for record in records)),
        "dates": (days[0], days[-1]),
        "n_runs": len(records),
        "seconds": sum(sum(record["seconds"].values()) for record in records),
        "commits": commits if all(commits) else (),
    }


class _Bar:
    """Progress over experiments on stderr: which one is running, how many are done, time left."""

    def __init__(self, total: int, missing: int, work: float, show: bool) -> None:
        self._total, self._left = total, missing
        self._work, self._worked = work, 0.0
        self._show = show and missing > 0
        self._bar: Any = None

    def __enter__(self) -> _Bar:
        self._start = time.monotonic()
        if self._show:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

            self._bar = Progress(
                "{task.description}",
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                "{task.fields[left]}",
                console=Console(stderr=True),
            )
            self._task = self._bar.add_task(
                "", total=self._total, completed=self._total - self._left, left=""
            )
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def begin(self, name: str) -> None:
        if self._bar is not None:
            self._bar.update(self._task, description=name)

    def finish(self, worked: float) -> None:
        self._worked += worked
        if self._bar is not None:
            from largemargin.report.machine import duration

            spent = time.monotonic() - self._start
            left = spent * (self._work / self._worked - 1)
            self._bar.update(self._task, advance=1, left=f"about {duration(left)} left")


@contextmanager
def interruptions_raised() -> Iterator[None]:
    """Within it a fit that Ctrl-C cut short raises KeyboardInterrupt.

    Several estimators end their fit with a warning instead, and return what they have.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*interrupted")
        try:
            yield
        except Warning as warning:
            if "interrupted" not in str(warning):
                raise
            raise KeyboardInterrupt from warning


@dataclass(frozen=True, eq=False)
class Images:
    """A training and a test set, with what identifies them."""

    data: Dataset

    @cached_property
    def identity(self) -> dict[str, Any]:
        parts = (self.data.X, self.data.y, self.data.X_test, self.data.y_test)
        checksum = 0
        for part in parts:
            checksum = zlib.crc32(np.ascontiguousarray(part).data, checksum)
        return {
            "name": self.data.name,
            "n_train": self.n_train,
            "n_test": self.n_test,
            "checksum": checksum,
        }

    @property
    def n_train(self) -> int:
        return int(self.data.X.shape[0])

    @property
    def n_test(self) -> int:
        return int(self.data.X_test.shape[0])
