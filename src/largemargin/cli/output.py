"""What commands print: JSON and text on stdout, one-line notes on stderr.

Tables are made in `largemargin.cli.tabulating`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import sys
from typing import Any

import typer

from largemargin.runtime.showing import cut, plain, printable, text

READER_GONE = 141  # the exit code of what a broken pipe ended: 128 and the number of SIGPIPE
# Characters of one write, at most 4096 bytes, which a pipe takes whole or not at all: without a
# buffer (PYTHONUNBUFFERED) Python does not say that a part of a write was lost.
_PIECE = 1024
_LONGEST_NOTE = 2000  # characters
# What JSON may hold as it is and a terminal would obey, or lose its way by
_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def emit(text: str) -> None:
    """Print to stdout. When the reader has gone (`| head`), the command is over, without a word."""
    text = text if text.endswith("\n") else f"{text}\n"
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        # a terminal that cannot show a character is shown its code, and dashes for lines
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.replace("─", "-").encode(encoding, "backslashreplace").decode(encoding)
    try:
        for start in range(0, len(text), _PIECE):
            sys.stdout.write(text[start : start + _PIECE])
        sys.stdout.flush()
    except BrokenPipeError:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(READER_GONE) from None


def note(message: str) -> None:
    """One line on stderr; on a terminal as many lines as it takes, broken between words."""
    line = cut(printable(" ".join(str(message).split())), _LONGEST_NOTE)
    with contextlib.suppress(OSError):
        sys.stderr.write(_wrapped(line) + "\n")
        sys.stderr.flush()


def _wrapped(line: str) -> str:
    if not sys.stderr.isatty():
        return line
    import shutil
    import textwrap

    width = shutil.get_terminal_size().columns - 1
    together = line.replace(" %", "\N{NO-BREAK SPACE}%")  # a number and its sign
    filled = textwrap.fill(
        together, max(width, 40), subsequent_indent="  ", break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
    return filled.replace("\N{NO-BREAK SPACE}%", " %")


def tell_reading(data: str, quiet: bool = False) -> None:
    """Say to somebody who looks that the command has begun, before anything heavy is loaded."""
    if progress_wanted(quiet):
        note(f"reading {data}")


def emit_json(value: Any) -> None:
    """One JSON object; infinities and NaN are text, since JSON has none."""
    text = json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)
    emit(_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def command_line(*words: str, **options: Any) -> str:
    """A command as a shell takes it, with the options that are not None.

    >>> command_line("report", "a.model", "my data.csv", label=None, max_seconds=15.0)
    "largemargin report a.model 'my data.csv' --max-seconds 15"
    >>> command_line("train", "a.csv", cv=("C=1,10", "gamma=0.1,1"), shuffle=False, normalize=True)
    'largemargin train a.csv --cv C=1,10 --cv gamma=0.1,1 --no-shuffle --normalize'
    """
    from largemargin.cli.model_options import ANSWERS

    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            yes, no = ANSWERS.get(name, f"{option}/--no{option[1:]}").split("/")
            words += (yes if value else no,)
        elif isinstance(value, tuple):
            words += tuple(word for one in value for word in (option, text(one)))
        elif value is not None:
            words += (option, text(value))
    return shlex.join(("largemargin", *words))


def progress_wanted(quiet: bool = False) -> bool:
    """Whether somebody is looking at stderr."""
    return not quiet and sys.stderr.isatty()


def watched(quiet: bool = False) -> int:
    """What `verbose` of a long computation is: a bar for a terminal, lines for a log."""
    from largemargin.runtime.progress import LINES

    return 0 if quiet else 1 if progress_wanted() else LINES
