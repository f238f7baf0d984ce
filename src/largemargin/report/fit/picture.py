"""The picture of the decision: how a model divides the rows, seen from the side that shows it best.

    two features         the plane of the features: regions, decision lines, margins
    two classes          the decision value f(x) against the direction in which the rows differ
                         most once f is taken out of them; every row is on its true side of f = 0
    up to 12 classes     the plane of the first two principal components, and the answers on it
    more classes         the two that are confused most, as if there were no others

The directions come from inner products of a sample of rows alone: with P the projection that takes
out the mean (and f), the eigenvectors of P X X' P are the coordinates of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np

from largemargin.base.pipelines import before_final_step
from largemargin.data import Table
from largemargin.report import plane
from largemargin.report.charts import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Axis, frame
from largemargin.report.contours import line_path, region_path
from largemargin.report.fit.outcome import Outcome, Rows, confusion_matrix
from largemargin.runtime.threads import single_thread

POINTS = 500  # rows that are drawn
CROSSES = 60  # errors that are drawn
MOST_RINGED = 0.5  # share of the points that are support vectors, above which they are not ringed
COLOURS = 12  # of classes
LINES_FOR = 6  # classes up to which the lines between regions are drawn
WIDEST = 5000  # features up to which answers are asked for on the plane of principal components
WORK = 5e9  # multiplications that the answers on the grid may take
GRID = (66, 96)  # rows and columns of the grid, at most
FEWEST = 500  # points of a grid that shows something
OUTLIERS = 0.004  # share of the rows at each end that may be outside of the picture


@dataclass(frozen=True)
class Picture:
    """A drawing, with what its colours and signs mean."""

    title: str
    x_label: str
    y_label: str
    body: str
    keys: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    says: str
    id: str = "picture"


@dataclass(frozen=True)
class Scene:
    """What is to be drawn: points with their classes, and lines and regions behind them."""

    points: np.ndarray
    classes: np.ndarray
    wrong: np.ndarray
    ringed: np.ndarray
    labels: tuple[str, ...]
    most_ringed: float = MOST_RINGED

    def axes(self) -> tuple[Axis, Axis]:
        low, high = np.quantile(self.points, [OUTLIERS, 1 - OUTLIERS], axis=0)
        room = plane.PADDING * np.where(high > low, high - low, 1.0)
        (x0, y0), (x1, y1) = (low - room).tolist(), (high + room).tolist()
        return Axis(x0, x1, LEFT, WIDTH - RIGHT), Axis(y0, y1, HEIGHT - BOTTOM, TOP)


def decision_picture(
    model: Any,
    final: Any,
    outcome: Outcome,
    labels: list[str],
    names: list[str],
    kind: str,
    confusions: np.ndarray | None = None,
) -> Picture | None:
    """The picture for the rows of an outcome, which are `kind` rows; None if there is none.

    `confusions` are those that the page shows, by which a pair of many classes is chosen.
    """
    if len(labels) > COLOURS and outcome.rows.X.shape[1] > 2:
        return _of_a_pair(model, final, outcome, labels, kind, confusions)
    X = outcome.rows.X
    known = np.flatnonzero(outcome.rows.truth >= 0)
    if getattr(final, "kernel", None) == "precomputed" or len(known) < 3 or len(labels) < 2:
        return None
    chosen = _sample(known)
    inner = before_final_step(model, X[chosen])
    raw = not isinstance(X, Table) and X.shape[1] == 2
    points = plane.dense(X[chosen] if raw else inner) if raw or inner.shape[1] == 2 else None
    scene = (chosen, outcome, labels, final, kind)
    if points is not None:
        return _of_two_features(model if raw else final, points, names, *scene)
    if inner.shape[1] < 2:
        return None
    if len(labels) == 2:
        return _of_two_classes(model, inner, *scene)
    return _of_components(inner, *scene)


def _sample(known: np.ndarray) -> np.ndarray:
    """Some of the rows, drawn fairly."""
    if len(known) <= POINTS:
        return known
    return np.sort(np.random.default_rng(0).permutation(known)[:POINTS])


def _scene(
    points: np.ndarray, chosen: Any, outcome: Outcome, labels: Any, final: Any, kind: str
) -> Scene:
    ringed = np.zeros(len(chosen), bool)
    if kind == "training" and hasattr(final, "support_"):
        ringed = np.isin(chosen, final.support_)
    return Scene(points, outcome.rows.truth[chosen], outcome.wrong[chosen], ringed, tuple(labels))


def _of_two_features(
    model: Any, points: np.ndarray, names: list[str], *what: Any
) -> Picture | None:
    scene = _scene(points, *what)
    across, up = scene.axes()
    shape = _grid_shape(what[3], 2)
    if shape is None:
        return None
    xs, ys = np.linspace(across.low, across.high, shape[1]), np.linspace(up.low, up.high, shape[0])
    rows = np.stack([m.ravel() for m in np.meshgrid(xs, ys)], axis=1)
    lead = plane.leads(model, rows)
    lines = plane.margins(model, rows, lead, "auto")
    behind = _regions(lead.reshape(-1, *shape), across, up, len(scene.labels) <= LINES_FOR)
    dashed = () if lines is None else lines.reshape(-1, *shape)
    behind += "".join(_path("margin", line_path(v, *_places(across, up, shape))) for v in dashed)
    x_label, y_label = names if len(names) == 2 else ("x0", "x1")
    note = "The colours show the answer of the model for every point of the plane."
    return _drawn(scene, across, up, behind, bool(len(dashed)), x_label, y_label, note, what[-1])


def _of_two_classes(model: Any, inner: Any, *what: Any) -> Picture | None:
    chosen, outcome = what[0], what[1]
    f = np.asarray(outcome.scores, float)[chosen]
    across = directions(inner, f)[0]
    if across is None:
        return None
    scene = _scene(np.column_stack([f, across[:, 0]]), *what)
    levels = np.broadcast_to(plane.margin_level(model) if hasattr(model, "classes_") else 0.0, 2)
    note = (
        f"The model has {inner.shape[1]:,} features, so this is a view of them: to the right the "
        "decision value f(x), and upwards the direction in which the rows differ most apart from "
        "it. Every row is on the side of its answer."
    )
    margins = (-float(levels[0]), float(levels[1])) if (levels > 0).all() else ()
    return _by_value(scene, margins, "decision value f(x)", note, what[-1])


def _by_value(
    scene: Scene, margins: tuple[float, ...], x_label: str, note: str, kind: str
) -> Picture:
    """A picture whose horizontal axis decides: one class to the left of zero, one to the right."""
    horizontal, up = scene.axes()
    low, high = min(horizontal.low, 0.0), max(horizontal.high, 0.0)
    horizontal = Axis(low, high, horizontal.start, horizontal.end)
    zero = horizontal.at(0.0)
    behind = "".join(
        f'<path class="region k{k}" d="M{a:.1f} {TOP}H{b:.1f}V{HEIGHT - BOTTOM}H{a:.1f}Z"/>'
        for k, (a, b) in enumerate(((LEFT, zero), (zero, WIDTH - RIGHT)))
    )
    behind += _path("decision", f"M{zero:.1f} {TOP}V{HEIGHT - BOTTOM}")
    dashed = [value for value in margins if low < value < high]
    behind += "".join(
        _path("margin", f"M{horizontal.at(v):.1f} {TOP}V{HEIGHT - BOTTOM}") for v in dashed
    )
    return _drawn(
        scene, horizontal, up, behind, bool(dashed), x_label, "main other direction", note, kind
    )


def _of_a_pair(
    model: Any,
    final: Any,
    outcome: Outcome,
    labels: list[str],
    kind: str,
    confusions: np.ndarray | None,
) -> Picture | None:
    """The two classes of which most rows are taken for the other; without errors, nearly so."""
    truth, scores = outcome.rows.truth, np.asarray(outcome.scores, np.float64)
    chosen = "that the model confuses most often"
    counts = np.zeros(1) if confusions is None else np.triu(confusions + confusions.T, 1)
    if not counts.any():
        chosen = "with the most similar scores"
        near = confusion_matrix(truth, runner_up(scores, truth), len(labels))
        counts = np.triu(near + near.T, 1)
    a, b = divmod(int(counts.argmax()), len(labels))
    mine = np.flatnonzero((truth == a) | (truth == b))
    if len(mine) < 3 or getattr(final, "kernel", None) == "precomputed":
        return None
    mine = _sample(mine)
    f = scores[mine, b] - scores[mine, a]
    rows = Rows(outcome.rows.name, outcome.rows.X[mine], (truth[mine] == b).astype(int))
    pair = Outcome(rows, (f > 0).astype(int), f, 0.0, f)
    support = np.isin(mine, getattr(final, "support_", ())) & (kind == "training")
    coordinates, _ = directions(before_final_step(model, rows.X), f)
    if coordinates is None:
        return None
    scene = Scene(
        np.column_stack([f, coordinates[:, 0]]), rows.truth, pair.wrong, support,
        (labels[a], labels[b]),
    )  # fmt: skip
    note = (
        f"The model has {len(labels)} classes. These are the two {chosen}, "
        f"{labels[a]} and {labels[b]}: to the right the score of {labels[b]} minus the score of "
        f"{labels[a]}, and upwards the direction in which the rows differ most apart from it."
    )
    x_label = f"score of {labels[b][:14]} minus score of {labels[a][:14]}"
    return _by_value(scene, (), x_label, note, kind)


def runner_up(scores: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The class with the largest score but for the true one."""
    others = scores.copy()
    known = np.flatnonzero(truth >= 0)
    others[known, truth[known]] = -np.inf
    return np.asarray(others.argmax(axis=1))


