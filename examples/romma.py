"""ROMMA and the largest margin.

One pass over the data comes close to the hyperplane of largest margin.

The distance of the nearest example is printed for each machine.

python examples/romma.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from largemargin import ROMMA, SVC
from largemargin.report import plot_decision

folder = Path(sys.argv[1] if sys.argv[1:] else ".")
X, y = make_blobs(400, centers=[[2, 2], [-2, -1.5]], cluster_std=0.8, random_state=3)
signs = np.where(y == 1, 1, -1)

machines = {
    "ROMMA, a step at each mistake": ROMMA(kernel="linear", aggressive=False, average=False).fit(
        X, y
    ),
    "aggressive ROMMA": ROMMA(kernel="linear", average=False).fit(X, y),
    "largest margin": SVC(kernel="linear", C=np.inf, fit_intercept=False).fit(X, y),
}

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, (title, model) in zip(axes, machines.items(), strict=True):
    nearest = (signs * model.decision_function(X)).min() / np.linalg.norm(model.coef_)
    print(f"{title}: {model.n_support_} examples held, nearest example at {nearest:+.3f}")
    plot_decision(model, X, y, ax).set_title(title)
axes[0].legend(fontsize="small")
figure.savefig(folder / "romma.png")
