"""The picture of the first page, and the icon."""

import numpy as np
from canvas import BLUE, IMAGES, ORANGE, bare, decision, note, points, rings, window
from sklearn.datasets import make_moons

from largemargin import SVC


def home(figure):
    """Two classes, the line between them, and the margin that is as wide as it can be."""
    X, y = make_moons(110, noise=0.13, random_state=3)
    model = SVC(C=10.0, gamma=1.0).fit(X, y)
    ax = figure.subplots()
    bare(ax)
    window(ax, X, pad=0.1)
    decision(ax, model.decision_function)
    points(ax, X, y, size=34)
    rings(ax, X[model.support_], size=120)
    across = np.linspace(1.2, 2.3, 400)
    line = across[np.argmin(np.abs(model.decision_function(np.c_[across, 0 * across + 1.0])))]
    note(ax, "decision line", (line, 1.0), (line - 0.55, 1.1))
    first = X[model.support_[np.argmin(X[model.support_, 0])]]
    note(ax, "support vector", first, first - [0.16, 0.5])
    edge = across[np.argmin(np.abs(model.decision_function(np.c_[across, 0 * across + 0.75]) - 1))]
    note(ax, "margin", (edge, 0.75), (edge + 0.18, 1.1))


ICON = f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<circle cx="9" cy="10" r="5" fill="{ORANGE}"/><circle cx="23" cy="22" r="5" fill="{BLUE}"/>
<path d="M4 28 28 4" stroke="#7d7f86" stroke-width="3.4" stroke-linecap="round"/>
</svg>
"""


def icon():
    (IMAGES.parent / "_static" / "favicon.svg").write_text(ICON)
