"""What a long fit says of itself on the way: its violation, its duality gap and the time to go; and
in the first minute, where it is so, that it will take hours.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import log

import numpy as np

from largemargin.runtime.progress import Watch
from largemargin.svm.chunking import Chunking

INTERVAL = 0.5  # seconds between two notes
SURE_AFTER = 20.0  # seconds after which the speed is known well enough for a warning
LONG = 3600.0  # seconds that are worth one


class Forecast:
    """Looks at a solver after each of its rounds.

    Parameters
    ----------
    gap : callable
        Gives the relative duality gap of a solver that has looked at all of its variables.
    """

    def __init__(self, watch: Watch, tol: float, gap: Callable[[Chunking], float]) -> None:
        self._watch, self._tol, self._gap = watch, tol, gap
        self._began, self._told, self._warned = watch.elapsed, 0.0, False
        self._history: list[tuple[float, float]] = []  # seconds, logarithm of the violation

    def __call__(self, solver: Chunking) -> None:
        now = self._watch.elapsed - self._began  # other problems may have been solved before
        if now - self._told < INTERVAL:
            self._watch.look()
            return
        self._told = now
        note = f"values computed, violation {solver.violation:.2g}"
        if solver.is_complete and solver.violation > 0:
            found = log(solver.violation)
            if not self._history or found != self._history[-1][1]:
                self._history.append((now, found))
            if self._watch.is_shown:
                note += f", gap {self._gap(solver):.2g}"
        left = self._seconds_left(solver, now)
        if now > 4 * INTERVAL:
            note += f", about {_in_words(left)} to go"
        self._watch.advance(0, note)
        if now > SURE_AFTER and left > LONG and not self._warned:
            self._warned = True
            warnings.warn(
                f"this fit will take about {_in_words(left)}, by its first {now:.0f} seconds. "
                "Much faster are kernel='linear', VotedPerceptron, or MIRA with a budget; "
                "max_seconds ends it with the best model so far",
                stacklevel=2,
            )

    def _seconds_left(self, solver: Chunking, now: float) -> float:
        """From the fall of the violation in the second half of the time, or, before there is one,
        from the kernel values that the problem is expected to take.
        """
        recent = [point for point in self._history if point[0] > now / 2]
        if len(recent) >= 4:
            seconds, logs = np.array(recent).T
            slope = float(np.polyfit(seconds - seconds[0], logs, 1)[0])
            if slope < 0:  # else it goes up and down on its way, and tells nothing yet
                return max(0.0, float(logs[-1] - log(self._tol)) / -slope)
        spent = solver.effort.n_values
        return max(0.0, now * (solver.values_expected / max(spent, 1) - 1))


def _in_words(seconds: float) -> str:
    for size, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} seconds"
