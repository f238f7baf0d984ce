"""`.. citation::` shows CITATION.cff as a reference in words and for BibTeX."""

from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

CITATION = Path(__file__).parents[2] / "CITATION.cff"


class Citation(Directive):
    """The software itself, then the papers under `references`."""

    def run(self):
        self.state.document.settings.env.note_dependency(str(CITATION))
        found = read(CITATION.read_text())
        text = "\n\n".join([software(found), *map(article, found["references"])])
        return [nodes.literal_block(text, text, language="bibtex")]


def read(text: str) -> dict:
    """The part of YAML that the file is written in: mappings and lists, indented by two."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return mapping(lines)


def mapping(lines: list[str]) -> dict:
    found, k = {}, 0
    while k < len(lines):
        key, _, value = lines[k].partition(":")
        end = k + 1
        while end < len(lines) and lines[end].startswith(" "):
            end += 1
        inner = [line.removeprefix("  ") for line in lines[k + 1 : end]]
        found[key.strip()] = value.strip() if end == k + 1 else listed(inner)
        k = end
    return found


def listed(lines: list[str]) -> list:
    starts = [k for k, line in enumerate(lines) if line.startswith("- ")]
    parts = [lines[a:b] for a, b in zip(starts, [*starts[1:], len(lines)], strict=True)]
    items = [[part[0][2:], *(line.removeprefix("  ") for line in part[1:])] for part in parts]
    return [mapping(item) if ":" in item[0] else item[0] for item in items]


def software(found: dict) -> str:
    names = " and ".join("{" + one["name"] + "}" for one in found["authors"])
    fields = {
        "title": f"{{{found['title']}: {found['abstract'].rstrip('.')}}}",
        "author": names,
        "version": found["version"],
        "note": f"License: {found['license']}",
    }
    return entry("software", "largemargin", fields)


def article(found: dict) -> str:
    people = found["authors"]
    fields = {
        "title": found["title"],
        "author": " and ".join(f"{one['family-names']}, {one['given-names']}" for one in people),
        "journal": found["journal"],
        "volume": found["volume"],
        "pages": f"{found['start']}--{found['end']}",
        "year": found["year"],
    }
    key = "".join(one["family-names"].lower() for one in people) + found["year"]
    return entry("article", key, fields)


def entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items()]
    return f"@{kind}{{{key},\n" + ",\n".join(lines) + "\n}"


def setup(app: Sphinx):
    app.add_directive("citation", Citation)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
