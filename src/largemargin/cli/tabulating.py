"""Tables on a terminal: they fit it, and no name in them is broken.

What is too wide loses columns, the least important first, and says which. Without a terminal a
table has all of its columns, and a line is a line, for those who search in what was printed.
"""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from largemargin.cli.output import emit
from largemargin.runtime.showing import cut, printable, text

if TYPE_CHECKING:
    from rich.table import Table

_WIDE = 240  # columns where there is no terminal to fit in
_GAP = 3  # columns between two of a table, with the line of its box
_LONGEST_FACT = 2000  # characters
_LONGEST_CELL = 200


def width() -> int:
    """The columns that a table may take; on a terminal COLUMNS may say so."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDE


def emit_facts(
    facts: Iterable[tuple[str, Any]], title: str = "", strong: Collection[str] = ()
) -> None:
    """A table of names and values; those named in `strong` are bold."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts:
        style = "bold" if name in strong else ""
        table.add_row(*(Text(_cell(cell, _LONGEST_FACT), style) for cell in (name, value)))
    _print(table, title)


def emit_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    title: str = "",
    right: bool = False,
    drop: Sequence[str] = (),
) -> None:
    """A table; the first column is on the left, and the others on the right if `right`.

    Where it is too wide, the columns named in `drop` are left out in this order until it fits.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    names = [_cell(column, _LONGEST_CELL) for column in columns]
    cells = [[_cell(cell, _LONGEST_CELL) for cell in row] for row in rows]
    kept = fitting(names, cells, drop, width())
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
    for k in kept:
        # a label of any length has to be broken somewhere, but no number and no short name
        short = max(len(cell) for cell in (names[k], *(row[k] for row in cells))) <= width() // 2
        table.add_column(
            Text(names[k]), justify="right" if right and k else "left", overflow="fold",
            no_wrap=short,
        )  # fmt: skip
    for row in cells:
        table.add_row(*(Text(row[k]) for k in kept))
    _print(table, title)
    lost = [names[k] for k in range(len(names)) if k not in kept]
    if lost:
        emit_words(f"(left out, too wide: {', '.join(lost)})")


def fitting(
    names: Sequence[str], cells: Sequence[Sequence[str]], drop: Sequence[str], most: int
) -> list[int]:
    """Which columns are kept so that a table takes at most so many columns of the screen.

    >>> fitting(["name", "a", "b"], [["x" * 10, "1", "2"]], ["b", "a"], 18)
    [0, 1]
    >>> fitting(["name", "a", "b"], [["x" * 10, "1", "2"]], ["b", "a"], 80)
    [0, 1, 2]
    """
    kept = list(range(len(names)))
    for name in [None, *drop]:
        kept = [k for k in kept if names[k] != name]
        widths = [max(len(names[k]), *(len(row[k]) for row in cells), 0) for k in kept]
        if sum(widths) + _GAP * len(kept) <= most:
            break
    return kept


def fits(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bool:
    """Whether a table has room as it is."""
    cells = [[text(cell) for cell in row] for row in rows]
    return len(fitting(columns, cells, columns, width())) == len(columns)


def emit_words(sentences: str) -> None:
    """A paragraph, broken between words on a terminal."""
    import textwrap

    wrapped = textwrap.fill(sentences, width() - 1, break_long_words=False, break_on_hyphens=False)
    emit(wrapped if sys.stdout.isatty() else sentences)


def _cell(value: Any, longest: int) -> str:
    return cut(printable(text(value)), longest)


def _print(table: Table, title: str) -> None:
    from rich.console import Console
    from rich.text import Text

    buffer = io.StringIO()
    console = Console(file=buffer, force_terminal=sys.stdout.isatty(), width=width())
    if title:
        console.print(Text(f"\n{_cell(title, _LONGEST_FACT)}", style="bold"))
    console.print(table)
    emit("\n".join(line.rstrip() for line in buffer.getvalue().splitlines()))
