"""The kernel adatron.

A few lines of arithmetic arrive at the support vector machine.

Both machines are drawn side by side, and the largest difference of their scores is printed.

python examples/kernel_adatron.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

from largemargin import SVC, KernelAdatron
from largemargin.report import plot_decision

folder = Path(sys.argv[1] if sys.argv[1:] else ".")
X, y = make_circles(100, noise=0.08, factor=0.5, random_state=0)

machines = {
    "kernel adatron": KernelAdatron(gamma=1.0, C=10.0, fit_intercept=False).fit(X, y),
    "support vector machine": SVC(gamma=1.0, C=10.0, fit_intercept=False).fit(X, y),
}
scores = [model.decision_function(X) for model in machines.values()]
print(f"largest difference of the two decision functions: {np.ptp(scores, axis=0).max():.4f}")

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, (title, model) in zip(axes, machines.items(), strict=True):
    print(f"{title}: {model.n_support_} support vectors, {model.n_iter_[0]} iterations")
    plot_decision(model, X, y, ax).set_title(title)
axes[0].legend(fontsize="small")
figure.savefig(folder / "kernel_adatron.png")
