"""Small problems of a large table, each in the matrix of its own kernel values."""

import numpy as np
import pytest
from sklearn import svm
from sklearn.datasets import make_blobs

from largemargin import SVC, NuSVC
from largemargin.svm import session, solving

X, y = make_blobs(240, 5, centers=6, cluster_std=4.0, random_state=0)
KERNEL = {"gamma": 0.1, "multiclass": "ovo", "tol": 1e-8}


@pytest.fixture
def small(monkeypatch):
    """Data of this size are as large ones are."""
    monkeypatch.setattr(session, "WHOLE_GRAM_ROWS", 100)


@pytest.mark.parametrize(
    ("model", "peer"),
    [(SVC(C=2.0, **KERNEL), svm.SVC(C=2.0)), (NuSVC(nu=0.31, **KERNEL), svm.NuSVC(nu=0.31))],
)
def test_the_same_machine_as_in_chunks(model, peer, small, monkeypatch):
    seen = []
    solve = solving.Solving._solve_in_corner
    monkeypatch.setattr(
        solving.Solving, "_solve_in_corner", lambda *args: seen.append(1) or solve(*args)
    )
    scores = model.fit(X, y).decision_function(X)
    gaps = model.dual_gap_
    n_pairs = len(seen)
    assert n_pairs == len(gaps)
    assert gaps.max() < 1e-6
    monkeypatch.setattr(solving, "CORNER_ROWS", 0)
    in_chunks = model.fit(X, y)
    assert np.allclose(in_chunks.decision_function(X), scores, atol=1e-6)
    assert len(seen) == n_pairs
    pairs = peer.set_params(gamma=0.1, tol=1e-8, decision_function_shape="ovo").fit(X, y)
    ours = -in_chunks.problem_scores(X).T  # LIBSVM's are positive for the first of a pair
    assert np.allclose(ours, pairs.decision_function(X), atol=1e-4)
