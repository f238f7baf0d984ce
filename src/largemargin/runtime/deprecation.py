"""How a public name or parameter goes away: with a warning first.

What is deprecated works as before. Whoever uses it gets a `FutureWarning`, which Python shows by
default. It names the version in which the warning began, the version that removes the thing, and
what to use instead, and it points at the line that uses it.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T", bound=Callable[..., Any])


def deprecated(*, since: str, removed_in: str, instead: str) -> Callable[[T], T]:
    """Mark a function, a method or a class as deprecated: every call of it warns.

    A class stays the same class, so that `isinstance`, `clone` and model files go on working; to
    make an object of it, or of a subclass, warns.

    Parameters
    ----------
    since : str
        The version that first warns.
    removed_in : str
        The version that will no longer have it.
    instead : str
        What to use in its place, a name or a phrase.

    Examples
    --------
    >>> import warnings
    >>> @deprecated(since="0.3", removed_in="0.5", instead="twice")
    ... def double(x):
    ...     return 2 * x
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     double(21)
    42
    >>> print(caught[0].message)
    double is deprecated since version 0.3 and will be removed in version 0.5: use twice
    """

    def mark(thing: T) -> T:
        message = _message(_name(thing), since, removed_in, f"use {instead}")
        return _warning(thing, message, lambda args, kwargs: True)

    return mark


def deprecated_parameter(
    name: str, *, since: str, removed_in: str, instead: str | None = None
) -> Callable[[T], T]:
    """Mark a parameter of a function, a method or a class as deprecated.

    A call that gives it a value other than its default warns. (One that gives the default does
    not: scikit-learn's `clone` gives every parameter, used or not.) The parameter stays in the
    signature, and its value arrives as before.

    Parameters
    ----------
    name : str
        The parameter.
    since : str
        The version that first warns.
    removed_in : str
        The version that will no longer have it.
    instead : str, optional
        What to use in its place. Without it, the warning says to leave the parameter out.

    Examples
    --------
    >>> import warnings
    >>> @deprecated_parameter("size", since="0.3", removed_in="0.5", instead="memory")
    ... def fit(rows, memory="1GB", size=None):
    ...     return size or memory
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     fit([1]), fit([1], size="2GB")
    ('1GB', '2GB')
    >>> print(caught[0].message)
    size of fit is deprecated since version 0.3 and will be removed in version 0.5: use memory
    """

    def mark(thing: T) -> T:
        advice = f"use {instead}" if instead else "leave it out"
        message = _message(f"{name} of {_name(thing)}", since, removed_in, advice)
        signature = inspect.signature(_function_of(thing))
        if name not in signature.parameters:
            raise TypeError(f"{_name(thing)} has no parameter {name!r} to be deprecated")
        default = signature.parameters[name].default

        def used(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
            try:
                given = signature.bind_partial(*args, **kwargs).arguments
            except TypeError:  # the call itself will say what is wrong with it
                return False
            return name in given and not _same(given[name], default)

        return _warning(thing, message, used)

    return mark


def _message(what: str, since: str, removed_in: str, advice: str) -> str:
    return (
        f"{what} is deprecated since version {since} "
        f"and will be removed in version {removed_in}: {advice}"
    )


def _name(thing: Callable[..., Any]) -> str:
    """The name a caller knows it by: of a method, with its class."""
    return thing.__qualname__.rpartition("<locals>.")[2]


def _function_of(thing: Callable[..., Any]) -> Callable[..., Any]:
    """What runs in a call: of a class, its constructor."""
    return thing.__init__ if isinstance(thing, type) else thing  # type: ignore[misc]


def _same(value: Any, default: Any) -> bool:
    # an array is never compared, for its comparison is not one truth value
    return value is default or (type(value) is type(default) and bool(value == default))


def _warning(thing: T, message: str, used: Callable[[tuple[Any, ...], dict[str, Any]], bool]) -> T:
    """The thing, with a warning in every call that used what is deprecated."""
    function = _function_of(thing)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if used(args, kwargs):
            warnings.warn(message, FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    if isinstance(thing, type):
        thing.__init__ = call  # type: ignore[misc]
        return thing
    return call  # type: ignore[return-value]
