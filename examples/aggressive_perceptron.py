"""The aggressive perceptron and its cache.

Removing redundant examples leaves a smaller model with nearly the same boundary.

The policy "keep" stores every margin error. The policy "distill" removes each stored example
that is classified with the margin even without itself.

python examples/aggressive_perceptron.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from largemargin import AggressivePerceptron
from largemargin.report import plot_decision

folder = Path(sys.argv[1] if sys.argv[1:] else ".")
X, y = make_moons(1000, noise=0.12, random_state=0)

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, policy in zip(axes, ("keep", "distill"), strict=True):
    model = AggressivePerceptron(margin=0.5, policy=policy, average=False, gamma=2.0).fit(X, y)
    print(
        f"{policy}: {model.n_insertions_} stored, {model.n_removals_} removed, "
        f"{model.n_support_} held; {model.online_errors_} errors in {len(y)} examples"
    )
    plot_decision(model, X, y, ax).set_title(f"{policy}: {model.n_support_} examples held")
axes[0].legend(fontsize="small")
figure.savefig(folder / "aggressive_perceptron.png")
