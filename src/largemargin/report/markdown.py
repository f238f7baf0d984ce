"""A report as Markdown, for a documentation page."""

from __future__ import annotations

from collections.abc import Mapping

from largemargin.report.comparison import Cell, Table, difference, number, published_number
from largemargin.report.document import Report


def render(report: Report, pictures: Mapping[str, str] | None = None) -> str:
    """The whole report; `pictures` names the picture file of each figure."""
    lines = [f"# {report.title}", "", report.citation, "", report.provenance, ""]
    lines += [f"Made by `{report.command}`.", ""]
    if report.reduced:
        lines += [f"**Reduced run**: {'; '.join(report.reduced)}.", ""]
    lines += ["What is not as in the paper:", ""]
    lines += [f"- {difference}" for difference in report.differences]
    for table in report.tables:
        lines += ["", *_table(table, report)]
    for figure in report.figures:
        lines += ["", f"## {figure.title}", ""]
        lines += [f"{note}\n" for note in figure.notes]
        if pictures and figure.id in pictures:
            lines.append(f"![{figure.title}]({pictures[figure.id]})")
        if report.reduced:
            lines += ["", _reduced(report)]
    return "\n".join(lines) + "\n"


def _table(table: Table, report: Report) -> list[str]:
    lines = [f"## {table.title}", ""]
    if report.reduced:
        lines += [_reduced(report), ""]
    deviation = " ± deviation over runs" if table.has_deviations else ""
    compared = (
        "; published [label]; difference, **in bold with !** where the published number was not "
        "reached"
    )
    lines.append(f"Each cell: ours{deviation}{compared if table.is_compared else ''}.")
    lines += [f"\n{note}" for note in table.notes]
    if table.is_compared:
        lines += ["", table.verdict]
    if table.has_published:
        lines += ["", *(f"- [{label}]: {report.labels[label]}" for label in table.labels)]
    for group in table.groups:
        lines += ["", f"### {group.title}", ""]
        lines.append("| " + " | ".join([table.corner, *table.columns]) + " |")
        lines.append("|" + "---|" * (len(table.columns) + 1))
        for row in group.rows:
            cells = [_cell(cell, group.lacks(row)) for cell in row.cells]
            lines.append("| " + " | ".join([row.name, *cells]) + " |")
    return lines


def _reduced(report: Report) -> str:
    return f"*Reduced run: {'; '.join(report.reduced)}.*"


def _cell(cell: Cell, lacking: bool) -> str:
    parts = []
    if cell.ours is not None:
        deviation = "" if cell.deviation is None else f" ± {number(cell.deviation, cell.unit)}"
        parts.append(number(cell.ours, cell.unit) + deviation)
    if cell.published is not None:
        parts.append(f"{published_number(cell)} [{cell.published.label}]")
    elif cell.ours is not None and lacking:
        parts.append("-")
    if cell.difference is not None:
        text = difference(cell)
        parts.append(f"**{text} !**" if cell.agrees is False else text)
    return "<br>".join(parts) or "-"
