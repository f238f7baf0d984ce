"""Which examples of a fit are worth a look."""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.report.fit.content import Gallery
from largemargin.report.fit.examples import Album, Caption, dense
from largemargin.report.fit.outcome import Outcome, Rows
from largemargin.report.templates import figure

PICTURES = 24  # shown of a kind
ROWS = 10  # shown of a kind as numbers
SUPPORT = 48  # pictures of support vectors


def wrong_gallery(album: Album, outcome: Outcome, labels: list[str]) -> Gallery | None:
    """Errors that the model was surest of."""
    known = np.flatnonzero(outcome.wrong & (outcome.rows.truth >= 0))
    chosen = known[np.argsort(outcome.margins[known], kind="stable")][: _most(album)]
    if not len(chosen):
        return None
    return Gallery(
        "wrong",
        "Most confidently wrong",
        f"{len(chosen)} of {outcome.wrong.sum()} errors, those with the most negative margins "
        "first: labels to doubt, or what the model does not understand.",
        album.show(outcome.rows.X[chosen], [_told(outcome, labels, i) for i in chosen.tolist()]),
    )


def hard_gallery(album: Album, outcome: Outcome, labels: list[str]) -> Gallery | None:
    """Rows nearest to the decision line, on either side of it."""
    known = np.flatnonzero(outcome.rows.truth >= 0)
    order = np.argsort(np.abs(outcome.margins[known]), kind="stable")
    chosen = known[order][: _most(album)]
    if not len(chosen):
        return None
    return Gallery(
        "hard",
        "Hardest",
        f"The {len(chosen)} rows nearest to where the answer changes, on either side of it.",
        album.show(outcome.rows.X[chosen], [_told(outcome, labels, i) for i in chosen.tolist()]),
    )


def kept_gallery(model: Any, album: Album, training: Rows | None, labels: list[str]) -> Any:
    """What the model keeps: support vectors, centres, or one weight a feature."""
    final = model[-1] if hasattr(model, "steps") else model
    if hasattr(final, "support_"):
        return _support_gallery(model, final, album, training, labels)
    if hasattr(final, "centers_"):
        centers = final.centers_[: _most(album)]
        captions = [(f"centre {k + 1}", "", "") for k in range(len(centers))]
        note = f"{len(centers)} of {len(final.centers_)} centres of basis functions."
        return Gallery("kept", "Centres", note, album.show(_unscaled(model, centers), captions))
    if hasattr(final, "coef_"):
        return _weight_gallery(np.atleast_2d(final.coef_), album, labels)
    return None


def _support_gallery(
    model: Any, final: Any, album: Album, training: Rows | None, labels: list[str]
) -> Gallery | None:
    coefs = np.abs(final.dual_coef_).max(axis=0)
    n = len(coefs)
    if not n:
        return None
    most = SUPPORT if album.pictures else ROWS
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


def _holds(rows: Rows, vectors: Any, positions: list[int]) -> bool:
    """Whether these vectors are the rows at these positions, up to the rounding of a scaler."""
    if max(positions) >= len(rows):
        return False
    found, kept = dense(rows.X[positions]), dense(vectors)
    return bool(np.allclose(found, kept, rtol=1e-3, atol=1e-5 * np.abs(kept).max()))


def _weight_gallery(coefs: np.ndarray, album: Album, labels: list[str]) -> Gallery:
    """One picture, or the largest weights, of each problem."""
    from dataclasses import replace

    names = labels[1:] if len(coefs) == 1 else labels
    captions = [(name, "", "") for name in names[: len(coefs)]]
    if album.pictures:
        size = float(np.abs(coefs).max()) or 1.0
        shown = replace(album, low=-size, high=size, ink=False).show(coefs, captions)
        note = "One weight a pixel: bright speaks for the class, dark against it."
        return Gallery("kept", "Weights", note, shown)
    order = np.argsort(-np.abs(coefs), axis=1, kind="stable")[:, :ROWS]
    largest = np.zeros_like(coefs)
    np.put_along_axis(largest, order, np.take_along_axis(coefs, order, axis=1), axis=1)
    note = "The features of largest weight, for each class."
    return Gallery("kept", "Weights", note, album.show(largest, captions))


def _unscaled(model: Any, X: Any) -> Any:
    """Rows as they were before the scaler of a pipeline."""
    return model[:-1].inverse_transform(X) if hasattr(model, "steps") else X


def _told(outcome: Outcome, labels: list[str], i: int) -> Caption:
    true, taken = labels[outcome.rows.truth[i]], labels[outcome.predicted[i]]
    caption = true if true == taken else f"{true} taken for {taken}"
    return caption, f"margin {figure(outcome.margins[i], 3)}", f"row {i}"


def _most(album: Album) -> int:
    return PICTURES if album.pictures else ROWS
