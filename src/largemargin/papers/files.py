"""A report as files in a folder: JSON, Markdown, one page, and each figure as SVG and PNG."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from largemargin.papers import figures
from largemargin.papers.comparison import Cell, Table, difference, number, published_number
from largemargin.papers.report import Report
from largemargin.runtime.files import write_atomically

MISSING = 'no page and no plots without matplotlib and jinja2: pip install "largemargin[report]"'


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


def write(report: Report, folder: Path) -> Written:
    """Write everything that the installed packages allow; equal reports give equal bytes."""
    make_folder(folder)
    contents: dict[str, bytes] = {
        f"{report.slug}.json": (json.dumps(report.as_json()) + "\n").encode()
    }
    can_draw = bool(find_spec("matplotlib")) and bool(find_spec("jinja2"))
    pictures = picture_names(report) if can_draw else {}
    if can_draw:
        drawn = {figure.id: figures.svg(figure) for figure in report.figures}
        for figure in report.figures:
            name = pictures[figure.id]
            contents[name] = drawn[figure.id].encode()
            contents[f"{name.removesuffix('.svg')}.png"] = figures.png(figure)
        contents[f"{report.slug}.html"] = as_page(report, drawn).encode()
    contents[f"{report.slug}.md"] = as_markdown(report, pictures).encode()
    for name, content in contents.items():
        write_atomically(folder / name, [content])
    paths = tuple(folder / name for name in contents)
    return Written(paths, "" if can_draw else MISSING)


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


def as_page(report: Report, pictures: Mapping[str, str]) -> str:
    """One HTML page that needs nothing else; `pictures` holds the SVG of each figure by its id."""
    from jinja2 import Environment
    from markupsafe import Markup

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "number": number,
        "published_number": published_number,
        "difference": difference,
    }
    template = files("largemargin.papers").joinpath("page.html.j2").read_text(encoding="utf-8")
    return environment.from_string(template).render(
        report=report,
        pictures={name: Markup(picture) for name, picture in pictures.items()},
    )
