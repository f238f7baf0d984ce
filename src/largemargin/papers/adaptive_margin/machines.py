"""The data sets and the machines of the table: what is free in each, and how it is trained.

The six data sets are learned in random splits, with inputs of mean 0 and deviation 1.

Of each machine at most two numbers are free. The outer one, such as the width of the kernel, asks
for training anew; along the inner one, such as C or lambda, a machine may go on from where it was,
so that all values are tried together. Candidates begin with the smoothest machine.
"""

from __future__ import annotations

import math
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from largemargin.data.dataset import Dataset
from largemargin.papers.adaptive_margin import published
from largemargin.papers.experiments import interruptions_raised

Load = Callable[..., Dataset]

SECONDS = 20.0
"""At most so long for one fit; ill-conditioned programs are met where widths are small."""

SIZES = {"banana": 4.0, "breast-cancer": 1.5, "diabetes": 4.0}
"""How much longer a fit takes than on the small data sets, about."""

ROUNDS, CHOOSING_ROUNDS = 200, 50
"""Of boosting; choices are made with fewer, which takes a quarter of the time."""
SEED = 0


@dataclass(frozen=True, eq=False)
class Splits:
    """Some of the splits of a data set, of which `first` is the number of the first."""

    name: str
    parts: tuple[Dataset, ...]
    first: int = 0

    def some(self, first: int, count: int) -> Splits:
        return Splits(self.name, self.parts[first : first + count], self.first + first)

    @property
    def words(self) -> str:
        """For the name of a file: the numbers of the first and the last."""
        return f"{self.first}-{self.first + len(self.parts) - 1}"

    @cached_property
    def identity(self) -> dict[str, Any]:
        checksum = 0
        for part in self.parts:
            for array in (part.X, part.y, part.X_test, part.y_test):
                checksum = zlib.crc32(np.ascontiguousarray(array).data, checksum)
        sizes = [len(self.parts[0].X), len(self.parts[0].X_test)]
        return {"name": self.name, "splits": self.words, "sizes": sizes, "checksum": checksum}


def load_splits(load: Load, name: str, count: int) -> Splits:
    """The first `count` splits, each standardised."""
    return Splits(name, tuple(standardise(load(name, split=k)) for k in range(count)))


def standardise(data: Dataset) -> Dataset:
    """Inputs with mean 0 and deviation 1 over the training part, and the test part likewise."""
    mean, deviation = data.X.mean(axis=0), data.X.std(axis=0)
    deviation = np.where(deviation > 0, deviation, 1.0)
    return Dataset(
        (data.X - mean) / deviation,
        data.y,
        (data.X_test - mean) / deviation,
        data.y_test,
        name=data.name,
    )


def folds(data: Dataset, count: int) -> Iterator[Dataset]:
    """The training part in stratified folds, each in turn the test part of the rest."""
    assert data.y is not None
    splitter = StratifiedKFold(count, shuffle=True, random_state=0)
    for train, test in splitter.split(data.X, data.y):
        yield Dataset(data.X[train], data.y[train], data.X[test], data.y[test], name=data.name)


@dataclass(frozen=True)
class Axis:
    """A free number: its candidates, which lie on a geometric scale if they are refined.

    Those of a `scaled` axis are multiples of the square root of the number of features, as
    distances of standardised examples are.
    """

    name: str
    values: tuple[float, ...]
    refined: bool = False
    scaled: bool = False

    def on(self, n_features: int) -> tuple[float, ...]:
        scale = math.sqrt(n_features) if self.scaled else 1.0
        return tuple(scale * value for value in self.values)

    def around(self, value: float) -> tuple[float, ...]:
        """The value, and before and after it what lies halfway to the next candidates."""
        if not self.refined:
            return (value,)
        half = math.sqrt(self.values[1] / self.values[0])
        return (value / half, value, value * half)

    def __len__(self) -> int:
        return len(self.values)


NOTHING = Axis("", (0.0,))
"""The axis of a machine that has nothing more to choose."""


@dataclass(frozen=True)
class Setting:
    """What was chosen of a machine; what it does not have is 0."""

    outer: float
    inner: float = 0.0

    def as_json(self) -> list[float]:
        return [self.outer, self.inner]


@dataclass(frozen=True)
class Trial:
    """A trained machine: its errors on the test part, and how many support vectors it has."""

    wrong: int
    size: int | None = None


Train = Callable[[float, Sequence[float], Dataset], "list[Trial]"]


