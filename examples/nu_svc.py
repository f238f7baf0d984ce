"""The parameter nu instead of C.

The share of margin errors is chosen directly.

It is at most nu, and the share of support vectors is at least nu.

python examples/nu_svc.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from largemargin import NuSVC
from largemargin.report import plot_decision

folder = Path(sys.argv[1] if sys.argv[1:] else ".")
X, y = make_moons(120, noise=0.3, random_state=2)
signs = np.where(y == 1, 1, -1)

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, nu in zip(axes, (0.1, 0.3, 0.6), strict=True):
    model = NuSVC(nu=nu, gamma=1.0).fit(X, y)
    margin_errors = (signs * model.decision_function(X) < 1 - 1e-3).mean()
    support = model.n_support_ / len(y)
    print(f"nu {nu}: margin errors {margin_errors:.1%} <= nu <= support vectors {support:.1%}")
    plot_decision(model, X, y, ax).set_title(f"nu = {nu}")
axes[0].legend(fontsize="small")
figure.savefig(folder / "nu_svc.png")