def _of_components(inner: Any, *what: Any) -> Picture | None:
    found, share = directions(inner, None)
    if found is None:
        return None
    final = what[3]
    scene = replace(_scene(found, *what), most_ringed=0.0)  # which would hide so many classes
    across, up = scene.axes()
    shape = _grid_shape(final, inner.shape[1]) if inner.shape[1] <= WIDEST else None
    behind, note = "", ""
    if shape is not None:
        lead = _answers_on_plane(final, inner, found, across, up, shape)
        behind = _regions(lead.reshape(-1, *shape), across, up, len(scene.labels) <= LINES_FOR)
        note = (
            " The background shows the answers for points of this plane itself. The rows do not "
            "lie in the plane, so a row can have another answer than its background."
        )
    told = (
        f"The model has {inner.shape[1]:,} features, so this is the projection on the plane of the "
        f"first two principal components, which hold {100 * share:.0f} % of the variance.{note}"
    )
    return _drawn(
        scene, across, up, behind, False, "first principal component",
        "second principal component", told, what[-1],
    )  # fmt: skip


def directions(X: Any, f: np.ndarray | None) -> tuple[np.ndarray | None, float]:
    """Coordinates of rows in the direction in which they differ most apart from f, or in the two
    such directions without f; with the share of the variance that they hold.
    """
    with single_thread():
        return _directions(X @ X.T, f)