@dataclass(frozen=True)
class Machine:
    """A column of the table.

    `known` gives the setting by data set where nothing is chosen, `try_out` is a quicker training
    to choose with, and `cost` the time of a fit, in any unit.
    """

    name: str
    title: str
    outer: Axis
    inner: Axis
    train: Train
    cost: float
    known: Callable[[str], tuple[float, float]] | None = None
    try_out: Train | None = None

    def trials(
        self, outer: float, inners: Sequence[float], data: Dataset, *, choosing: bool = False
    ) -> tuple[list[Trial], int]:
        """A trial for each inner value, and how many fits warned that they did not converge."""
        train = self.try_out if choosing and self.try_out else self.train
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with interruptions_raised():
                found = train(outer, inners, data)
        return found, sum(issubclass(one.category, ConvergenceWarning) for one in caught)

    def small(self) -> Machine:
        """With fewer candidates: neither the smoothest quarter nor the inner ones at the end."""
        outer, inner = self.outer.values, self.inner.values
        cut = len(inner) // 4
        return replace(
            self,
            outer=replace(self.outer, values=outer[len(outer) // 4 :]),
            inner=replace(self.inner, values=inner[cut : len(inner) - cut]),
        )

    def cost_on(self, splits: Splits) -> float:
        """Of one fit."""
        return self.cost * SIZES.get(splits.name, 1.0)

    def words(self, setting: Setting) -> str:
        shown = [(self.outer.name, setting.outer), (self.inner.name, setting.inner)]
        return ", ".join(f"{name} {value:.3g}" for name, value in shown if name)


def gamma_of(width: float) -> float:
    """gamma of the gaussian exp(-|x - y|^2 / (2 width^2))."""
    return 1 / (2 * width * width)


def trial_of(model: Any, data: Dataset) -> Trial:
    wrong = int(np.count_nonzero(model.predict(data.X_test) != data.y_test))
    return Trial(wrong, int(model.n_support_))


def trials_of(models: Iterable[Any], data: Dataset) -> list[Trial]:
    return [trial_of(model, data) for model in models]


def train_svm(width: float, Cs: Sequence[float], data: Dataset) -> list[Trial]:
    from largemargin import SVC

    model = SVC(gamma=gamma_of(width), n_jobs=1, max_seconds=SECONDS)
    return trials_of(model.path(data.X, data.y, Cs), data)


def train_loo(width: float, _: Sequence[float], data: Dataset) -> list[Trial]:
    from largemargin import LeaveOneOutSVC

    model = LeaveOneOutSVC(gamma=gamma_of(width), n_jobs=1, max_seconds=SECONDS)
    return [trial_of(model.fit(data.X, data.y), data)]


def train_am(width: float, lams: Sequence[float], data: Dataset) -> list[Trial]:
    from largemargin import AdaptiveMarginSVC

    seconds = SECONDS * len(lams)
    model = AdaptiveMarginSVC(gamma=gamma_of(width), n_jobs=1, max_seconds=seconds)
    return trials_of(model.path(data.X, data.y, lams), data)


def train_lp(width: float, Cs: Sequence[float], data: Dataset) -> list[Trial]:
    from largemargin import LPSVC

    model = LPSVC(gamma=gamma_of(width), n_jobs=1, max_seconds=SECONDS)
    return [trial_of(model.set_params(C=C).fit(data.X, data.y), data) for C in Cs]


def train_perceptron(width: float, epochs: Sequence[float], data: Dataset) -> list[Trial]:
    from largemargin import VotedPerceptron

    model = VotedPerceptron(
        kernel="rbf", gamma=gamma_of(width), epochs=int(max(epochs)), shuffle=True,
        random_state=SEED, n_jobs=1,
    )  # fmt: skip
    predicted = model.fit(data.X, data.y).staged_predict(data.X_test, list(epochs))
    size = int(model.n_support_)
    return [Trial(int(np.count_nonzero(labels != data.y_test)), size) for labels in predicted]


def train_boosted(
    centres: float, prices: Sequence[float], data: Dataset, *, rounds: int = ROUNDS
) -> list[Trial]:
    from largemargin import AdaBoost, RBFNetwork

    base = RBFNetwork(n_centers=int(centres))
    found = []
    for price in prices:
        model = AdaBoost(base, n_rounds=rounds, regularization=price, random_state=SEED)
        model.fit(data.X, data.y)
        found.append(Trial(int(np.count_nonzero(model.predict(data.X_test) != data.y_test))))
    return found


WIDTH = Axis("width", (4.0, 2.0, 1.0, 0.5), refined=True, scaled=True)
C = Axis("C", (0.1, 1.0, 10.0, 100.0, 1000.0), refined=True)
LP_C = Axis("C", (1.0, 10.0, 100.0), refined=True)
LAMBDA = Axis("lambda", (5.0, 2.0, 1.5, 1.0, 0.5, 0.2, 0.0))
EPOCHS = Axis("epochs", (1, 3, 10, 30))
CENTRES = Axis("centres", (4, 8))
PRICE = Axis("C", (1e5, 1e4, 1e3, 1e2))
try_boosted = partial(train_boosted, rounds=CHOOSING_ROUNDS)

MACHINES = {
    machine.name: machine
    for machine in (
        Machine("ab", "AB", CENTRES, NOTHING, train_boosted, 100, try_out=try_boosted),
        Machine("ab-r", "AB_R", CENTRES, PRICE, train_boosted, 100, try_out=try_boosted),
        Machine("svm", "SVM", WIDTH, C, train_svm, 1),
        Machine("svm-published", "SVM_P", WIDTH, C, train_svm, 2, published.machine_parameters),
        Machine("loo", "LOO-SVM", WIDTH, NOTHING, train_loo, 6),
        Machine("lp", "LP-SVM", WIDTH, LP_C, train_lp, 4),
        Machine("am", "AM-SVM", WIDTH, LAMBDA, train_am, 6),
        Machine("vp", "VP", WIDTH, EPOCHS, train_perceptron, 3),
    )
}
