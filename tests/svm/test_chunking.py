"""Kernel values that are computed, used and forgotten give the answers of those that are kept."""

import os
import signal
import subprocess
import sys
import warnings
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from largemargin.kernels import fused
from largemargin.kernels.functions import Gaussian
from largemargin.kernels.fused import Columns, form_of
from largemargin.svm import (
    SVC,
    KernelAdatron,
    OneClassSVM,
    chunking,
    column_sets,
    session,
    single_first,
    solving,
    solving_in_chunks,
)
from largemargin.svm import multiclass as reductions
from largemargin.svm.forecast import Forecast

from ..clock import driven_clock
from . import twin
from .problems import KERNELS as COMMON
from .problems import noisy, separable, several
from .test_decomposition import MACHINES as TWO_SIDED
from .test_decomposition import agree, same_bits, small_blocks

KERNELS = {
    **{name: COMMON[name][0] for name in ("linear", "poly", "rbf", "laplacian")},
    "poly 3": {"kernel": "poly", "degree": 3, "gamma": 0.2, "coef0": 1.0},
    **{f"matern {nu}": {"kernel": "matern", "matern_nu": nu} for nu in (0.5, 1.5, 2.5)},
    # the squares of a soft margin keep its matrix positive definite
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.05, "coef0": 0.1},
}
MACHINES = {
    **TWO_SIDED,
    "no threshold": (SVC, {"C": 2.0, "fit_intercept": False}),
    "crammer-singer": (SVC, {"C": 2.0, "multiclass": "crammer-singer"}),
    "one-class": (OneClassSVM, {"nu": 0.3}),
}


@contextmanager
def kept_rows():
    """Values in rows that are kept, for the linear kernel too."""
    with small_blocks(portions=True), pytest.MonkeyPatch.context() as patch:
        patch.setattr(solving, "has_few_features", lambda X, kernel: False)
        yield


