"""One line of JSON as an event: {"x": [numbers] or {name: value}, "y": label, "id": anything}.

A value that has a name may be text, a category: {"color": "red"} is {"color=red": 1}.
"""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from largemargin.data.errors import MAX_LABEL, MAX_LINE, MAX_NAME
from largemargin.streaming.input import Line, TooLong

_NUMBERS = {int, float}  # types of values that JSON gives
_TEXTS = {str, bool}  # types of values with names that become numbers
_LABELS = (str, int, bool, float)  # types of labels


class BadLine(ValueError):
    """A line that cannot be answered; the message says what is wrong with it and what to do.

    Attributes
    ----------
    id : str or None
        The id of the event as JSON, if it could be read.
    """

    def __init__(self, problem: str, id: str | None = None) -> None:
        super().__init__(problem)
        self.id = id


@dataclass(frozen=True, slots=True)
class Event:
    """What a line says. `names` is None if x is a list, `label` if there is none; `id` is JSON.
    `categories` has the names that stand for categories, "color=red", and whose they are, "color".
    """

    values: np.ndarray
    names: list[str] | None
    label: Any
    id: str | None
    categories: dict[str, str] = field(default_factory=dict)


def read_event(line: Line) -> Event:
    """The event of a line; raises BadLine."""
    if isinstance(line, TooLong):
        raise BadLine(
            f"the line has {line.size} bytes, and {MAX_LINE} are the most: send less in one line"
        )
    content = _parse(line)
    if not isinstance(content, dict):
        raise BadLine(f'expected {{"x": ..., "y": ...}}, saw {shown(content)}')
    id = _id_text(content["id"]) if "id" in content else None
    try:
        if "x" not in content:
            raise BadLine(
                f'there is no "x", only {_some(content)}; expected a line such as '
                '{"x": {"length": 1.5}, "y": "red"}'
            )
        x = content["x"]
        label = _label(content.get("y"))
        if isinstance(x, list):
            return Event(_values(x), None, label, id)
        if isinstance(x, dict):
            x, categories = by_category(x)
            _check_names(x)
            return Event(_values(list(x.values()), x), list(x), label, id, categories)
        raise BadLine(f"x must be a list of numbers or an object of named numbers, got {shown(x)}")
    except BadLine as error:
        error.id = id
        raise


def by_category(x: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Named values with a 1 for each category, and the names that stand for categories.

    >>> by_category({"size": 2.5, "color": "red", "new": True})
    ({'size': 2.5, 'color=red': 1, 'new': 1}, {'color=red': 'color'})
    """
    if not _TEXTS & set(map(type, x.values())):
        return x, {}
    found: dict[str, Any] = {}
    categories = {}
    for name, value in x.items():
        column = name
        if type(value) is str:
            column = f"{name}={value}"
            categories[column] = name
        if column in found:
            raise BadLine(f"x has {shown(column)} twice, as a name and as a category: rename one")
        found[column] = value if type(value) not in _TEXTS else int(value is not False)
    return found, categories


def shown(value: Any) -> str:
    """A value as JSON, cut short, for messages."""
    if isinstance(value, str | list):
        value = value[:80]  # what is dropped would be cut off as well
    try:
        text = json.dumps(value)
    except RecursionError:
        text = "a deeply nested value"
    return text if len(text) <= 40 else f"{text[:37]}..."


def _some(names: dict[str, Any]) -> str:
    """The first of some names."""
    few = ", ".join(map(shown, islice(names, 5)))
    return (few or "nothing") + ", ..." * (len(names) > 5)


def _check_names(names: dict[str, Any]) -> None:
    if max(map(len, names), default=0) > MAX_NAME:
        long = next(name for name in names if len(name) > MAX_NAME)
        raise BadLine(
            f"x has the name {shown(long)} of {len(long)} characters, and {MAX_NAME} are the most: "
            "use a shorter one"
        )


def _parse(line: bytes) -> Any:
    try:
        return json.loads(line.removeprefix(BOM_UTF8).decode())
    except UnicodeDecodeError as error:
        raise BadLine(f"byte {error.start + 1} is not UTF-8: send JSON in UTF-8") from None
    except json.JSONDecodeError as error:
        raise BadLine(
            f"not JSON: {error.msg.lower()} at character {error.pos + 1}; expected a line such as "
            '{"x": [1.5, 2], "y": "red"}'
        ) from None
    except RecursionError:
        raise BadLine("not JSON that can be read: it is nested too deeply") from None
    except ValueError:  # Python's limit on digits, the only other thing that `loads` refuses
        raise BadLine("not JSON that can be read: a number has too many digits") from None


def _id_text(id: Any) -> str:
    try:
        return json.dumps(id, allow_nan=False)
    except (ValueError, RecursionError):
        raise BadLine("id holds NaN or an infinity, which JSON does not have") from None


def _values(x: list[Any], names: dict[str, Any] | None = None) -> np.ndarray:
    def problem(what: str, place: int) -> BadLine:
        where = f"x[{place}]" if names is None else f"x[{shown(list(names)[place])}]"
        left_out = "" if names is None else ", or text for a category, or leave it out"
        return BadLine(f"{where} is {what}: give finite numbers{left_out}")

    if not set(map(type, x)) <= _NUMBERS:
        place = next(i for i, value in enumerate(x) if type(value) not in _NUMBERS)
        raise problem(f"{shown(x[place])}, not a number", place)
    try:
        values = np.array(x, np.float64)
    except OverflowError:
        place = next(i for i, value in enumerate(x) if abs(value) > 2**1000)
        raise problem("too large", place) from None
    finite = np.isfinite(values)
    if not finite.all():
        place = int(np.argmin(finite))
        raise problem(shown(x[place]), place)
    return values


def _label(y: Any) -> Any:
    """A label, whole numbers as integers."""
    if y is None:
        return None
    if not isinstance(y, _LABELS):
        raise BadLine(f"y must be text, a whole number or true or false, got {shown(y)}")
    if isinstance(y, float):
        if not y.is_integer():  # neither is NaN or an infinity
            raise BadLine(f"y must be text, a whole number or true or false, got {shown(y)}")
        y = int(y)
    if type(y) is int and not -(2**63) <= y < 2**63:
        raise BadLine(f"y is {shown(y)}, which has more than 64 bits: use text")
    if type(y) is str and len(y) > MAX_LABEL:
        raise BadLine(
            f"y is {shown(y)} of {len(y)} characters, and {MAX_LABEL} are the most: use a shorter "
            "label"
        )
    if type(y) is str and "\0" in y:
        raise BadLine(f"y is {shown(y)}: a label cannot hold the character NUL")
    return y
