"""Examples worth a look: as small pictures where rows are square images, else as numbers.

A gallery is a choice of them: the errors that the model was surest of, the rows nearest to where
the answer changes, and what the model keeps. Of many features those are shown that tell most of
the answers.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from largemargin.base.pipelines import earlier_steps, final_step
from largemargin.data import Table
from largemargin.machines import DUAL, HYPERPLANE, NETWORK, STREAM, TRACE, card_of
from largemargin.report.fit.importance import stump_importance
from largemargin.report.fit.outcome import Outcome, Rows
from largemargin.report.templates import figure
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.showing import cut

SMALLEST_SIDE = 8  # fewer pixels than 8 x 8 are rather a table's row
LARGEST_SIDE = 64  # pixels shown of a side; of a larger picture every second, third ...
FEATURES_SHOWN = 8  # numbers of a row
CELLS_SHOWN = 10  # cells of a row of a table
LONGEST_CELL = 40  # characters of one of them
SAMPLE_ROWS = 500  # rows that decide whether rows are pictures
# share of pixels at the lowest value from which a picture is a drawing, not a photograph
BACKGROUND_SHARE = 0.15

Caption = tuple[str, str, str]  # what it is, a number, and where it is

PICTURES_SHOWN = 24  # pictures of a gallery
ROWS_SHOWN = 10  # rows of a gallery of numbers
SUPPORT_SHOWN = 48  # pictures of support vectors
_GREY, _INK = 0, 4  # colour types: grey values; grey values with their opacity


@dataclass(frozen=True)
class Example:
    """One example: a picture, of ink on nothing or not, or its features by name; and a caption."""

    caption: str
    detail: str
    where: str
    picture: str = ""
    ink: bool = False
    features: tuple[tuple[str, float | str], ...] = ()

    @property
    def told(self) -> str:
        """What is said in place of the picture."""
        return ", ".join(part for part in (self.caption, self.where, self.detail) if part)


@dataclass(frozen=True)
class Gallery:
    """Examples that belong together, and why they are shown."""

    id: str
    title: str
    note: str
    examples: tuple[Example, ...]

    @property
    def pictures(self) -> bool:
        return any(example.picture for example in self.examples)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the features, where they are the same for all examples."""
        names = {tuple(name for name, _ in example.features) for example in self.examples}
        return names.pop() if len(names) == 1 else ()

    @property
    def words(self) -> frozenset[str]:
        """The columns without a number, which are set to the left."""
        pairs = [pair for example in self.examples for pair in example.features]
        numbers = {name for name, value in pairs if not isinstance(value, str)}
        return frozenset(name for name, _ in pairs if name not in numbers)


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
    order : tuple of int
        The features, the most telling one first; empty for their own order.
    """

    side: int
    low: float
    high: float
    ink: bool
    feature_names: tuple[str, ...]
    order: tuple[int, ...] = ()

    @property
    def pictures(self) -> bool:
        return self.side > 0

    def show(self, X: Matrix, captions: Sequence[Caption]) -> tuple[Example, ...]:
        """The rows of X, with what is said of each."""
        if isinstance(X, Table):
            return tuple(
                Example(*caption, features=_cells(X, row, self.order))
                for row, caption in enumerate(captions)
            )
        rows, sparse = dense(X), not isinstance(X, np.ndarray)
        return tuple(
            Example(*caption, self._picture(row), self.ink)
            if self.pictures
            else Example(*caption, features=self._features(row, sparse))
            for row, caption in zip(rows, captions, strict=True)
        )

    def _picture(self, row: np.ndarray) -> str:
        stride = -(-self.side // LARGEST_SIDE)
        pixels = row.reshape(self.side, self.side)[::stride, ::stride]
        share = (pixels - self.low) / (self.high - self.low)
        grey = np.round(255 * share.clip(0, 1)).astype(np.uint8)
        return data_uri(encode_png(grey, ink=self.ink))

    def _features(self, row: np.ndarray, sparse: bool) -> tuple[tuple[str, float], ...]:
        """All features if they are few, else the most telling ones; of sparse rows those that are
        not zero.
        """
        if len(row) <= FEATURES_SHOWN:
            return tuple((self._name(j), float(row[j])) for j in range(len(row)))
        order = np.array(self.order if len(self.order) == len(row) else range(len(row)))
        chosen = order[row[order] != 0] if sparse else order
        return tuple((self._name(j), float(row[j])) for j in chosen[:FEATURES_SHOWN].tolist())

    def _name(self, feature: int) -> str:
        return self.feature_names[feature] if feature < len(self.feature_names) else f"x{feature}"


def _cells(
    table: Table, row: int, order: tuple[int, ...]
) -> tuple[tuple[str, float | str], ...]:  # fmt: skip
    """The most telling cells of a row."""
    names = list(table.columns)
    found: list[tuple[str, float | str]] = []
    for j in (order or range(len(names)))[:CELLS_SHOWN]:
        column = table.columns[names[j]]
        value = column[row]
        if value is None or value != value:
            found.append((names[j], "missing"))
        elif column.dtype.kind == "f":
            found.append((names[j], float(value)))
        else:
            found.append((names[j], cut(str(value), LONGEST_CELL)))
    return tuple(found)


def album_of(X: Matrix, feature_names: Sequence[str] = (), order: Sequence[int] = ()) -> Album:
    """How rows like those of X are best shown."""
    names, order = tuple(map(str, feature_names)), tuple(order)
    if isinstance(X, Table):
        return Album(0, 0.0, 0.0, False, names, order)
    sample = dense(X[:: max(1, X.shape[0] // SAMPLE_ROWS)])
    low, high = float(sample.min()), float(sample.max())
    side = _side(sample)
    if not side or not high > low or len(set(names)) != len(names):
        return Album(0, low, high, False, names, order)
    return Album(side, low, high, bool((sample == low).mean() > BACKGROUND_SHARE), names)


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


def dense(X: Matrix) -> np.ndarray:
    return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), np.float64)


def wrong_gallery(album: Album, outcome: Outcome, labels: list[str]) -> Gallery | None:
    """Errors that the model was surest of."""
    known = np.flatnonzero(outcome.wrong & (outcome.rows.truth >= 0))
    chosen = known[np.argsort(outcome.margins[known], kind="stable")][: most_of(album)]
    if not len(chosen):
        return None
    return Gallery(
        "wrong",
        "Most confidently wrong",
        f"{len(chosen)} of {outcome.wrong.sum():,} errors, the most negative margins first. "
        "Either the label is wrong, or the model does not understand these rows.",
        album.show(outcome.rows.X[chosen], [_told(outcome, labels, i) for i in chosen.tolist()]),
    )


def hard_gallery(album: Album, outcome: Outcome, labels: list[str]) -> Gallery | None:
    """Rows nearest to the decision line, on either side of it."""
    known = np.flatnonzero(outcome.rows.truth >= 0)
    order = np.argsort(np.abs(outcome.margins[known]), kind="stable")
    chosen = known[order][: most_of(album)]
    if not len(chosen):
        return None
    return Gallery(
        "hard",
        "Hardest",
        f"The {len(chosen)} rows with the smallest margins, positive or negative: a small change "
        "of the model would change their answers.",
        album.show(outcome.rows.X[chosen], [_told(outcome, labels, i) for i in chosen.tolist()]),
    )


def kept_gallery(model: Any, album: Album, training: Rows | None, labels: list[str]) -> Any:
    """What the model keeps: support vectors, centres, or one weight per feature."""
    final, scaler = final_step(model), earlier_steps(model)
    # where steps before it cannot be undone, what it keeps is not in the coordinates of the rows
    undone = scaler is None or hasattr(scaler, "inverse_transform")
    outcome = card_of(final).outcome
    if hasattr(scaler, "get_feature_names_out") and hasattr(model[0], "decisions_"):
        return _kept_of_table(final, outcome, album, training, labels)
    if outcome in (DUAL, TRACE, STREAM):
        return _support_gallery(model, final, album, training, labels) if undone else None
    if outcome == NETWORK:
        if not undone:
            return None
        centers = final.centers_[: most_of(album)]
        captions = [(f"centre {k + 1}", "", "") for k in range(len(centers))]
        note = f"The network has {len(final.centers_)} centres; {len(centers)} are shown."
        return Gallery("kept", "Centres", note, album.show(_unscaled(model, centers), captions))
    if not album.pictures or final.n_features_in_ != model.n_features_in_:
        return None  # weights of features with names are bars
    if outcome == HYPERPLANE:
        return _weight_gallery(np.atleast_2d(final.coef_), album, labels)
    rounds = stump_importance(final)
    return None if rounds is None else _importance_gallery(rounds, album)


def _kept_of_table(
    final: Any, outcome: str, album: Album, training: Rows | None, labels: list[str]
) -> Gallery | None:
    """What a model keeps of a table: the training rows with the largest weights."""
    if outcome not in (DUAL, TRACE, STREAM) or training is None:
        return None
    coefs = np.abs(final.dual_coef_).max(axis=0)
    if not len(coefs) or final.support_.max() >= len(training):
        return None
    chosen = np.argsort(-coefs, kind="stable")[:ROWS_SHOWN]
    positions = final.support_[chosen]
    captions = [
        (labels[training.truth[row]], f"weight {figure(coef, 3)}", f"training row {row}")
        for row, coef in zip(positions.tolist(), coefs[chosen].tolist(), strict=True)
    ]
    return Gallery(
        "kept", "Support vectors",
        f"The model is a sum over {len(coefs):,} training examples; a sample: the {len(chosen)} of "
        "largest weight.",
        album.show(training.X[positions], captions),
    )  # fmt: skip


def _support_gallery(
    model: Any, final: Any, album: Album, training: Rows | None, labels: list[str]
) -> Gallery | None:
    coefs = np.abs(final.dual_coef_).max(axis=0)
    n = len(coefs)
    if not n:
        return None
    most = SUPPORT_SHOWN if album.pictures else ROWS_SHOWN
    chosen = np.argsort(-coefs, kind="stable")[:most]
    positions = final.support_[chosen].tolist()
    vectors = _unscaled(model, final.support_vectors_[chosen])
    known = training if training and _holds(training, vectors, positions) else None
    captions: list[Caption] = []
    for position, coef in zip(positions, coefs[chosen].tolist(), strict=True):
        label = labels[known.truth[position]] if known else f"row {position}"
        captions.append((label, f"weight {figure(coef, 3)}", f"training row {position}"))
    shown = "all of them" if len(chosen) == n else f"a sample: the {len(chosen)} of largest weight"
    return Gallery(
        "kept",
        "Support vectors",
        f"The model is a sum over {n:,} training examples; {shown}.",
        album.show(vectors, captions),
    )


def _holds(rows: Rows, vectors: Matrix, positions: list[int]) -> bool:
    """Whether these vectors are the rows at these positions, up to the rounding of a scaler."""
    if max(positions) >= len(rows):
        return False
    found, kept = dense(rows.X[positions]), dense(vectors)
    return bool(np.allclose(found, kept, rtol=1e-3, atol=1e-5 * np.abs(kept).max()))


def _weight_gallery(coefs: np.ndarray, album: Album, labels: list[str]) -> Gallery:
    """One picture of each problem."""
    names = labels[1:] if len(coefs) == 1 else labels
    captions = [(name, "", "") for name in names[: len(coefs)]]
    size = float(np.abs(coefs).max()) or 1.0
    shown = replace(album, low=-size, high=size, ink=False).show(coefs, captions)
    note = "Each pixel has a weight: a bright pixel speaks for the class, a dark one against it."
    return Gallery("kept", "Weights", note, shown)


def _importance_gallery(shares: np.ndarray, album: Album) -> Gallery:
    """One picture of how much the rounds of boosting look at each pixel."""
    shown = replace(album, low=0.0, high=float(shares.max()) or 1.0, ink=True)
    note = (
        "Each round of boosting asks about one pixel. The darker a pixel, the larger the share of "
        f"the weights of all rounds that ask about it; {int((shares > 0).sum())} of "
        f"{len(shares):,} pixels are used."
    )
    examples = shown.show(shares[None], [("importance", "", "")])
    return Gallery("kept", "Importance of the pixels", note, examples)


def _unscaled(model: Any, X: Matrix) -> Matrix:
    """Rows as they were before the scaler of a pipeline."""
    scaler = earlier_steps(model)
    rows: Matrix = X if scaler is None else scaler.inverse_transform(X)
    return rows


def _told(outcome: Outcome, labels: list[str], i: int) -> Caption:
    true, taken = labels[outcome.rows.truth[i]], labels[outcome.predicted[i]]
    caption = true if true == taken else f"{true} taken for {taken}"
    return caption, f"margin {figure(outcome.margins[i], 3)}", f"row {i}"


def most_of(album: Album) -> int:
    return PICTURES_SHOWN if album.pictures else ROWS_SHOWN


def encode_png(pixels: np.ndarray, *, ink: bool = False) -> bytes:
    """A picture of a matrix of bytes: grey values, or black ink that is that opaque.

    Ink on nothing suits a page of any colour.
    """
    height, width = pixels.shape
    shown = np.ascontiguousarray(pixels, np.uint8)
    if ink:
        shown = np.stack([np.zeros_like(shown), shown], axis=-1)
    # each line begins with its filter: 0, none
    lines = np.zeros((height, 1 + shown[0].size), np.uint8)
    lines[:, 1:] = shown.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, _INK if ink else _GREY, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def data_uri(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
