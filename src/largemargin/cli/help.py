"""What `--help` shows: options in groups, and with `--model X` those of X alone.

The words that were given are noted before they are read, because `--help` is obeyed before any
other option, wherever it stands.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from typer.core import TyperCommand

from largemargin.cli.choices import SMALLEST
from largemargin.cli.model_options import model_help
from largemargin.machines import by_command
from largemargin.runtime.showing import shown
from largemargin.runtime.suggesting import did_you_mean

_GIVEN = "largemargin.given"  # the words of a command line, in what its context keeps
# Groups of options in the order in which they are shown. What is in none of them is an option of a
# machine if one has it, or else stands at the end.
GROUPS = {
    "Data": (
        "label", "no_label", "header", "test", "test_size", "training", "scale", "missing",
        "categorical", "drop", "sep", "encoding", "decimal", "stream", "chunk", "classes",
        "max_features", "on_error",
    ),
    "Model": ("model", "calibrate"),
    "Kernel": ("kernel", "degree", "gamma", "coef0", "matern_nu"),
    "Search": ("cv", "scoring", "folds", "search_rows", "only"),
    "Work": (
        "max_seconds", "max_iter", "tol", "memory", "precision", "n_jobs", "dask", "at_once",
        "seed",
    ),
    "Resuming": ("checkpoint", "every", "resume", "overwrite"),
    "Output": (
        "output", "save", "refit", "no_refit", "scores", "report", "json", "quiet", "render",
        "results", "work",
    ),
}  # fmt: skip
OTHER = "Options"
ALONE_OR_AUTO = "[auto]"  # an option that stands alone, or has the value auto
ALONE = "yes"


class GroupedCommand(TyperCommand):
    """A command whose help is in groups."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[_GIVEN] = list(args)
        for param in self.params:
            if param.metavar == ALONE_OR_AUTO:
                args = with_values(args, param.opts)
        return super().parse_args(ctx, args)

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        model = self._model(ctx)
        if model is None:
            super().format_help_text(ctx, formatter)
            return
        first, _, examples = (self.help or "").partition("\b")
        word = f"stream {model}" if self._model_is_argument() else f"--model {model}"
        own = [line for line in examples.splitlines() if re.search(rf"{word}\b(?!-)", line)]
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(f"{first.splitlines()[0]} {model_help(model)}")
            if own:
                formatter.write_paragraph()
                formatter.write_text("\n".join(["\b", "Examples:", *own]))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        for title, records in self._groups(ctx).items():
            with formatter.section(title):
                formatter.write_dl(records)
        if self._machine_options() and self._model(ctx) is None:
            word = "NAME" if self._model_is_argument() else "--model NAME"
            formatter.write_paragraph()
            formatter.write_text(
                f"{ctx.command_path} {word} --help shows the options of one machine."
            )

    def _groups(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        """Names and texts of the options, by group."""
        model = self._model(ctx)
        machines = self._machine_options()
        titles = {name: title for title, names in GROUPS.items() for name in names}
        named = {"Model": f"Model {model}" if model else "Model"}
        found: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        found |= {named.get(title, title): [] for title in (*GROUPS, OTHER)}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None:
                continue
            option = machines.get(param.name)
            if option is not None and model is not None:
                if model not in option.machines:
                    continue
                record = (record[0], option.help_for(model))
            title = titles.get(param.name, "Model" if option is not None else OTHER)
            if param.param_type_name == "argument":
                title = "Arguments"
            found[named.get(title, title)].append(record)
        return {title: records for title, records in found.items() if records}

    def _machine_options(self) -> dict[str, Any]:
        """The options of machines that the command has."""
        return getattr(self.callback, "machine_options", {})

    def _model_is_argument(self) -> bool:
        return any(p.name == "model" and p.param_type_name == "argument" for p in self.params)

    def _model(self, ctx: Any) -> str | None:
        """The machine that was named on the command line, if that has options of machines."""
        if not self._machine_options():
            return None
        words = ctx.meta.get(_GIVEN, ())
        if self._model_is_argument():
            return next((word for word in words if word in by_command()), None)
        given = value_given(words, "--model")
        return given if given in by_command() else None


def with_values(words: Sequence[str], options: Sequence[str]) -> list[str]:
    """A command line in which options that may stand alone have a value each.

    >>> with_values(["mira", "--resume", "auto", "-q"], ["--resume"])
    ['mira', '--resume=auto', '-q']
    >>> with_values(["--resume", "mira"], ["--resume"])
    ['--resume=yes', 'mira']
    """
    found, rest = [], list(words)
    while rest:
        word = rest.pop(0)
        if word in options:
            word += f"={rest.pop(0) if rest[:1] == ['auto'] else ALONE}"
        found.append(word)
    return found


def value_given(words: Sequence[str], *options: str) -> str | None:
    """What a command line says of an option, before it is read in earnest.

    >>> value_given(["digits", "--model=svc", "--help"], "--model")
    'svc'
    >>> value_given(["--C", "x"], "--C"), value_given(["--help"], "--model")
    ('x', None)
    """
    for word, following in zip(words, [*words[1:], None], strict=True):
        name, equals, value = word.partition("=")
        if name in options:
            return value if equals else following
    return None


def command_line_error(error: Any) -> str:
    """What is wrong with a command line, what may be meant, and where the options are shown."""
    told, context = str(error.format_message()).rstrip("."), getattr(error, "ctx", None)
    if context is None:
        return told
    names = [name for p in context.command.params for name in (*p.opts, *p.secondary_opts)]
    option, parameter = getattr(error, "option_name", None), getattr(error, "param", None)
    if option is not None and hasattr(error, "possibilities"):
        known = [name for name in names if name.startswith("-")]
        told = f"there is no option {shown(option)[1:-1]}{did_you_mean(option, known)}"
    elif parameter is not None and "Invalid value" in told:
        given = value_given(context.meta.get(_GIVEN, ()), *parameter.opts)
        kind = next((kind for word, kind in _KINDS.items() if word in told), "")
        if parameter.name in SMALLEST and re.search("greater|range", told):
            kind = f"at least {SMALLEST[parameter.name]}"
        if kind and given is not None:
            told = f"{parameter.opts[0]} must be {kind}, got {shown(given)}"
    elif told.startswith("Got unexpected extra argument"):
        is_stream = context.command.name == "stream"
        told += ": events come after <" if is_stream else ": put what has spaces between quotes"
    return f"{told}{' See' if told.endswith('?') else '; see'} {context.command_path} --help"


_KINDS = {"integer": "a whole number", "float": "a number", "number": "a number"}


def unknown_command(word: str, commands: list[str]) -> str:
    """
    >>> unknown_command("trein", ["train", "predict"])
    'there is no command trein; did you mean train?'
    """
    hint = did_you_mean(word, [*commands, "--help", "--version"])
    if word in by_command():
        hint = f"; did you mean train DATA --model {word}?"
    elif os.path.exists(word):
        hint = f"; did you mean train {shown(word)[1:-1]}?"
    return f"there is no command {shown(word)[1:-1]}{hint}"
