"""Choosing C by cross-validation.

The error of five folds follows the error on a thousand test examples.

A path of models and the cross-validation share their kernel rows, which are computed once.

python examples/cross_validation.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from largemargin import SVC
from largemargin.report import plot_decision
from largemargin.svm import cross_validate

folder = Path(sys.argv[1] if sys.argv[1:] else ".")
X, y = make_moons(1200, noise=0.3, random_state=3)
train, test = slice(0, 200), slice(200, None)
Cs = np.logspace(-2, 4, 7)

machine = SVC(gamma=2.0)
chosen = cross_validate(machine, X[train], y[train], Cs=Cs, cv=5)
models = machine.path(X[train], y[train], Cs=Cs)
validation = 1 - chosen.scores.mean(axis=1)
errors = [1 - model.score(X[test], y[test]) for model in models]
for C, guess, error, model in zip(Cs, validation, errors, models, strict=True):
    print(
        f"C {C:<7g} cross-validation {guess:.1%}, test error {error:.1%}, "
        f"{model.n_support_} support vectors"
    )
print(f"chosen: C = {chosen.best_C:g}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.semilogx(Cs, validation, "o-", label="five-fold cross-validation")
left.semilogx(Cs, errors, "s-", label="1,000 test examples")
left.axvline(chosen.best_C, color="grey", linestyle="dotted")
left.set(xlabel="C", ylabel="error", ylim=(0, None))
left.legend()
best = models[list(Cs).index(chosen.best_C)]
plot_decision(best, X[train], y[train], right).set_title(f"C = {chosen.best_C:g}")
figure.savefig(folder / "cross_validation.png")
