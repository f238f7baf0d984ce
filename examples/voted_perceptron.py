"""The voted perceptron.

The vote of all prediction vectors is more accurate than the last vector.

One fit serves every rule of prediction, because the mistakes of the training are the model.

python examples/voted_perceptron.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from largemargin import VotedPerceptron
from largemargin.report import plot_decision

folder = Path(sys.argv[1] if sys.argv[1:] else ".")
X, y = make_moons(1000, noise=0.25, random_state=0)
train, test = slice(0, 200), slice(200, None)

# shuffled, since the examples come in an order that a stream would not have
model = VotedPerceptron(kernel="rbf", gamma=1.0, epochs=10, shuffle=True, random_state=0)
model.fit(X[train], y[train])
print(f"{model.n_mistakes_.sum()} mistakes in {model.n_epochs_:g} epochs")
print(f"{model.n_support_} of 200 examples in the model")

# the trace of the mistakes is the model: each rule is a way to read it
for method in ("last", "vote", "average"):
    error = (model.predict(X[test], method=method) != y[test]).mean()
    print(f"{method:8} test error {error:.1%}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
plot_decision(model, X[train], y[train], left).set_title("the vote of all vectors")
last = model.set_params(method="last")
plot_decision(last, X[train], y[train], right).set_title("the last vector")
left.legend(fontsize="small")
figure.savefig(folder / "voted_perceptron.png")
