"""How sure an error that was counted is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

METHOD = "Clopper-Pearson"
QUANTILE_ERROR = 1e-12  # bound on the relative error of a quantile


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
        # a quantile is found to so many digits, and is the end of an interval that must not shrink
        low = float(beta.ppf(tail, k, n - k + 1)) * (1 - QUANTILE_ERROR) if k else 0.0
        high = float(beta.isf(tail, k + 1, n - k)) * (1 + QUANTILE_ERROR) if k < n else 1.0
        return low, min(high, 1.0)

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
    from largemargin.certificates.rounding import percent_within

    return percent_within(*interval)
