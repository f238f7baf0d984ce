"""`.. example:: svc` runs examples/svc.py and shows its picture, what it prints and its code."""

import io
import os
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

EXAMPLES = Path(__file__).parents[2] / "examples"


class Example(Directive):
    required_arguments = 1

    def run(self):
        name = self.arguments[0]
        script = EXAMPLES / f"{name}.py"
        environment = self.state.document.settings.env
        environment.note_dependency(str(script))
        folder = Path(environment.srcdir, "gallery")
        folder.mkdir(exist_ok=True)
        said = run_example(script, folder)
        code = script.read_text()
        picture = nodes.image(uri=f"/gallery/{name}.png", alt=said.splitlines()[0])
        return [
            picture,
            nodes.literal_block(said, said, language="text"),
            nodes.literal_block(code, code, language="python"),
        ]


def run_example(script: Path, folder: Path) -> str:
    """What it printed, from a run that is not older than the script."""
    said = folder / f"{script.stem}.txt"
    if not said.exists() or said.stat().st_mtime < script.stat().st_mtime:
        out = io.StringIO()
        with mock.patch.object(sys, "argv", [str(script), str(folder)]), redirect_stdout(out):
            runpy.run_path(str(script), run_name="__main__")
        said.write_text(out.getvalue())
    return said.read_text()


def setup(app: Sphinx):
    os.environ["MPLBACKEND"] = "Agg"  # no window
    app.add_directive("example", Example)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
