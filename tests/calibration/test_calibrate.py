"""The parameter `calibrate`: what it gives, what it leaves as it was, and what it refuses."""

import signal
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale

import largemargin
from largemargin import (
    LPSVC,
    MIRA,
    SVC,
    AdaBoost,
    AdaptiveMarginSVC,
    KernelAdatron,
    MaxMarginHyperplane,
    NuSVC,
    RBFNetwork,
    VotedPerceptron,
)
from largemargin.calibration.calibration import fit_calibration, scores_of
from largemargin.calibration.cross_fitting import CrossFitting, assign_folds
from largemargin.machines import CARDS, CLASSIFIER

CLASSIFIERS = [card for card in CARDS if card.kind == CLASSIFIER]
FEW = {
    "AdaBoost": {"n_rounds": 5},
    "KernelAdatron": {"C": 1.0},
    "RBFNetwork": {"random_state": 0},
    "VotedPerceptron": {"degree": 2},
}
QUICK = ("SVC", "MIRA", "VotedPerceptron", "MaxMarginHyperplane", "AdaBoost")


def in_full(machine):
    return pytest.param(machine, marks=pytest.mark.full)


@pytest.fixture(scope="module")
def two():
    X, y = make_classification(
        120, 4, n_informative=3, n_redundant=0, flip_y=0.2, class_sep=0.8, random_state=0
    )
    return X, np.where(y, "yes", "no")


@pytest.fixture(scope="module")
def three():
    X, y = load_wine(return_X_y=True)
    return scale(X)[::2, :5], y[::2]


@pytest.mark.parametrize(
    "card",
    [c if c.name in QUICK else pytest.param(c, marks=pytest.mark.full) for c in CLASSIFIERS],
    ids=lambda card: card.name,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_classifier_has_it(card, two, three):
    given = FEW.get(card.name, {})
    for X, y in (two, three):
        plain, model = card.cls(**given), card.cls(**given, calibrate=True)
        assert not hasattr(plain, "predict_proba")
        assert not hasattr(plain.fit(X, y), "predict_log_proba")
        assert hasattr(model, "predict_proba")
        found = model.fit(X, y).predict_proba(X)
        assert found.shape == (len(X), len(model.classes_))
        assert np.allclose(found.sum(axis=1), 1)
        assert (found >= 0).all()
        assert np.allclose(np.exp(model.predict_log_proba(X)), found)
        # the machine itself is the same, to the last bit
        assert np.array_equal(model.decision_function(X), plain.decision_function(X))
        assert np.array_equal(model.predict(X), plain.predict(X))


def test_only_classifiers_have_it():
    assert "calibrate" not in largemargin.OneClassSVM().get_params()
    assert not hasattr(largemargin.OneClassSVM(), "predict_proba")
    for card in CLASSIFIERS:
        assert list(card.cls().get_params()).count("calibrate") == 1


MACHINES = [
    SVC(gamma=0.2), SVC(gamma=0.2, multiclass="ovo"), SVC(gamma=0.2, multiclass="crammer-singer"),
    NuSVC(nu=0.3, gamma=0.2), SVC(kernel="linear", slack="squared"),
]  # fmt: skip


@pytest.mark.parametrize("machine", MACHINES)
def test_folds_over_shared_rows_are_those_of_fits_on_parts(machine, three):
    """Held-out scores, from machines that were trained together and one by one."""
    X, y = three
    model = clone(machine).set_params(tol=1e-6).fit(X, y)
    folds = CrossFitting(model, X, y)
    together, again = folds._over_shared_rows(model, None), folds._fitted_again(model, None)
    assert together.shape == again.shape
    assert np.allclose(together, again, atol=1e-5)


@pytest.mark.parametrize("machine", [MaxMarginHyperplane(), MIRA(), SVC(gamma=0.2)])
def test_the_sigmoid_is_that_of_held_out_scores(machine, two):
    X, y = two
    model = clone(machine).set_params(calibrate=True).fit(X, y)
    folds = assign_folds(X, (y == "yes").astype(int), np.ones(len(y)), np.array(["no", "yes"]))
    scores = np.empty(len(y))
    for fold in range(5):
        part = clone(machine).fit(X[folds != fold], y[folds != fold])
        scores[folds == fold] = part.decision_function(X[folds == fold])
    wanted = fit_calibration(model, scores, (y == "yes").astype(int), np.ones(len(y)), 5)
    found = model.calibration
    assert np.allclose(found.slopes, wanted.slopes, rtol=1e-6)
    assert np.allclose(found.offsets, wanted.offsets, rtol=1e-6, atol=1e-8)
    assert (found.n_rows, found.n_folds) == (120, 5)


def test_folds_have_equal_rows_together_and_all_classes():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (200, 2)).astype(float)
    labels = rng.integers(0, 3, 200)
    weights = rng.integers(1, 4, 200)
    folds = assign_folds(X, labels, weights, np.arange(3))
    assert all(set(folds[labels == c]) == set(range(5)) for c in range(3))
    for row in np.unique(X, axis=0):
        assert len(set(folds[(row == X).all(axis=1)])) == 1
    order = rng.permutation(np.repeat(np.arange(200), weights))
    copies = assign_folds(X[order], labels[order], np.ones(len(order)), np.arange(3))
    assert np.array_equal(copies, folds[order])


