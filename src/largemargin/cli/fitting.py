"""Training within a command: warnings as they come, what stopped it, and its time."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from largemargin.base.pipelines import earlier_steps, final_step
from largemargin.cli.options import in_options
from largemargin.cli.output import note, watched

if TYPE_CHECKING:
    from largemargin.data import Dataset

LEAST_SECONDS = 1e-3  # what a machine has where the steps before it have taken all the time


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted estimator.

    Attributes
    ----------
    seconds : float
    warnings : tuple of str
        What was said on the way.
    stopped : bool
        Whether Ctrl-C or the time limit ended it early.
    interrupted : bool
        Whether Ctrl-C did.
    """

    estimator: Any
    seconds: float
    warnings: tuple[str, ...]
    stopped: bool
    interrupted: bool


def fit(
    estimator: Any,
    data: Dataset,
    quiet: bool = False,
    seconds_left: float | None = None,
    known: tuple[str, ...] = (),
    keep: Callable[[float], None] | None = None,
) -> Fit:
    """Train an estimator; `seconds_left` takes the place of its own time limit meanwhile, and
    warnings that are `known` are not told again. If there is `keep`, it is called on the way, with
    the seconds so far.
    """
    from largemargin.runtime.progress import interruptions

    final, steps = final_step(estimator), earlier_steps(estimator)
    limit = final.get_params(deep=False).get("max_seconds")
    limit_now = limit if seconds_left is None else seconds_left
    before = interruptions()
    start = time.perf_counter()
    with _told_at_once(known, limit) as told:
        X = data.X if steps is None else steps.fit_transform(data.X, data.y)
        final.set_params(verbose=watched(quiet))
        if limit_now is not None and limit_now > 0:  # any other is for the machine to refuse
            left = limit_now - (time.perf_counter() - start)
            final.set_params(max_seconds=max(left, LEAST_SECONDS))
        try:
            if keep is None:
                final.fit(X, data.y)
            else:
                from largemargin.cli.checkpoints import fit_in_portions

                now = final.get_params(deep=False)["max_seconds"]
                fit_in_portions(final, X, data.y, now, lambda: keep(time.perf_counter() - start))
        finally:
            final.set_params(verbose=0, **({"max_seconds": limit} if limit is not None else {}))
    seconds = time.perf_counter() - start
    interrupted = interruptions() > before
    out_of_time = limit_now is not None and seconds >= limit_now
    return Fit(estimator, seconds, tuple(told), interrupted or out_of_time, interrupted)


@contextmanager
def _told_at_once(known: tuple[str, ...], limit: float | None) -> Iterator[list[str]]:
    """Tell each warning once, when it comes, in one line; the list has them all."""
    told: list[str] = []

    def tell(message: Warning | str, *others: Any, **more: Any) -> None:
        text = in_options(" ".join(str(message).split()))
        if limit is not None:  # a machine has less of it than the command
            text = re.sub(
                r"max_seconds=\S+ was reached", f"--max-seconds {limit:g} was reached", text
            )
        if text not in told:
            told.append(text)
            if text not in known:
                note(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = tell
        yield told
