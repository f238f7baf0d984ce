"""What a fit tells of itself, against the same numbers worked out from what it stores."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine

from largemargin import MIRA, SVC, KernelAdatron, NuSVC
from largemargin.svm import cross_validate, evaluation
from tests.svm.extended import LONG, objectives, told_less, true_gaps
from tests.svm.problems import noisy, separable, several
from tests.svm.test_chunking import in_chunks
from tests.svm.test_decomposition import small_blocks

pytestmark = pytest.mark.filterwarnings("ignore")


def inhomogeneous(A, B):
    return (A @ B.T + 1) ** 2


KERNELS = ["linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed", inhomogeneous]
MACHINES = ["linear", "squared", "squared-sum", "hard", "nu", "adatron", "crammer-singer"]


def machine(kind, C, nu, **params):
    if kind in ("linear", "squared", "squared-sum"):
        return SVC(C=C, slack=kind, **params)
    if kind == "hard":
        return SVC(C=np.inf, **params)
    if kind == "nu":
        return NuSVC(nu=nu, **params)
    if kind == "adatron":
        return KernelAdatron(C=C if nu < 0.6 else np.inf, **{**params, "max_iter": 30})
    return SVC(C=C, **{**params, "multiclass": kind, "max_iter": 2000})


def data(seed, n, d, classes, scale, shape):
    """Rows of a size, in clusters or not, rounded or far from the origin."""
    rng = np.random.default_rng(seed)
    classes = min(classes, n)
    X = rng.normal(size=(n, d))
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    if shape == "apart":
        X[:, 0] += 4 * y
    elif shape == "grid":
        X = np.round(2 * X)
    elif shape == "far":
        X += 100
    elif shape == "copies":
        X = X[rng.integers(0, 1 + n // 4, n)]
    return X * scale, y, rng.uniform(0.1, 3, n)


fits = given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 30),
    d=st.integers(1, 5),
    classes=st.integers(2, 3),
    scale=st.floats(-6, 6).map(lambda x: 10.0**x),
    shape=st.sampled_from(["one", "apart", "grid", "far", "copies"]),
    kind=st.sampled_from(MACHINES),
    C=st.floats(-6, 12).map(lambda x: 10.0**x),
    nu=st.floats(0.05, 0.9),
    kernel=st.sampled_from(KERNELS),
    degree=st.integers(1, 4),
    precision=st.sampled_from(["float64", "float32"]),
    threshold=st.booleans(),
    multiclass=st.sampled_from(["ovr", "ovo"]),
    weighted=st.booleans(),
)


def check(
    seed, n, d, classes, scale, shape, kind, C, nu, kernel, degree, precision, threshold,
    multiclass, weighted,
):  # fmt: skip
    X, y, weights = data(seed, n, d, classes, scale, shape)
    if kernel == "precomputed":
        X = X @ X.T
    model = machine(
        kind, C, nu, kernel=kernel, degree=degree, precision=precision, fit_intercept=threshold,
        multiclass=multiclass, max_iter=20000,
    )  # fmt: skip
    weights = weights if weighted and kind != "adatron" else None
    try:
        model.fit(X, y) if weights is None else model.fit(X, y, weights)
    except ValueError as error:  # refused, in a sentence: nothing was told
        if not any(word in str(error) for word in ("infeasible", "definite", "scale the data")):
            raise
    else:
        told_holds(model, X, y, weights)


def told_holds(model, X, y, weights=None):
    assert np.isfinite(model.dual_coef_).all()
    assert np.isfinite(model.intercept_).all()
    assert not np.isnan(model.dual_gap_).any()
    assert (model.dual_gap_ >= 0).all()
    assert told_less(model, X, y, weights) == []
    for told, found in zip(model.objective_, objectives(model, X, y, weights), strict=True):
        if all(np.isfinite(dual) for _, dual, _ in found) and model.n_support_:
            assert told <= min(dual for _, dual, _ in found)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@fits
def test_no_gap_is_told_smaller_than_it_is(**case):
    check(**case)


FOUND = {  # by the test that follows
    "rounded rows, whose outputs times coefficients do not add up to w.w": {
        "seed": 0, "d": 1, "scale": 1.0, "shape": "apart", "kind": "linear", "C": 1.0,
        "kernel": "linear", "threshold": False,
    },
    "slacks beyond the range of floats": {
        "seed": 2, "d": 2, "scale": 1.0, "shape": "one", "kind": "squared-sum", "C": 1e7,
        "kernel": "sigmoid", "threshold": True,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_nor_in_cases_that_were_found(name):
    usual = {"n": 2, "classes": 2, "nu": 0.5, "degree": 1, "multiclass": "ovr", "weighted": False}
    check(**usual, **FOUND[name], precision="float32")


@pytest.mark.full
@settings(max_examples=4000, deadline=None, suppress_health_check=list(HealthCheck))
@fits
def test_no_gap_is_told_smaller_than_it_is_in_thousands_of_fits(**case):
    check(**case)


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@fits
def test_nor_by_the_block_solver(**case):
    """With no float64 to spend on float32 fits, or with some, of which the outputs decide."""
    blocks = small_blocks(working_set=8, portions=case["seed"] % 2 == 0)
    with blocks, pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "CHEAP", case["seed"] % 3 * 60)
        case["n"] = max(4, case["n"])
        check(**case)


def test_a_working_set_that_cannot_move_ends_the_rounds():
    """Kernel values of 1 and -1 with coefficients of 1e41: a step is less than rounding."""
    with small_blocks(working_set=8, portions=True):
        check(
            seed=4934630, n=15, d=5, classes=2, scale=3831.8552433085474, shape="grid",
            kind="squared-sum", C=3831.8552433085474, nu=0.5, kernel="sigmoid", degree=4,
            precision="float32", threshold=True, multiclass="ovo", weighted=False,
        )  # fmt: skip


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@fits
def test_nor_from_values_that_are_computed_and_forgotten(**case):
    chunks = in_chunks(working_set=4, pool=8, portions=case["seed"] % 2 == 0)
    with chunks, pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "CHEAP", case["seed"] % 3 * 60)
        case["n"] = max(4, case["n"])
        check(**case)


@pytest.mark.full
@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@fits
def test_nor_by_either_in_thousands_of_fits(**case):
    test_nor_by_the_block_solver.hypothesis.inner_test(**case)
    test_nor_from_values_that_are_computed_and_forgotten.hypothesis.inner_test(**case)


@pytest.mark.parametrize("C", [1e6, 1e10])
@pytest.mark.parametrize("scale", [1.0, 1e3, 1e6])
def test_large_values_and_prices_lose_no_support_vector(C, scale):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < 2] * scale, y[y < 2]
    for rows, labels in ((X, y), (np.array([[-scale], [scale]]), np.array([0, 1]))):
        model = SVC(kernel="linear", C=C).fit(rows, labels)
        told_holds(model, rows, labels)
        assert model.n_support_ >= 2
        assert model.converged_
        assert model.dual_gap_[0] < 1e-10
        assert model.score(rows, labels) == 1.0


@pytest.mark.parametrize("gamma", ["scale", 1.0])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_unscaled_features(gamma, C):
    X, y = load_wine(return_X_y=True)
    model = SVC(kernel="poly", degree=2, C=C, gamma=gamma).fit(X * 1000, y)
    told_holds(model, X * 1000, y)
    assert model.dual_gap_.max() < 1e-5


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian"])
def test_the_told_gap_of_data_of_usual_size_is_tiny(kernel):
    """What is added for rounding must not hide that a float64 fit is exact."""
    for model, (X, y) in (
        (SVC(kernel=kernel), several(3, n=120)),
        (NuSVC(nu=0.7, kernel=kernel), noisy(3, n=120)),
    ):
        model.fit(X, y)
        told_holds(model, X, y)
        assert model.dual_gap_.max() < 1e-10


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("C", [1.0, 1e3])
def test_float32_is_told_to_its_rounding(kernel, C, monkeypatch):
    """The gap that float32 leaves is told in float64: it holds, and is not far above the truth."""
    # few dimensions are solved in float64
    monkeypatch.setattr("largemargin.svm.solving.Solving._patience", lambda self, n: np.inf)
    X, y = noisy(3, n=150)
    for rows in (X, X.astype(np.float32)):
        model = SVC(kernel=kernel, C=C, precision="float32").fit(rows, y)
        told_holds(model, rows, y)
        true = float(true_gaps(model, rows, y)[0])
        if kernel != "linear":  # which is solved in float64
            assert true > 1e-9
        assert model.dual_gap_[0] < 2 * true + 1e-7


@pytest.mark.parametrize("share", ["SHARE", "COMPUTED_SHARE"])
@pytest.mark.parametrize("way", [small_blocks, in_chunks])
def test_only_those_near_the_margin_are_known_better(way, share):
    """With few kernel values in float64 to spend, the gap is the same number to a few digits."""
    X, y = separable(3, n=200)
    model = SVC(C=1.0, precision="float32").fit(X, y)
    with way(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "CHEAP", 0)
        in_registers = share == "COMPUTED_SHARE"
        patch.setattr(evaluation.Evaluation, "_in_registers", in_registers)
        patch.setattr(evaluation, share, 1)
        near = SVC(C=1.0, precision="float32").fit(X, y)
        patch.setattr(evaluation, share, 10**9)
        rough = SVC(C=1.0, precision="float32").fit(X, y)
    for one in (near, rough):
        told_holds(one, X, y)
    assert near.dual_gap_[0] < 2 * float(true_gaps(near, X, y)[0]) + 1e-6
    assert rough.dual_gap_[0] > 2 * near.dual_gap_[0]
    assert model.dual_gap_[0] < 1e-3


@pytest.mark.parametrize("way", [small_blocks, in_chunks])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_fit_that_was_stopped(kernel, precision, way):
    """Nothing is summed up again when time is over; what is told holds still."""
    X, y = noisy(5, n=80)
    for C in (1.0, 1e4):
        with way(working_set=8, portions=True):
            model = SVC(C=C, kernel=kernel, precision=precision, max_seconds=1e-9).fit(X, y)
        assert not model.converged_
        told_holds(model, X, y)


@pytest.mark.parametrize("way", [small_blocks, in_chunks])
def test_coefficients_that_the_best_box_has_changed(way):
    """What the solver knew of the rounding of others says nothing of theirs."""
    X, y, weights = data(1172346519, 15, 1, 2, 0.002, "grid")
    with way(working_set=4):
        model = SVC(C=6e6, slack="squared-sum").fit(X, y, weights)
    assert model.converged_
    told_holds(model, X, y, weights)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "crammer-singer"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_every_fit_of_a_path(multiclass, precision):
    X, y = several(2, n=60)
    weights = np.random.default_rng(1).uniform(0.2, 2, 60)
    base = SVC(multiclass=multiclass, precision=precision)
    for model in base.path(X, y, [0.1, 10.0, 1e4], sample_weight=weights):
        told_holds(model, X, y, weights)


def test_folds_of_a_cross_validation():
    X, y = several(2, n=60)
    found = cross_validate(SVC(precision="float32"), X, y, Cs=[1.0, 1e4], cv=2)
    assert (found.dual_gaps > 0).all()
    assert (found.dual_gaps < 0.1).all()


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_sparse_rows(precision):
    X, y = several(2, n=60)
    X[np.abs(X) < 0.5] = 0.0
    for kernel in ("linear", "rbf", "laplacian", "poly"):
        model = SVC(C=100.0, kernel=kernel, precision=precision).fit(sp.csr_matrix(X), y)
        model._expansion.basis.sparse = True
        dense = SVC(C=100.0, kernel=kernel, precision=precision).fit(X, y)
        assert model.dual_gap_.max() < 1e-2
        rows = model.support_vectors_.toarray()
        stored = model.support_vectors_
        try:
            type(model).support_vectors_ = property(lambda self, rows=rows: rows)
            told_holds(model, X, y)
        finally:
            del type(model).support_vectors_
        assert (model.support_vectors_ != stored).nnz == 0
        assert dense.dual_gap_.max() < 1e-2


def test_the_sentence_where_nothing_can_be_told():
    """A machine whose price makes more of rounding than there is."""
    X, y = noisy(4, n=60)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = SVC(C=1e9, kernel="poly", degree=4, precision="float32").fit(X * 30, y)
    told_holds(model, X * 30, y)
    assert model.dual_gap_[0] > 0.1
    assert any("may be far from optimal" in str(w.message) for w in caught)
    found = model.certificate(X * 30, y)["support vectors, leave-one-out"]
    optimal = next(a for a in found.assumptions if a.text.startswith("the fit is optimal"))
    assert optimal.holds is not True
    assert LONG(model.dual_gap_[0]) >= true_gaps(model, X * 30, y)[0]


def test_what_the_gap_is_relative_to():
    X, y = noisy(2, n=60)
    said = NuSVC(nu=0.6).fit(X, y).certificate(X, y)["duality gap"].sentence
    assert "times w.w" in said
    assert "of it" in SVC().fit(X, y).certificate(X, y)["duality gap"].sentence


def test_no_duality_without_a_positive_definite_kernel():
    X, y = noisy(2, n=60)
    model = SVC(kernel="sigmoid", gamma=2.0, coef0=-1.0).fit(X, y)
    told_holds(model, X, y)
    statement = model.certificate(X, y)["duality gap"]
    assert not statement.applies
    assert "not positive definite" in str(statement)


SMALL = np.array([[-1.0], [1.0], [1.5], [-2.0]]) * 1e-155


@pytest.mark.parametrize(
    "model",
    [
        SVC(),
        SVC(C=np.inf),
        SVC(multiclass="crammer-singer"),
        NuSVC(),
        KernelAdatron(),
        SVC(kernel="poly"),
    ],
)
@pytest.mark.parametrize("scale", [1e-155, 1e-170, 1e155])
def test_data_whose_variance_leaves_the_range(model, scale):
    """It is refused, in a sentence, and what was fitted before is still there."""
    X, y = SMALL / 1e-155, np.array([0, 1, 1, 0])
    model = type(model)(**model.get_params()).fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="scale"):
        model.fit(X * scale, y)
    assert np.array_equal(model.decision_function(X), before)


@pytest.mark.parametrize("scale", [1e-140, 1e-100, 1e100, 1e130])
def test_gamma_of_data_of_any_size(scale):
    from largemargin.kernels.choosing import make_kernel

    X = np.random.default_rng(0).normal(size=(20, 3))
    expected = make_kernel("rbf", X=X).gamma / scale / scale
    assert make_kernel("rbf", X=X * scale).gamma == pytest.approx(expected, rel=1e-12)
    sparse = make_kernel("rbf", X=sp.csr_matrix(X * scale)).gamma
    assert sparse == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("model", [MIRA(gamma=1.7e308, kernel="rbf"), SVC(gamma=1.7e308)])
def test_a_gamma_that_cannot_be_computed_with(model):
    X, y = noisy(2, n=20)
    with pytest.raises(ValueError, match="lower gamma"):
        model.fit(X, y)


@pytest.mark.bits
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "crammer-singer"])
@pytest.mark.parametrize("cheap", [evaluation.CHEAP, 0])
def test_what_is_told_depends_neither_on_memory_nor_on_threads(precision, multiclass, cheap):
    X, y = several(1, n=200)
    told = []
    with small_blocks(working_set=64, portions=True), pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "CHEAP", cheap)
        for memory, n_jobs in (("1GB", 1), ("100KB", 1), ("100KB", 2)):
            model = SVC(
                C=10.0, precision=precision, memory=memory, n_jobs=n_jobs, multiclass=multiclass
            )
            model.fit(X, y)
            told.append(np.concatenate([model.dual_gap_, model.objective_, model.margin_]))
    assert np.array_equal(told[0], told[1])
    assert np.array_equal(told[0], told[2])
