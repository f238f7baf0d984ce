"""A comparison while it runs: a table in the terminal that fills, the smallest error first."""

from __future__ import annotations

import threading
from typing import Any

from largemargin.compare.results import Result, certified, chosen, ranked, time_words
from largemargin.report.intervals import outward

ROWS_KEPT = 6  # lines of a terminal that are not for machines


class FillingTable:
    """What is known so far, for a terminal; `told` and `heard` are called from several threads."""

    def __init__(self, total: int, console: Any) -> None:
        from rich.live import Live

        self._total, self._console, self._lock = total, console, threading.Lock()
        self._results: list[Result] = []
        self._stages: dict[str, str] = {}
        self._live = Live(self.drawn(), console=console, transient=True, auto_refresh=False)

    def __enter__(self) -> FillingTable:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def told(self, done: int, title: str, stage: str) -> None:
        """A machine is at another stage."""
        with self._lock:
            if stage == "done":
                self._stages.pop(title, None)
            else:
                self._stages[title] = stage
            self._live.update(self.drawn(), refresh=True)

    def heard(self, result: Result) -> None:
        """A machine was measured."""
        with self._lock:
            self._results.append(result)
            self._live.update(self.drawn(), refresh=True)

    def drawn(self) -> Any:
        """The table, cut to the height of the terminal, with what is running below it."""
        from rich import box
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("machine", no_wrap=True)
        for name in ("error, %", "95 % interval", "fit"):
            table.add_column(name, justify="right", no_wrap=True)
        wide = self._console.width >= 110
        for name in ("certified error", "chosen") if wide else ():
            table.add_column(name, no_wrap=True, overflow="ellipsis")
        rows = ranked(self._results)
        room = max(3, self._console.height - ROWS_KEPT)
        for result in rows[:room]:
            table.add_row(*map(Text, _cells(result)[: 6 if wide else 4]))
        running = ", ".join(f"{title}: {stage}" for title, stage in self._stages.items())
        more = f", {len(rows) - room} more than fit here" if len(rows) > room else ""
        line = f"{len(rows)} of {self._total} machines measured{more}. {running}"
        return Group(table, Text(line, style="dim", no_wrap=True, overflow="ellipsis"))


def _cells(result: Result) -> tuple[str, ...]:
    if result.error is None:
        return result.title, "-", "-", time_words(result.fit_seconds), "-", result.trouble
    low, high = outward(result.error.interval)
    return (
        result.title, f"{100 * result.error.share:.2f}", f"{low} to {high}",
        time_words(result.fit_seconds), certified(result), chosen(result),
    )  # fmt: skip
