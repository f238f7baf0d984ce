"""What is compared: every classifier of this package, and those of scikit-learn beside them.

Machines with a kernel all get the same one, and the same widths to choose from. What else is
searched is small, and the first setting of each is one that does for most data. With more than two
classes, how a machine reduces them to two is searched as well, so that each is compared in its best
form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from largemargin.machines import CARDS, CLASSIFIER, by_name
from largemargin.runtime.showing import shown
from largemargin.runtime.suggesting import did_you_mean

OURS, PEERS = "largemargin", "scikit-learn"
WIDTHS = (1.0, 3.0)  # of a kernel's gamma, in units of gamma="scale"
# Those that are positive definite and functions of rows; a peer that does not have one says so.
KERNELS = ("rbf", "linear", "poly", "laplacian", "matern")

# how machines with a choice have more than two classes, the usual way first
MULTICLASS = {
    "SVC": ["ovr", "ovo", "crammer-singer"],
    "NuSVC": ["ovr", "ovo"],
    "KernelAdatron": ["ovr", "ovo"],
}

# of peers: parameters that are set, and those that are searched
_FIXED: dict[str, dict[str, Any]] = {
    "LinearSVC": {"max_iter": 5000},
    "LogisticRegression": {"max_iter": 1000},
}
_GRIDS: dict[str, dict[str, list[Any]]] = {
    "SVC": {"C": [10.0, 1.0, 100.0]},
    "LinearSVC": {"C": [1.0, 0.1, 10.0]},
    "LogisticRegression": {"C": [1.0, 10.0, 0.1]},
    "Perceptron": {"penalty": [None, "l2"]},
}
_PEERS = {
    "SVC": "sklearn.svm",
    "LinearSVC": "sklearn.svm",
    "LogisticRegression": "sklearn.linear_model",
    "Perceptron": "sklearn.linear_model",
}


@dataclass(frozen=True)
class Candidate:
    """A machine, the parameters that are set, and those that are searched."""

    library: str
    name: str
    fixed: dict[str, Any] = field(default_factory=dict)
    grid: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return self.name if self.library == OURS else f"{self.name} (scikit-learn)"

    @property
    def settings(self) -> list[dict[str, Any]]:
        """What the search tries, in this order."""
        from itertools import product

        return [dict(zip(self.grid, v, strict=True)) for v in product(*self.grid.values())]

    def make(self, setting: dict[str, Any], seed: int) -> Any:
        """The machine, not yet fitted."""
        home = "largemargin" if self.library == OURS else _PEERS[self.name]
        cls = getattr(import_module(home), self.name)
        machine = cls(**self.fixed, **setting)
        if "random_state" in machine.get_params(deep=False):
            machine.set_params(random_state=seed)
        return machine


def our_classes() -> list[str]:
    """The names of all classifiers that this package has."""
    return sorted(card.name for card in CARDS if card.kind == CLASSIFIER)


def candidates(
    kernel: str, scale_gamma: float, only: Sequence[str] = (), n_classes: int = 2
) -> list[Candidate]:
    """All machines, or those whose names are given.

    Parameters
    ----------
    kernel : str
        Of all machines that have one.
    scale_gamma : float
        What gamma="scale" is on the training data, in units of which its values are tried.
    only : list of str
        Names as in Python or on the command line, such as SVC or voted-perceptron; "svc" is ours
        and the peer's both.
    n_classes : int
        Of the data; with more than two the reduction to two is searched where there is a choice.
    """
    if kernel not in KERNELS:
        raise ValueError(
            f"kernel must be one of {', '.join(KERNELS)}, got {shown(kernel)}"
            f"{did_you_mean(kernel, KERNELS)}"
        )
    every = [(OURS, name) for name in our_classes()] + [(PEERS, name) for name in _PEERS]
    found = [_candidate(library, name, kernel, scale_gamma, n_classes) for library, name in every]
    if not only:
        return found
    known = {_plain(c.name) for c in found}
    others = {_plain(card.name): card for card in CARDS if card.kind != CLASSIFIER}
    for name in only:
        if card := others.get(_plain(name)):
            raise ValueError(f"{card.name} is an {card.kind}: only classifiers are compared")
        if _plain(name) not in known:
            names = ", ".join(dict.fromkeys(c.name for c in found))
            hint = did_you_mean(name, [card.command for card in CARDS])
            raise ValueError(f"there is no machine {shown(name)}; there are {names}{hint}")
    wanted = {_plain(name) for name in only}
    return [c for c in found if _plain(c.name) in wanted]


def _candidate(
    library: str, name: str, kernel: str, scale_gamma: float, n_classes: int
) -> Candidate:
    home = "largemargin" if library == OURS else _PEERS[name]
    parameters = getattr(import_module(home), name)().get_params(deep=False)
    fixed, grid = dict(_FIXED.get(name, {})), dict(_GRIDS.get(name, {}))
    if library == OURS:
        card = by_name()[name]
        fixed, grid = dict(card.fixed), dict(card.grid)
        if n_classes > 2 and name in MULTICLASS:
            grid = {"multiclass": MULTICLASS[name], **grid}
    if "kernel" in parameters:
        fixed["kernel"] = kernel
        if kernel == "poly":
            fixed["coef0"] = 1.0
        if kernel != "linear":
            grid["gamma"] = [float(f"{width * scale_gamma:.6g}") for width in WIDTHS]
    return Candidate(library, name, fixed, grid)


def _plain(name: str) -> str:
    """
    >>> _plain("voted-perceptron") == _plain("VotedPerceptron")
    True
    """
    return name.replace("-", "").replace("_", "").lower()
