"""The options of machines, made from the constructors' docstrings: for `train` and `stream`.

The docstring of a class says of each parameter its type, its default and what it means. It is read
from the source, so that `--help` imports no machine. An option that was not given is None, and the
default of the constructor holds. `make_estimator` makes the machine that was asked for.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from largemargin.cli.choices import check_choice, one_of
from largemargin.machines import CARDS, Card, by_command, by_name
from largemargin.runtime.showing import shown

MODELS = {card.command: card.name for card in CARDS}
# those that learn from a stream
ONLINE = tuple(card.command for card in CARDS if card.streams)
# Parameters that are no options, or options under another name (`--seed`).
LEFT_OUT = ("random_state", "validation_fraction", "verbose", "warm_start")
# What a parameter takes on the command line, where the constructor takes an object.
ON_THE_COMMAND_LINE = {
    "class_weight": "balanced gives every class the same total weight",
    "estimator": "The base learner, stumps or rbf-network",
}
# Options of two names, one for each answer.
ANSWERS = {
    "aggressive": "--aggressive/--mistakes-only",
    "average": "--average/--no-average",
    "fit_intercept": "--fit-intercept/--no-intercept",
    "shuffle": "--shuffle/--no-shuffle",
}
_ENTRY = re.compile(r"(?P<names>\w+(?:, \\?\s*\w+)*) :(?P<kind>.*)")
_REFERENCE = re.compile(r"[Aa]s (?:for|in) `(\w+)`")
_NONE = re.compile(r"[;.,] None is ([^,.;]+)")


class Parameter(NamedTuple):
    """What the docstring of a machine says of one parameter."""

    kind: str
    default: str
    sentence: str

    @property
    def choices(self) -> tuple[str, ...]:
        """The words or numbers that it may be, if it is one of some."""
        braces = re.search(r"\{(.*?)\}", self.kind)
        return tuple(word.strip('"') for word in braces[1].split(", ")) if braces else ()

    @property
    def annotation(self) -> Any:
        """The type of the option's value."""
        if self.kind.startswith("bool"):
            return bool | None
        if '"' in self.kind or "str" in self.kind or "classifier" in self.kind:
            return str | None
        return int | None if self.kind.startswith("int") else float | None

    def value(self, given: Any) -> Any:
        """The parameter that an option means: a word, or a number where it may be one."""
        if isinstance(given, str) and self.kind.startswith("float"):
            try:
                return float(given)
            except ValueError:
                return given
        return given


def _docstring(name: str) -> str:
    """The docstring of a machine's class, from its file."""
    card = by_name()[name]
    package = Path(__file__).parents[1]
    source = package.joinpath(*card.module.split(".")).with_suffix(".py").read_text("utf-8")
    return source.split(f"\nclass {card.name}(", 1)[1].split('"""', 2)[1]


def model_help(model: str) -> str:
    """What a machine is, in the first paragraph of its docstring.

    >>> model_help("mira")
    'mira: MIRA, the margin infused relaxed algorithm of Crammer and Singer, on a budget.'
    """
    paragraph = _docstring(MODELS[model]).strip().split("\n\n", 1)[0]
    return f"{model}: {' '.join(paragraph.split())}".replace("`", "")


@cache
def parameters_of(name: str) -> dict[str, Parameter]:
    """The parameters of a machine, in their order.

    >>> parameters_of("NuSVC")["nu"].default
    'None'
    >>> parameters_of("NuSVC")["gamma"].default  # as for SVC
    'scale'
    """
    section = _docstring(name).split("    Parameters\n    ----------\n", 1)[1]
    section = re.split(r"\n    \w[\w ]*\n    -{3,}\n", section, maxsplit=1)[0]
    section = section.replace("\\\n    ", "").replace(",\n    default=", ", default=")
    found: dict[str, Parameter] = {}
    for entry in re.split(r"\n(?=    \w)", section):
        head, _, text = entry.strip().partition("\n")
        match = _ENTRY.match(head)
        if match is None:
            continue
        names, text = re.findall(r"\w+", match["names"]), " ".join(text.split())
        kind, _, default = match["kind"].strip().partition(", default=")
        reference = _REFERENCE.search(f"{kind} {text}") if not default else None
        for one in names:
            if reference:
                found[one] = parameters_of(reference[1])[one]
            else:
                found[one] = Parameter(kind, default.strip('"'), text)
    return found


