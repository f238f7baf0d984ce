"""The gallery: a page for each script of examples/, thumbnails of all of them, links both ways.

Before anything is read, every script is run, and docs/gallery/NAME.rst is written with its picture,
what it printed and its code. `.. thumbnails::` shows scripts by name; `.. examples-of:: SVC` lists
those that use a name of the library, on the page of that name in the reference.
"""

import ast
import io
import os
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

EXAMPLES = Path(__file__).parents[2] / "examples"
WIDTH = 480  # of a thumbnail, in pixels

PAGE = """
{title}
{line}

.. image:: /gallery/{name}.png
   :alt: {alt}
   :class: example

{text}

It prints:

.. code-block:: text

{said}

The script, ``examples/{name}.py``:

.. literalinclude:: /../examples/{name}.py
   :language: python

It uses {uses}. All scripts are in the :doc:`gallery </gallery>`.
"""


class Script:
    """A script, and what can be said of it without running it."""

    def __init__(self, path: Path):
        self.path, self.name = path, path.stem
        self.tree = ast.parse(path.read_text())
        title, *text, _ = ast.get_docstring(self.tree).split("\n\n")  # the last: how it is run
        self.title, self.text = title.removesuffix("."), text

    def uses(self) -> list[str]:
        """The names of the library that it imports, with their modules."""
        found = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("largemargin"):
                found += [f"{node.module}.{alias.name}" for alias in node.names]
        return found

    def page(self, said: str) -> str:
        links = [f":obj:`~{name}`" for name in self.uses()]
        return PAGE.format(
            name=self.name,
            title=self.title,
            line="=" * len(self.title),
            alt=said.splitlines()[0],
            text="\n\n".join(self.text),
            said="\n".join(f"   {line}" for line in said.splitlines()),
            uses=" and ".join(filter(None, [", ".join(links[:-1]), links[-1]])),
        )


def scripts() -> list[Script]:
    return [Script(path) for path in sorted(EXAMPLES.glob("*.py"))]


def write_pages(app: Sphinx):
    folder = Path(app.srcdir, "gallery")
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.rst"):
        if not (EXAMPLES / f"{old.stem}.py").exists():
            old.unlink()
    for script in scripts():
        page = script.page(run_example(script.path, folder))
        path = folder / f"{script.name}.rst"
        if not path.exists() or path.read_text() != page:
            path.write_text(page)


def run_example(script: Path, folder: Path) -> str:
    """What it printed, from a run that is not older than the script."""
    said = folder / f"{script.stem}.txt"
    if not said.exists() or said.stat().st_mtime < script.stat().st_mtime:
        out = io.StringIO()
        with mock.patch.object(sys, "argv", [str(script), str(folder)]), redirect_stdout(out):
            runpy.run_path(str(script), run_name="__main__")
        said.write_text(out.getvalue())
        write_thumbnail(folder / f"{script.stem}.png")
    return said.read_text()


def write_thumbnail(picture: Path):
    """The last third of a picture of several panels, or a small copy of one."""
    from PIL import Image

    with Image.open(picture) as image:
        wide = image.width / image.height
        panels = 3 if wide > 2.8 else 2 if wide > 2 else 1
        left = image.width - image.width // panels
        small = image.convert("RGB").crop((left, 0, image.width, image.height))
        small.thumbnail((WIDTH, WIDTH))
        small.quantize(64).save(picture.with_name(f"{picture.stem}-small.png"), optimize=True)


class Thumbnails(SphinxDirective):
    """Cards of the scripts that the content names, one a line."""

    has_content = True

    def run(self):
        known = {script.name: script for script in scripts()}
        lines = [".. container:: cards thumbnails", ""]
        for name in filter(None, map(str.strip, self.content)):
            script = known[name]
            lines += [
                "   .. container:: card",
                "",
                f"      .. image:: /gallery/{name}-small.png",
                '         :alt: ""',
                f"         :target: gallery/{name}.html",
                "",
                f"      :doc:`/gallery/{name}`",
                "",
                f"      {script.text[0]}",
                "",
            ]
        return parsed(self, lines)


class ExamplesOf(SphinxDirective):
    """Links to the scripts that use a name, if there are any."""

    required_arguments = 1

    def run(self):
        wanted = self.arguments[0]
        found = [one.name for one in scripts() if wanted in one.uses()]
        if not found:
            return []
        links = ", ".join(f":doc:`/gallery/{name}`" for name in found)
        return parsed(self, [".. rubric:: In the gallery", "", links])


def parsed(directive: SphinxDirective, lines: list[str]) -> list[nodes.Node]:
    box = nodes.container()
    source = directive.get_source_info()[0]
    directive.state.nested_parse(StringList(lines, source=source), 0, box)
    return box.children


def setup(app: Sphinx):
    os.environ["MPLBACKEND"] = "Agg"  # no window
    app.connect("builder-inited", write_pages)
    app.add_directive("thumbnails", Thumbnails)
    app.add_directive("examples-of", ExamplesOf)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
