"""Every classifier with its defaults learns what small standard data sets have to teach."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_classification,
    make_moons,
)
from sklearn.metrics import balanced_accuracy_score

import largemargin
from largemargin.machines import CARDS, CLASSIFIER

QUICK = {"iris, sorted", "imbalanced"}  # of the usual run


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def shuffled(X, y, n=None):
    order = np.random.default_rng(0).permutation(len(y))[:n]
    return X[order], y[order]


def in_order(X, y):
    """Sorted by class."""
    order = np.argsort(y, kind="stable")
    return X[order], y[order]


SETS = {
    "iris, sorted": lambda: load_iris(return_X_y=True),
    "wine": lambda: shuffled(standardised(load_wine().data), load_wine().target),
    "wine, in words": lambda: shuffled(
        standardised(load_wine().data), load_wine().target_names[load_wine().target]
    ),
    "breast cancer": lambda: shuffled(
        standardised(load_breast_cancer().data), load_breast_cancer().target
    ),
    "breast cancer, unscaled": lambda: shuffled(*load_breast_cancer(return_X_y=True)),
    "digits, sorted": lambda: in_order(*shuffled(*load_digits(return_X_y=True), 300)),
    "noisy, sorted": lambda: in_order(
        *make_classification(300, 10, n_informative=5, flip_y=0.2, random_state=1)
    ),
    "digits": lambda: shuffled(*load_digits(return_X_y=True), 500),
    "moons": lambda: make_moons(200, noise=0.2, random_state=0),
    "blobs": lambda: make_blobs(200, 5, centers=4, cluster_std=3.0, random_state=0),
    "imbalanced": lambda: make_classification(
        300, 8, n_informative=4, n_clusters_per_class=1, weights=[0.9], flip_y=0.0,
        class_sep=2.0, random_state=0,
    ),
    "noisy": lambda: make_classification(300, 10, n_informative=5, flip_y=0.2, random_state=1),
}  # fmt: skip


def settings():
    for card in CARDS:
        if card.kind == CLASSIFIER:
            yield pytest.param(card.cls, {}, id=card.name)
            if card.streams:
                yield pytest.param(card.cls, {"budget": 50}, id=f"{card.name}-budget")


def check(cls, given, name):
    """A quarter of the rows is for the test; guessing errs on all classes but one."""
    X, y = SETS[name]()
    held_out = np.arange(len(y)) % 4 == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = cls(**given).fit(X[~held_out], y[~held_out])
        right = balanced_accuracy_score(y[held_out], model.predict(X[held_out]))
    guessing = 1 - 1 / len(np.unique(y))
    assert 1 - right < 0.7 * guessing


@pytest.mark.parametrize("name", sorted(QUICK))
@pytest.mark.parametrize(("cls", "given"), list(settings()))
def test_defaults_learn(cls, given, name):
    check(cls, given, name)


@pytest.mark.parametrize("card", [card for card in CARDS if card.streams], ids=lambda c: c.name)
def test_a_budget_is_not_filled_with_the_first_classes(card):
    check(card.cls, {"budget": 50}, "digits, sorted")


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(set(SETS) - QUICK))
@pytest.mark.parametrize(("cls", "given"), list(settings()))
def test_defaults_learn_on_every_set(cls, given, name):
    check(cls, given, name)


def test_ten_sets():
    assert len(SETS) >= 10


@pytest.mark.full
@pytest.mark.parametrize("name", ["NuSVC", "NuLPSVC", "KernelAdatron", "SVC", "LPSVC"])
def test_defaults_neither_warn_nor_fail_on_digits(name):
    X, y = load_digits(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = getattr(largemargin, name)().fit(X[:1000], y[:1000])
    assert model.score(X[1000:], y[1000:]) > 0.9
