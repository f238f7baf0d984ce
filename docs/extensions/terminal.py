"""`.. terminal::` runs the commands of its content and shows them with what they print.

A line begins with `$ largemargin`. All commands of a page run in one scratch folder, in order.
"""

import os
import shlex
import tempfile
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.testing import CliRunner

from largemargin.cli.app import app as command_line

WIDTH = "80"


class Terminal(SphinxDirective):
    has_content = True

    def run(self):
        folder = self.env.temp_data.setdefault("terminal", tempfile.mkdtemp())
        shown = "\n".join(run_command(line, folder) for line in self.content if line.strip())
        return [nodes.literal_block(shown, shown, language="console", classes=["terminal"])]


def run_command(line: str, folder: str) -> str:
    """The line, and what the command prints."""
    words = shlex.split(line.removeprefix("$ largemargin "))
    here = Path.cwd()
    os.chdir(folder)
    try:
        found = CliRunner().invoke(command_line, words, env={"COLUMNS": WIDTH})
    finally:
        os.chdir(here)
    if found.exit_code != 0:
        raise ValueError(f"{line}: {found.output}")
    return f"{line}\n{found.output.rstrip()}".rstrip()


def setup(app: Sphinx):
    app.add_directive("terminal", Terminal)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
