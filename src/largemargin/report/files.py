"""Writing a report into a folder: JSON, Markdown, the page, and each figure as SVG and PNG."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from largemargin.report import markdown
from largemargin.report.document import Report
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


def write(report: Report, folder: Path) -> Written:
    """Write everything that the installed packages allow."""
    make_folder(folder)
    contents: dict[str, bytes] = {
        f"{report.slug}.json": (json.dumps(report.as_json()) + "\n").encode()
    }
    can_draw = bool(find_spec("matplotlib")) and bool(find_spec("jinja2"))
    pictures = {}
    if can_draw:
        from largemargin.report import page, plots

        drawn = {}
        for figure in report.figures:
            stem = report.slug if figure.id in report.slug else f"{report.slug}-{figure.id}"
            pictures[figure.id] = f"{stem}.svg"
            drawn[figure.id] = plots.svg(figure)
            contents[f"{stem}.svg"] = drawn[figure.id].encode()
            contents[f"{stem}.png"] = plots.png(figure)
        contents[f"{report.slug}.html"] = page.render(report, drawn).encode()
    contents[f"{report.slug}.md"] = markdown.render(report, pictures).encode()
    for name, content in contents.items():
        write_atomically(folder / name, [content])
    paths = tuple(folder / name for name in contents)
    return Written(paths, "" if can_draw else MISSING)
