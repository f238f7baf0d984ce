"""Which features matter: exactly, where a model has a weight for each, else as the rows show it.

A linear machine has weights, boosted stumps have the sum of the weights of their rounds. Of other
machines the features are told by how much of their variance lies between the classes that the
model answers with (eta squared); of columns of text, by how much they tell of the answer (the tau
of Goodman and Kruskal).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.base.pipelines import earlier_steps
from largemargin.data import Table
from largemargin.machines import ENSEMBLE, HYPERPLANE, card_of
from largemargin.report.fit.outcome import Outcome
from largemargin.report.templates import figure
from largemargin.runtime.showing import cut

BARS_SHOWN = 15  # bars of a group
FEW_BARS = 6  # bars of a group where there are many groups
GROUPS_SHOWN = 12
SAMPLE_ROWS = 2000  # rows that tell which features matter
LONGEST_NAME = 40
NO_WEIGHT = 1e-10  # of scaled features: what is left of a zero by rounding
MARKED = "missingindicator_"  # how scikit-learn names the mark of a missing value


@dataclass(frozen=True)
class Bar:
    """A name, and a length from -1 to 1."""

    name: str
    length: float
    shown: str


@dataclass(frozen=True)
class Bars:
    """Groups of bars, each with a heading; `signed` if some go to the left."""

    id: str
    title: str
    note: str
    groups: tuple[tuple[str, tuple[Bar, ...]], ...]
    signed: bool


def importance_bars(
    model: Any, final: Any, names: list[str], labels: list[str], pictures: bool
) -> Bars | None:
    """Weights or importance as bars; None where a model has none, or its rows are pictures."""
    if pictures:
        return None
    weights = _weights(final)
    named = names_before_final(model, final, names)
    if weights is not None:
        return _weight_bars(np.atleast_2d(weights), named, labels, earlier_steps(model) is not None)
    rounds = stump_importance(final)
    return None if rounds is None else _stump_bars(rounds, named, len(final.alphas_))


def _weights(final: Any) -> np.ndarray | None:
    """One weight per feature and problem, of a machine that is linear."""
    linear = card_of(final).outcome == HYPERPLANE or getattr(final, "kernel", None) == "linear"
    found = getattr(final, "coef_", None) if linear else None
    if found is None:
        return None
    return np.asarray(found.toarray() if hasattr(found, "toarray") else found, np.float64)


def _weight_bars(weights: np.ndarray, names: list[str], labels: list[str], scaled: bool) -> Bars:
    headings = _headings(len(weights), labels)
    most = BARS_SHOWN if len(weights) <= 2 else FEW_BARS
    if scaled and np.abs(weights).max() < NO_WEIGHT:
        weights = np.zeros_like(weights)
    top = float(np.abs(weights).max()) or 1.0
    groups = []
    for heading, row in list(zip(headings, weights, strict=True))[:GROUPS_SHOWN]:
        order = np.argsort(-np.abs(row), kind="stable")[:most]
        bars = [_bar(names[j], row[j], top) for j in order.tolist() if row[j]]
        groups.append((heading, tuple(bars)))
    used = int((weights != 0).any(axis=0).sum())
    seen = max((len(bars) for _, bars in groups), default=0)
    shown = f"the {seen} largest of {used:,}" if seen < used else "all of them"
    note = (
        "A linear machine adds up weight times feature. A bar to the right speaks for the class in "
        f"the heading, a bar to the left against it; {shown} are shown."
    )
    if not used:
        note = "All weights are zero, so the model gives the same answer for every row."
    elif scaled:
        note += " The weights are those of the scaled features, so that they can be compared."
    return Bars("weights", "Weights of the features", note, tuple(groups), True)


def _headings(n: int, labels: list[str]) -> list[str]:
    if n == 1:
        return [f"{labels[1]} rather than {labels[0]}"] if len(labels) == 2 else [""]
    if n == len(labels):
        return [f"for {label}" for label in labels]
    pairs = [(a, b) for i, a in enumerate(labels) for b in labels[i + 1 :]]
    return [f"{b} rather than {a}" for a, b in pairs][:n]


def stump_importance(final: Any) -> np.ndarray | None:
    """The share of the weights of rounds that each feature has; None if these are no stumps."""
    if card_of(final).outcome != ENSEMBLE or not hasattr(final.estimators_[0], "feature"):
        return None
    found = np.zeros(final.n_features_in_)
    features = [stump.feature for stump in final.estimators_]
    np.add.at(found, features, np.abs(final.alphas_))
    return np.asarray(found / (found.sum() or 1.0))


def _stump_bars(shares: np.ndarray, names: list[str], rounds: int) -> Bars:
    order = np.argsort(-shares, kind="stable")[:BARS_SHOWN].tolist()
    top = float(shares.max()) or 1.0
    bars = tuple(
        Bar(cut(names[j], LONGEST_NAME), float(shares[j] / top), f"{100 * shares[j]:.1f} %")
        for j in order if shares[j]
    )  # fmt: skip
    note = (
        f"Each of the {rounds} rounds asks about one feature. A bar is the share of the weights of "
        f"all rounds that ask about it; {int((shares > 0).sum())} of {len(shares):,} features are "
        "used."
    )
    return Bars("importance", "Importance of the features", note, (("", bars),), False)


def _bar(name: str, weight: float, top: float) -> Bar:
    return Bar(cut(name, LONGEST_NAME), float(weight / top), figure(float(weight), 3))


def names_before_final(model: Any, final: Any, names: list[str]) -> list[str]:
    """The names of the features that the last step sees."""
    width = int(final.n_features_in_)
    if len(names) == width:
        return names
    steps = earlier_steps(model)
    if hasattr(steps, "get_feature_names_out"):
        try:
            found = [_plainly(str(name)) for name in steps.get_feature_names_out()]
        except (ValueError, AttributeError):
            found = []
        if len(found) == width:
            return found
    return [f"x{j}" for j in range(width)]


def _plainly(name: str) -> str:
    return f"{name.removeprefix(MARKED)} is missing" if name.startswith(MARKED) else name


def ranking(outcome: Outcome) -> np.ndarray:
    """The features, or the columns of a table, from the one that tells most of the answers."""
    X, answers = outcome.rows.X, outcome.predicted
    if len(answers) > SAMPLE_ROWS:
        chosen = np.sort(np.random.default_rng(0).permutation(len(answers))[:SAMPLE_ROWS])
        X, answers = X[chosen], answers[chosen]
    groups = np.unique(answers, return_inverse=True)[1]
    told = _of_table(X, groups) if isinstance(X, Table) else eta_squared(X, groups)
    return np.argsort(-told, kind="stable")


def eta_squared(X: Any, groups: np.ndarray) -> np.ndarray:
    """The share of the variance of each feature that lies between the groups; 0 of a constant.

    >>> rows = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 1.0], [1.0, 2.0]])
    >>> eta_squared(rows, np.array([0, 0, 1, 1]))
    array([1., 0.])
    """
    n = len(groups)
    sizes = np.bincount(groups)
    members = (groups == np.arange(len(sizes))[:, None]).astype(float)
    sums = np.asarray(members @ X, np.float64)
    squares = np.asarray((X.multiply(X) if hasattr(X, "multiply") else np.square(X)).sum(axis=0))
    mean = sums.sum(axis=0) ** 2 / n
    total = np.asarray(squares, np.float64).ravel() - mean
    between = (sums**2 / sizes[:, None]).sum(axis=0) - mean
    varies = total > 1e-12 * np.maximum(mean, 1e-300)
    return np.asarray(np.where(varies, between / np.where(varies, total, 1.0), 0.0))


def _of_table(table: Table, groups: np.ndarray) -> np.ndarray:
    return np.array([_of_column(values, groups) for values in table.columns.values()])


def _of_column(values: np.ndarray, groups: np.ndarray) -> float:
    if values.dtype.kind == "f":
        there = np.isfinite(values)
        if not there.any():
            return 0.0
        return float(eta_squared(values[there, None], _renumbered(groups[there]))[0])
    kinds, of_rows = np.unique(values.astype(str), return_inverse=True)
    # many kinds tell much of few rows by chance alone
    return tau(of_rows, groups) - (len(kinds) - 1) / max(len(groups) - 1, 1)


def _renumbered(groups: np.ndarray) -> np.ndarray:
    return np.asarray(np.unique(groups, return_inverse=True)[1])


def tau(kinds: np.ndarray, groups: np.ndarray) -> float:
    """By how much knowing the kind lowers the chance of a wrong guess at the group, both drawn as
    often as they occur.

    >>> groups = np.array([0, 0, 1, 1])
    >>> tau(groups, groups), tau(np.zeros(4, int), groups)
    (1.0, 0.0)
    """
    shares = np.zeros((kinds.max() + 1, groups.max() + 1))
    np.add.at(shares, (kinds, groups), 1 / len(groups))
    chance = 1 - float((shares.sum(axis=0) ** 2).sum())
    left = 1 - float((shares**2 / shares.sum(axis=1, keepdims=True)).sum())
    return (chance - left) / chance if chance > 0 else 0.0
