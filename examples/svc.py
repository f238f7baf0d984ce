"""Support vector machines.

The hard margin, the soft margin, and a gaussian kernel on noisy labels.

Support vectors are ringed, and errors are crossed.

python examples/svc.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from largemargin import SVC
from largemargin.report import plot_decision

folder = Path(sys.argv[1] if sys.argv[1:] else ".")
X, y = make_blobs(80, centers=[[-1.5, 0], [1.5, 0.5]], cluster_std=0.6, random_state=1)
noisy = y.copy()
noisy[:3] = 1 - noisy[:3]

machines = {
    "hard margin": SVC(C=np.inf, kernel="linear").fit(X, y),
    "three wrong labels, C = 0.1": SVC(C=0.1, kernel="linear").fit(X, noisy),
    "three wrong labels, gaussian, C = 10": SVC(C=10, kernel="rbf", gamma=1.0).fit(X, noisy),
}

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, (title, model) in zip(axes, machines.items(), strict=True):
    labels = y if title == "hard margin" else noisy
    print(
        f"{title}: margin {model.margin_[0]:.3f}, {model.n_support_} support vectors, "
        f"duality gap {model.dual_gap_[0]:.1e}"
    )
    plot_decision(model, X, labels, ax).set_title(title)
axes[0].legend(fontsize="small")
figure.savefig(folder / "svc.png")
