"""The commands together, and how their mistakes are told: one line on stderr and an exit code."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from largemargin.cli.choices import completing
from largemargin.cli.compare import compare
from largemargin.cli.convert import convert
from largemargin.cli.evaluate import evaluate
from largemargin.cli.help import GroupedCommand, command_line_error, unknown_command
from largemargin.cli.inspect import inspect
from largemargin.cli.options import in_options
from largemargin.cli.output import emit, note
from largemargin.cli.playground import playground
from largemargin.cli.predict import predict
from largemargin.cli.report import report
from largemargin.cli.reproduce import reproduce
from largemargin.cli.serve import serve
from largemargin.cli.stream import stream
from largemargin.cli.train import train

BAD_INPUT = 2
# The commands as the first page of the help shows them
GROUPS = {
    "Train": {
        "train": "Train a model and write it to a file.",
        "stream": "Predict and learn from events as they arrive.",
    },
    "Look at a model": {
        "evaluate": "Test a model on labelled data.",
        "report": "Write a page about a model.",
        "inspect": "Show what a model file holds.",
        "compare": "Train every machine on the same data.",
    },
    "Use a model": {
        "predict": "Predict a label for each row.",
        "serve": "Answer requests over HTTP.",
        "convert": "Write a model for another tool, or read one of LIBSVM.",
    },
    "Learn and reproduce": {
        "playground": "Open a page to draw points and try machines.",
        "reproduce": "Run the experiments of a paper again.",
    },
}
INTERRUPTED = 130

_UsageError: Any = typer.BadParameter.__base__
_ClickError: Any = _UsageError.__base__


class Commands(TyperGroup):
    """The group of commands; whatever a user can get wrong ends in one line and the exit code 2."""

    def main(self, *args: Any, **extra: Any) -> Any:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            sys.exit(self._run(*args, **extra))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        widest = max(map(len, self.commands))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), told) for name, told in commands.items()])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in self.commands and not ctx.resilient_parsing and args[0][:1] != "-":
            raise _UsageError(unknown_command(args[0], list(self.commands)), ctx)
        return super().resolve_command(ctx, args)

    def _run(self, *args: Any, **extra: Any) -> int:
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
            return code if isinstance(code, int) else 0
        except _ClickError as error:
            note(f"error: {command_line_error(error)}")
        except (typer.Abort, KeyboardInterrupt):
            return INTERRUPTED
        except MemoryError as error:
            note(
                f"error: there is not enough memory ({error}): use less data or a smaller --memory"
            )
        except ImportError as error:
            if "pip install" not in str(error):
                raise
            note(f"error: {error}")
        except OSError as error:
            note(f"error: {_told(error)}")
        except ValueError as error:
            note(f"error: {in_options(str(error))}")
        return BAD_INPUT


def _told(error: OSError) -> str:
    """What the system says, as a sentence, where nobody has made one of it yet."""
    if not error.strerror:
        return str(error)
    if error.filename:
        return (
            f"{error.filename}: {error.strerror}; check that the file exists and that you may "
            "read it"
        )
    return (
        f"the output cannot be written: {error.strerror}; make room on the disk, or write it "
        "elsewhere"
    )


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: Any = None,
    line: str | None = None,
) -> None:
    note(f"warning: {message}")


app = typer.Typer(
    name="largemargin",
    cls=Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def largemargin(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Large-margin classifiers: train, evaluate and use them, and follow a stream.

    Example: largemargin train digits
    """
    if version:
        from largemargin import __version__

        emit(f"largemargin {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        emit(context.get_help())


for command in (
    train, stream, evaluate, report, inspect, compare, predict, serve, convert, playground,
    reproduce,
):  # fmt: skip
    app.command(cls=GroupedCommand)(completing(command))
