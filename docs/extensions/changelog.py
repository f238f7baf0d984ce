"""`.. changes::` shows CHANGELOG.md, so that what is new is written in one place."""

from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from markdown_it import MarkdownIt
from sphinx.application import Sphinx

CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"


class Changes(Directive):
    def run(self):
        self.state.document.settings.env.note_dependency(str(CHANGELOG))
        return sections(MarkdownIt("commonmark").parse(CHANGELOG.read_text()))


def sections(tokens) -> list[nodes.Node]:
    """A section for each version, so that it is in the contents of the page and found by search."""
    found, here, k = [], None, 0
    while k < len(tokens):
        kind = tokens[k].type
        if kind == "heading_open" and tokens[k].tag == "h2":
            title = tokens[k + 1].content
            name = nodes.make_id(f"version-{title}")
            here = nodes.section(ids=[name], names=[name])
            here += nodes.title(title, title)
            found.append(here)
        elif kind == "paragraph_open" and here is not None:
            here += paragraph(tokens[k + 1])
        elif kind == "bullet_list_open":
            end = next(
                j for j, one in enumerate(tokens) if j > k and one.type == "bullet_list_close"
                and one.level == tokens[k].level
            )  # fmt: skip
            here += bullets(tokens[k + 1 : end])
            k = end
        k += 1
    return found


def bullets(tokens) -> nodes.bullet_list:
    items = nodes.bullet_list()
    for token in tokens:
        if token.type == "inline":
            items += nodes.list_item("", paragraph(token))
    return items


def paragraph(token) -> nodes.paragraph:
    """The words of a paragraph, with code as code and links as links."""
    found = nodes.paragraph()
    target = None
    for part in token.children:
        if part.type == "code_inline":
            piece = nodes.literal(part.content, part.content)
        elif part.type in ("text", "softbreak", "hardbreak"):
            piece = nodes.Text(part.content or " ")
        else:
            target = part.attrGet("href") if part.type == "link_open" else None
            continue
        outside = target is not None and "//" in target
        found += nodes.reference("", "", piece, refuri=target) if outside else piece
    return found


def setup(app: Sphinx):
    app.add_directive("changes", Changes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
