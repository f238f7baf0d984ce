"""The machines as the page shows them: each parameter a slider, a choice or a switch.

What a parameter is, its default and its meaning come from the docstring of the constructor; this
file has the ranges of sliders, and the defaults that suit points in the square from -1 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from largemargin.machines import CARDS, DETECTOR, Card, by_name
from largemargin.runtime.showing import shown
from largemargin.web.problems import Problem

Describe = Callable[[str], Mapping[str, Any]]  # the parameters of a machine, by its name

LEFT_OUT = {
    "calibrate", "max_seconds", "memory", "min_margin", "n_jobs", "precision", "random_state",
    "verbose", "warm_start",
}  # fmt: skip
LATER = {"class_weight", "max_iter", "tol", "validation_fraction", "matern_nu"}  # shown on request
# least, largest, whether the slider is logarithmic
RANGES: dict[str, tuple[float, float, bool]] = {
    "C": (1e-3, 1e4, True), "B": (1e-2, 1e2, True), "alpha": (0.01, 1.0, False),
    "budget": (1, 200, False), "coef0": (0.0, 10.0, False), "degree": (1, 10, False),
    "epochs": (1, 50, False), "gamma": (1e-2, 1e3, True), "lam": (1e-2, 1e2, True),
    "learning_rate": (1e-2, 1.9, True), "margin": (0.0, 2.0, False),
    "max_iter": (1, 10_000, True), "n_centers": (1, 60, False), "n_rounds": (1, 500, True),
    "norm": (1.0, 10.0, False), "nu": (0.01, 1.0, False), "regularization": (0.0, 1000.0, False),
    "tol": (1e-8, 1e-1, True), "validation_fraction": (0.05, 0.5, False),
}  # fmt: skip
OWN_RANGES = {("RBFNetwork", "regularization"): (1e-9, 1e2, True)}
# Words that a number may be, besides those of the docstring.
WORDS = {"C": ["inf"], "norm": ["inf"], "class_weight": ["balanced"]}
OWN_WORDS: dict[tuple[str, str], list[str]] = {("LPSVC", "C"): []}  # its C is finite
DEFAULTS: dict[str, dict[str, Any]] = {
    "AdaBoost": {"n_rounds": 100},
    "KernelAdatron": {"C": 10.0, "max_iter": 200},
    "MaxMarginHyperplane": {"C": 10.0},
    "NuSVC": {"nu": 0.2},
    "OneClassSVM": {"nu": 0.1},
    "SVC": {"C": 10.0},
}
STREAMING_GAMMA = 4.0


def controls_of(card: Card, describe: Describe) -> list[dict[str, Any]]:
    """The controls of a machine, in the order of its constructor."""
    own = {**card.defaults, **DEFAULTS.get(card.name, {})}
    if card.streams:
        own.setdefault("gamma", STREAMING_GAMMA)
    found = []
    for name, parameter in describe(card.name).items():
        if name in LEFT_OUT or parameter.default == "-1":  # no limit, which is no slider
            continue
        control = _control(name, parameter)
        if (card.name, name) in OWN_RANGES:
            control["min"], control["max"], control["log"] = OWN_RANGES[card.name, name]
        if (card.name, name) in OWN_WORDS:
            control["words"] = OWN_WORDS[card.name, name]
        if name in own:
            control["default"] = own[name]
        found.append(control)
    return found


def _control(name: str, parameter: Any) -> dict[str, Any]:
    control: dict[str, Any] = {
        "name": name,
        "help": parameter.sentence.replace("`", ""),
        "later": name in LATER,
        "default": _value(parameter.default),
    }
    choices = [word for word in parameter.choices if word != "precomputed"]
    if name == "estimator":
        choices, control["default"] = ["stumps", "rbf-network"], "stumps"
    if parameter.kind.startswith("bool"):
        quoted = _quoted(parameter.kind)
        if not quoted:
            return {**control, "kind": "switch"}
        return {**control, "kind": "choice", "words": [*quoted, True, False]}
    if choices or name not in RANGES:
        words = choices or ["None", *WORDS.get(name, [])]
        return {**control, "kind": "choice", "words": [_value(word) for word in words]}
    least, largest, log = RANGES[name]
    integer = parameter.kind.startswith("int")
    words = [_value(word) for word in _quoted(parameter.kind)] + WORDS.get(name, [])
    if "None" in parameter.kind:
        words = [None, *words]
    if name == "C" and words[:1] == [None]:
        words = [None]
    return {
        **control, "kind": "number", "min": least, "max": largest, "log": log,
        "integer": integer, "words": words,
    }  # fmt: skip


def _quoted(kind: str) -> list[str]:
    return kind.split('"')[1::2]


def _value(text: str) -> Any:
    """What JSON writes for a default: a number, a word, a truth value, null; inf is a word."""
    if text in ("None", "True", "False"):
        return {"None": None, "True": True, "False": False}[text]
    try:
        number = float(text)
    except ValueError:
        return text
    if math.isinf(number):
        return "inf"
    return int(number) if text.lstrip("-").isdigit() else number


def machines(describe: Describe) -> list[dict[str, Any]]:
    """All machines for the page."""
    return [
        {
            "name": card.name,
            "package": card.package,
            "detector": card.kind == DETECTOR,
            "says": _first_sentence(card.cls.__doc__ or ""),
            "controls": controls_of(card, describe),
        }
        for card in CARDS
    ]


def _first_sentence(doc: str) -> str:
    return " ".join(doc.split("\n\n")[0].split())


def arguments_of(card: Card, given: Any, describe: Describe) -> dict[str, Any]:
    """The arguments of the constructor that the values of the page mean; only names and kinds are
    checked here, the machine checks the values.
    """
    if not isinstance(given, dict):
        raise Problem(400, f"params must be an object of values by name, got {shown(given)}")
    controls = {control["name"]: control for control in controls_of(card, describe)}
    found = {name: control["default"] for name, control in controls.items()}
    for name, value in given.items():
        if name not in controls:
            raise Problem(
                400, f"{card.name} has no parameter {shown(name)}: use {', '.join(controls)}"
            )
        found[name] = _checked(controls[name], value)
    return {name: _python(name, value) for name, value in found.items()}


def _checked(control: dict[str, Any], value: Any) -> Any:
    kind, name = control["kind"], control["name"]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "switch" and isinstance(value, bool):
        return value
    if kind == "number" and number:
        if not control["integer"]:
            return float(value)
        least, largest = control["min"], control["max"]
        if not least <= value <= largest or value != int(value):
            raise Problem(
                400,
                f"{name} must be a whole number from {least} to {largest}, got {shown(value)}",
            )
        return int(value)
    words = control.get("words", [])
    for word in words:
        if value == word and type(value) is type(word):
            return value
    allowed = ["true or false"] if kind == "switch" else [str(word) for word in words]
    if kind == "number":
        allowed = ["a number", *allowed]
    raise Problem(400, f"{name} must be {' or '.join(allowed)}, got {shown(value)}")


def _python(name: str, value: Any) -> Any:
    if value == "inf":
        return math.inf
    if name == "estimator":
        return by_name()["RBFNetwork"].cls() if value == "rbf-network" else None
    return value
