"""Values that came from elsewhere, in sentences and on terminals.

A label, the name of a feature or of a file can hold anything: a sequence of bytes that clears the
screen, the end of a line, thirty million letters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

LONGEST = 80  # the most characters of a value in a sentence
MANY = 10  # the most values of a list in a sentence
_JOINERS = "\u200c\u200d"  # characters without width that are part of words in some scripts


def printable(text: str) -> str:
    """Text with an escape sequence in place of each character that a terminal would obey.

    >>> print(printable("a\\x1b[31m\\nb"))
    a\\x1b[31m\\nb
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _JOINERS else ascii(c)[1:-1] for c in text)


def cut(text: str, longest: int) -> str:
    """The beginning of a text that is too long to be read, and how long it is.

    >>> cut("abc", 3), cut("abcdefgh", 4)
    ('abc', 'abcd... (8 characters)')
    """
    return text if len(text) <= longest else f"{text[:longest]}... ({len(text)} characters)"


def shown(value: Any, longest: int = LONGEST) -> str:
    """A value as Python writes it, in one line, shortened if it is long.

    >>> print(shown("it's"), shown(b"a"), shown(1.5))
    "it's" b'a' 1.5
    >>> print(shown("x" * 1000))
    'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'... (1000 characters)
    """
    if isinstance(value, str | bytes) and len(value) > longest:
        unit = "characters" if isinstance(value, str) else "bytes"
        return f"{printable(repr(value[: longest - 16]))}... ({len(value)} {unit})"
    if isinstance(value, list | tuple | set | frozenset | dict) and len(value) > MANY:
        return f"a {type(value).__name__} of {len(value)} values"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # the code of a stranger's class, or an integer of too many digits
        return f"(a value of type {type(value).__name__} that cannot be shown)"
    text = printable(text)
    return text if len(text) <= longest else cut(text, longest - 16)


def listed(values: Sequence[Any] | Iterable[Any], many: int = MANY) -> str:
    """The first of many values, and how many there are.

    >>> listed([1, "a"]), listed(range(1000), 3)
    ("[1, 'a']", '[0, 1, 2, ... 997 more]')
    """
    values = values if isinstance(values, Sequence) else list(values)
    first = ", ".join(shown(value) for value in islice(values, many))
    more = f", ... {len(values) - many} more" if len(values) > many else ""
    return f"[{first}{more}]"


def text(value: Any) -> str:
    """A value as people write it."""
    value = plain(value)
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {text(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(text, value))
    return str(value)


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.2f} %"


def plain(value: Any) -> Any:
    """Numpy scalars and arrays, tuples, estimators and non-finite numbers as JSON can say them."""
    if hasattr(value, "get_params"):
        value = {"class": type(value).__name__, **value.get_params(deep=False)}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