class Option(NamedTuple):
    """An option, with what each machine that has it says of it, and the machines in all."""

    name: str
    machines: dict[str, Parameter]
    among: int = len(CARDS)

    @property
    def spelling(self) -> str:
        return ANSWERS.get(self.name, f"--{self.name.replace('_', '-')}")

    @property
    def declaration(self) -> Any:
        """The annotation that typer reads."""
        kind = next(iter(self.machines.values())).annotation
        complete = one_of(*self._choices) if self._choices else None
        return Annotated[
            kind,
            typer.Option(
                self.spelling, help=self.help, show_default=False, autocompletion=complete
            ),
        ]

    @property
    def help(self) -> str:
        """What it means, by machine where that differs; the values it takes; its defaults."""
        return f"{self._meaning}{self._values}{self._defaults}".replace("`", "")

    def help_for(self, model: str) -> str:
        """The same for one machine."""
        only = self.machines[model]
        meaning = ON_THE_COMMAND_LINE.get(self.name) or _first_sentence(only.sentence)
        alone = Option(self.name, {model: only})
        told = f"{meaning[0].upper()}{meaning[1:]}.{alone._values}{alone._defaults}"
        return told.replace("`", "").replace("..", ".")

    @property
    def _choices(self) -> list[str]:
        return list(dict.fromkeys(c for p in self.machines.values() for c in p.choices))

    @property
    def _meaning(self) -> str:
        if self.name in ON_THE_COMMAND_LINE:
            said = {ON_THE_COMMAND_LINE[self.name]: list(self.machines)}
        else:
            said = _grouped({m: _first_sentence(p.sentence) for m, p in self.machines.items()})
        few = len(self.machines) <= self.among // 2
        if not few and len(said) > 1:  # the first clause of each will do
            said = _grouped({m: re.split(r"[;,] ", text)[0] for text in said for m in said[text]})
        texts = [
            f"{', '.join(machines)}: {text[0].lower() + text[1:] if text[1:2].islower() else text}"
            if few or len(said) > 1
            else text
            for text, machines in said.items()
        ]
        return ". ".join(texts).rstrip(".") + "."

    @property
    def _values(self) -> str:
        *first, last = self._choices or [""]
        return f" {', '.join(first)} or {last}." if first else ""

    @property
    def _defaults(self) -> str:
        told = _grouped({m: _told_default(p) for m, p in self.machines.items()})
        told.pop("", None)
        if not told:
            return ""
        (usual, _), *others = sorted(told.items(), key=lambda pair: -len(pair[1]))
        parts = [usual, *(f"{', '.join(machines)}: {default}" for default, machines in others)]
        return f" [default: {'; '.join(parts)}]"


def _grouped(by_machine: dict[str, str]) -> dict[str, list[str]]:
    """The machines of which the same is said."""
    found: dict[str, list[str]] = {}
    for machine, text in by_machine.items():
        found.setdefault(text, []).append(machine)
    return found


def _first_sentence(text: str) -> str:
    """
    >>> _first_sentence("The most examples stored; None is no limit. See Notes.")
    'The most examples stored'
    """
    first = re.split(r"[.:] (?=[A-Z`\"\d])|\.$", text, maxsplit=1)[0].removesuffix("; see Notes")
    return _NONE.split(first, maxsplit=1)[0]


def _told_default(parameter: Parameter) -> str:
    """
    >>> _told_default(Parameter("int or None", "None", "Threads. None is every core."))
    'every core'
    """
    if parameter.kind.startswith("bool"):
        return "yes" if parameter.default in ("True", "auto") else "no"
    if parameter.default != "None":
        return parameter.default.removesuffix(".0")
    meant = _NONE.search(f". {parameter.sentence}")
    return meant[1] if meant else ""


def options_of(cards: Iterable[Card]) -> list[Option]:
    """The options of some machines, those that most of them have last."""
    found: dict[str, Option] = {}
    cards = list(cards)
    for card in cards:
        for name, parameter in parameters_of(card.name).items():
            default = str(card.defaults.get(name, parameter.default))
            if name not in LEFT_OUT:
                option = found.setdefault(name, Option(name, {}, len(cards)))
                option.machines[card.command] = parameter._replace(default=default)
    return sorted(found.values(), key=lambda option: len(option.machines) > len(cards) // 2)


def takes_model_options(
    cards: Iterable[Card], without: Iterable[str] = ()
) -> Callable[[Callable[..., None]], Any]:
    """A command whose parameter `given`, a dict, is the options of machines that were given.

    Typer sees a command that has each of them in the place of `given`.
    """
    options = [option for option in options_of(cards) if option.name not in without]

    def decorate(command: Callable[..., None]) -> Any:
        declared = inspect.signature(command, eval_str=True).parameters
        is_option = declared["model"].default is not inspect.Parameter.empty

        def run(**arguments: Any) -> None:
            if is_option:  # and no file
                check_choice("--model", arguments["model"], MODELS)
            values = {option.name: arguments.pop(option.name) for option in options}
            given = {
                option.name: next(iter(option.machines.values())).value(values[option.name])
                for option in options
                if values[option.name] is not None
            }
            command(**arguments, given=given)

        shown = []
        for parameter in declared.values():
            if parameter.name != "given":
                shown.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
                continue
            shown += [
                inspect.Parameter(
                    option.name, inspect.Parameter.KEYWORD_ONLY, default=None,
                    annotation=option.declaration,
                )
                for option in options
            ]  # fmt: skip
        run.machine_options = {option.name: option for option in options}  # type: ignore[attr-defined]
        run.__name__, run.__doc__ = command.__name__, command.__doc__
        run.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
        return run

    return decorate


def make_estimator(model: str, options: dict[str, Any]) -> Any:
    """The unfitted estimator with the options that were given (those that are not None).

    >>> make_estimator("svc", {"C": 10.0, "nu": None})
    SVC(C=10.0)
    >>> make_estimator("svc", {"lam": 0.1})
    Traceback (most recent call last):
    ...
    ValueError: --lam is not an option of svc: it belongs to adaptive-margin-svc
    """
    card = by_command()[model]
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in parameters_of(card.name):
            owners = [other.command for other in CARDS if name in parameters_of(other.name)]
            raise ValueError(
                f"--{name.replace('_', '-')} is not an option of {model}: it belongs to "
                f"{', '.join(owners)}"
            )
    if "estimator" in given:
        given["estimator"] = _base_learner(given["estimator"])
    return card.cls(**{**card.defaults, **given})


def _base_learner(name: str) -> Any:
    """The base learner of boosting that has this name."""
    learners = {card.command: card for card in CARDS if card.boosted}
    if name == "stumps":
        return None
    if name not in learners:
        raise ValueError(
            f"--estimator must be stumps or {' or '.join(learners)}, got {shown(name)}"
        )
    return learners[name].cls()
