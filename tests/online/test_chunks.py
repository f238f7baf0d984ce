"""`partial_fit` of one stream in any chunks: one model, to the last bit."""

import numpy as np
import pytest
import scipy.sparse as sp

from .streams import reals
from .test_estimator import stream
from .test_loop import POLICIES, RULES, make

pytestmark = pytest.mark.bits


def bits_of(model):
    arrays = [model.support_, model.dual_coef_, model.intercept_, model.cache_sizes_]
    rows = model.support_vectors_
    arrays.append(rows.toarray() if sp.issparse(rows) else rows)
    return [array.tobytes() for array in arrays]


@pytest.mark.crossing
@pytest.mark.parametrize(("policy", "budget"), POLICIES)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("form", ["dense", "sparse", "float32"])
def test_real_numbers_in_any_chunks(rule, policy, budget, kernel, form):
    X, y = reals(3, n=240, n_classes=3)
    if form == "sparse":
        X = sp.csr_array(X * (abs(X) > 0.4))
    if form == "float32":
        X = X.astype(np.float32)
    for average in (False, True):
        whole = make(rule, policy, budget, kernel, average=average, n_jobs=1)
        whole.partial_fit(X, y, classes=[0, 1, 2])
        for seed in range(2):
            parts = make(rule, policy, budget, kernel, average=average, n_jobs=2)
            stream(parts, X, y, seed, classes=[0, 1, 2])
            assert bits_of(parts) == bits_of(whole), (seed, average)
