"""`plot_decision`: a classifier of points in the plane, drawn as the papers draw it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from largemargin.base.pipelines import deciding_model
from largemargin.report import plane
from largemargin.runtime.arrays import MatrixLike, VectorLike
from largemargin.runtime.showing import LONGEST, cut, printable, shown

INK, GREY, RING, CROSS = "#222222", "#888888", "#1f4e9c", "#c0504d"
COLORS = ("#e9c46a", "#7fa7d9", "#7cc2a0", "#d98c8a", "#a58bc7", "#b5b5b5")
"""Of the classes: light behind the points, as they are on them."""
MARKERS = ("o", "o", "s", "^", "D", "v")


def plot_decision(
    model: Any,
    X: MatrixLike,
    y: VectorLike = None,
    ax: Any = None,
    *,
    regions: bool = True,
    margin: float | Sequence[float] | Literal["auto"] | None = "auto",
    support: Sequence[int] | Literal["auto"] | None = "auto",
    resolution: int = 300,
) -> Any:
    """Draw what a classifier or an outlier detector of two features makes of the plane.

    The decision line is solid and the margins are dashed; support vectors are ringed and errors
    crossed. Every part has a label, so `ax.legend()` explains the picture.

    Parameters
    ----------
    model : classifier or outlier detector
        Fitted, with two features and any number of classes: of this package, of scikit-learn, a
        pipeline or a search that ends in one.
    X : array, sparse matrix or data frame of shape (n_samples, 2)
        The points, those that the model was trained on or others.
    y : array of shape (n_samples,), default=None
        Their classes. A detector needs none: then the points are drawn as it answers, -1 being an
        outlier.
    ax : matplotlib axes or None, default=None
        Where to draw; None is the current axes.
    regions : bool, default=True
        Whether to colour what each class is answered for.
    margin : float, sequence of float, "auto" or None, default="auto"
        The score on the margins. "auto" knows the machines that have margins: 1 for support vector
        machines, `margin_` for `NuLPSVC`, `margin` for online learners, none for voted perceptrons
        or boosting. With more than two classes it is that of each class against the rest, or the
        lead of the winner where a machine trains all classes together; one-vs-one has none. None
        draws no margins.
    support : sequence of int, "auto" or None, default="auto"
        Positions of the points to ring. "auto" is `support_` of the model; None is no rings.
    resolution : int, default=300
        Points of the grid on each side.

    Returns
    -------
    ax : matplotlib axes

    See Also
    --------
    sklearn.inspection.DecisionBoundaryDisplay : Regions only.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from largemargin import SVC
    >>> from matplotlib.figure import Figure
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> model = SVC(C=10).fit(X, y)
    >>> ax = plot_decision(model, X, y, Figure().subplots())
    >>> ax.get_legend_handles_labels()[1]
    ['class 0', 'class 1', 'support vector', 'error', 'decision line', 'margin']
    """
    _check_model(model)
    points, labels = _check_points(model, X, y, resolution)
    classes = plane.classes_of(model)
    _check_margin(margin, len(classes))
    ring = _rings(model, X, points, support)
    erred = points[np.asarray(model.predict(X)) != labels]
    ax = _axes() if ax is None else ax
    grid = plane.Grid.around(points, int(resolution))
    has_margin = _draw_lines(ax, model, X, grid, regions, margin)
    _draw_points(ax, points, labels, classes)
    if len(ring):
        ax.scatter(
            *ring.T, s=58, c="none", edgecolors=RING, linewidths=1.1, zorder=4,
            label="support vector",
        )  # fmt: skip
    if len(erred):
        ax.scatter(*erred.T, s=70, c=CROSS, marker="x", zorder=5, label="error")
    ax.plot([], [], color=INK, linewidth=1.2, label="decision line")
    if has_margin:
        ax.plot([], [], color=GREY, linewidth=0.8, linestyle="dashed", label="margin")
    if hasattr(X, "columns"):
        ax.set(xlabel=_plain(X.columns[0]), ylabel=_plain(X.columns[1]))
    across, up = grid.limits
    ax.set(xlim=across, ylim=up)
    return ax


def _draw_lines(
    ax: Any, model: Any, X: MatrixLike, grid: plane.Grid, regions: bool, level: Any
) -> bool:  # fmt: skip
    """Regions, decision lines and margins; whether there are margins to speak of."""
    rows = grid.like(X)
    lead = plane.leads(model, rows)
    shape = grid.across.shape
    for k, values in enumerate(lead):
        if regions and values.max() > 0:
            levels = [0, 2 * values.max()]
            ax.contourf(
                grid.across, grid.up, values.reshape(shape), levels, alpha=0.3,
                colors=[COLORS[k % len(COLORS)]], zorder=0,
            )  # fmt: skip
    # with two classes the two leads have the same zeros
    for values in lead[1:] if len(lead) == 2 else lead:
        _contour(ax, grid, values, colors=INK, linewidths=1.2)
    lines = None if level is None else plane.margins(model, rows, lead, level)
    for values in () if lines is None else lines:
        _contour(ax, grid, values, colors=GREY, linewidths=0.8, linestyles="dashed")
    return lines is not None


def _contour(ax: Any, grid: plane.Grid, values: np.ndarray, **style: Any) -> None:
    if values.min() < 0 < values.max():
        ax.contour(grid.across, grid.up, values.reshape(grid.across.shape), [0], zorder=2, **style)


def _draw_points(ax: Any, points: np.ndarray, labels: np.ndarray, classes: np.ndarray) -> None:
    """Two classes as white and black points, more in colours."""
    for k, label in enumerate(classes):
        style: dict[str, Any] = {"c": COLORS[k % len(COLORS)], "marker": MARKERS[k % len(MARKERS)]}
        if len(classes) == 2:
            style["c"] = INK if k else "white"
        ax.scatter(
            *points[labels == label].T, s=14, edgecolors=INK, linewidths=0.8, zorder=3,
            label=f"class {_plain(label)}", **style,
        )  # fmt: skip


def _axes() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            'plot_decision needs matplotlib: pip install "largemargin[report]"'
        ) from error
    return pyplot.gca()


def _check_model(model: Any) -> None:
    from sklearn.base import is_outlier_detector
    from sklearn.utils.validation import check_is_fitted

    if not hasattr(model, "predict"):
        raise ValueError(f"plot_decision draws classifiers, got {shown(model)}: it cannot predict")
    if hasattr(model, "fit"):
        check_is_fitted(model)
    if not hasattr(model, "classes_") and not is_outlier_detector(model):
        raise ValueError(f"plot_decision draws classifiers, got {shown(model)}: it has no classes_")
    width = getattr(model, "n_features_in_", 2)
    if width != 2:
        raise ValueError(
            f"plot_decision draws classifiers of two features, this one has {width}: train it on "
            "two columns"
        )
    if getattr(deciding_model(model), "kernel", None) == "precomputed":
        raise ValueError(
            "plot_decision needs kernel values all over the plane, and kernel='precomputed' has "
            "them for examples only: give the kernel by name or as a function"
        )


def _check_points(
    model: Any, X: MatrixLike, y: VectorLike, resolution: Any
) -> tuple[np.ndarray, np.ndarray]:
    points, classes = plane.dense(X), plane.classes_of(model)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"X must have two columns, got shape {points.shape}: choose two features")
    if not len(points) or not np.isfinite(points).all():
        raise ValueError("X must have rows, all of finite numbers: drop the others")
    unlabelled = y is None and not hasattr(model, "classes_")
    labels = np.asarray(model.predict(X) if unlabelled else y)
    if labels.shape != (len(points),):
        raise ValueError(
            f"y must have one label a row of X, got shape {labels.shape} for {len(points)} rows"
        )
    unknown = np.setdiff1d(labels, classes)
    if len(unknown):
        raise ValueError(
            f"y has the class {unknown[0]}, which the model does not know: it knows "
            f"{', '.join(map(str, classes))}"
        )
    if not isinstance(resolution, int | np.integer) or resolution < 2:
        raise ValueError(f"resolution must be a whole number from 2 on, got {shown(resolution)}")
    return points, labels


def _check_margin(margin: Any, n_classes: int) -> None:
    if margin is None or (isinstance(margin, str) and margin == "auto"):
        return
    try:
        levels = np.asarray(margin, np.float64)
    except (TypeError, ValueError):
        levels = np.array(np.nan)
    if not (levels > 0).all():
        raise ValueError(f"margin must be positive, 'auto' or None, got {shown(margin)}")
    if levels.shape not in ((), (1,), (n_classes,)):
        raise ValueError(f"margin must be one number or one a problem, got {shown(margin)}")


def _rings(model: Any, X: MatrixLike, points: np.ndarray, support: Any) -> np.ndarray:
    if support is None:
        return points[:0]
    if isinstance(support, str):
        if support != "auto":
            raise ValueError(f"support must be positions, 'auto' or None, got {shown(support)}")
        return plane.support_points(model, X, points)
    positions = np.asarray(support, dtype=np.intp)
    if len(positions) and not 0 <= positions.min() <= positions.max() < len(points):
        raise ValueError(
            f"support must be positions of the {len(points)} rows of X, got {positions.max()}"
        )
    return points[positions]


def _plain(name: Any) -> str:
    """A label or a name, not too long, of which matplotlib makes no formula."""
    return cut(printable(str(name)), LONGEST).replace("$", r"\$")
