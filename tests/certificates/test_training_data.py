"""Certificates know the training data again, and the parameters, and never say so of others."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import largemargin
from largemargin import SVC, AdaBoost, RBFNetwork, VotedPerceptron
from largemargin.certificates.fitted import UNKNOWN, recorded
from tests.certificates.problems import blobs, says_why, three

WEIGHTED = [
    largemargin.SVC(), largemargin.SVC(slack="squared"), largemargin.SVC(C=np.inf, gamma=9.0),
    largemargin.SVC(slack="squared-sum", kernel="linear"),
    largemargin.SVC(multiclass="crammer-singer"), largemargin.NuSVC(nu=0.2), largemargin.LPSVC(),
    largemargin.NuLPSVC(nu=0.2), largemargin.LeaveOneOutSVC(), largemargin.AdaptiveMarginSVC(),
    largemargin.MaxMarginHyperplane(), largemargin.MaxMarginHyperplane(norm=1),
    largemargin.AdaBoost(n_rounds=3), largemargin.RBFNetwork(2, max_iter=1, random_state=0),
]  # fmt: skip
STREAMS = [
    largemargin.VotedPerceptron(kernel="linear"), largemargin.AggressivePerceptron(),
    largemargin.MIRA(), largemargin.ROMMA(), largemargin.ALMA(average=True),
]  # fmt: skip
EVERY = [
    *WEIGHTED, *STREAMS, largemargin.KernelAdatron(C=1.0),
    largemargin.VotedPerceptron(method="holdout", random_state=0, epochs=1, shuffle=False),
    largemargin.VotedPerceptron(shuffle=True, epochs=2, random_state=0),
]  # fmt: skip


def quietly(model, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(*args, **kwargs)


def known(model, X, y):
    """Whether these are the training data of a model."""
    y = np.searchsorted(model.classes_, y)
    return recorded(model, model.validate(X, reset=False), y)[0].holds


def says_nothing(found):
    """No statement on the training data is made, and none says that these are they."""
    for statement in found:
        told = [a.holds for a in statement.assumptions if "training data" in a.text]
        assert True not in told, statement
        # the gap and the distances of training are the model's own, whatever the data
        if statement.name not in ("duality gap", "distance in the norm"):
            assert statement.kind == "measured" or not statement.applies, statement
    if "leave-one-out error" in str(found):
        assert not found["leave-one-out error"].applies


def test_labels_of_rows_that_no_crammer_singer_vector_needs():
    n_changed = 0
    for seed in range(60):
        X, y = three(seed, n=15)
        model = quietly(SVC(multiclass="crammer-singer", gamma=[0.3, 1.0][seed % 2]), X, y)
        assert known(model, X, y) is True
        others = np.setdiff1d(np.arange(len(y)), model.support_)
        if not len(others):
            continue
        n_changed += 1
        changed = y.copy()
        changed[others] = (y[others] + 1) % 3
        found = model.certificate(X, changed, leave_one_out=False)
        says_nothing(found)
        says_why(found["support vectors, leave-one-out"], "was trained on: labels differ")
    assert n_changed >= 50


def test_weights_that_a_bound_does_not_know():
    X, y = np.array([[1.0], [1.0], [1.0], [-1.0]]), [0, 1, 1, 0]
    model = SVC(kernel="linear", C=1.0).fit(X, y, sample_weight=[1, 4, 1, 4])
    found = model.certificate(X, y)
    says_nothing(found)
    says_why(found["support vectors, leave-one-out"], "but not with equal weights of 1")


@pytest.mark.parametrize("model", WEIGHTED, ids=str)
def test_weighted_fits_are_not_unweighted_ones(model):
    X, y = blobs(3, n=12)
    weights = np.ones(12)
    plain = quietly(model, X, y, sample_weight=weights)
    assert known(plain, X, y) is True
    for where, weight in ((5, 0.0), (0, 2.0), (11, np.nextafter(1.0, 2.0)), (slice(None), 3.0)):
        other = weights.copy()
        other[where] = weight
        fitted = quietly(model, X, y, sample_weight=other)
        assert known(fitted, X, y) is False
        says_nothing(fitted.certificate(X, y))


@pytest.fixture(scope="module")
def fits():
    X, y = blobs(4, n=14)
    X[np.abs(X) < 0.3] = 0.0
    return X, y, [quietly(model, X, y) for model in EVERY]


@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_one_change_anywhere_is_noticed_by_every_family(fits, data):
    X, y, models = fits
    X, y = X.copy(), y.copy()
    what = data.draw(st.sampled_from(["value", "sign", "label", "order", "fewer", "more"]))
    i = data.draw(st.integers(0, len(y) - 1))
    j = data.draw(st.integers(0, X.shape[1] - 1))
    if what == "value":
        X[i, j] = np.nextafter(X[i, j], data.draw(st.sampled_from([-9.0, 9.0])))
    elif what == "sign":
        X[i, j] = -X[i, j] or 5e-324
    elif what == "label":
        y[i] = 1 - y[i]
    elif what == "order":
        k = (i + data.draw(st.integers(1, len(y) - 1))) % len(y)
        X[[i, k]], y[[i, k]] = X[[k, i]], y[[k, i]]
    else:
        rows = np.delete(np.arange(len(y)), i) if what == "fewer" else np.append(np.arange(14), i)
        X, y = X[rows], y[rows]
    for model in models:
        assert known(model, X, y) is False, model


def test_every_family_knows_its_data_in_any_form(fits):
    X, y, models = fits
    narrow = X.astype(np.float32)
    for model in models:
        assert known(model, X, y) is True
        again = quietly(model, narrow, y)
        sparse = largemargin.AdaBoost not in type(model).__mro__
        forms = [
            narrow, narrow.astype(float), np.asfortranarray(narrow),
            pd.DataFrame(narrow), pl.DataFrame(narrow.astype(float)),
            *([sp.csr_array(narrow), sp.csc_matrix(narrow.astype(float))] if sparse else []),
        ]  # fmt: skip
        for form in forms:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # names of columns
                assert known(again, form, y) is True, (model, type(form))
        assert known(again, X, y) is False


def test_precomputed_and_callable_kernels():
    X, y = blobs(5, n=12)
    K = X @ X.T
    for model in (
        SVC(kernel="precomputed"),
        VotedPerceptron(kernel="precomputed", epochs=1, shuffle=False),
    ):
        model.fit(K, y)
        assert known(model, K, y) is True
        other = K.copy()
        other[3, 7] += 1e-9
        assert known(model, other, y) is False
    model = SVC(kernel=lambda a, b: a @ b.T).fit(X, y)
    assert known(model, X, y) is True
    assert known(model, X[::-1], y) is False


@pytest.mark.bits
@pytest.mark.parametrize("model", STREAMS, ids=str)
def test_chunks_of_any_size_are_the_stream(model):
    X, y = three(6, n=30)
    names = np.array(["b", "a", "c"])[y]
    names[:10] = "b"  # other classes come later, before and after it
    first = {"classes": ["a", "b", "c"]} if isinstance(model, VotedPerceptron) else {}
    for size in (1, 7, 30):
        stream = clone(model)
        for k in range(0, 30, size):
            rows = sp.csr_array(X[k : k + size]) if k % 2 else X[k : k + size]
            stream.partial_fit(rows, names[k : k + size], **(first if k == 0 else {}))
        assert known(stream, X, names) is True
        assert known(stream, X[::-1], names[::-1]) is False
        assert stream._record == clone(model).fit(X, names)._record


def test_a_path_and_its_clones():
    X, y = blobs(7, n=14)
    models = SVC().path(X, y, [0.1, 1.0]) + largemargin.AdaptiveMarginSVC().path(X, y, [1.0, 2.0])
    for model in models:
        assert known(model, X, y) is True
        assert not model._record.changed(model)
        assert clone(model)._record is None
    (weighted,) = SVC().path(X, y, [1.0], sample_weight=np.arange(14) + 1.0)
    assert known(weighted, X, y) is False


def test_a_fit_again_is_of_the_new_data():
    X, y = blobs(8, n=14)
    for model in (
        SVC(warm_start=True),
        VotedPerceptron(epochs=1, shuffle=False),
        AdaBoost(n_rounds=2),
    ):
        model.fit(X, y).fit(X[::-1], y[::-1])
        assert known(model, X, y) is False
        assert known(model, X[::-1], y[::-1]) is True


def test_a_fit_that_fails_leaves_the_record():
    X, y = blobs(8, n=14)
    for model in (
        SVC(),
        VotedPerceptron(epochs=1, shuffle=False),
        largemargin.MIRA(),
        RBFNetwork(2, random_state=0),
    ):
        model.fit(X, y)
        with pytest.raises(ValueError, match="class"):
            model.fit(X, np.zeros(14, int))
        assert known(model, X, y) is True


def test_a_stream_that_is_stopped_is_of_what_it_saw(monkeypatch):
    from largemargin.online.learner import LearnerState

    X, y = blobs(8, n=14)
    learn = LearnerState.learn

    def some(self, X, labels, *args, **how):
        return learn(self, X[:9], labels[:9], *args, **how)

    monkeypatch.setattr(LearnerState, "learn", some)
    with pytest.warns(UserWarning, match="stopped after 9 of 14"):
        model = largemargin.MIRA(shuffle=False).fit(X, y)
    assert known(model, X[:9], y[:9]) is True
    assert known(model, X, y) is False
    with pytest.warns(UserWarning, match="stopped after 9 of 14"):
        model = largemargin.MIRA().fit(X, y)  # nine of all rows, in any order
    assert known(model, X, y) is True


CHANGES = [
    (largemargin.SVC(), {"C": 3.0}), (largemargin.SVC(), {"kernel": "linear"}),
    (largemargin.SVC(), {"kernel": "precomputed"}),
    (largemargin.SVC(), {"gamma": 2.0}), (largemargin.SVC(), {"slack": "squared"}),
    (largemargin.SVC(), {"class_weight": "balanced"}), (largemargin.SVC(), {"tol": 0.1}),
    (largemargin.SVC(), {"multiclass": "crammer-singer"}),
    (largemargin.SVC(class_weight={0: 1.0}), {"class_weight": {0: 2.0}}),
    (largemargin.NuSVC(nu=0.2), {"nu": 0.1}), (largemargin.KernelAdatron(C=1.0), {"C": 2.0}),
    (largemargin.LPSVC(), {"C": 3.0}), (largemargin.AdaptiveMarginSVC(), {"lam": 2.0}),
    (largemargin.MaxMarginHyperplane(), {"norm": 1}), (largemargin.MIRA(), {"gamma": 3.0}),
    (largemargin.AggressivePerceptron(), {"margin": 3.0}),
    (largemargin.AdaBoost(n_rounds=3), {"regularization": 1.0}),
    (largemargin.AdaBoost(n_rounds=3), {"estimator": RBFNetwork(2)}),
    (largemargin.VotedPerceptron(), {"epochs": 3}), (largemargin.VotedPerceptron(), {"degree": 1}),
    (largemargin.VotedPerceptron(method="holdout", random_state=0), {"method": "last"}),
]  # fmt: skip


@pytest.mark.parametrize(("model", "change"), CHANGES, ids=str)
def test_parameters_that_were_changed(model, change, tmp_path):
    X, y = blobs(9, n=12)
    fitted = quietly(model, X, y)
    ((name, value),) = change.items()
    before = getattr(fitted, name)
    fitted.set_params(**change)
    largemargin.save(fitted, tmp_path / "m")
    for one in (fitted, largemargin.load(tmp_path / "m")):
        found = one.certificate(X, y)
        words = f"{name} was {before!r} when the model was trained, and is {value!r} now"
        assert words in str(found)
        for statement in found:
            if statement.kind != "measured" and statement.name != "duality gap":
                assert not statement.applies, statement
        for name_said in ("leave-one-out error", "distance in the norm"):
            assert not any(s.applies for s in found if s.name == name_said)
        one.set_params(**{name: before})
        assert "was" not in str(one.certificate(X, y, leave_one_out=False)).split()


def test_parameters_that_are_changed_in_place():
    X, y = blobs(9, n=12)
    model = SVC(class_weight={0: 1.0, 1: 2.0}).fit(X, y)
    model.class_weight[1] = 3.0
    assert "class_weight was {0: 1.0, 1: 2.0}" in str(model.certificate(X, y, leave_one_out=False))
    boosted = AdaBoost(RBFNetwork(2), n_rounds=2, random_state=0).fit(X, y)
    boosted.estimator.n_centers = 3
    assert "estimator was RBFNetwork(n_centers=2)" in str(boosted.certificate(X, y))


def test_parameters_that_do_not_matter():
    X, y = blobs(9, n=12)
    model = SVC().fit(X, y)
    model.set_params(n_jobs=1, verbose=1, memory="1GB", max_seconds=9.0, warm_start=True)
    assert model.certificate(X, y)["support vectors, leave-one-out"].applies
    state = np.random.RandomState(0)
    voted = VotedPerceptron(random_state=state, shuffle=True, epochs=1).fit(X, y)
    voted.set_params(method="last", normalize=True)
    assert voted.certificate(X, y, leave_one_out=False)["mistakes"].applies


def test_a_model_without_a_record_says_that_it_does_not_know(fits):
    X, y, models = fits
    for model in models:
        old = type(model).__new__(type(model))
        old.__dict__.update({k: v for k, v in vars(model).items() if k != "_record"})
        assert known(old, X, y) is None
        found = old.certificate(X, y)
        says_nothing(found)
        if not isinstance(old, RBFNetwork):
            assert UNKNOWN in str(found)
        if old.n_trained is not None:
            assert known(old, X[1:], y[1:]) is False


@pytest.mark.parametrize("model", STREAMS, ids=str)
def test_a_stream_of_unknown_beginning_stays_unknown(model):
    X, y = blobs(9, n=12)
    model = clone(model).fit(X[:6], y[:6])
    model._record = None
    model.partial_fit(X[6:], y[6:])
    assert known(model, X, y) is None
    model.fit(X, y)
    assert known(model, X, y) is True
