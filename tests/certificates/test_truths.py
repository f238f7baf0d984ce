"""Every statement of the certificates of random fits is true."""

import importlib
import pkgutil
import re
import warnings
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp

import largemargin as lm
from largemargin import certificates
from largemargin.certificates.certificate import Theorem
from tests.certificates.cases import random_case, random_unlabelled_case
from tests.certificates.truths import CHECKS, check_all


def all_true(seeds, rows=(3, 9)):
    counted = Counter()
    for seed in seeds:
        for draw in (random_case, random_unlabelled_case):
            case = draw(np.random.default_rng(seed), rows)
            if case is None:
                continue
            try:
                counted.update(check_all(case))
            except Exception as error:
                error.add_note(f"seed {seed}: {case.model} on {case.X.tolist()}, {case.y.tolist()}")
                raise
    return counted


def test_small_fits():
    counted = all_true(range(80))
    assert sum(counted.values()) > 500


def test_fits_of_more_rows():
    counted = all_true(range(10_000, 10_020), rows=(40, 60))
    assert counted["explicit margin bound"] > 3


@pytest.mark.full
def test_thousands_of_small_fits():
    counted = all_true(range(1000, 4000))
    rare = {"adaptive margin bound", "explicit margin bound", "sum-norm margin bound"}
    assert set(CHECKS) - set(counted) <= {*rare, "explicit margin bound, no margin error"}


@pytest.mark.full
def test_hundreds_of_fits_of_more_rows():
    counted = all_true(range(20_000, 20_150), rows=(40, 60))
    assert counted["explicit margin bound"]
    assert counted["sum-norm margin bound"]


def test_every_statement_has_a_check():
    declared = set()
    for module in pkgutil.iter_modules(certificates.__path__, "largemargin.certificates."):
        for thing in vars(importlib.import_module(module.name)).values():
            if isinstance(thing, Theorem):
                declared.add(thing.name)
    assert len(declared) > 20
    assert declared <= set(CHECKS)


@pytest.mark.parametrize("seed", range(25))
def test_other_rows_and_forms_do_not_raise(seed):
    """With rows of somebody else's, sparse ones, others' kernels: something is said of each."""
    rng = np.random.default_rng(50_000 + seed)
    case = random_case(rng)
    if case is None:
        return
    model, X, y = case.model, case.X, case.y
    one = slice(0, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rows, labels in (
            (rng.normal(size=X.shape), y),
            (X, np.roll(y, 1)),
            (X[one], y[one]),
            (X[::-1], y[::-1]),
            (sp.csr_array(X), y),
            (X.astype(np.float32), y),
            (np.zeros_like(X), y),
        ):
            assert re.search(r"^error +", str(model.certificate(rows, labels)), re.M)


@pytest.mark.parametrize("size", [1e-150, 1e-60, 1e-40, 1e40, 1e55, 1e140])
def test_sizes_that_no_price_of_slack_goes_with(size):
    X, y = size * np.array([[1.0, 0.2], [-0.3, 1.0], [-1.0, -1.0]]), [0, 1, 2]
    for kernel in ("linear", lambda A, B: np.asarray(A @ B.T)):
        model = lm.VotedPerceptron(kernel=kernel, epochs=1, shuffle=False).fit(X, y)
        found = model.certificate(X, y)
        assert found["mistake bound"].value >= found["mistakes"].value


def test_no_slack_for_a_nu_at_its_limit():
    X, y = [[-2], [-1], [1], [2], [3]], [0, 0, 1, 1, 1]
    for machine in (lm.NuSVC, lm.NuLPSVC):
        found = machine(nu=0.8, kernel="linear").fit(X, y).certificate(X, y)
        sentence = found["leave-one-out error"].sentence
        assert "cannot be trained without one of the examples: nu=0.8 is infeasible" in sentence


def test_a_class_of_one_example():
    X, y = [[-1], [1], [1.5], [2]], [0, 1, 1, 1]
    found = lm.SVC(kernel="linear", C=10, fit_intercept=False).fit(X, y).certificate(X, y)
    assert found["Jaakkola-Haussler"].value == found["leave-one-out error"].value == 0.25
    # further away it is no support vector, and counts all the same
    X[0] = [-3]
    found = lm.SVC(kernel="linear", C=10, fit_intercept=False).fit(X, y).certificate(X, y)
    assert (found["Jaakkola-Haussler"].value, found["leave-one-out error"].value) == (0.5, 0.25)
    assert "1 of 4 examples, and 1 alone in its class" in found["Jaakkola-Haussler"].sentence


def test_a_class_that_vanishes_from_a_machine_of_all_classes():
    """The only example of a class need not have a coefficient, and is wrong without itself."""
    seen = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = np.array([0, 1, 2, 0, 1, 0])
        X = rng.normal(size=(6, 2)) + np.array([[4, 0], [0, 4], [-4, -4]])[y]
        model = lm.SVC(kernel="linear", C=10, multiclass="crammer-singer").fit(X, y)
        found = model.certificate(X, y, leave_one_out=True)
        seen += 2 not in model.support_
        assert found["leave-one-out error"].value >= 1 / 6
        assert found["support vectors, leave-one-out"].value >= 1 / 6
    assert seen


def test_the_optimal_hyperplane_without_a_threshold():
    X, y = [[-1], [3]], [0, 1]
    for machine in (
        lm.SVC(kernel="linear", C=np.inf, fit_intercept=False),
        lm.KernelAdatron(C=np.inf, kernel="linear"),
    ):
        found = machine.fit(X, y).certificate(X, y)["optimal hyperplane"]
        assert "no hyperplane through the origin of the feature space" in found.sentence
        assert 0.4999 < found.value <= 0.5
    free = lm.SVC(kernel="linear", C=np.inf).fit(X, y).certificate(X, y)["optimal hyperplane"]
    assert "no hyperplane separates the classes with a distance between them" in free.sentence
    assert 0.1249 < free.value <= 0.125
