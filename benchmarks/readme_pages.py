"""The README's three figures, the page Performance and its picture, from the file of results."""

from __future__ import annotations

import math
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

from benchmarks.readme_figures import BOUND, CURVE, HEADLINES, TABLES, Figure, Table, compares
from benchmarks.readme_plot import LOOKS, Curves, drawn
from benchmarks.svm_peers import OURS

ROOT = Path(__file__).parents[1]
README, PAGE = ROOT / "README.md", ROOT / "docs" / "benchmarks.rst"
PICTURE = "docs/images/time-{}.svg"
BEGIN = "<!-- Made by `python -m benchmarks readme --render`: do not edit. -->\n"
END = "<!-- The end of what is made. -->\n"
TITLE = "Gaussian SVM on MNIST: seconds to fit"
NONE = "--"
HOW = """The programs take turns, with equal numbers of threads. A short time is the best of
several; what takes seconds is run once. Beside each time is that of a peer, or of the matrix
product that nobody can avoid. To measure on your own machine: ``pip install ".[bench]"``,
then ``python -m benchmarks readme``, which takes about 25 minutes."""

Document = dict[str, Any]


def write_pages(document: Document) -> int:
    for file, text in pages(document).items():
        file.write_text(text, encoding="utf-8")
        print(file.relative_to(ROOT), file=sys.stderr)
    return 0


def pages(document: Document) -> dict[Path, str]:
    """What each file is, by the results: the README outside of its block as it stands."""
    if (document["measured"] or {}).get("trial_rows"):
        raise SystemExit("these results are of a trial: measure without --rows")
    readme = README.read_text(encoding="utf-8")
    block = BEGIN + headlines(document) + END
    pattern = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.S)
    if not pattern.search(readme):
        raise SystemExit(f"README.md has no place for the figures: {BEGIN.strip()}")
    found = {README: pattern.sub(lambda _: block, readme), PAGE: page(document)}
    for scheme in LOOKS:
        found[ROOT / PICTURE.format(scheme)] = drawn(curves(document), TITLE, scheme)
    return found


def figure_of(document: Document, key: str) -> tuple[Figure | None, bool]:
    """The newest figure, and whether it is of the run that is shown."""
    for which in ("measured", "earlier"):
        figure = ((document[which] or {}).get("figures") or {}).get(key)
        if figure is not None:
            return figure, which == "measured"
    return None, False


def curves(document: Document) -> Curves:
    """Seconds against rows of each machine, all of one run."""
    measured = [figure_of(document, key) for key in CURVE]
    newest = any(new for _, new in measured)
    found: Curves = {}
    for figure, new in measured:
        if figure is None or new != newest:
            continue
        for name, seconds in {OURS: figure["ours"], **figure["peers"]}.items():
            found.setdefault(name, []).append((figure["rows"], seconds))
    return {name: curve for name, curve in found.items() if len(curve) > 1}


def headlines(document: Document) -> str:
    """Three figures, and where and when they were measured."""
    both = one_run(document["measured"]) and one_run(document["earlier"])
    rows: list[tuple[str, ...]] = [("", OURS, "beside", "compared", *(["earlier"] * both))]
    for key, (what, peer) in HEADLINES.items():
        figure, new = figure_of(document, key)
        if figure is None:
            continue
        theirs = figure["peers"].get(peer)
        ratio = NONE if theirs is None else ratio_words(figure, peer)
        beside = NONE if theirs is None else f"{value(theirs, figure['unit'])}, {peer_words(peer)}"
        when = "" if new else f" ({figure['date']})"
        row = (what + when, value(figure["ours"], figure["unit"]), beside, f"**{ratio}**")
        rows.append((*row, *([earlier_words(document, key, new, peer)] * both)))
    return f"{markdown(rows)}\n{measured_words(document)}"


def one_run(measured: dict[str, Any] | None) -> bool:
    """Whether figures are of one commit and one processor; those of several are on the page
    Performance only."""
    return bool((measured or {}).get("parts"))


def peer_words(peer: str) -> str:
    return "the matrix product that nobody can avoid" if peer == BOUND else f"`{peer}`"


