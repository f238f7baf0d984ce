"""`.. command-help::` shows what each command of `largemargin` prints with `--help`."""

import typer
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx
from typer.testing import CliRunner

from largemargin.cli.app import app as command_line

WIDTH = "88"


class CommandHelp(Directive):
    def run(self):
        return [section_of(name) for name in typer.main.get_command(command_line).commands]


def section_of(name: str) -> nodes.section:
    found = CliRunner().invoke(command_line, [name, "--help"], env={"COLUMNS": WIDTH})
    section = nodes.section(ids=[name], names=[name])
    section += nodes.title(name, name)
    section += nodes.literal_block(found.output, found.output, language="text")
    return section


def setup(app: Sphinx):
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
