"""The table of machines: one card each.

A card has strings and numbers only, so that the table is read in no time. Whatever lists the
machines reads it: the public names of the package, the model file, the names and options of the
command line, the comparison, certificates, reports and the documentation. A machine of a known
family is its file, its card and its example; one of a new family also has a `state` module, which
the model file reads and writes it with, and a module of statements, which certificates consist of.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # to import `typing` takes longer than all the rest of `import largemargin`
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import ModuleType
    from typing import Any

CLASSIFIER, DETECTOR = "classifier", "outlier detector"  # kinds of machines
# what a fit leaves to be told and shown
DUAL = "dual solution"
TRACE = "trace"
STREAM = "stream"
HYPERPLANE = "hyperplane"
ENSEMBLE = "ensemble"
NETWORK = "network"


class Card:
    """What the package knows of a machine before it is imported.

    Attributes
    ----------
    name : str
        The class, a public name of the package.
    package : str
        The room that has it.
    command : str
        Its name on the command line. The file of the class and that of its example have this name
        too, with underscores, unless `file` names the former.
    statements : str
        The module that makes its certificates.
    outcome : str
        What a fit leaves: DUAL, TRACE, STREAM, HYPERPLANE, ENSEMBLE or NETWORK.
    kind : str
        CLASSIFIER, or DETECTOR, which learns from rows without labels.
    level : float or str
        The score on the margin, for pictures: a number, or the attribute of the model that has it;
        0 if there is no such score.
    doubled : bool
        Whether two classes have a vector each, w and -w, so that their margin is 2 y f.
    streams : bool
        Whether it learns from a stream, which may have shown one class only so far.
    boosted : bool
        Whether it can be the base learner of boosting in a model file.
    defaults : dict
        Parameters of which the command line has another default.
    fixed, grid : dict
        Parameters that a comparison sets, and the values that it tries, the first of which does for
        most data.
    """

    def __init__(
        self,
        name: str,
        package: str,
        command: str,
        statements: str,
        outcome: str,
        *,
        file: str = "",
        kind: str = CLASSIFIER,
        level: float | str = 0.0,
        doubled: bool = False,
        streams: bool = False,
        boosted: bool = False,
        defaults: Mapping[str, Any] | None = None,
        fixed: Mapping[str, Any] | None = None,
        grid: Mapping[str, list[Any]] | None = None,
    ) -> None:
        self.name = name
        self.package = package
        self.command = command
        self.statements = statements
        self.outcome = outcome
        self.file = file
        self.kind = kind
        self.level = level
        self.doubled = doubled
        self.streams = streams
        self.boosted = boosted
        self.defaults = defaults or {}
        self.fixed = fixed or {}
        self.grid = grid or {}

    def __repr__(self) -> str:
        return f"Card({self.name!r})"

    @property
    def module(self) -> str:
        """Where the class is written."""
        return f"{self.package}.{self.file or self.command.replace('-', '_')}"

    @property
    def states(self) -> str:
        """The module that packs and unpacks its fits for a model file."""
        return f"{self.package}.state"

    @property
    def cls(self) -> type[Any]:
        found: type[Any] = getattr(room(self.package), self.name)
        return found


CARDS = (
    Card(
        "VotedPerceptron", "perceptron", "voted-perceptron", "certificates.mistakes", TRACE,
        grid={"method": ["vote", "average"]},
    ),
    Card(
        "SVC", "svm", "svc", "certificates.svm", DUAL, level=1.0, grid={"C": [10.0, 1.0, 100.0]}
    ),
    Card(
        "NuSVC", "svm", "nu-svc", "certificates.svm", DUAL, level=1.0, grid={"nu": [0.05, 0.2]}
    ),
    Card(
        "KernelAdatron", "svm", "kernel-adatron", "certificates.svm", DUAL, level=1.0,
        fixed={"max_iter": 50}, grid={"C": [10.0, 1.0]},
    ),
    Card(
        "OneClassSVM", "svm", "one-class-svm", "certificates.one_class", DUAL, kind=DETECTOR
    ),
    Card(
        "LPSVC", "lp", "lp-svc", "certificates.linear_programs", DUAL, level=1.0,
        grid={"C": [10.0, 1.0]},
    ),
    Card(
        "NuLPSVC", "lp", "nu-lp-svc", "certificates.linear_programs", DUAL, level="margin_",
        grid={"nu": [0.02, 0.2]},
    ),
    Card(
        "LeaveOneOutSVC", "lp", "leave-one-out-svc", "certificates.linear_programs", DUAL,
        level=1.0,
    ),
    Card(
        "AdaptiveMarginSVC", "lp", "adaptive-margin-svc", "certificates.linear_programs", DUAL,
        level=1.0, grid={"lam": [1.0, 0.5]},
    ),
    Card(
        "MaxMarginHyperplane", "hyperplane", "max-margin-hyperplane", "certificates.hyperplanes",
        HYPERPLANE, file="estimator", level=1.0, grid={"norm": [2, 1], "C": [1.0, 10.0]},
    ),
    Card(
        "AggressivePerceptron", "online", "aggressive-perceptron", "certificates.cache", STREAM,
        level="margin", streams=True, grid={"margin": [0.01, 0.1]},
    ),
    Card(
        "MIRA", "online", "mira", "certificates.cache", STREAM, level="margin", doubled=True,
        streams=True, grid={"margin": [0.01, 0.1]},
    ),
    Card(
        "ROMMA", "online", "romma", "certificates.cache", STREAM, level=1.0, streams=True,
        grid={"aggressive": [True, False]},
    ),
    Card(
        "ALMA", "online", "alma", "certificates.cache", STREAM, streams=True,
        grid={"alpha": [0.9, 0.5]},
    ),
    Card(
        "AdaBoost", "boosting", "adaboost", "certificates.boosting", ENSEMBLE,
        defaults={"n_rounds": 500}, fixed={"n_rounds": 200}, grid={"regularization": [0.0, 100.0]},
    ),
    Card(
        "RBFNetwork", "boosting", "rbf-network", "certificates.boosting", NETWORK, boosted=True,
        grid={"n_centers": [20, 50]},
    ),
)  # fmt: skip


def by_name(cards: Iterable[Card] = CARDS) -> dict[str, Card]:
    return {card.name: card for card in cards}


def by_command(cards: Iterable[Card] = CARDS) -> dict[str, Card]:
    return {card.command: card for card in cards}


def card_of(model: Any) -> Card:
    """The card of a model's class, or of the class that it is derived from.

    >>> from largemargin import SVC
    >>> card_of(SVC()).command
    'svc'
    """
    cards = by_name()
    for cls in type(model).__mro__:
        if cls.__module__.startswith("largemargin.") and cls.__name__ in cards:
            return cards[cls.__name__]
    raise TypeError(f"this must be a machine of largemargin, got {type(model).__name__}")


def room(name: str) -> ModuleType:
    """A part of the package by its name, imported now. It is the one way by which a lower room
    reaches a higher one.
    """
    return import_module(f"largemargin.{name}")
