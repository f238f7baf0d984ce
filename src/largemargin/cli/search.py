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
from largemargin.cli.output import note
from largemargin.cli.tabulating import emit_table
from largemargin.report.fit.search import SCORINGS, searched
from largemargin.runtime.progress import Watch
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
    estimator: Any,
    X: Any,
    y: Any,
    grid: dict[str, list[Any]],
    *,
    seed: int,
    scoring: str = "error",
    verbose: int = 0,
) -> tuple[dict[str, Any], bool]:
    """The cross-validated error of every setting, and the best; of equals, the first. Also whether
    Ctrl-C ended the search, which it does with the settings done so far, if there are any.
    """
    from sklearn.model_selection import ParameterGrid

    _check_grid(grid, final_step(estimator).get_params())
    folds, settings = _folds(y, seed), list(ParameterGrid(grid))
    table: list[dict[str, Any]] = []
    interrupted = False
    with (
        _hard_interrupts(),
        Watch(
            "cross-validation", len(settings) * len(folds), verbose=verbose, interruptible=False
        ) as watch,
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        try:
            for setting in settings:
                table.append(_tried(estimator, setting, X, y, folds, scoring, watch))
        except KeyboardInterrupt:
            if not table:
                raise
            interrupted = True
            note(
                f"warning: the search was interrupted after {len(table)} of {len(settings)} "
                "settings; training with the best of them"
            )
    _tell(caught)
    best = min(table, key=lambda row: row["mean"])
    found = {"chosen": best["parameters"], "folds": len(folds), "table": table}
    return {**found, "scoring": scoring}, interrupted


def _check_grid(grid: dict[str, list[Any]], known: dict[str, Any]) -> None:
    if "calibrate" in grid:
        raise ValueError("--cv calibrate: it does not change a prediction; use --calibrate")
    for name in grid:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ValueError(
                f"--cv {name}: there is no such parameter; there are {', '.join(known)}{hint}"
            )


def _folds(y: Any, seed: int) -> list[Any]:
    """The rows to train and to test on, for each fold; every class is in each."""
    import numpy as np
    from sklearn.model_selection import StratifiedKFold

    smallest = np.unique(y, return_counts=True)[1].min()
    if smallest < 2:
        raise ValueError("--cv needs at least two examples of each class")
    splits = StratifiedKFold(min(FOLDS, int(smallest)), shuffle=True, random_state=seed)
    return list(splits.split(np.zeros(len(y)), y))


def _tried(
    estimator: Any, setting: dict[str, Any], X: Any, y: Any, folds: list[Any], scoring: str,
    watch: Watch,
) -> dict[str, Any]:  # fmt: skip
    """The errors of one setting on all folds."""
    import numpy as np
    from sklearn.base import clone

    start, errors = time.perf_counter(), []
    for train, test in folds:
        model = clone(estimator)
        final = final_step(model).set_params(**setting)
        if "calibrate" in final.get_params():
            final.set_params(calibrate=False)  # errors need no probabilities
        pairwise = getattr(model, "kernel", None) == "precomputed"
        X_train = X[np.ix_(train, train)] if pairwise else X[train]
        X_test = X[np.ix_(test, train)] if pairwise else X[test]
        model.fit(X_train, y[train])
        errors.append(loss(scoring, model, X_test, y[test]))
        watch.advance(1)
    return {
        "parameters": setting, "mean": float(np.mean(errors)),
        "spread": float(np.std(errors, ddof=1)), "errors": errors,
        "seconds": time.perf_counter() - start,
    }  # fmt: skip


def loss(scoring: str, model: Any, X: Any, y: Any) -> float:
    """What the search makes small, on rows that a model was not trained on.

    >>> class Guess:
    ...     classes_ = [0, 1]
    ...     predict = staticmethod(lambda X: [0 for _ in X])
    >>> loss("error", Guess, [1, 2, 3, 4], [0, 0, 0, 1])
    0.25
    >>> loss("balanced", Guess, [1, 2, 3, 4], [0, 0, 0, 1])
    0.5
    """
    import numpy as np
    from sklearn import metrics

    if scoring == "auc":
        scores = np.asarray(model.decision_function(X))
        if scores.ndim == 1:
            return 1.0 - float(metrics.roc_auc_score(y, scores))
        columns = zip(model.classes_, scores.T, strict=True)
        by_class = [metrics.roc_auc_score(y == label, values) for label, values in columns]
        return 1.0 - float(np.mean(by_class))
    answers = model.predict(X)
    if scoring == "balanced":
        return 1.0 - float(metrics.balanced_accuracy_score(y, answers))
    if scoring == "f1":
        return 1.0 - float(metrics.f1_score(y, answers, average="macro", zero_division=0.0))
    return float((np.asarray(answers) != np.asarray(y)).mean())


def check_scoring(scoring: str, cv: Sequence[str] | None) -> None:
    if scoring not in SCORINGS:
        raise ValueError(f"--scoring must be one of {', '.join(SCORINGS)}, got {shown(scoring)}")
    if scoring != "error" and not cv:
        raise ValueError("--scoring says what --cv makes small: give both options")


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
    columns = ["", *names, searched(found), "spread", "seconds"]
    titled = f"{title}, {found['folds']} folds"
    emit_table(columns, rows, title=titled, right=True, drop=("seconds", "spread"))


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
