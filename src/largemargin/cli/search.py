"""`--cv`: choosing parameters by cross-validation on a grid."""

from __future__ import annotations

import signal
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from largemargin.base.pipelines import final_step
from largemargin.cli.output import emit_table, note
from largemargin.runtime.showing import percent, shown, text
from largemargin.runtime.suggesting import did_you_mean

FOLDS = 5


def parse_grid(texts: Sequence[str]) -> dict[str, list[Any]]:
    """`["degree=2,3", "gamma=0.1"]` as a grid.

    >>> parse_grid(["degree=2,3", "gamma=auto,0.1"])
    {'degree': [2, 3], 'gamma': ['auto', 0.1]}
    """
    grid: dict[str, list[Any]] = {}
    for given in texts:
        name, equals, values = given.partition("=")
        name = name.strip().lstrip("-").replace("-", "_")
        parsed = [_value(part.strip()) for part in values.split(",")]
        if not equals or not name or "" in parsed:
            raise ValueError(
                f"--cv must be NAME=V1,V2,... such as degree=2,3,4, got {shown(given)}"
            )
        if name in grid:
            raise ValueError(f"--cv names {name} twice: give all its values in one")
        grid[name] = parsed
    return grid


def _value(text: str) -> Any:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def search(
    estimator: Any, X: Any, y: Any, grid: dict[str, list[Any]], *, seed: int, progress: bool
) -> dict[str, Any]:
    """The cross-validated error of every setting, and the best; of equals, the first.

    Ctrl-C ends the search with the settings done so far, if there are any.
    """
    import numpy as np
    from sklearn.base import clone
    from sklearn.model_selection import ParameterGrid, StratifiedKFold

    final = final_step(estimator)
    if "calibrate" in grid:
        raise ValueError("--cv calibrate: it does not change a prediction; use --calibrate")
    for name in grid:
        if name not in final.get_params():
            known = ", ".join(final.get_params())
            hint = did_you_mean(name, final.get_params())
            raise ValueError(f"--cv {name}: there is no such parameter; there are {known}{hint}")
    smallest = np.unique(y, return_counts=True)[1].min()
    if smallest < 2:
        raise ValueError("--cv needs at least two examples of each class")
    splits = StratifiedKFold(min(FOLDS, int(smallest)), shuffle=True, random_state=seed)
    folds = list(splits.split(np.zeros(len(y)), y))
    settings = list(ParameterGrid(grid))
    # errors need no probabilities
    uncalibrated = {"calibrate": False} if "calibrate" in final.get_params() else {}
    table: list[dict[str, Any]] = []
    with (
        _hard_interrupts(),
        _bar(len(settings) * len(folds), progress) as advance,
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        try:
            for setting in settings:
                start = time.perf_counter()
                errors = []
                for train, test in folds:
                    model = clone(estimator)
                    final_step(model).set_params(**setting, **uncalibrated)
                    pairwise = getattr(model, "kernel", None) == "precomputed"
                    X_train = X[np.ix_(train, train)] if pairwise else X[train]
                    X_test = X[np.ix_(test, train)] if pairwise else X[test]
                    model.fit(X_train, y[train])
                    errors.append(float((model.predict(X_test) != y[test]).mean()))
                    advance()
                table.append(
                    {
                        "parameters": setting,
                        "mean": float(np.mean(errors)),
                        "spread": float(np.std(errors, ddof=1)),
                        "errors": errors,
                        "seconds": time.perf_counter() - start,
                    }
                )
        except KeyboardInterrupt:
            if not table:
                raise
            note(
                f"warning: the search was interrupted after {len(table)} of {len(settings)} "
                "settings; training with the best of them"
            )
    _tell(caught)
    best = min(table, key=lambda row: row["mean"])
    return {"chosen": best["parameters"], "folds": len(folds), "table": table}


def _tell(caught: list[warnings.WarningMessage]) -> None:
    """One line for all fits that were stopped early, and one for each other warning."""
    from sklearn.exceptions import ConvergenceWarning

    stopped = sum(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    if stopped:
        note(f"warning: {stopped} fits of the search stopped before they converged")
    others = (w for w in caught if not issubclass(w.category, ConvergenceWarning))
    for message in dict.fromkeys(" ".join(str(w.message).split()) for w in others):
        note(f"warning: {message}")


def emit_search(found: dict[str, Any], title: str = "cross-validation") -> None:
    """The settings with the mean and spread of their errors; a star at the one chosen."""
    names = list(found["table"][0]["parameters"])
    rows = [
        [
            "*" if row["parameters"] == found["chosen"] else "",
            *(text(row["parameters"][name]) for name in names),
            percent(row["mean"]),
            percent(row["spread"]),
            f"{row['seconds']:.2f}",
        ]
        for row in found["table"]
    ]
    columns = ["", *names, "mean error", "spread", "seconds"]
    emit_table(columns, rows, title=f"{title}, {found['folds']} folds", right=True)


@contextmanager
def _hard_interrupts() -> Iterator[None]:
    """Ctrl-C as an exception at once: an estimator would take it to mean this fold only."""

    def interrupt(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if ours:
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def _bar(total: int, shown: bool) -> Iterator[Any]:
    if not shown:
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("cross-validation", total=total)
        yield lambda: progress.advance(task)
