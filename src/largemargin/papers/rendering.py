"""A report shown: in the terminal, and as files in a folder.

The files are JSON, Markdown, one page, and each figure as SVG and PNG. Everywhere the verdict comes
first, then what the paper claims, then the numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from largemargin.papers import figures, scatter
from largemargin.papers.cells import (
    HIGHER,
    LOWER,
    MARKS,
    Cell,
    difference,
    number,
    published_number,
    short,
    words_of,
)
from largemargin.papers.figures import Figure
from largemargin.papers.report import Group, Report, Row, Table
from largemargin.papers.verdicts import Judgement, judge
from largemargin.report.templates import environment
from largemargin.runtime.files import write_atomically

MISSING = 'no page and no plots without matplotlib and jinja2: pip install "largemargin[report]"'

REMEMBERED = "The published numbers of this table are remembered, not read again."
MARKED = "Beyond two standard errors: * is better or fewer, ! is worse or more."

WIDE = 7  # number of columns above which the deviation goes on a line of its own


def show(report: Report, console: Console) -> None:
    """Print the verdict, all tables, and a line for each panel of the figures."""
    console.print(Text(report.title, style="bold"))
    console.print(report.citation, style="dim", highlight=False)
    _show_judgement(judge(report), console)
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


def _show_judgement(found: Judgement, console: Console) -> None:
    console.print()
    console.print(Text(found.heading, style="bold"))
    console.print(found.sentence, highlight=False)
    if found.claims:
        console.print("\nWhat the paper claims:")
    for claim in found.claims:
        console.print(Text(f"  {claim.words}: {claim.text}"))
        console.print(Padding(Text(claim.number, style="dim"), (0, 0, 0, 6)))
    for miss in found.misses:
        console.print(f"\n{miss}", highlight=False)


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
        console.print(table.verdict, highlight=False)
    if table.remembered:
        console.print(REMEMBERED, highlight=False)
    if table.count(LOWER, HIGHER):
        console.print(MARKED, highlight=False)


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
    text, mark = difference(cell), MARKS.get(cell.state or "", "")
    if mark:
        return Text(text + (mark if narrow else f" {mark}"), style="yellow")
    return Text(text, style="dim")


@dataclass(frozen=True)
class Written:
    """The files that were written, and one line on those that could not be."""

    paths: tuple[Path, ...]
    missing: str = ""


def make_folder(folder: Path) -> None:
    """Make a folder, with those above it, unless it is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(
            f"cannot make the folder {folder} ({error.strerror}): name another one"
        ) from error


def read(file: Path) -> Report:
    """The report whose JSON `write` wrote."""
    try:
        return Report.from_json(json.loads(file.read_text(encoding="utf-8")))
    except OSError as error:
        raise OSError(f"cannot read {file}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{file} does not hold the results of largemargin reproduce, or those of another "
            "version: run it again"
        ) from error


def write(report: Report, folder: Path, back: str = "") -> Written:
    """Write everything that the installed packages allow; equal reports give equal bytes.

    `back` is where the page links to as the list of all papers.
    """
    make_folder(folder)
    contents: dict[str, bytes] = {
        f"{report.slug}.json": (json.dumps(as_json(report)) + "\n").encode()
    }
    can_draw = bool(find_spec("matplotlib")) and bool(find_spec("jinja2"))
    pictures = picture_names(report) if can_draw else {}
    if can_draw:
        drawn = {figure.id: figures.svg(figure) for figure in report.figures}
        for figure in report.figures:
            name = pictures[figure.id]
            contents[name] = drawn[figure.id].encode()
            contents[f"{name.removesuffix('.svg')}.png"] = figures.png(figure)
        contents[f"{report.slug}.html"] = as_page(report, drawn, back).encode()
    contents[f"{report.slug}.md"] = as_markdown(report, pictures).encode()
    for name, content in contents.items():
        write_atomically(folder / name, [content])
    paths = tuple(folder / name for name in contents)
    return Written(paths, "" if can_draw else MISSING)


def as_json(report: Report) -> dict[str, Any]:
    """The report and what it comes to."""
    return {**report.as_json(), "judgement": judge(report).as_json()}


def picture_names(report: Report) -> dict[str, str]:
    """The file of each figure, by its id."""
    return {
        figure.id: f"{report.slug}.svg"
        if figure.id in report.slug
        else f"{report.slug}-{figure.id}.svg"
        for figure in report.figures
    }


def as_markdown(report: Report, pictures: Mapping[str, str] | None = None) -> str:
    """Markdown, for a documentation page; `pictures` names the picture file of each figure."""
    found = judge(report)
    lines = [f"# {report.title}", "", report.citation, ""]
    lines += [f"**{found.heading}.** {found.sentence}", ""]
    if report.reduced:
        lines += [f"**Reduced run**: {'; '.join(report.reduced)}.", ""]
    if found.claims:
        lines += ["| What the paper claims | here | decided by |", "|---|---|---|"]
        lines += [f"| {c.text} | {c.words} | {c.number} |" for c in found.claims]
        lines.append("")
    lines += [f"{miss}\n" for miss in found.misses]
    lines += [report.provenance, "", f"Made by `{report.command}`.", ""]
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
    compared = "; published [label]; difference, **in bold** where it is beyond two standard errors"
    lines.append(f"Each cell: ours{deviation}{compared if table.is_compared else ''}.")
    if table.is_compared:
        lines += ["", table.verdict]
    if table.remembered:
        lines += ["", REMEMBERED]
    lines += [f"\n{note}" for note in table.notes]
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
    if cell.difference is not None and not cell.other:
        beyond = cell.state in (LOWER, HIGHER)
        text = f"{difference(cell)} {cell.words}" if beyond else difference(cell)
        parts.append(f"**{text}**" if cell.agrees is False else text)
    elif cell.other:
        parts.append("*not comparable*")
    return "<br>".join(parts) or "-"


def as_page(report: Report, pictures: Mapping[str, str], back: str = "") -> str:
    """One HTML page that needs nothing else; `pictures` holds the SVG of each figure by its id."""
    from markupsafe import Markup

    from largemargin import __version__

    templates = environment()
    templates.filters |= {
        "number": number,
        "published_number": published_number,
        "difference": difference,
        "scatter": lambda chart: Markup(scatter.draw(chart)),
        "key": lambda state: Markup(scatter.key(state)),
        "state_words": words_of,
        "before_colon": lambda title: title.partition(":")[0],
    }
    page: str = templates.get_template("papers/page.html.j2").render(
        report=report,
        judgement=judge(report),
        charts=scatter.scatters(report),
        pictures={name: Markup(figures.of_page(one)) for name, one in pictures.items()},
        back=back,
        version=__version__,
    )
    return page
