"""`.. dask-results:: overhead` shows what `python -m benchmarks dask overhead` found last, from
benchmarks/dask.json.
"""

import json
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

RESULTS = Path(__file__).parents[2] / "benchmarks" / "dask.json"
USUAL = 60_000  # rows that `--rows` stands for


class DaskResults(Directive):
    required_arguments = 1

    def run(self):
        self.state.document.settings.env.note_dependency(str(RESULTS))
        name = self.arguments[0]
        results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        if name not in results:
            said = f"Not measured yet: python -m benchmarks dask {name} does it."
            return [nodes.paragraph(said, said)]
        found = results[name]
        said = f"Measured on {found['date']} by python -m benchmarks dask {name}"
        if found["reduced"]:
            said += f", with {found['reduced'] / USUAL:.2%} of the rows, as a trial"
        return [nodes.paragraph(said, f"{said}."), table_of(found["rows"])]


def table_of(rows: list[dict]) -> nodes.table:
    head = ("", "measured", "wanted")
    lines = [(row["what"].strip(), row["measured"], row["wanted"]) for row in rows]
    group = nodes.tgroup(cols=len(head))
    group += [nodes.colspec(colwidth=width) for width in (40, 45, 15)]
    group += [nodes.thead("", line_of(head)), nodes.tbody("", *map(line_of, lines))]
    return nodes.table("", group)


def line_of(cells: tuple[str, ...]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph(cell, cell)) for cell in cells))


def setup(app: Sphinx):
    app.add_directive("dask-results", DaskResults)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