def measured_words(document: Document) -> str:
    """Date, processor, commit."""
    measured = document["measured"]
    if measured is None:
        earlier = document["earlier"]
        first, last = earlier["dates"]
        return (
            f"Measured between {first} and {last} on {earlier['cores']} cores of an "
            f"{earlier['processor']}, at {earlier['commit']}.\n"
        )
    first, last = measured["dates"]
    when = f"on {last}" if first == last else f"between {first} and {last}"
    return (
        f"Measured {when} at commit {measured['commit']}, on "
        f"{measured['threads']} of {measured['cores']} cores of an {measured['processor']}, by\n"
        "`python -m benchmarks readme`.\n"
    )


def page(document: Document) -> str:
    """docs/benchmarks.rst."""
    measured = document["measured"]
    parts = [
        ".. Made by `python -m benchmarks readme --render` from benchmarks/results/readme.json: do "
        "not edit.\n",
        "Performance\n===========\n",
        filled(HOW),
        about_run(document),
        *(image(scheme) for scheme in LOOKS),
        growth_words(curves(document)),
        *(section(document, table) for table in TABLES),
    ]
    if measured is not None:
        parts.append(commands(measured))
    return "\n".join(part for part in parts if part)


def about_run(document: Document) -> str:
    words = filled(measured_words(document).replace("`", "``"))
    measured, earlier = document["measured"], document["earlier"]
    if measured is None:
        return words
    libraries = ", ".join(f"{name} {version}" for name, version in measured["versions"].items())
    words += filled(f"{measured['system']}; {libraries}.")
    if earlier is not None:
        words += "\n" + filled(
            "All figures without a date are of this run. Those with a date are earlier ones, of "
            f"other commits and partly of another processor ({earlier['processor']}): ratios "
            "depend on it."
        )
    return words


def filled(words: str) -> str:
    """A paragraph of lines that are not too long."""
    return textwrap.fill(words, 100, break_long_words=False, break_on_hyphens=False) + "\n"


def image(scheme: str) -> str:
    name = PICTURE.format(scheme).removeprefix("docs/")
    return (
        f".. image:: {name}\n   :class: only-{scheme}\n"
        f"   :alt: {TITLE}, against the number of training rows, for each program\n"
    )


def growth_words(found: Curves) -> str:
    """The exponents of the curves."""
    told = []
    for name, curve in found.items():
        logs = [(math.log(x), math.log(y)) for x, y in curve]
        mx, my = (sum(v) / len(logs) for v in zip(*logs, strict=True))
        slope = sum((x - mx) * (y - my) for x, y in logs) / sum((x - mx) ** 2 for x, _ in logs)
        told.append(f"{name} ``n^{slope:.1f}``")
    rows = sorted({x for curve in found.values() for x, _ in curve})
    if not rows:
        return ""
    return filled(
        f"How the time grows from {rows[0]:,.0f} to {rows[-1]:,.0f} rows: {', '.join(told)}."
    )


def section(document: Document, table: Table) -> str:
    """A table of the page; peers that are the same in several lines have a column each."""
    found = {key: figure_of(document, key) for key in table.lines}
    lines = {key: (f, new) for key, (f, new) in found.items() if f is not None}
    if not lines:
        return ""
    columns = common_peers([f for f, _ in lines.values()])
    others = any(set(f["peers"]) - set(columns) for f, _ in lines.values())
    both = document["measured"] is not None and document["earlier"] is not None
    head = ("", OURS, *columns, *(["others"] if others else []), "beside the fastest")
    rows = [head + (("earlier",) if both else ())]
    for key, (figure, new) in lines.items():
        row = line(table.lines[key], figure, new, columns, others)
        rows.append(row + ((earlier_words(document, key, new),) if both else ()))
    bound = f" The bound is {table.bound}." if table.bound else ""
    rule = "-" * len(table.title)
    notes = remarks(table, lines)
    return f"{table.title}\n{rule}\n\n{filled(table.about + bound)}\n{listed(rows)}\n{notes}"


