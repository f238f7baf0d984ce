"""`.. reproductions::` lists the pages of `largemargin reproduce`, which stand beside ours."""

import json
import shutil
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

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
            text = nodes.Text(f", run {dates}. {found['citation']}")
            items += nodes.list_item("", nodes.paragraph("", "", link, text))
        return [items]


def copy_pages(app, error):
    if error is None and app.builder.name == "html":
        shutil.copytree(FOLDER, Path(app.outdir, "reproduction"), dirs_exist_ok=True)


def setup(app: Sphinx):
    app.add_directive("reproductions", Reproductions)
    app.connect("build-finished", copy_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
