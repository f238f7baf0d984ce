"""Networks of radial basis functions.

Boosting improves a small network, and regularization keeps it from learning the noise.

The same network is trained alone, boosted, and boosted with regularization.

python examples/rbf_network.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from largemargin import AdaBoost, RBFNetwork
from largemargin.report import plot_decision

folder = Path(sys.argv[1] if sys.argv[1:] else ".")
X, y = make_moons(1000, noise=0.3, random_state=1)
train, test = slice(0, 200), slice(200, None)

network = RBFNetwork(n_centers=3, max_iter=3, random_state=0)
machines = {
    "one network of 3 centres": network,
    "boosted": AdaBoost(network, n_rounds=30, random_state=0),
    "boosted, regularized": AdaBoost(network, n_rounds=30, regularization=1e3, random_state=0),
}

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, (title, model) in zip(axes, machines.items(), strict=True):
    model.fit(X[train], y[train])
    errors = [1 - model.score(X[part], y[part]) for part in (train, test)]
    print(f"{title}: training error {errors[0]:.1%}, test error {errors[1]:.1%}")
    plot_decision(model, X[train], y[train], ax, resolution=150).set_title(title)
axes[0].plot(*network.centers_.T, "*", color="black", label="centre")
axes[0].legend(fontsize="small")
figure.savefig(folder / "rbf_network.png")
