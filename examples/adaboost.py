"""AdaBoost with stumps.

More rounds move the margins of the training examples to the right.

The table that is printed has the share of margins up to 0.1 beside the bound that
theorem 1.12 proves for it.

python examples/adaboost.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from largemargin import AdaBoost
from largemargin.report import plot_decision

folder = Path(sys.argv[1] if sys.argv[1:] else ".")
X, y = make_moons(300, noise=0.2, random_state=0)

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, n_rounds in zip(axes, (5, 100), strict=False):
    model = AdaBoost(n_rounds=n_rounds).fit(X, y)
    margins = np.sort(model.margins(X, y))
    print(
        f"{n_rounds} rounds: training error {1 - model.score(X, y):.1%}, margins up to 0.1: "
        f"{model.margin_error(X, y, 0.1):.1%}, at most {model.margin_error_bound(0.1):.1%}"
    )
    plot_decision(model, X, y, ax).set_title(f"{n_rounds} rounds")
    axes[2].plot(margins, np.arange(1, len(y) + 1) / len(y), label=f"{n_rounds} rounds")
axes[0].legend(fontsize="small")
axes[2].set(title="how many margins are below", xlabel="margin")
axes[2].legend(fontsize="small")
figure.savefig(folder / "adaboost.png")
