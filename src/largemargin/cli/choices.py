"""What an option or an argument may be: checked when a command runs, and completed in a shell.

A shell asks for completions by starting the command, so nothing heavy is imported before it is
needed. Where nothing of ours begins like what was typed, the shell completes names of files.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable
from typing import Any

import typer

from largemargin.machines import CARDS
from largemargin.runtime.showing import shown
from largemargin.runtime.suggesting import did_you_mean

SHELL_FILES: list[str] = []  # the shell's own completion, which knows files best


def check_choice(option: str, given: str, choices: Iterable[str]) -> None:
    """Refuse what is none of the choices, and say which of them may be meant.

    >>> check_choice("--scale", "std", ["standard", "minmax"])
    Traceback (most recent call last):
    ...
    ValueError: --scale must be one of standard, minmax, got 'std'; did you mean standard?
    """
    choices = list(choices)
    if given not in choices:
        raise ValueError(
            f"{option} must be one of {', '.join(choices)}, got {shown(given)}"
            f"{did_you_mean(given, choices)}"
        )


def one_of(*choices: str) -> Callable[[str], list[str]]:
    """The completion of an option that is one of some words."""

    def complete(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    return complete


def names_or_files(names: Iterable[str], incomplete: str) -> list[str]:
    """The names that begin so, and the files beside them; without such names the shell looks."""
    found = [name for name in names if name.startswith(incomplete)]
    if not found:
        return SHELL_FILES
    try:
        found_here = [entry for entry in os.scandir(".") if entry.name[:1] != "."]
        files = sorted(entry.name + "/" * entry.is_dir() for entry in found_here)
    except OSError:
        files = []
    return [*found, *(name for name in files if name.startswith(incomplete))]


def complete_data(incomplete: str) -> list[str]:
    from largemargin.data import NAMES

    return names_or_files(NAMES, incomplete)


def complete_stream_model(incomplete: str) -> list[str]:
    return names_or_files([card.command for card in CARDS if card.streams], incomplete)


def complete_only(incomplete: str) -> list[str]:
    """The last of several machines with commas between them."""
    *before, last = incomplete.split(",")
    found = one_of(*(card.command for card in CARDS))(last)
    return [",".join([*before, name]) for name in found]


def complete_paper(incomplete: str) -> list[str]:
    from largemargin.papers import PAPERS

    return one_of(*PAPERS)(incomplete)


def complete_part(context: typer.Context, incomplete: str) -> list[str]:
    from largemargin.papers import PAPERS

    return one_of(*PAPERS.get(context.params.get("paper", ""), ()))(incomplete)


# By command and parameter, or by parameter for the commands that have one so called.
COMPLETIONS: dict[str, Callable[..., list[str]]] = {
    "data": complete_data,
    "test": complete_data,
    "training": complete_data,
    "train.model": one_of(*(card.command for card in CARDS)),
    "stream.model": complete_stream_model,
    "only": complete_only,
    "paper": complete_paper,
    "part": complete_part,
    "dask": one_of("local"),
    "scale": one_of("standard", "minmax", "none"),
    "missing": one_of("impute", "drop", "refuse"),
    "compare.kernel": one_of("rbf", "matern", "laplacian", "poly", "linear"),
    "on_error": one_of("fail", "skip"),
    "stream.resume": one_of("auto"),
    "class_weight": one_of("balanced"),
    "estimator": one_of("stumps", "rbf-network"),
}


SMALLEST = {"seed": 0}  # numbers by parameter


def completing(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command, with completions, and the smallest values of numbers."""
    found = []
    signature = inspect.signature(command, eval_str=True)
    for parameter in signature.parameters.values():
        own = COMPLETIONS.get(f"{command.__name__}.{parameter.name}")
        complete = own or COMPLETIONS.get(parameter.name)
        for declared in getattr(parameter.annotation, "__metadata__", ()):
            if complete is not None and getattr(declared, "autocompletion", 0) is None:
                declared.autocompletion = complete
            if parameter.name in SMALLEST:
                declared.min = SMALLEST[parameter.name]
        found.append(parameter)
    command.__signature__ = signature.replace(parameters=found)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in found}
    return command
