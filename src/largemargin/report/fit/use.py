"""How to use a model: three lines of Python and three of the shell."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import PurePath

FILE = "model.safetensors"  # of a model that is in memory only


@dataclass(frozen=True)
class Use:
    python: str
    shell: str
    note: str


def use_of(file: str, labelled: bool = True) -> Use:
    """The lines for a model file; without a file, what writes one first.

    >>> print(use_of("digits.safetensors").shell.splitlines()[0])
    largemargin predict digits.safetensors new.csv -o answers.csv
    """
    name = PurePath(file).name if file else FILE
    python = ["import largemargin", f"model = largemargin.load({name!r})", "model.predict(X)"]
    last = f"largemargin inspect {shlex.quote(name)}"
    shell = [
        f"largemargin predict {shlex.quote(name)} new.csv -o answers.csv",
        f"largemargin evaluate {shlex.quote(name)} labelled.csv" if labelled else last,
        f"largemargin serve {shlex.quote(name)}",
    ]
    note = "" if file else f"Write the model to a file first: largemargin.save(model, {name!r})."
    return Use("\n".join(python), "\n".join(shell), note)
