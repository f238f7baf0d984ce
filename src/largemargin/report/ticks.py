"""Round numbers for the axes of a figure."""

from __future__ import annotations

import math


def log_ticks(low: float, high: float, steps: tuple[float, ...] = ()) -> list[float]:
    """Round numbers on a logarithmic axis: enough of them for a short range or for decades."""
    if not steps and high < 2.5 * low:
        steps = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
    elif not steps:
        steps = (1, 1.5, 2, 3, 5, 7) if high < 200 * low else (1,)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**decade for decade in decades for step in steps]
    return [tick for tick in ticks if low * 0.97 <= tick <= high * 1.03] or [low, high]


def linear_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, about so many, between two numbers.

    >>> linear_ticks(0.0, 0.9)
    [0.0, 0.2, 0.4, 0.6, 0.8]
    """
    if not high > low:
        return [low]
    rough = (high - low) / about
    decade = 10.0 ** math.floor(math.log10(rough))
    step = decade * min((1, 2, 5, 10), key=lambda s: abs(math.log(s * decade / rough)))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]
