"""Hyperplanes in three norms.

The hyperplane of largest margin depends on how distance is measured.

The norm of the weight vector is 1, 2 or infinity; distances are measured in the conjugate
norm.

python examples/max_margin_hyperplane.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from largemargin import MaxMarginHyperplane
from largemargin.report import plot_decision

folder = Path(sys.argv[1] if sys.argv[1:] else ".")
X, y = make_blobs(40, centers=[[-2, -0.7], [2, 0.7]], cluster_std=0.6, random_state=4)
signs = np.where(y == 1, 1, -1)

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, norm in zip(axes, (1, 2, np.inf), strict=True):
    model = MaxMarginHyperplane(norm=norm, C=np.inf).fit(X, y)
    on_the_margin = np.flatnonzero(signs * model.decision_function(X) <= 1 + 1e-6)
    print(f"norm {norm}: w = {model.coef_[0].round(3)}, margin {model.margin_[0]:.3f}")
    plot_decision(model, X, y, ax, support=on_the_margin).set_title(f"norm {norm} of w")
    ax.set_aspect("equal", adjustable="box")
axes[0].legend(fontsize="small")
figure.savefig(folder / "max_margin_hyperplane.png")
