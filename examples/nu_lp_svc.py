"""The parameter nu in a linear program.

The parameter nu bounds the share of margin errors.

As in the nu-SVM the share is chosen directly; here most coefficients are zero as well.

python examples/nu_lp_svc.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from largemargin import NuLPSVC
from largemargin.report import plot_decision

folder = Path(sys.argv[1] if sys.argv[1:] else ".")
X, y = make_moons(120, noise=0.3, random_state=2)
signs = np.where(y == 1, 1, -1)

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, nu in zip(axes, (0.2, 0.35, 0.5), strict=True):
    model = NuLPSVC(nu=nu, gamma=1.0).fit(X, y)
    margin = model.margin_[0]
    within = (signs * model.decision_function(X) < margin - 1e-6).mean()
    print(f"nu {nu}: margin {margin:.3f}, {within:.1%} within it, {model.n_support_} vectors")
    plot_decision(model, X, y, ax).set_title(f"nu = {nu}")
axes[0].legend(fontsize="small")
figure.savefig(folder / "nu_lp_svc.png")
