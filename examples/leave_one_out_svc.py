"""The leave-one-out machine.

It has no parameter to tune, and it gives up an outlier by itself.

One example lies far on the wrong side. A support vector machine with a large C bends its
boundary around it.

python examples/leave_one_out_svc.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from largemargin import SVC, LeaveOneOutSVC
from largemargin.report import plot_decision

folder = Path(sys.argv[1] if sys.argv[1:] else ".")
X, y = make_blobs(60, centers=[[-1, 0], [1, 0]], cluster_std=0.45, random_state=0)
X, y = np.vstack([X, [[1.4, 0.3]]]), np.append(y, 0)  # the last one is far on the wrong side

machines = {
    "leave-one-out": LeaveOneOutSVC(gamma=2.0),
    "SVC, C = 1": SVC(C=1.0, gamma=2.0),
    "SVC, C = 100": SVC(C=100.0, gamma=2.0),
}

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, (title, model) in zip(axes, machines.items(), strict=True):
    model.fit(X, y)
    answer = "given up" if model.predict(X[-1:])[0] == 1 else "learned"
    print(f"{title}: the outlier is {answer}, {model.n_support_} vectors")
    plot_decision(model, X, y, ax).set_title(title)
axes[0].legend(fontsize="small")
figure.savefig(folder / "leave_one_out_svc.png")
