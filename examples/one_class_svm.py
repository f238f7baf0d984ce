"""Outliers without labels.

The machine finds the region where most of the points are.

The share of points outside is at most nu. The certificate is printed at the end.

python examples/one_class_svm.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from largemargin import OneClassSVM
from largemargin.report import plot_decision

folder = Path(sys.argv[1] if sys.argv[1:] else ".")
rng = np.random.default_rng(0)
blobs = [rng.normal(centre, 0.5, size=(70, 2)) for centre in ((-2, 0), (1, 1))]
X = np.concatenate([*blobs, rng.uniform(-4, 4, size=(10, 2))])

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, nu in zip(axes, (0.05, 0.15, 0.4), strict=True):
    model = OneClassSVM(nu=nu, gamma=0.5).fit(X)
    outside, support = (model.predict(X) == -1).mean(), model.n_support_ / len(X)
    print(f"nu {nu}: outside {outside:.1%} <= nu <= support vectors {support:.1%}")
    plot_decision(model, X, ax=ax).set_title(f"nu = {nu}")
axes[0].legend(fontsize="small")
figure.savefig(folder / "one_class_svm.png")
print(model.certificate(X))