def _directions(gram: Any, f: np.ndarray | None) -> tuple[np.ndarray | None, float]:
    from scipy.linalg import eigh

    gram = np.asarray(gram.toarray() if hasattr(gram, "toarray") else gram, np.float64)
    out = [np.ones(len(gram)) / np.sqrt(len(gram))]
    if f is not None:
        rest = f - f.mean()
        if np.abs(rest).max() > 1e-9 * max(np.abs(f).max(), 1e-300):
            out.append(rest / np.linalg.norm(rest))
    for u in out:
        gram = gram - np.outer(u, u @ gram)
        gram = gram - np.outer(gram @ u, u)
    n, whole = 1 if f is not None else 2, float(np.trace(gram))
    if not np.isfinite(gram).all() or len(gram) < n + 1:
        return None, 0.0
    values, vectors = eigh(gram, subset_by_index=(len(gram) - n, len(gram) - 1))
    if values[0] <= 1e-9 * max(whole, 1e-300):
        return None, 0.0
    found = vectors[:, ::-1] * np.sqrt(values[::-1])
    found *= np.where(found[np.abs(found).argmax(axis=0), range(n)] < 0, -1.0, 1.0)  # one sign
    return found, float(values.sum() / whole)


def _answers_on_plane(
    final: Any, inner: Any, found: np.ndarray, across: Axis, up: Axis, shape: tuple[int, int]
) -> np.ndarray:
    rows = plane.dense(inner)
    mean = rows.mean(axis=0)
    components = (found / (found**2).sum(axis=0)).T @ (rows - mean)
    xs, ys = np.linspace(across.low, across.high, shape[1]), np.linspace(up.low, up.high, shape[0])
    at = np.stack([m.ravel() for m in np.meshgrid(xs, ys)], axis=1)
    scores = np.asarray(final.decision_function(mean + at @ components), np.float64)
    return plane.over_the_others(scores.T)


