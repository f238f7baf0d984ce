"""How sure an error that was counted is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

METHOD = "Clopper-Pearson"


@dataclass(frozen=True)
class ErrorRate:
    """Errors among rows, with the interval that holds the true rate at `confidence`.

    The interval is that of Clopper and Pearson, from the binomial distribution itself: it is never
    too narrow, whatever the rate and however few the rows.

    >>> rate = ErrorRate(6, 450)
    >>> print(rate)
    1.33 % (0.49 to 2.88)
    """

    errors: int
    rows: int
    confidence: float = 0.95

    @property
    def share(self) -> float:
        return self.errors / self.rows

    @property
    def interval(self) -> tuple[float, float]:
        from scipy.stats import beta

        tail = (1 - self.confidence) / 2
        k, n = self.errors, self.rows
        low = float(beta.ppf(tail, k, n - k + 1)) if k else 0.0
        high = float(beta.ppf(1 - tail, k + 1, n - k)) if k < n else 1.0
        return low, high

    def __str__(self) -> str:
        low, high = outward(self.interval)
        return f"{100 * self.share:.2f} % ({low} to {high})"

    def as_json(self) -> dict[str, Any]:
        low, high = self.interval
        return {
            "errors": self.errors,
            "rows": self.rows,
            "error": self.share,
            "interval": {
                "low": low,
                "high": high,
                "confidence": self.confidence,
                "method": METHOD,
            },
        }


def outward(interval: tuple[float, float]) -> tuple[str, str]:
    """An interval in percent with two digits, rounded so that it never shrinks."""
    import math

    low, high = interval
    return (
        f"{math.floor(1e4 * low + 1e-9) / 100:.2f}",
        f"{math.ceil(1e4 * high - 1e-9) / 100:.2f}",
    )
