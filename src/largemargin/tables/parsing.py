"""Text as numbers, truth values and dates.

A column is read in one form, which is found when a preprocessor is fitted and kept: the decimal
sign of its numbers, or the order of day, month and year.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable

POINT, COMMA = "point", "comma"  # the decimal sign of numbers
ISO = "ISO"
_SPACES = " '\u2019\u00a0\u2009\u202f"  # what parts thousands beside a comma or a point
_EXPONENT = r"(?:[eE][+-]?\d+)?"
_NUMBERS = {
    form: re.compile(
        rf"([+-]?(?:\d{{1,3}}(?:[{thousands}{_SPACES}]\d{{3}})+|\d+)(?:{sign}\d*)?"
        rf"|[+-]?{sign}\d+)({_EXPONENT})\s*(%?)",
        re.ASCII,
    )
    for form, sign, thousands in ((POINT, r"\.", ","), (COMMA, ",", "."))
}
_UNSEEN = {
    POINT: str.maketrans("", "", f",{_SPACES}"),
    COMMA: str.maketrans(",", ".", f".{_SPACES}"),
}
_CURRENCY = "[$\u00a3\u00a5\u20ac]"  # dollar, pound, yen, euro
_MONEY = re.compile(rf"^([+-]?){_CURRENCY}\s*|\s*{_CURRENCY}$")
_TRUTHS = (("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n"), ("on", "off"))
TRUTHS = {word: i == 0 for pair in _TRUTHS for i, word in enumerate(pair)} | {"1": True, "0": False}
# The first form that reads all dates of a column is taken: of 3/4/2020 the month is 3.
_DAYS = (
    "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%m-%d-%Y", "%d-%m-%Y", "%d %b %Y", "%d-%b-%Y",
    "%b %d, %Y", "%d %B %Y", "%B %d, %Y", "%m/%d/%y", "%d/%m/%y", "%d.%m.%y", "%d-%b-%y",
)  # fmt: skip
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
DATE_FORMS = (ISO, *(day + time for day in _DAYS for time in _TIMES))
MONTH_FIRST = {"%m/%d/%Y": "%d/%m/%Y", "%m-%d-%Y": "%d-%m-%Y", "%m/%d/%y": "%d/%m/%y"}
_EPOCH = datetime.datetime(1970, 1, 1)
_DAY = datetime.timedelta(days=1)
_HAS_DATE = re.compile(r"\d{4}-\d")


def number(text: str, form: str = POINT) -> float | None:
    """Text as a number, or None: with separators of thousands, of percent the hundredth part, and
    of money the amount.

    >>> number("1,234.5"), number("12 %"), number("1.234,5", "comma"), number("a")
    (1234.5, 0.12, 1234.5, None)
    >>> number("-$1,234.50"), number("12 \u20ac"), number("$")
    (-1234.5, 12.0, None)
    """
    found = _NUMBERS[form].fullmatch(_MONEY.sub(r"\1", text, count=1))
    if found is None:
        return None
    digits, exponent, percent = found.groups()
    value = float(digits.translate(_UNSEEN[form]) + exponent)
    return value / 100 if percent else value


def has_separators(text: str, form: str) -> bool:
    """Whether a number has separators of thousands.

    >>> has_separators("1,234.5", "point"), has_separators("1,5", "comma")
    (True, False)
    """
    digits = _MONEY.sub(r"\1", text, count=1).rstrip("% ")
    return len(digits.translate(_UNSEEN[form])) < len(digits)


def is_money(text: str) -> bool:
    """Whether a sign of money stands before or after a number.

    >>> is_money("$5"), is_money("5")
    (True, False)
    """
    return _MONEY.search(text) is not None


def truth(text: str) -> bool | None:
    """Text as a truth value, or None.

    >>> truth("Yes"), truth("f"), truth("maybe")
    (True, False, None)
    """
    return TRUTHS.get(text.lower())


def days(text: str, form: str) -> float | None:
    """Text as days since the first of January 1970, in UTC if a time zone is given; or None.

    >>> days("1970-01-02", "ISO"), days("1970-01-01T12:00+01:00", "ISO")
    (1.0, 0.4583333333333333)
    >>> days("31/12/1970", "%d/%m/%Y"), days("31/12/1970", "ISO")
    (364.0, None)
    """
    try:
        if form != ISO:
            moment = datetime.datetime.strptime(text, form)
        elif _HAS_DATE.match(text):
            moment = datetime.datetime.fromisoformat(text)
        else:
            return None
    except ValueError:
        return None
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    return (moment - _EPOCH) / _DAY


def form_of_numbers(texts: Iterable[str]) -> str | None:
    """The decimal sign with which all texts are numbers."""
    return _form(texts, (POINT, COMMA), number)


def form_of_dates(texts: Iterable[str]) -> str | None:
    """The form in which all texts are dates."""
    return _form(texts, DATE_FORMS, days)


def are_truths(texts: Iterable[str]) -> bool:
    """Whether the texts are the two words of a pair such as yes and no."""
    return {text.lower() for text in texts} in map(set, _TRUTHS)


def _form(
    texts: Iterable[str], forms: Iterable[str], read: Callable[[str, str], float | None]
) -> str | None:
    texts = list(texts)
    fit = (form for form in forms if all(read(text, form) is not None for text in texts))
    return next(fit, None) if texts else None
