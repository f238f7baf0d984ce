"""Many values of C and many folds over shared kernel rows: what single fits give."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from largemargin.svm import SVC, NuSVC, cross_validate

from .problems import KERNELS, noisy, separable, several
from .test_decomposition import small_blocks

CS = [1.0, 0.01, 100.0, 3.0]


@pytest.mark.parametrize(
    ("slack", "multiclass"),
    [
        *[(slack, way) for slack in ("linear", "squared", "squared-sum") for way in ("ovr", "ovo")],
        ("linear", "crammer-singer"),
    ],
)
@pytest.mark.parametrize("blocks", [False, True])
def test_a_path_is_so_many_fits(slack, multiclass, blocks):
    X, y = several(1, n=60)
    weight = np.random.default_rng(0).uniform(0, 2, 60)
    weight[::9] = 0
    base = SVC(slack=slack, multiclass=multiclass)
    if blocks:
        with small_blocks(portions=True):
            models = base.path(X, y, CS, sample_weight=weight)
    else:
        models = base.path(X, y, CS, sample_weight=weight)
    assert [model.C for model in models] == CS
    assert not hasattr(base, "classes_")
    for model in models:
        single = clone(model).fit(X, y, weight)
        f = single.decision_function(X)
        assert np.allclose(model.decision_function(X), f, rtol=0, atol=1e-7 * (1 + abs(f).max()))
        assert model.objective_ == pytest.approx(single.objective_, rel=1e-7)
        assert model.__dict__.keys() == single.__dict__.keys()
        assert model.predict(X).shape == (60,)


def test_a_path_to_the_hard_margin():
    X, y = separable(2)
    models = SVC(gamma=0.4).path(X, y, [np.inf, 1.0, 1e4])
    hard = SVC(C=np.inf, gamma=0.4).fit(X, y)
    assert np.allclose(models[0].decision_function(X), hard.decision_function(X), atol=1e-7)
    assert (np.diff([models[k].objective_[0] for k in (1, 2, 0)]) > -1e-9).all()


def test_the_objective_grows_with_c_along_a_path():
    X, y = noisy(3, n=80)
    models = SVC().path(X, y, np.logspace(-3, 3, 13))
    objectives = [model.objective_[0] for model in models]
    assert (np.diff(objectives) > 0).all()
    assert (np.diff([model.margin_[0] for model in models]) < 1e-9).all()


@pytest.mark.parametrize("form", ["sparse", "precomputed", "frame"])
def test_a_path_of_other_data(form):
    X, y = noisy(3, n=60)
    data = {"sparse": sp.csr_array(X), "precomputed": KERNELS["rbf"][1](X, X), "frame": X}[form]
    params = {"kernel": "precomputed"} if form == "precomputed" else {"gamma": 0.4}
    if form == "frame":
        data = pytest.importorskip("pandas").DataFrame(X, columns=list("abc"))
    for model in SVC(**params).path(data, y, [0.1, 10.0]):
        plain = SVC(C=model.C, gamma=0.4).fit(X, y)
        assert np.allclose(model.decision_function(data), plain.decision_function(X), atol=1e-7)
        assert hasattr(model, "feature_names_in_") == (form == "frame")


@pytest.mark.parametrize(
    ("Cs", "message"), [([], "at least one"), ([1.0, -1.0], "-1.0"), ([np.nan], "nan"), ([0], "C")]
)
def test_wrong_values_of_c(Cs, message):
    X, y = noisy(3)
    with pytest.raises(ValueError, match=message):
        SVC().path(X, y, Cs)
    with pytest.raises(ValueError, match=message):
        cross_validate(SVC(), X, y, Cs)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "crammer-singer"])
@pytest.mark.parametrize("cv", [4, KFold(3, shuffle=True, random_state=0), StratifiedKFold(5)])
def test_cross_validation_is_scikit_learns(multiclass, cv):
    X, y = several(2, n=90, noise=1.0)
    found = cross_validate(SVC(gamma=0.4, multiclass=multiclass), X, y, Cs=CS, cv=cv)
    for C, scores in zip(CS, found.scores, strict=True):
        single = SVC(C=C, gamma=0.4, multiclass=multiclass)
        assert np.allclose(scores, cross_val_score(single, X, y, cv=cv))
    assert found.Cs.tolist() == CS
    assert np.allclose(found.mean_scores, found.scores.mean(axis=1))
    assert found.best_score == found.mean_scores.max()
    assert found.best_C == min(
        C for C, score in zip(CS, found.mean_scores, strict=True) if score == found.best_score
    )
    assert found.dual_gaps.shape == found.scores.shape
    assert abs(found.dual_gaps).max() < 1e-6


@pytest.mark.bits
@pytest.mark.parametrize("slack", ["linear", "squared", "squared-sum"])
def test_cross_validation_in_blocks(slack):
    X, y = several(2, n=100, noise=0.6)
    estimator, Cs = SVC(gamma=0.4, slack=slack), [0.01, 0.5]
    whole = cross_validate(estimator, X, y, Cs, cv=3)
    with small_blocks(working_set=80, portions=True):
        blocks = cross_validate(estimator, X, y, Cs, cv=3)
        little = cross_validate(clone(estimator).set_params(memory=1, n_jobs=2), X, y, Cs, cv=3)
    assert np.array_equal(whole.scores, blocks.scores)
    assert np.array_equal(little.scores, blocks.scores)


def test_cross_validation_with_weights_and_precomputed_kernels():
    X, y = several(2, n=90, noise=1.0)
    weight = np.random.default_rng(0).integers(0, 3, 90).astype(float)
    plain = cross_validate(SVC(gamma=0.4), X, y, [0.1, 1.0], cv=3, sample_weight=weight)
    K = KERNELS["rbf"][1](X, X)
    other = cross_validate(SVC(kernel="precomputed"), K, y, [0.1, 1.0], 3, sample_weight=weight)
    assert np.array_equal(plain.scores, other.scores)
    for f, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
        model = SVC(C=1.0, gamma=0.4).fit(X[train], y[train], weight[train])
        assert plain.scores[1, f] == pytest.approx(model.score(X[test], y[test], weight[test]))


def test_cross_validation_refuses():
    X, y = several(2)
    with pytest.raises(TypeError, match="NuSVC"):
        cross_validate(NuSVC(), X, y, [1.0])
    order = np.argsort(y, kind="stable")
    with pytest.raises(ValueError, match="no training example of class"):
        cross_validate(SVC(), X[order], y[order], [1.0], cv=KFold(3))


def test_limits_are_said_in_a_path():
    X, y = noisy(3, n=80)
    with pytest.warns(ConvergenceWarning, match="max_iter=5"):
        SVC(max_iter=5, gamma=0.4).path(X, y, [10.0, 100.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SVC(gamma=0.4).path(X, y, [10.0, 100.0])
