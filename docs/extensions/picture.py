"""`.. picture:: NAME` puts docs/images/NAME.svg, which docs/pictures draws, into the page itself.

There it takes the colours of the page, in both schemes. The option `alt` says in words what is
seen; the content is the caption.
"""

import html
import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

IMAGES = Path(__file__).parents[1] / "images"


class Picture(SphinxDirective):
    required_arguments = 1
    option_spec = {"alt": directives.unchanged_required}  # noqa: RUF012
    has_content = True

    def run(self):
        name = self.arguments[0]
        path = IMAGES / f"{name}.svg"
        self.env.note_dependency(str(path))
        figure = nodes.container(classes=["picture"])
        figure += nodes.raw("", drawn(path.read_text(), name, self.options["alt"]), format="html")
        if self.content:
            caption = nodes.container(classes=["caption"])
            self.state.nested_parse(self.content, self.content_offset, caption)
            figure += caption
        return [figure]


def drawn(svg: str, name: str, alt: str) -> str:
    """The SVG in words too, and with names of its own, so that a page can have several."""
    prefix = f"{name}-"
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\1{prefix}", svg)
    return svg.replace("<svg", f'<svg role="img" aria-label="{html.escape(alt)}"', 1)


def setup(app: Sphinx):
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
