"""`.. from-readme:: How fast` shows a section of the README, so that figures are in one place."""

import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from markdown_it import MarkdownIt
from sphinx.application import Sphinx

README = Path(__file__).parents[2] / "README.md"


class FromReadme(Directive):
    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        self.state.document.settings.env.note_dependency(str(README))
        title = re.escape(self.arguments[0])
        found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", README.read_text(), re.M | re.S)
        if found is None:
            raise self.error(f"README.md has no section {self.arguments[0]!r}")
        text = MarkdownIt("commonmark").enable("table").render(found[1])
        text = text.replace("<table>", '<div class="table-wrapper"><table class="docutils">')
        text = text.replace("</table>", "</table></div>").replace('href="docs/', 'href="')
        text = text.replace('href="reproduction"', 'href="reproduction.html"')
        return [nodes.raw(text, text, format="html")]


def setup(app: Sphinx):
    app.add_directive("from-readme", FromReadme)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
