"""ALMA and its approximation of the margin.

A smaller alpha asks for a margin closer to the largest one, and stores more examples.

The parameter alpha is the part of the largest margin that the learner may miss.

python examples/alma.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import make_circles

from largemargin import ALMA
from largemargin.report import plot_decision

folder = Path(sys.argv[1] if sys.argv[1:] else ".")
X, y = make_circles(500, noise=0.1, factor=0.45, random_state=0)

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, alpha in zip(axes, (1.0, 0.9, 0.5), strict=True):
    model = ALMA(alpha=alpha, average=False, gamma=1.0).fit(X, y)
    print(
        f"alpha {alpha}: {model.online_errors_} errors and {model.margin_errors_} margin errors "
        f"on the way, {model.n_support_} examples held, training error {1 - model.score(X, y):.1%}"
    )
    plot_decision(model, X, y, ax).set_title(f"alpha = {alpha}")
axes[0].legend(fontsize="small")
figure.savefig(folder / "alma.png")
