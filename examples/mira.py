"""MIRA with three eviction policies.

Five classes are learned in one pass with 25 stored examples.

The policies differ in how they make room in a full cache.

python examples/mira.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from largemargin import MIRA
from largemargin.report import plot_decision

folder = Path(sys.argv[1] if sys.argv[1:] else ".")
centers = [[0, 0], [3, 0.5], [1, 3], [-3, 1], [-1, -3]]
X, y = make_blobs(600, centers=centers, cluster_std=0.7, random_state=8)

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, policy in zip(axes, ("margin", "forgetron", "projectron"), strict=True):
    model = MIRA(budget=25, policy=policy, gamma=0.2, average=True).fit(X, y)
    print(
        f"{policy}: {model.n_support_} examples held, error on the way "
        f"{model.online_errors_ / len(y):.1%}, on all examples {1 - model.score(X, y):.1%}"
    )
    plot_decision(model, X, y, ax).set_title(f"budget 25, policy {policy}")
axes[0].legend(fontsize="x-small")
figure.savefig(folder / "mira.png")