@contextmanager
def in_chunks(working_set=8, pool=32, portions=True):
    """Values computed and forgotten for data of any size, in sets and pools of a few."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "WHOLE_GRAM_ROWS", 0)
        patch.setattr(
            session, "is_computed_again", lambda kernel, X, *rest: form_of(kernel) is not None
        )
        patch.setattr(solving, "has_few_features", lambda X, kernel: False)
        patch.setattr(column_sets, "WORKING_SET", working_set)
        patch.setattr(column_sets, "POOL", pool)
        if portions:
            patch.setattr(session, "SMALL_PROBLEM", 0)
        yield


def problem(machine, seed, n=100):
    """Data that a machine is for."""
    if machine == "crammer-singer":
        return several(seed, n=n, n_classes=3, noise=0.7)
    X, y = (separable if machine == "hard" else noisy)(seed, n=n)
    if machine == "nu":
        X[:, 0] += y
    return X + 3.0 * (machine == "one-class"), y


def alike(computed, kept, X, close=1e-8):
    """The same answers, and the same examples in them."""
    agree(computed, kept, X, close)
    assert np.array_equal(computed.support_, kept.support_)
    assert (computed.dual_gap_ <= 2 * kept.dual_gap_ + 1e-10).all()


@pytest.mark.crossing
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", KERNELS)
def test_both_ways_give_the_same_answers(name, machine, sparse):
    estimator, params = MACHINES[machine]
    params = {**params, **KERNELS[name]}
    X, y = problem(machine, 1)
    if sparse:
        X = sp.csr_array(X * (abs(X) > 0.15))
    with kept_rows():
        kept = estimator(**params).fit(X, y)
    with in_chunks():
        computed = estimator(**params).fit(X, y)
    # half of the digits are lost where the kernel is infinitely steep
    alike(computed, kept, X, 1e-6 if name == "matern 0.5" else 1e-8)


@pytest.mark.crossing
@pytest.mark.parametrize("threshold", [True, False])
@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
@pytest.mark.parametrize("machine", TWO_SIDED)
def test_several_classes_and_weights(machine, multiclass, threshold):
    estimator, params = MACHINES[machine]
    X, y = several(2, n=100, n_classes=4, noise=0.1 if machine == "hard" else 0.6)
    params = {**params, "multiclass": multiclass, "fit_intercept": threshold, "gamma": 0.5}
    if machine == "nu":
        params["nu"] = 0.3
    weight = np.random.default_rng(0).uniform(0.5, 2, 100)
    with kept_rows():
        kept = estimator(**params).fit(X, y, weight)
    with in_chunks():
        alike(estimator(**params).fit(X, y, weight), kept, X)


@pytest.mark.parametrize("machine", TWO_SIDED)
def test_weights_are_repetitions(machine):
    estimator, params = MACHINES[machine]
    X, y = problem(machine, 8, n=80)
    weight = np.random.default_rng(1).integers(0, 4, 80)
    weight[:2] = 1
    with in_chunks():
        once = estimator(**params).fit(X, y, weight)
        often = estimator(**params).fit(X.repeat(weight, axis=0), y.repeat(weight))
    agree(once, often, X)


@pytest.mark.parametrize("working_set", [4, 17, 1000])
@pytest.mark.parametrize("pool", [20, 45, 1000])
def test_sizes_of_sets_and_pools_do_not_matter(working_set, pool):
    X, y = noisy(6, n=150)
    whole = SVC(C=5.0).fit(X, y)
    with in_chunks(working_set, pool), pytest.MonkeyPatch.context() as patch:
        patch.setattr(reductions, "SEGMENT", 23)
        patch.setattr(reductions, "PORTION", 3)
        agree(SVC(C=5.0).fit(X, y), whole, X)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian"])
def test_no_hyperplane_separates(kernel):
    """Its points meet in both ways; in float32 rounding alone would move them for ever."""
    X, y = noisy(1, n=60)
    X[2:4], y[2:4] = X[:2], y[1::-1]
    with in_chunks(), pytest.warns(ConvergenceWarning, match="cannot be separated"):
        model = SVC(C=np.inf, kernel=kernel).fit(X, y)
    assert not model.converged_


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("machine", [*MACHINES, "adatron"])
@pytest.mark.bits
@pytest.mark.crossing
def test_neither_threads_nor_memory_change_a_bit(machine, precision):
    estimator, params = {**MACHINES, "adatron": (KernelAdatron, {"max_iter": 5})}[machine]
    X, y = several(3, n=120, n_features=5, n_classes=3, noise=0.1 if machine == "hard" else 0.6)
    params = {**params, "precision": precision, "gamma": 0.3}
    with in_chunks(16, 40), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        first = estimator(n_jobs=1, **params).fit(X, y)
        for n_jobs, memory in ((2, "150KB"), (3, 1)):
            same_bits(estimator(n_jobs=n_jobs, memory=memory, **params).fit(X, y), first)


# Fits that are stopped


SPEED = 1e5  # kernel values a second, on a clock that moves with them


def test_rows_looked_at_a_few_at_a_time_change_no_bit():
    """The time is looked at between pieces of a look, which are sums of their own."""
    X, y = noisy(3)
    models = []
    for rows in (7, 1 << 14):
        with in_chunks(), pytest.MonkeyPatch.context() as patch:
            patch.setattr(solving_in_chunks, "LOOK_ROWS", rows)
            patch.setattr(chunking, "AT_ONCE", 0)
            models.append(SVC(C=2.0).fit(X, y))
    same_bits(*models)


@contextmanager
def timed(press=None):
    """A clock that kernel values move; or at the sum of this number Ctrl-C is pressed."""
    calls = []
    with driven_clock() as clock, pytest.MonkeyPatch.context() as patch:
        for name in ("sums", "values", "square", "square_sums"):
            original = getattr(Columns, name)

            def moved(self, vectors, *args, work=original):
                calls.append(1)
                clock.now += self.n * len(vectors.norms) / SPEED
                if len(calls) == press:
                    os.kill(os.getpid(), signal.SIGINT)
                return work(self, vectors, *args)

            patch.setattr(Columns, name, moved)
        patch.setattr(chunking, "USUAL_SPEED", SPEED)
        yield clock


def told(model, X, y):
    """Whether it said a gap; that, and the objective, must be those of its coefficients."""
    K, coefs = twin_kernel(X), np.zeros(len(y))
    coefs[model.support_] = model.dual_coef_[0]
    lower = twin.dual(K, y, np.ones(len(y)), coefs, model.C)
    upper = twin.primal(K, y, np.ones(len(y)), coefs, model.intercept_[0], model.C)
    assert model.objective_[0] <= lower + 1e-12 * abs(lower)
    if np.isinf(model.dual_gap_[0]):
        return False
    true = (upper - lower) / upper
    assert true - 1e-12 <= model.dual_gap_[0] <= true + 0.05
    return True


def twin_kernel(X):
    return COMMON["rbf"][1](X, X)


def stopped(X, y, precision, **params):
    model = SVC(C=10.0, gamma=0.4, precision=precision, n_jobs=1, **params)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert {w.category for w in caught} <= {ConvergenceWarning}
    assert model.converged_ != bool(caught)
    assert np.isfinite(model.decision_function(X)).all()
    return model


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_it_ends_in_time(precision):
    X, y = noisy(3, n=200, noise=1.5)
    with in_chunks(), timed() as clock:
        assert stopped(X, y, precision).converged_
    whole, seen = clock.now, set()
    for limit in np.geomspace(whole / 100, 0.95 * whole, 8):
        with in_chunks(), timed() as clock:
            model = stopped(X, y, precision, max_seconds=limit)
        assert clock.now <= 1.2 * limit + 2 * chunking.SPARE_SECONDS + 0.3, limit
        seen.add((model.converged_, told(model, X, y)))
    assert (False, True) in seen


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("press", [1, 2, 5, 15, 40, 80])
def test_interrupted_at_any_time(press, precision):
    X, y = noisy(3, n=200, noise=1.5)
    with in_chunks(), timed(press):
        model = stopped(X, y, precision)
    assert not model.converged_
    told(model, X, y)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_limit_of_steps_and_going_on(precision):
    X, y = noisy(3, n=120)
    with in_chunks():
        truth = SVC(C=10.0, gamma=0.4, precision=precision).fit(X, y)
        model = stopped(X, y, precision, max_iter=30)
        assert not model.converged_
        assert model.n_iter_[0] <= 30
        assert told(model, X, y)
        model.set_params(warm_start=True, max_iter=40)
        before = -np.inf
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            for _ in range(300):
                model.fit(X, y)
                assert model.objective_[0] >= before - 1e-5 * abs(before)
                before = model.objective_[0]
                if model.converged_:
                    break
    agree(model, truth, X, 1e-3 if precision == "float32" else 1e-8)


def test_going_on_without_the_time_for_it():
    """A start that there is no time to look at stays as it is."""
    X, y = noisy(3, n=200)
    with in_chunks(), timed() as clock, pytest.MonkeyPatch.context() as patch:
        model = stopped(X, y, "float64", max_iter=60, warm_start=True)
        before = model.dual_coef_.copy()
        patch.setattr(chunking, "SPARE_SECONDS", 1e-9)
        clock.tick = 1.0
        with pytest.warns(ConvergenceWarning, match=r"max_seconds=0.01 was reached"):
            model.set_params(max_iter=-1, max_seconds=0.01).fit(X, y)
        assert np.allclose(model.dual_coef_, before, rtol=1e-12)
        told(model, X, y)
        clock.tick = 0.0
        model.set_params(max_seconds=None).fit(X, y)
    assert model.converged_


@pytest.mark.parametrize("columns", [fused.FEWEST_ROWS_COST, fused.FEWEST_ROWS_COST + 1])
def test_the_way_follows_from_the_data_alone(columns, monkeypatch):
    """On either side of the border, whatever the memory and the threads."""
    ways = []
    choose = fused.is_computed_again
    monkeypatch.setattr(session, "WHOLE_GRAM_ROWS", 0)
    monkeypatch.setattr(
        session, "is_computed_again", lambda *args: ways.append(choose(*args)) or ways[-1]
    )
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, columns))
    y = X[:, :3].sum(axis=1) > rng.normal(size=200)
    limits = [(1, "auto"), (2, "auto"), (2, "1MB"), (3, "40MB")]
    models = [SVC(n_jobs=n_jobs, memory=memory).fit(X, y) for n_jobs, memory in limits]
    assert ways == [columns <= fused.FEWEST_ROWS_COST] * 4
    for other in models[1:]:
        same_bits(models[0], other)


def test_problems_of_all_rows_share_a_matrix(monkeypatch):
    """If there is memory for it, and with the same bits without."""
    corner, calls = fused.FusedRows.corner, []

    def counted(self, rows, room=None):
        calls.append((self.dtype.name, len(rows)))
        return corner(self, rows, room)

    monkeypatch.setattr(fused.FusedRows, "corner", counted)
    monkeypatch.setattr(session, "WHOLE_GRAM_ROWS", 0)
    monkeypatch.setattr(solving, "CORNER_ROWS", 0)
    monkeypatch.setattr(single_first, "ROWS", (0, 3072, 4096))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    y = np.where(rng.random(300) < 0.1, 0, X[:, :3].argmax(axis=1))
    models = []
    for memory, count in (("1GB", 1), ("100MB", 3)):
        calls.clear()
        models.append(SVC(memory=memory).fit(X, y))
        assert calls.count(("float32", 300)) == count
    same_bits(*models)


def test_which_way_how_many_rows_of_which_kind_go():
    """Rows that only say what their shape is, and that all have the same entries."""
    fewest, few, usual, many = 4096, 8192, 20_000, 100_000

    def cheap(n, entries, n_problems=1, in_matrices=False):
        row = np.zeros((1, 1024 if n <= few else fused.MOST_COLUMNS))
        row[0, :entries] = 1.0
        X = np.broadcast_to(row, (n, row.shape[1]))
        return fused.is_cheap(Gaussian(1.0), X, n_problems, in_matrices)

    assert cheap(fewest, fused.FEWEST_ROWS_COST, 10, in_matrices=True)
    assert not cheap(fewest, fused.FEW_ROWS_COST + 1)
    assert not cheap(few, fused.FEW_ROWS_COST + 1, in_matrices=True)
    assert cheap(few, fused.FEW_ROWS_COST, 10)
    assert cheap(usual, fused.USUAL_COST)
    assert not cheap(usual, fused.USUAL_COST + 1)
    assert cheap(usual, fused.SHARED_COST, 2)
    assert not cheap(many, fused.SHARED_COST + 1, 2)
    assert cheap(many, fused.MANY_ROWS_COST)
    assert not cheap(many, fused.MANY_ROWS_COST + 1)


class Noted:
    """A watch that keeps what it is told, at a speed of its own."""

    is_shown, stopped = True, ""

    def __init__(self):
        self.elapsed, self.notes = 0.0, []

    def look(self):
        return ""

    def advance(self, amount, note=""):
        self.notes.append(note)


def reported(seconds_a_round, expected=1e6, factor=0.9, begun=0.0):
    """What a forecast says of a solver whose violation changes by a factor in each round."""
    watch = Noted()
    watch.elapsed = begun
    forecast = Forecast(watch, 1e-3, lambda solver: 0.25)
    solver = SimpleNamespace(
        violation=1.0, is_complete=True, values_expected=expected,
        effort=SimpleNamespace(n_values=1000),
    )  # fmt: skip
    for _ in range(20):
        watch.elapsed += seconds_a_round
        solver.violation *= factor
        forecast(solver)
    return watch.notes


def test_a_long_fit_tells_what_is_left():
    notes = reported(1.0)
    # from 0.9^20 to a thousandth it takes another 45 or 46 rounds
    assert "violation 0.12" in notes[-1]
    assert "gap 0.25" in notes[-1]
    assert "about 46 seconds to go" in notes[-1] or "about 45 seconds to go" in notes[-1]


def test_hours_are_foretold_in_the_first_minute():
    with pytest.warns(UserWarning, match=r"will take about .* hours.*VotedPerceptron"):
        reported(10.0, expected=1e6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reported(1.0)
        assert "inf" not in reported(3.0, expected=2000, factor=1.1)[-1]


def test_the_problems_before_are_no_part_of_a_forecast():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert reported(1.0, begun=3000.0)[-1] == reported(1.0)[-1]


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs Linux")
def test_200_000_rows_in_little_memory():
    """The process stays within its data, the memory given and 300 MB."""
    script = """
import numpy as np
from largemargin import SVC
rng = np.random.default_rng(0)
X = rng.normal(size=(200_000, 30)).astype(np.float32)
y = (X[:, 0] * X[:, 1] + X[:, 2] > 0) ^ (rng.random(len(X)) < 0.1)
SVC(gamma=0.02, memory="500MB", max_seconds=120).fit(X, y)
# of this program alone: the usual measure counts the process that it was started from too
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(peak) * 1024 - X.nbytes)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True)
    assert int(done.stdout) < 800e6, done.stderr
