"""The limit on BLAS is one for the process: whoever overlaps with whom, it ends as it began."""

import os
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from largemargin import MIRA, SVC, VotedPerceptron
from largemargin.runtime.threads import count_workers, single_thread, workers

pytestmark = pytest.mark.bits


def blas_limits():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def two_threads(monkeypatch):
    """As many as two cores have, whatever this process was started with."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1}, raising=False)
    with threadpool_limits(2, user_api="blas"):
        if set(blas_limits()) != {2}:
            pytest.skip("BLAS was built or started for one thread only")
        yield


def overlapping(n_threads, enter, n_rounds=1):
    """Enter and leave a scope on several threads so that each leaves while others are within."""
    before, after = threading.Barrier(n_threads), threading.Barrier(n_threads)
    failures = []

    def go(number):
        try:
            for _ in range(n_rounds):
                before.wait(60)
                with enter():
                    after.wait(60)
                    assert set(blas_limits()) == {1}
                    assert count_workers(None) == 2
        except BaseException as failure:
            failures.append(failure)
            before.abort()
            after.abort()

    threads = [threading.Thread(target=go, args=(k,)) for k in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("enter", [single_thread, lambda: workers(None)])
def test_the_last_to_leave_puts_back_what_the_first_found(enter):
    overlapping(8, enter, n_rounds=20)
    assert set(blas_limits()) == {2}
    assert count_workers(None) == 2


def test_scopes_that_are_left_in_the_order_in_which_they_were_entered():
    first, second = single_thread(), single_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(blas_limits()) == {1}
    second.__exit__(None, None, None)
    assert set(blas_limits()) == {2}


def test_predictions_from_eight_threads():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    for model in (SVC(gamma=0.5), MIRA(gamma=0.5), VotedPerceptron(degree=2)):
        model.fit(X, y)
        parts = [X[:1], X[:40], X]
        expected = [model.decision_function(part).tobytes() for part in parts]
        found = []

        def go(model=model, parts=parts, found=found):
            for _ in range(10):
                found.append([model.decision_function(part).tobytes() for part in parts])

        threads = [threading.Thread(target=go) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [expected] * 80
        assert set(blas_limits()) == {2}
        assert count_workers(None) == 2


def test_limits_that_others_set_are_theirs():
    with threadpool_limits(1, user_api="blas"), workers(None) as team:
        assert team.count == 1
    assert set(blas_limits()) == {2}
    with single_thread():  # as a kernel function might
        with threadpool_limits(2, user_api="blas"):
            assert set(blas_limits()) == {2}
        assert set(blas_limits()) == {1}
    assert set(blas_limits()) == {2}
    theirs = threadpool_limits(1, user_api="blas")  # left while a scope of ours is open
    with single_thread():
        theirs.restore_original_limits()
    assert set(blas_limits()) == {2}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("inside", [False, True])
def test_a_forked_process_has_no_scopes_of_threads_that_it_has_not(inside):
    entered, leave = threading.Event(), threading.Event()

    def stay():
        with single_thread():
            entered.set()
            leave.wait(60)

    thread = threading.Thread(target=stay)
    thread.start()
    entered.wait(60)
    own = single_thread()
    if inside:
        own.__enter__()
    child = os.fork()
    if not child:
        try:
            right = set(blas_limits()) == {1 if inside else 2}
            if inside:
                own.__exit__(None, None, None)
            right &= set(blas_limits()) == {2} and count_workers(None) == 2
            with single_thread():
                right &= set(blas_limits()) == {1}
            right &= set(blas_limits()) == {2}
            os._exit(0 if right else 1)
        finally:
            os._exit(2)
    _, status = os.waitpid(child, 0)
    if inside:
        own.__exit__(None, None, None)
    leave.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0
    assert set(blas_limits()) == {2}
