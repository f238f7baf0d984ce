"""The pages of `largemargin reproduce`, made from the committed results, and a list of them.

`.. reproductions::` lists them. When HTML has been built, each page is rendered beside ours, with
its pictures, from docs/reproduction/*.json.
"""

import json
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from largemargin import papers
from largemargin.papers import rendering

FOLDER = Path(__file__).parents[1] / "reproduction"


class Reproductions(Directive):
    def run(self):
        items = nodes.bullet_list()
        for page in sorted(FOLDER.glob("*.json")):
            self.state.document.settings.env.note_dependency(str(page))
            found = json.loads(page.read_text())
            link = nodes.reference(
                "", found["title"], refuri=f"reproduction/{page.stem}.html", internal=False
            )
            dates = " to ".join(dict.fromkeys(found["dates"]))
            verdict = nodes.strong("", found["judgement"]["title"])
            text = nodes.Text(f". Run {dates}. {found['citation']}")
            items += nodes.list_item(
                "", nodes.paragraph("", "", link, nodes.Text(": "), verdict, text)
            )
        return [items]


def render_pages(app, error):
    if error is not None or app.builder.name != "html":
        return
    folder = Path(app.outdir, "reproduction")
    for results in sorted(FOLDER.glob("*.json")):
        if _is_older(folder / f"{results.stem}.html", results):
            written = rendering.write(rendering.read(results), folder, "../reproduction.html")
            if written.missing:
                raise ValueError(written.missing)


def _is_older(page, results):
    """Whether a page is missing, or older than its results or than the code that renders it."""
    code = Path(papers.__file__).parent
    made_from = [results, *code.rglob("*.py"), *code.glob("*.j2")]
    return not page.exists() or page.stat().st_mtime < max(f.stat().st_mtime for f in made_from)


def setup(app: Sphinx):
    app.add_directive("reproductions", Reproductions)
    app.connect("build-finished", render_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
