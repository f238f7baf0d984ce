"""Examples to look at: as small pictures where rows are square images, else as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.report import png

SMALLEST_SIDE = 8  # fewer pixels than 8 x 8 are rather a table's row
LARGEST_SIDE = 64  # pixels shown of a side; of a larger picture every second, third ...
FEATURES = 8  # numbers shown of a row
LOOKED_AT = 500  # rows that decide whether rows are pictures
BACKGROUND = 0.15  # with so many pixels at the lowest value it is a drawing, not a photograph

Caption = tuple[str, str, str]  # what it is, a number, and where it is


@dataclass(frozen=True)
class Example:
    """One example: a picture, of ink on nothing or not, or its features by name; and a caption."""

    caption: str
    detail: str
    where: str
    picture: str = ""
    ink: bool = False
    features: tuple[tuple[str, float], ...] = ()

    @property
    def told(self) -> str:
        """What is said in place of the picture."""
        return ", ".join(part for part in (self.caption, self.where, self.detail) if part)


@dataclass(frozen=True)
class Album:
    """How rows of a data set are shown.

    Attributes
    ----------
    side : int
        Of the square picture that a row is; 0 if rows are not pictures.
    low, high : float
        The lowest and the highest value of a pixel.
    ink : bool
        Whether it is a drawing, of ink on nothing, and not a photograph.
    feature_names : tuple of str
    """

    side: int
    low: float
    high: float
    ink: bool
    feature_names: tuple[str, ...]

    @property
    def pictures(self) -> bool:
        return self.side > 0

    def show(self, X: Any, captions: Sequence[Caption]) -> tuple[Example, ...]:
        """The rows of X, with what is said of each."""
        rows = dense(X)
        return tuple(
            Example(*caption, self._picture(row), self.ink)
            if self.pictures
            else Example(*caption, features=self._features(row))
            for row, caption in zip(rows, captions, strict=True)
        )

    def _picture(self, row: np.ndarray) -> str:
        stride = -(-self.side // LARGEST_SIDE)
        pixels = row.reshape(self.side, self.side)[::stride, ::stride]
        share = (pixels - self.low) / (self.high - self.low)
        grey = np.round(255 * share.clip(0, 1)).astype(np.uint8)
        return png.data_uri(png.encode(grey, ink=self.ink))

    def _features(self, row: np.ndarray) -> tuple[tuple[str, float], ...]:
        """The first features, or of many those that are not zero."""
        chosen = np.arange(len(row)) if len(row) <= FEATURES else np.flatnonzero(row)
        return tuple((self._name(j), float(row[j])) for j in chosen[:FEATURES].tolist())

    def _name(self, feature: int) -> str:
        return self.feature_names[feature] if feature < len(self.feature_names) else f"x{feature}"


def album_of(X: Any, feature_names: Sequence[str] = ()) -> Album:
    """How rows like those of X are best shown."""
    names = tuple(map(str, feature_names))
    sample = dense(X[:: max(1, X.shape[0] // LOOKED_AT)])
    low, high = float(sample.min()), float(sample.max())
    side = _side(sample)
    if not side or not high > low or len(set(names)) != len(names):
        return Album(0, low, high, False, names)
    return Album(side, low, high, bool((sample == low).mean() > BACKGROUND), names)


def _side(sample: np.ndarray) -> int:
    """The side of the square picture that rows are, 0 if they are none.

    Neighbours in a picture are alike: their difference, across and down, is well below that of
    pixels that have been shuffled.
    """
    side = round(sample.shape[1] ** 0.5)
    if side < SMALLEST_SIDE or side * side != sample.shape[1]:
        return 0
    shuffled = sample[:, np.random.default_rng(0).permutation(side * side)]
    alike, unlike = (_roughness(rows.reshape(-1, side, side)) for rows in (sample, shuffled))
    return side if max(alike) < 0.8 * min(unlike) else 0


def _roughness(pictures: np.ndarray) -> tuple[float, float]:
    """The mean difference of neighbours across and down."""
    return (
        float(np.abs(np.diff(pictures, axis=2)).mean()),
        float(np.abs(np.diff(pictures, axis=1)).mean()),
    )


def dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if sp.issparse(X) else X, np.float64)
