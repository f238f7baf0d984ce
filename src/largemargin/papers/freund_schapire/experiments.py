"""One experiment of the paper: a degree, a permutation, and everything that is read from its trace.

Ten one-vs-rest problems with K(x, y) = (1 + x.y)^d on pixels 0..255. The perceptron does not care
about the scale of its kernel, so for d >= 2 pixels are divided by 255 and the constant by 255^2:
the same algorithm, mistake for mistake, with values that fit float32 at any degree.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.data.dataset import Dataset
from largemargin.papers.experiments import Images

TABLE_EPOCHS = (0.1, 1, 2, 3, 4, 10, 30)

# The seven rules of table 1, by the names under which they are recorded.
RULES = {
    "vote": ("vote", False),
    "average": ("average", False),
    "average normalized": ("average", True),
    "last": ("last", False),
    "last normalized": ("last", True),
    "random": ("random", False),
    "random normalized": ("random", True),
}
# Dividing by a norm does not change a sign: four rules are left for two classes.
BINARY_RULES = ("vote", "average", "last", "random")

SCORES_AT_ONCE = 256 * 2**20  # bytes; at 300 stages the scores of one test image are 170 kB


@dataclass(frozen=True)
class Experiment:
    """The settings that an experiment depends on."""

    degree: int
    permutation: int
    epochs: int
    images: Images

    @property
    def file_name(self) -> str:
        return (
            f"degree-{self.degree}_permutation-{self.permutation}_epochs-{self.epochs}"
            f"_rows-{self.images.n_train}.json"
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "degree": self.degree,
            "permutation": self.permutation,
            "epochs": self.epochs,
            "data": self.images.identity,
        }


def stages(epochs: int) -> list[float]:
    """Every tenth of an epoch."""
    return [tenth / 10 for tenth in range(1, 10 * epochs + 1)]


def run_experiment(experiment: Experiment) -> tuple[dict[str, Any], dict[str, float]]:
    """Train and test; returns the results and the seconds that each took.

    A fit that Ctrl-C cut short is no experiment: it raises KeyboardInterrupt.
    """
    data = experiment.images.data
    assert data.y_test is not None
    # RandomState, since its stream is frozen: a permutation is the same with every version of NumPy
    random_state = np.random.RandomState(experiment.permutation)
    model = make_model(experiment.degree, experiment.epochs, random_state)
    X_test = pixels(data.X_test, experiment.degree)
    started = time.perf_counter()
    fitted(model, data, experiment.degree, random_state)
    trained = time.perf_counter()
    results = {
        "classes": model.classes_.tolist(),
        "converged": bool(model.converged_),
        **errors_on(model, X_test, data.y_test, experiment.epochs),
        **counts(model.trace_, table_epochs(experiment.epochs)),
    }
    return results, {"fit": trained - started, "evaluate": time.perf_counter() - trained}


def fitted(model: Any, data: Dataset, degree: int, random_state: Any, part: int = 1) -> Any:
    """The model, trained on a permutation of the images, or on the first part of so many of it.

    `random_state` draws the permutation; a number is a seed.
    """
    from sklearn.exceptions import ConvergenceWarning

    assert data.y is not None
    if isinstance(random_state, int):
        random_state = np.random.RandomState(random_state)
    order = random_state.permutation(len(data.y))[: len(data.y) // part]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(pixels(data.X[order], degree), data.y[order])
    if model.trace_.n_steps < model.epochs * len(order):
        raise KeyboardInterrupt
    return model


def table_epochs(epochs: int) -> list[float]:
    """The columns of the tables that a run of so many epochs can fill."""
    return [at for at in TABLE_EPOCHS if at <= epochs]


def pixels(X: np.ndarray, degree: int) -> np.ndarray:
    """The images as the kernel of `make_model` takes them."""
    return X if degree == 1 else X / X.dtype.type(255)


def make_model(degree: int, epochs: int, random_state: np.random.RandomState | None) -> Any:
    """The voted perceptron with (1 + x.y)^degree on pixels 0..255, up to scale."""
    from largemargin.perceptron import VotedPerceptron

    if degree == 1:
        return VotedPerceptron(
            kernel="linear", fit_intercept=True, epochs=epochs, shuffle=False,
            random_state=random_state,
        )  # fmt: skip
    return VotedPerceptron(
        kernel="poly", degree=degree, gamma=1.0, coef0=1 / 255**2, epochs=epochs, shuffle=False,
        random_state=random_state,
    )  # fmt: skip


def errors_on(model: Any, X: np.ndarray, y: np.ndarray, epochs: int) -> dict[str, Any]:
    """Test images that each rule gets wrong: all classes at each stage, each class at the table's.

    Of ten classes the largest score wins; in a binary problem a score of zero is wrong.
    """
    at, in_table = stages(epochs), set(table_epochs(epochs))
    columns = [s for s, epoch in enumerate(at) if epoch in in_table]
    wrong = {rule: np.zeros(len(at), int) for rule in RULES}
    n_classes = len(model.classes_)
    binary = {rule: np.zeros((len(columns), n_classes), int) for rule in BINARY_RULES}
    # whole panels of 256 images, in which the scores are computed
    n_rows = max(256, SCORES_AT_ONCE // (8 * len(at) * len(RULES) * n_classes) // 256 * 256)
    for first in range(0, len(y), n_rows):
        rows = slice(first, first + n_rows)
        staged = model.staged_decision_functions(X[rows], at, list(RULES.values()))
        labels = np.searchsorted(model.classes_, y[rows])
        signs = np.where(labels[:, None] == np.arange(n_classes), 1, -1)
        for name, rule in RULES.items():
            for s, scores in enumerate(staged):
                wrong[name][s] += np.count_nonzero(scores[rule].argmax(axis=1) != labels)
        for name in BINARY_RULES:
            for column, s in enumerate(columns):
                binary[name][column] += (signs * staged[s][RULES[name]] <= 0).sum(axis=0)
    return {
        "stages": at,
        "wrong": {rule: found.tolist() for rule, found in wrong.items()},
        "binary_wrong": {rule: found.tolist() for rule, found in binary.items()},
    }


def counts(trace: Any, at: list[float]) -> dict[str, Any]:
    """Support vectors and mistakes after each number of epochs, in all and a class."""
    steps = [trace.step_at(epoch) for epoch in at]
    return {
        "table_epochs": at,
        "n_support": [trace.n_support(step) for step in steps],
        "n_mistakes": [int(trace.n_mistakes(step).sum()) for step in steps],
        "binary_n_support": [trace.n_support_of(step).tolist() for step in steps],
        "binary_n_mistakes": [trace.n_mistakes(step).tolist() for step in steps],
    }
