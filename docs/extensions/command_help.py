"""`.. command-help:: train` shows what `largemargin train --help` prints."""

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx
from typer.testing import CliRunner

from largemargin.cli.app import app as command_line

WIDTH = "88"


class CommandHelp(Directive):
    required_arguments = 1

    def run(self):
        found = CliRunner().invoke(
            command_line, [self.arguments[0], "--help"], env={"COLUMNS": WIDTH, "NO_COLOR": "1"}
        )
        if found.exit_code:
            raise self.error(f"there is no help for {self.arguments[0]}")
        return [nodes.literal_block(found.output, found.output, language="text")]


def setup(app: Sphinx):
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
