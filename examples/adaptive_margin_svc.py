"""Adaptive margins along lambda.

A larger lambda gives a smoother boundary that depends on more examples.

At lambda = 1 the machine is the leave-one-out machine; for very large values it becomes a
Parzen window classifier.

python examples/adaptive_margin_svc.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from largemargin import AdaptiveMarginSVC
from largemargin.report import plot_decision

folder = Path(sys.argv[1] if sys.argv[1:] else ".")
X, y = make_moons(1000, noise=0.3, random_state=4)
train, test = slice(0, 100), slice(100, None)

lams = (1.0, 3.0, 10.0)
models = AdaptiveMarginSVC(gamma=2.0).path(X[train], y[train], lams)

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, lam, model in zip(axes, lams, models, strict=True):
    error = 1 - model.score(X[test], y[test])
    print(f"lambda {lam:g}: {model.n_support_} of 100 examples used, test error {error:.1%}")
    plot_decision(model, X[train], y[train], ax).set_title(f"lambda = {lam:g}")
axes[0].legend(fontsize="small")
figure.savefig(folder / "adaptive_margin_svc.png")
