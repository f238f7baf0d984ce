"""Timing two things against each other: interleaved, best of several."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def best_of(repeats: int, *works: Callable[[], Any]) -> list[float]:
    """The least time of each, taking turns."""
    best = [float("inf")] * len(works)
    for _ in range(repeats):
        for i, work in enumerate(works):
            best[i] = min(best[i], seconds(work))
    return best


def row(what: str, ratio: float, limit: float, detail: str, **values: Any) -> dict[str, Any]:
    """A line of the table: a ratio that should not exceed its limit."""
    return {
        "what": what,
        "ratio": round(ratio, 3),
        "measured": f"{ratio:.2f} ({detail})",
        "wanted": f"<= {limit:g}",
        "held": bool(ratio <= limit),
        **values,
    }


def faster(what: str, ratio: float, least: float, detail: str, **values: Any) -> dict[str, Any]:
    """A line of the table: a ratio of speeds that should not be below its bar."""
    return {
        **row(what, ratio, least, detail, **values),
        "wanted": f">= {least:g}",
        "held": bool(ratio >= least),
    }


def failed(what: str, reason: str, wanted: str) -> dict[str, Any]:
    """A line of the table: what could not be measured, which is no pass."""
    return {"what": what, "ratio": None, "measured": reason, "wanted": wanted, "held": False}


def note(what: str, measured: str, **values: Any) -> dict[str, Any]:
    """A line of the table with nothing to hold: context for the others."""
    return {"what": what, "ratio": None, "measured": measured, "wanted": "", "held": None, **values}


def figure(
    name: str, ours: float, peers: dict[str, float], unit: str = "s", told: str = ""
) -> dict[str, Any]:
    """The numbers of a line, for `python -m benchmarks readme`: `**figure(...)`.

    A peer that is no program but the least that anybody needs is called "bound".
    """
    return {"figure": {"name": name, "ours": ours, "peers": peers, "unit": unit, "told": told}}
