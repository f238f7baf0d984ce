"""What holds for coefficients as they are stored: bounds of their primal and dual objective.

Outputs come from `evaluation` with a bound of their error each; what follows from them is an
interval, and the duality gap is the largest that the intervals allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, sqrt
from typing import TYPE_CHECKING, Protocol

import numpy as np

from largemargin.kernels.functions import UNIT
from largemargin.svm.evaluation import NearMargin, Outputs, sum_loops, summed
from largemargin.svm.problem import DualResult

if TYPE_CHECKING:
    from largemargin.svm.formulations import Loss

FEW = 8 * UNIT  # the relative rounding error of a few operations in a row


@dataclass(frozen=True)
class Interval:
    """A number that is known to lie between two others."""

    low: float
    high: float

    @property
    def least(self) -> float:
        """The least size that it may have."""
        return max(self.low, -self.high, 0.0)

    def joined(self, other: Interval) -> Interval:
        return Interval(min(self.low, other.low), max(self.high, other.high))


@dataclass(frozen=True)
class ObjectiveBounds:
    """The primal and the dual objective of stored coefficients.

    `scale` is what the duality gap is relative to, if not to the larger of the two in absolute
    value: w.w for a machine with nu. `difference` is what is known of primal - dual besides: errors
    that both have in common are not in it.
    """

    primal: Interval
    dual: Interval
    square: float
    scale: Interval | None = None
    difference: Interval = Interval(-inf, inf)

    def joined(self, other: ObjectiveBounds) -> ObjectiveBounds:
        """The bounds that hold for two readings of the same coefficients."""
        scale = self.scale and other.scale and self.scale.joined(other.scale)
        primal, dual = self.primal.joined(other.primal), self.dual.joined(other.dual)
        difference = self.difference.joined(other.difference)
        return ObjectiveBounds(primal, dual, self.square, scale, difference)

    @property
    def _unit(self) -> float:
        return self.scale.least if self.scale else max(self.primal.least, self.dual.least)

    @property
    def gap(self) -> float:
        """The largest that the relative duality gap can be."""
        return self._relative(min(self.primal.high - self.dual.low, self.difference.high))

    @property
    def spread(self) -> float:
        """The part of the gap that rounding alone accounts for."""
        apart = self.primal.high - self.primal.low + self.dual.high - self.dual.low
        return self._relative(min(apart, self.difference.high - self.difference.low))

    def _relative(self, difference: float) -> float:
        unit = self._unit
        if not isfinite(difference):
            return inf
        if difference <= 0.0:
            return 0.0
        return difference * (1 + FEW) / unit if unit else inf


class Criterion(Protocol):
    """The primal and dual objective by which coefficients are judged as they are stored."""

    def near_margin(self, y: np.ndarray, s: np.ndarray, b: float) -> NearMargin: ...

    def bounds(
        self, y: np.ndarray, s: np.ndarray, coefs: np.ndarray, b: float, outputs: Outputs,
        reach: float,
    ) -> ObjectiveBounds: ...  # fmt: skip


def with_bounds(result: DualResult, readings: Sequence[ObjectiveBounds]) -> DualResult:
    """The result with the objective and the gap that hold in all readings of it."""
    found = readings[0]
    for other in readings[1:]:
        found = found.joined(other)
    gap = found.gap
    return replace(
        result, objective=found.dual.low, gap=gap, square=found.square,
        rounding=min(gap, found.spread),
    )  # fmt: skip


def margins_of(y: np.ndarray, b: float, outputs: Outputs) -> tuple[np.ndarray, np.ndarray]:
    """y (f + b) and how far it may be off."""
    f = outputs.values[0]
    return y * (f + b), outputs.errors[0] + FEW * (1 + np.abs(f) + abs(b))


def loss_bounds(y: np.ndarray, s: np.ndarray, b: float, outputs: Outputs, loss: Loss) -> Interval:
    """The sum of the losses with weights s; a weight of 0 takes an example out."""
    low, high = sum_loops().loss_sums(
        outputs.values[0], outputs.errors[0], y, s, b, FEW, loss.box, loss.ridge
    )
    return Interval(low * (1 - FEW), high * (1 + FEW))


def half_square(outputs: Outputs) -> Interval:
    """1/2 w.w"""
    half, off = outputs.square / 2, outputs.square_error / 2 * (1 + FEW) + FEW * abs(outputs.square)
    return Interval(half - off, half + off)


def dual_bounds(
    alpha: np.ndarray, outputs: Outputs, missing: float, reach: float, other: float
) -> Interval:
    """sum alpha - 1/2 w.w - other, for coefficients that meet their conditions but for `missing`.

    What is too much in a sum is taken from its side, what is beyond a bound from its example: some
    coefficients no further than `missing` away meet all, with a w that is at most missing * reach
    longer. It is their objective that no machine is below.
    """
    half, sum_ = half_square(outputs), summed(alpha)
    missing += FEW * summed(np.abs(alpha))
    longest = lengthened(half, missing * reach)
    size = FEW * (abs(sum_) + abs(longest) + other)
    low = sum_ - missing - longest - other
    return Interval(low - size, sum_ - half.low - other + size)


def slackness_bounds(
    y: np.ndarray, s: np.ndarray, coefs: np.ndarray, b: float, outputs: Outputs, missing: float,
    reach: float, C: float, loss: Loss,
) -> Interval:  # fmt: skip
    """Primal - dual as a sum of what the examples lack of complementary slackness.

    Since w.w is the sum of all coefficients times their outputs, an error of an output counts
    where the slope of the loss differs from alpha, and nowhere else: not in the many examples that
    are clearly on one side of the margin. The dual is that of `dual_bounds`.
    """
    if outputs.mixed:
        return Interval(-inf, inf)
    alpha, half = y * coefs, half_square(outputs)
    sum_, high = sum_loops().slackness_sums(
        outputs.values[0], outputs.errors[0], y, s, alpha, b, FEW, C, loss.box, loss.ridge
    )
    if not isfinite(high):
        return Interval(-inf, inf)
    missing += FEW * summed(np.abs(alpha))
    longer = lengthened(half, missing * reach) - half.high
    high += (abs(b) * missing + missing + longer) * (1 + FEW)
    return Interval(sum_, high + len(y) * UNIT * FEW * high)


def lengthened(half: Interval, by: float) -> float:
    """The largest 1/2 w.w can be for a w that is longer by so much."""
    return float(half.high + sqrt(2 * max(half.high, 0.0)) * by + by * by / 2)


def multiple_bounds(coefs: np.ndarray, outputs: Outputs, missing: float, reach: float) -> Interval:
    """(sum alpha)^2 / (2 w.w), the dual objective of the best multiple."""
    half, sum_ = half_square(outputs), summed(np.abs(coefs))
    missing += FEW * sum_
    longest = lengthened(half, missing * reach)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        low = np.divide(max(sum_ - missing, 0.0), np.sqrt(4 * longest)) ** 2 * (1 - FEW)
        high = np.inf
        if half.low > 0:
            high = np.divide(sum_, np.sqrt(4 * half.low)) ** 2 * (1 + FEW)
    return Interval(float(low) if np.isfinite(low) else 0.0, float(high))


def near_soft_margin(y: np.ndarray, s: np.ndarray, b: float) -> NearMargin:
    """Marks the examples that may be inside the margin."""

    def near(values: np.ndarray, errors: np.ndarray) -> np.ndarray:
        return np.asarray((s > 0) & (1 - y * (values[0] + b) + 2 * errors[0] > 0))

    return near


def near_hard_margin(y: np.ndarray, s: np.ndarray, b: float) -> NearMargin:
    """Marks the examples that may have the least margin."""

    def near(values: np.ndarray, errors: np.ndarray) -> np.ndarray:
        margins = y * (values[0] + b)
        least = (margins + 2 * errors[0])[s > 0].min()
        return np.asarray((s > 0) & (margins - 2 * errors[0] <= least))

    return near
