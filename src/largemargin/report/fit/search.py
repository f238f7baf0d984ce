"""What a search found: its table, the error over one parameter, and the surface over two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.report.charts import Curve, LineChart

ACCURACY = (None, "accuracy")  # what a search of scikit-learn counts, if it counts errors


# What a search may make small.
SCORINGS = {
    "error": "mean error",
    "balanced": "mean balanced error",
    "auc": "mean 1 - AUC",
    "f1": "mean 1 - F1",
}


@dataclass(frozen=True)
class Surface:
    """What the search made small, over two parameters, the smallest over the others.

    `cells` has a row for each value of `up`: the error and a depth of colour from 0 to 1, or None.
    """

    across: str
    up: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[float, float, bool] | None, ...]], ...]


def search_notes(search: Any) -> dict[str, Any] | None:
    """What a search of scikit-learn found, as `largemargin train --cv` notes it; None if it did not
    count errors, or looked at one setting only.
    """
    found = getattr(search, "cv_results_", None)
    if (
        found is None
        or getattr(search, "scoring", None) not in ACCURACY
        or len(found["params"]) < 2
    ):
        return None
    table = [
        {"parameters": {k.rpartition("__")[2]: v for k, v in parameters.items()}, "mean": 1 - score,
         "spread": float(spread), "seconds": float(fit + asked)}
        for parameters, score, spread, fit, asked in zip(
            found["params"], found["mean_test_score"].tolist(), found["std_test_score"],
            found["mean_fit_time"], found["mean_score_time"], strict=True)
    ]  # fmt: skip
    if not all(np.isfinite(row["mean"]) for row in table):
        return None
    return {"table": table, "chosen": table[search.best_index_]["parameters"],
            "folds": int(search.n_splits_)}  # fmt: skip


def searched(cv: dict[str, Any]) -> str:
    """What a search made small."""
    return SCORINGS.get(str(cv.get("scoring", "error")), SCORINGS["error"])


def search_chart(cv: Any) -> LineChart | None:
    """The cross-validated error over a parameter that is a number, a line for each setting of the
    others: the path of regularisation, where that is what was searched."""
    table = cv["table"]
    names = [name for name in table[0]["parameters"] if _is_numeric(table, name)]
    if not names:
        return None
    along = max(names, key=lambda name: (name in ("C", "nu", "lam"), len(_values(table, name))))
    lines: dict[str, list[tuple[float, float, float]]] = {}
    for row in table:
        others = {k: v for k, v in row["parameters"].items() if k != along}
        name = ", ".join(f"{k} {_short(v)}" for k, v in others.items()) or searched(cv)
        point = (float(row["parameters"][along]), 100 * row["mean"], 100 * row["spread"])
        lines.setdefault(name, []).append(point)
    curves = []
    for name, points in lines.items():
        x, y, spread = zip(*sorted(points), strict=True)
        curves.append(Curve(name, x, y, spread=spread if len(lines) == 1 else ()))
    values = _values(table, along)
    chosen = ", ".join(f"{k} {_short(v)}" for k, v in cv["chosen"].items())
    best = min(row["mean"] for row in table)
    says = (
        f"The {searched(cv)} of {cv['folds']} folds for each {along}; the best is "
        f"{100 * best:.2f} %, "
        f"with {chosen}."
    )
    return LineChart(
        "search", f"Path over {along}", along, f"{searched(cv)}, %", tuple(curves), says,
        log_x=min(values) > 0 and max(values) >= 8 * min(values), notes=(says,),
    )  # fmt: skip


def _values(table: Any, name: str) -> set[float]:
    return {float(row["parameters"][name]) for row in table}


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if np.isfinite(value) else None


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def surface_of(cv: Any) -> Surface | None:
    """None unless two parameters have several values each."""
    table = cv["table"]
    names = [n for n in table[0]["parameters"] if len({str(r["parameters"][n]) for r in table}) > 1]
    if len(names) < 2:
        return None
    names.sort(key=lambda name: -len({str(row["parameters"][name]) for row in table}))
    across, up = names[:2]
    best: dict[tuple[str, str], float] = {}
    order: dict[str, list[Any]] = {across: [], up: []}
    for row in table:
        key = _short(row["parameters"][across]), _short(row["parameters"][up])
        best[key] = min(best.get(key, np.inf), row["mean"])
        for name in (across, up):
            if row["parameters"][name] not in order[name]:
                order[name].append(row["parameters"][name])
    for name in (across, up):
        if _is_numeric(table, name):
            order[name].sort()
    low, high = min(best.values()), max(best.values())
    chosen = _short(cv["chosen"][across]), _short(cv["chosen"][up])

    def cell(key: tuple[str, str]) -> tuple[float, float, bool] | None:
        if key not in best:
            return None
        return best[key], (best[key] - low) / ((high - low) or 1.0), key == chosen

    columns = tuple(_short(value) for value in order[across])
    rows = tuple(
        (name, tuple(cell((column, name)) for column in columns))
        for name in (_short(value) for value in order[up])
    )
    return Surface(across, up, columns, rows)


def _is_numeric(table: Any, name: str) -> bool:
    """Whether a parameter has several values, all of which are numbers."""
    values = [_number(row["parameters"][name]) for row in table]
    return None not in values and len(set(values)) > 1