def _grid_shape(final: Any, width: int) -> tuple[int, int] | None:
    """Rows and columns of a grid whose answers take no long time."""
    vectors = len(getattr(final, "support_", ())) or 20 * len(getattr(final, "alphas_", "12345"))
    points = min(WORK / (max(vectors, 1) * (width + 64)), GRID[0] * GRID[1])
    if points < FEWEST:
        return None
    shrink = (points / (GRID[0] * GRID[1])) ** 0.5
    return int(GRID[0] * shrink), int(GRID[1] * shrink)


def _places(across: Axis, up: Axis, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    return np.linspace(across.start, across.end, shape[1]), np.linspace(up.start, up.end, shape[0])


def _regions(lead: np.ndarray, across: Axis, up: Axis, lines: bool) -> str:
    xs, ys = _places(across, up, lead.shape[1:])
    parts = [_path(f"region k{k % COLOURS}", region_path(v, xs, ys)) for k, v in enumerate(lead)]
    if lines:  # with two classes the two leads have the same zeros
        every = lead[1:] if len(lead) == 2 else lead
        parts += [_path("decision", line_path(values, xs, ys)) for values in every]
    return "".join(parts)


def _path(kind: str, d: str) -> str:
    return f'<path class="{kind}" d="{d}"/>' if d else ""


def _drawn(
    scene: Scene, across: Axis, up: Axis, behind: str, margins: bool, x_label: str, y_label: str,
    note: str, kind: str,
) -> Picture:  # fmt: skip
    places = np.column_stack(
        [
            [axis.at(v) for v in column]
            for axis, column in zip((across, up), scene.points.T.tolist(), strict=True)
        ]
    )
    ringed = (
        scene.ringed if scene.ringed.mean() <= scene.most_ringed else np.zeros_like(scene.ringed)
    )
    parts = [frame(x_label, y_label, across, up, grid=False), behind]
    inside = ((places > (LEFT, TOP)) & (places < (WIDTH - RIGHT, HEIGHT - BOTTOM))).all(axis=1)
    for k in np.unique(scene.classes).tolist():
        mine = places[(scene.classes == k) & inside]
        dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in mine.tolist())
        parts.append(f'<path class="points k{k % COLOURS} shape{k % 2}" d="{dots}"/>')
    rings = "".join(_ring(x, y) for x, y in places[ringed & inside].tolist())
    parts.append(_path("ring", rings))
    erred = np.flatnonzero(scene.wrong & inside)[:CROSSES].tolist()
    crosses = "".join(f"M{places[i, 0] - 3:.1f} {places[i, 1] - 3:.1f}l6 6m0-6l-6 6" for i in erred)
    parts.append(_path("cross", crosses))
    if len(scene.labels) > 2:
        parts += _names(scene, places)
    keys = _keys(scene, bool(rings), bool(erred), margins, bool(behind))
    shown = f"{len(scene.points):,} {kind} rows are drawn."
    if scene.ringed.any() and not rings:
        shown += f" {100 * scene.ringed.mean():.0f} % of them are support vectors."
    says = f"Picture of {len(scene.points)} rows of {len(scene.labels)} classes. {note}"
    return Picture(
        "The decision", x_label, y_label, "".join(parts), keys, (note, shown), says
    )  # fmt: skip


def _ring(x: float, y: float) -> str:
    return f"M{x - 5:.1f} {y:.1f}a5 5 0 1 0 10 0a5 5 0 1 0-10 0"


def _names(scene: Scene, places: np.ndarray) -> list[str]:
    """The name of each class, in the middle of its points."""
    found = []
    for k in np.unique(scene.classes).tolist():
        x, y = np.median(places[scene.classes == k], axis=0).tolist()
        name = escape(scene.labels[k][:14])
        found.append(f'<text class="class mid" x="{x:.1f}" y="{y + 4:.1f}">{name}</text>')
    return found


def _keys(
    scene: Scene, rings: bool, crosses: bool, margins: bool, regions: bool
) -> tuple[tuple[str, str], ...]:  # fmt: skip
    """Signs and what they mean; many classes are named in the picture itself."""
    found = []
    if len(scene.labels) <= LINES_FOR:
        found = [(f"points k{k} shape{k % 2}", name) for k, name in enumerate(scene.labels)]
        found += [("decision", "decision line")] if regions else []
    found += [("margin", "margin")] if margins else []
    found += [("ring", "support vector")] if rings else []
    return (*found, *([("cross", "classified wrongly")] if crosses else []))
