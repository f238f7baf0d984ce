"""A report in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from largemargin.papers.comparison import (
    Cell,
    Group,
    Row,
    Table,
    difference,
    number,
    published_number,
    short,
)
from largemargin.papers.figures import Figure
from largemargin.papers.report import Report

WIDE = 7  # number of columns above which the deviation goes on a line of its own


def show(report: Report, console: Console) -> None:
    """Print all tables, and a line for each panel of the figures."""
    console.print(Text(report.title, style="bold"))
    console.print(report.citation, style="dim", highlight=False)
    for table in report.tables:
        console.print()
        show_table(table, report.reduced, console)
    for figure in report.figures:
        console.print()
        show_figure(figure, report.reduced, console)
    console.print()
    for label, meaning in report.labels.items():
        console.print(
            f"published [{short(label)}] = {label}: {meaning}", markup=False, highlight=False
        )
    console.print(report.provenance, highlight=False)


def show_table(table: Table, reduced: tuple[str, ...], console: Console) -> None:
    """One table: each row is a line of ours, one of published numbers, one of differences."""
    _show_heading(table.title, reduced, console)
    grid = Grid(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    grid.add_column(table.corner, no_wrap=True)
    for column in table.columns:
        grid.add_column(column, justify="right", no_wrap=True)
    for g, group in enumerate(table.groups):
        if g:
            grid.add_row()
        grid.add_row(Text(group.title, style="bold cyan"))
        for row in group.rows:
            for line in _lines(row, group, stacked=len(table.columns) > WIDE):
                grid.add_row(*line)
    console.print(grid)
    for note in table.notes:
        console.print(note, highlight=False)
    if table.is_compared:
        console.print(table.verdict, "A number not reached is marked with !", highlight=False)


def show_figure(figure: Figure, reduced: tuple[str, ...], console: Console) -> None:
    """One line per panel; the curves themselves are in the files."""
    _show_heading(figure.title, reduced, console)
    for panel in figure.panels:
        console.print(panel.line(figure.x_label, figure.y_label), highlight=False)


def _show_heading(title: str, reduced: tuple[str, ...], console: Console) -> None:
    console.print(Text(title, style="bold"))
    if reduced:
        console.print(Text("REDUCED RUN: " + "; ".join(reduced), style="yellow"))


def _lines(row: Row, group: Group, stacked: bool) -> list[list[Text]]:
    lines = []
    if row.has_ours:
        lines.append([Text(row.name), *(_ours(cell, stacked) for cell in row.cells)])
        if stacked and any(cell.deviation is not None for cell in row.cells):
            lines.append([Text(""), *(Text(_deviation(cell), style="dim") for cell in row.cells)])
    if row.labels or group.lacks(row):
        # a label that all numbers of a row share is said once
        shared = f" [{short(row.labels[0])}]" if len(row.labels) == 1 else ""
        name = ("  published" if row.has_ours else row.name) + shared
        numbers = (_published(cell, labelled=not shared) for cell in row.cells)
        lines.append([Text(name, style="dim"), *numbers])
    if row.has_ours and row.labels:
        lines.append(
            [Text("  difference", style="dim"), *(_difference(c, stacked) for c in row.cells)]
        )
    return lines


def _ours(cell: Cell, stacked: bool) -> Text:
    text = Text(number(cell.ours, cell.unit))
    if not stacked and cell.deviation is not None:
        text.append(f" {_deviation(cell)}", style="dim")
    return text


def _deviation(cell: Cell) -> str:
    return "" if cell.deviation is None else f"±{number(cell.deviation, cell.unit)}"


def _published(cell: Cell, labelled: bool) -> Text:
    label = f" [{short(cell.published.label)}]" if cell.published and labelled else ""
    return Text(published_number(cell) + label, style="dim")


def _difference(cell: Cell, narrow: bool) -> Text:
    text = difference(cell)
    if narrow and cell.unit == "count" and cell.difference is not None and cell.published:
        text = f"{cell.difference / cell.published.value:+.0%}"
    if cell.agrees is False:
        return Text(text + ("!" if narrow else " !"), style="yellow")
    return Text(text, style="dim")