def test_folds_of_different_rows_are_stratified():
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1, 2], [100, 30, 7])
    folds = assign_folds(rng.normal(size=(137, 2)), labels, np.ones(137), np.arange(3))
    for c, share in enumerate((20, 6, 1.4)):
        counts = np.bincount(folds[labels == c], minlength=5)
        assert np.abs(counts - share).max() < 1


@pytest.mark.parametrize("machine", [SVC(tol=1e-6), MaxMarginHyperplane(), AdaBoost(n_rounds=5)])
def test_weights_are_copies(machine, two):
    X, y = two
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weights)
    model = clone(machine).set_params(calibrate=True)
    weighted = clone(model).fit(X, y, sample_weight=weights).predict_proba(X)
    assert np.allclose(weighted, clone(model).fit(X[copies], y[copies]).predict_proba(X), atol=1e-5)


@pytest.mark.parametrize(
    "machine", [SVC(multiclass="ovo"), VotedPerceptron(degree=2), in_full(LPSVC())]
)
def test_not_a_bit_depends_on_threads_or_memory(machine, three):
    X, y = three
    found = [
        clone(machine)
        .set_params(calibrate=True, n_jobs=n, memory=memory)
        .fit(X, y)
        .predict_proba(X)
        for n, memory in ((1, "auto"), (2, "40MB"))
    ]
    assert np.array_equal(*found)


@pytest.mark.parametrize(
    "machine", [SVC(), VotedPerceptron(), in_full(LPSVC()), in_full(KernelAdatron(C=1.0))]
)
def test_a_kernel_matrix_is_parted_in_both_directions(machine, two):
    X, y = two
    names = {"kernel": "rbf", "gamma": 0.5, "calibrate": True}
    by_name = clone(machine).set_params(**names).fit(X, y)
    given = clone(machine).set_params(kernel="precomputed", calibrate=True)
    K = rbf_kernel(X, X, gamma=0.5)
    # the folds follow from rows, and those of a matrix are other rows
    given.fit(K, y)
    assert np.abs(given.predict_proba(K) - by_name.predict_proba(X)).mean() < 0.05
    folds, other = CrossFitting(by_name, X, y), CrossFitting(given, K, y)
    other.folds = folds.folds
    one, two_ = (f._fitted_again(m, None) for f, m in ((folds, by_name), (other, given)))
    assert np.allclose(one, two_, atol=1e-3)


def test_a_class_of_few_rows_is_parted_or_refused(two):
    X, y = two
    few = np.r_[np.flatnonzero(y == "no")[:40], np.flatnonzero(y == "yes")[:3]]
    model = SVC(calibrate=True).fit(X[few], y[few])
    assert np.isfinite(model.predict_proba(X)).all()
    tiny = few[[0, 1, -2, -1]]
    assert SVC(calibrate=True).fit(X[tiny], y[tiny]).calibration.n_folds == 3
    alone = few[:-2]
    with pytest.raises(ValueError, match="class 'yes' cannot be parted, with 1 rows: give more"):
        SVC(calibrate=True).fit(X[alone], y[alone])
    with pytest.raises(ValueError, match="cannot be parted, with 2 rows"):
        MIRA(calibrate=True).fit(X[[*alone, alone[-1]]], y[[*alone, alone[-1]]])


def test_nu_at_its_limit_is_lowered_in_folds():
    X, _ = make_classification(203, 3, n_informative=3, n_redundant=0, random_state=0)
    y = np.arange(203) < 61
    nu = 2 * 61 / 203
    model = NuSVC(nu=nu, calibrate=True).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    with pytest.raises(ValueError, match="is infeasible"):
        NuSVC(nu=nu + 1e-6, calibrate=True).fit(X, y)


def test_another_fit_has_another_calibration(two, three):
    model = SVC(calibrate=True).fit(*two)
    before = model.calibration
    model.fit(*three)
    assert len(model.calibration.slopes) == 3
    assert before is not model.calibration
    model.set_params(calibrate=False).fit(*two)
    assert not hasattr(model, "predict_proba")
    model.calibrate = True
    with pytest.raises(ValueError, match="were not calibrated when it was fitted: fit it again"):
        model.predict_proba(two[0])


def test_a_fit_that_fails_leaves_the_last_one(two):
    X, y = two
    model = SVC(calibrate=True).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="calibrate must be True or False, got 'yes'"):
        model.set_params(calibrate="yes").fit(X, y)
    model.set_params(calibrate=True)
    with pytest.raises(ValueError, match="cannot be parted"):
        model.fit(X[:30], np.arange(30) == 0)
    assert np.array_equal(model.predict_proba(X), before)