def common_peers(figures: list[Figure]) -> list[str]:
    """Those that stand in at least two lines, and beside which ours is to be faster."""
    names = [name for figure in figures for name in (*figure["peers"], *figure.get("out", {}))]
    return [n for n in dict.fromkeys(names) if names.count(n) > 1 and compares(n)]


def line(what: str, figure: Figure, new: bool, columns: list[str], others: bool) -> tuple[str, ...]:
    unit = figure["unit"]
    cells = [what if new or "date" not in figure else f"{what} ({figure['date']})"]
    cells.append(value(figure["ours"], unit))
    for name in columns:
        theirs = figure["peers"].get(name)
        out = figure.get("out", {}).get(name, NONE)
        cells.append(value(theirs, unit) if theirs is not None else out)
    if others:
        rest = [f"{value(v, unit)}, {n}" for n, v in figure["peers"].items() if n not in columns]
        cells.append("; ".join(rest) or NONE)
    cells.append(ratio_words(figure, figure["peer"]) if "ratio" in figure else NONE)
    return tuple(cells)


def ratio_words(figure: Figure, peer: str) -> str:
    """How many times as fast, or how many times the bound."""
    if peer == figure["peer"]:
        ratio = figure["ratio"]
    elif figure["unit"] == "a second":
        ratio = figure["ours"] / figure["peers"][peer]
    else:
        ratio = figure["peers"][peer] / figure["ours"]
    if not compares(peer):
        return f"{ratio:.2f} times {'the bound' if peer == BOUND else peer}"
    if figure["unit"] == "MB":
        return f"{1 / ratio:.2f} times the memory"
    return f"{ratio:.2f} times as fast" if ratio < 10 else f"{ratio:.0f} times as fast"


def earlier_words(document: Document, key: str, new: bool, peer: str = "") -> str:
    figure = document["earlier"]["figures"].get(key)
    if figure is None or not new:
        return NONE
    peer = peer or figure.get("peer", "")
    ratio = f", {ratio_words(figure, peer)}" if peer in figure["peers"] else ""
    return f"{value(figure['ours'], figure['unit'])}{ratio} ({figure.get('date', '')})"


def remarks(table: Table, lines: dict[str, tuple[Figure, bool]]) -> str:
    """What figures say of themselves: errors, objectives, sizes."""
    told = [
        f"- {table.lines[key]}: {figure['told']}."
        for key, (figure, _) in lines.items()
        if figure.get("told") and not figure["told"].endswith("test error")
    ]
    return "\n".join(told) + "\n" if told else ""


def commands(measured: dict[str, Any]) -> str:
    title = "The commands"
    parts = measured["parts"].values()
    told = dict.fromkeys(f"   {part['command']}" for part in parts)
    minutes = sum(part["seconds"] for part in parts) / 60
    return (
        f"{title}\n{'-' * len(title)}\n\n``python -m benchmarks readme`` ran these, in "
        f"{minutes:.0f} minutes:\n\n.. code-block:: sh\n\n" + "\n".join(told) + "\n"
    )


def value(number: float, unit: str) -> str:
    """
    >>> value(0.1234, "s"), value(89012.0, "a second"), value(12.0, "of 16 machines")
    ('0.123 s', '89,000 a second', '12 of 16 machines')
    """
    return f"{short(number)} {unit}"


def short(number: float) -> str:
    """Three figures.

    >>> short(1.0), short(270), short(41.66), short(3052.4), short(0.0052)
    ('1.00', '270', '41.7', '3,050', '0.0052')
    """
    if number >= 1000:
        return f"{float(f'{number:.3g}'):,.0f}"
    if number >= 100 or (number == int(number) and number > 9):
        return f"{number:.0f}"
    return f"{number:.3g}" if number < 1 else f"{number:.1f}" if number >= 10 else f"{number:.2f}"


def markdown(rows: list[tuple[str, ...]]) -> str:
    head, *body = rows
    lines = [head, ("---",) * len(head), *body]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def listed(rows: list[tuple[str, ...]]) -> str:
    """A table of reStructuredText."""
    text = [".. list-table::\n   :header-rows: 1\n"]
    for cells in rows:
        text += [f"   {'*' if not k else ' '} - {cell}" for k, cell in enumerate(cells)]
    return "\n".join(text) + "\n"
