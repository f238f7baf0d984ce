"""The linear-programming machine.

It needs far fewer vectors than a support vector machine.

The objective has the sum of the coefficients in place of the norm of the weight vector, so
most coefficients are zero.

python examples/lp_svc.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from largemargin import LPSVC, SVC
from largemargin.report import plot_decision

folder = Path(sys.argv[1] if sys.argv[1:] else ".")
X, y = make_moons(1000, noise=0.2, random_state=0)
train, test = slice(0, 200), slice(200, None)

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, machine in zip(axes, (SVC(C=1.0, gamma=1.0), LPSVC(C=1.0, gamma=1.0)), strict=True):
    model = machine.fit(X[train], y[train])
    title = f"{type(model).__name__}: {model.n_support_} vectors"
    print(f"{title}, test error {1 - model.score(X[test], y[test]):.1%}")
    plot_decision(model, X[train], y[train], ax).set_title(title)
axes[0].legend(fontsize="small")
figure.savefig(folder / "lp_svc.png")
