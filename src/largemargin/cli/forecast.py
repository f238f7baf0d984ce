"""What a long training will take, said before it begins, from fits of a few rows.

The time of a fit grows like a power of the rows, between 1 and 2. It is measured on small samples,
each with twice the rows of the one before, from which the power is found by least squares. Where
the support vectors grow with the rows it is taken to be 1.5 at least, and 1.75 where every mistake
is one of them: few rows do not show it yet. What is told is a range, from half to twice of that.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from largemargin.base.pipelines import final_step
from largemargin.cli.output import note

if TYPE_CHECKING:
    from largemargin.data import Dataset

FEWEST_ROWS = 3000  # with fewer rows nothing takes long
FIRST_ROWS = 400
LONGEST_SAMPLE = 0.5  # seconds after which samples grow no more
MOST_SECONDS = 5.0  # a limit of the time of one sample
LONG = 60.0  # seconds that are worth a word
MIDDLE_POWER, MISTAKES_POWER, MOST_POWER = 1.5, 1.75, 2.0
JUMP = 5.0  # a factor between two samples that no power explains
SPREAD = 2.0  # the factor that a forecast may be off by


def seconds_for(make: Callable[[], Any], data: Dataset, seed: int) -> float | None:
    """What a fit on all rows will take, in seconds; None for few rows, or if nobody can tell.

    `make` gives an estimator that is not yet fitted.
    """
    import numpy as np

    n = data.X.shape[0]
    if n < FEWEST_ROWS or data.y is None:
        return None
    order = np.random.default_rng(seed).permutation(n)
    rows = FIRST_ROWS
    _timed(make(), data, order[:rows])  # loads compiled code
    times = [_timed(make(), data, order[:rows])]
    while 4 * rows <= n and (len(times) < 3 or (times[-1] or 0.0) < LONGEST_SAMPLE):
        rows *= 2
        found = _timed(make(), data, order[:rows])
        if found is not None and times[-1] is not None and found > JUMP * times[-1]:
            found = _timed(make(), data, order[:rows])  # the first time loaded compiled code
        times.append(found)
    return extrapolated(times, rows, n, _least_power(final_step(make())))


def _least_power(machine: Any) -> float:
    parameters = machine.get_params(deep=False)
    bounded = parameters.get("budget") is not None
    if bounded or parameters.get("kernel", "linear") == "linear":
        return 1.0
    return MISTAKES_POWER if "epochs" in parameters else MIDDLE_POWER


def extrapolated(
    times: list[float | None], rows: int, n: int, least_power: float = 1.0
) -> float | None:
    """The time of n rows, from those of samples that double up to so many rows.

    >>> round(extrapolated([0.2, 0.4, 0.8], 1000, 4000), 6)
    3.2
    >>> round(extrapolated([0.01, 0.02, 0.4, 0.8], 1000, 4000), 6)  # from 500 rows on, another way
    3.2
    >>> round(extrapolated([0.2, 0.4, 0.8], 1000, 4000, least_power=1.5), 6)
    6.4
    """
    import numpy as np

    known = [one for one in times if one is not None][-4:]
    if len(known) < len(times[-4:]) or len(known) < 2:
        return None
    logs = np.log2(np.maximum(known, 1e-3))
    jumps = np.flatnonzero(np.diff(logs) > np.log2(JUMP))
    logs = logs[jumps[-1] + 1 :] if len(jumps) else logs  # of the way that many rows take
    power = MIDDLE_POWER
    if len(logs) > 1:
        slope = np.polyfit(np.arange(len(logs)), logs, 1)[0]
        power = float(np.clip(slope, least_power, MOST_POWER))
    return float(known[-1] * (n / rows) ** power)


def _timed(estimator: Any, data: Dataset, rows: Any) -> float | None:
    """The time of one fit; None if these rows are not enough for one."""
    final = final_step(estimator)
    if "max_seconds" in final.get_params(deep=False):
        final.set_params(max_seconds=MOST_SECONDS)
    assert data.y is not None
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator.fit(data.X[rows], data.y[rows])
    except ValueError:
        return None
    return time.perf_counter() - start


def tell(seconds: float | None, estimator: Any, fits: float) -> None:
    """Say it, if it is long, with what is faster."""
    if seconds is None or seconds * fits < LONG:
        return
    parameters = final_step(estimator).get_params(deep=False)
    faster = []
    if parameters.get("kernel", "linear") != "linear":
        faster.append("--kernel linear")
    if "epochs" not in parameters:
        faster.append("--model voted-perceptron")
    faster.append("--model mira --budget 500")
    if fits > 1:
        faster.append("--test-size 0, which fits once")
    note(
        f"note: this may take {in_words(seconds * fits / SPREAD)} to "
        f"{in_words(seconds * fits * SPREAD)}, by fits of a few rows; faster are "
        f"{', '.join(faster)}; --max-seconds ends it with the best model so far"
    )


def in_words(seconds: float) -> str:
    """
    >>> in_words(75), in_words(1000), in_words(1e5)
    ('75 seconds', '17 minutes', '28 hours')
    """
    for size, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} seconds"
