"""Plain estimators under joblib's Dask backend: the same scores, and threads do not multiply."""

import joblib
import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, cross_val_score

from largemargin import SVC, VotedPerceptron
from largemargin.runtime.threads import count_workers

from .conftest import cluster_of

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def data():
    return make_classification(200, 6, random_state=0)


def test_grid_search(client, data):
    X, y = data
    plain = GridSearchCV(SVC(), {"C": [0.1, 10.0]}, cv=2).fit(X, y)
    with joblib.parallel_config("dask"):
        spread = GridSearchCV(SVC(), {"C": [0.1, 10.0]}, cv=2).fit(X, y)
    assert spread.best_params_ == plain.best_params_
    np.testing.assert_array_equal(
        spread.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )


def test_cross_val_score(client, data):
    X, y = data
    plain = cross_val_score(VotedPerceptron(epochs=2), X, y, cv=3)
    with joblib.parallel_config("dask"):
        spread = cross_val_score(VotedPerceptron(epochs=2), X, y, cv=3)
    np.testing.assert_array_equal(spread, plain)


def count():
    """The threads of a fit, where nothing but the task itself limits them."""
    return count_workers(None)


def test_a_task_has_one_thread_where_the_environment_does_not_say_so(monkeypatch):
    """Workers without a nanny have no limits in their environment."""
    monkeypatch.setattr("largemargin.runtime.threads._limit.allowed", list)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(8)), raising=False)
    with cluster_of(1, threads=2, set_as_default=False, processes=False) as inside:
        assert inside.submit(count).result() == 1
        with joblib.parallel_config("dask", client=inside):
            assert joblib.Parallel()(joblib.delayed(count)() for _ in range(2)) == [1, 1]
            assert count() == 8  # here is no task
    assert count() == 8