def test_the_rule_of_reading_must_be_that_of_the_calibration(two):
    X, y = two
    model = VotedPerceptron(calibrate=True).fit(X, y)
    model.predict_proba(X)
    model.method = "average"
    with pytest.raises(ValueError, match="were calibrated with method='vote', and it is 'average'"):
        model.predict_proba(X)


def test_streams_are_calibrated_afterwards(two):
    X, y = two
    for cls in (MIRA, VotedPerceptron):
        with pytest.raises(ValueError, match="partial_fit holds no rows out to calibrate with"):
            cls(calibrate=True).partial_fit(X, y, classes=["no", "yes"])
        model = cls().partial_fit(X[:60], y[:60], classes=["no", "yes"])
        sure = largemargin.calibrated(model, X[60:], y[60:])
        assert sure.predict_proba(X).shape == (120, 2)
        sure.partial_fit(X[60:], y[60:])  # the scores are others now
        assert not hasattr(sure, "predict_proba")


def test_a_base_learner_has_none(two):
    with pytest.raises(ValueError, match="a base learner needs no probabilities"):
        AdaBoost(RBFNetwork(calibrate=True)).fit(*two)


def test_before_a_fit_there_is_nothing_to_answer_with(two):
    with pytest.raises(NotFittedError):
        SVC(calibrate=True).predict_proba(two[0])


def test_paths_are_calibrated(two):
    X, y = two
    models = SVC(calibrate=True, gamma=0.2).path(X, y, [0.5, 5.0])
    alone = SVC(calibrate=True, gamma=0.2, C=5.0).fit(X, y)
    assert np.allclose(models[1].predict_proba(X), alone.predict_proba(X), atol=1e-3)
    lams = AdaptiveMarginSVC(calibrate=True, gamma=0.2).path(X[:60], y[:60], [0.5, 1.0])
    assert all(model.predict_proba(X).shape == (120, 2) for model in lams)
    assert not hasattr(SVC().path(X, y, [1.0])[0], "predict_proba")
    found = largemargin.svm.cross_validate(SVC(calibrate=True), X, y, [1.0])
    assert np.array_equal(found.scores, largemargin.svm.cross_validate(SVC(), X, y, [1.0]).scores)


@pytest.mark.parametrize("machine", [KernelAdatron(), VotedPerceptron(epochs=100), AdaBoost()])
def test_a_limit_of_time_holds_for_all_fits_together(machine, two, monkeypatch):
    from largemargin.runtime import progress

    ticks = iter(range(10**9))
    monkeypatch.setattr(progress, "clock", lambda: next(ticks) / 50)
    model = clone(machine).set_params(calibrate=True, max_seconds=0.2)
    with pytest.warns(ConvergenceWarning, match="its share of max_seconds=0.2"):
        model.fit(*two)
    assert np.isfinite(model.predict_proba(two[0])).all()


@pytest.mark.parametrize("cls", [SVC, MIRA])
def test_ctrl_c_leaves_a_model_without_probabilities(cls, two, monkeypatch):
    X, y = two
    model = cls(calibrate=True)
    assign = CrossFitting.calibration

    def pressed(self, *given):
        signal.raise_signal(signal.SIGINT)
        return assign(self, *given)

    monkeypatch.setattr(CrossFitting, "_over_shared_rows", pressed)
    monkeypatch.setattr(CrossFitting, "_fitted_again", pressed)
    with pytest.warns(ConvergenceWarning, match="was interrupted before its scores were calibr"):
        model.fit(X, y)
    assert np.array_equal(model.predict(X), cls().fit(X, y).predict(X))
    with pytest.raises(ValueError, match="were not calibrated when it was fitted"):
        model.predict_proba(X)


def test_folds_say_nothing_of_their_own(two):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ConvergenceWarning, match="max_iter=2 was reached"):
            SVC(calibrate=True, max_iter=2).fit(*two)
    with pytest.warns(ConvergenceWarning) as caught:
        SVC(calibrate=True, max_iter=2).fit(*two)
    assert len(caught) == 1


def test_scores_are_in_the_unit_of_the_whole_fit(two):
    """Votes are sums over the steps of training, of which parts of the data have fewer."""
    X, y = two
    model = VotedPerceptron(epochs=3).fit(X, y)
    assert np.abs(scores_of(model, X)).max() <= 1


@pytest.mark.parametrize("machine", [NuSVC(nu=0.3), in_full(KernelAdatron(C=1.0))])
def test_certificates_are_those_of_the_machine(machine, two):
    X, y = two[0][:24], two[1][:24]
    plain = machine.fit(X, y).certificate(X, y)
    model = clone(machine).set_params(calibrate=True).fit(X, y)
    assert str(model.certificate(X, y)) == str(plain)
