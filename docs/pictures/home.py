"""The picture of the first page, and the icon."""

import numpy as np
from canvas import BLUE, IMAGES, INK, ORANGE, bare, decision, note, points, rings, window
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
    return ax


ICON = f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<circle cx="9" cy="10" r="5" fill="{ORANGE}"/><circle cx="23" cy="22" r="5" fill="{BLUE}"/>
<path d="M4 28 28 4" stroke="#7d7f86" stroke-width="3.4" stroke-linecap="round"/>
</svg>
"""


def icon():
    (IMAGES.parent / "_static" / "favicon.svg").write_text(ICON)
