"""What workers and the coordinator keep, and how rows travel: without a cluster."""

import threading
import time
import traceback
from types import SimpleNamespace

import numpy as np
import pytest

from largemargin.dask import shards
from largemargin.dask.cluster import n_bytes
from largemargin.dask.kept import CHUNK, KeptValues
from largemargin.dask.packing import (
    Codes,
    Differences,
    PackedRows,
    packed,
    packed_numbers,
    unpacked,
    unpacked_numbers,
)
from largemargin.dask.rows import Asking
from largemargin.dask.shards import PLACES, tiles_of
from largemargin.dask.values import LastCorner, ShardedVectors
from largemargin.kernels.functions import Gaussian
from largemargin.runtime.threads import Workers

rng = np.random.default_rng(0)
K = rng.normal(size=(2 * CHUNK, 40)).astype(np.float32)


@pytest.mark.parametrize("most", [0, CHUNK + 100, len(K)])
def test_sums_do_not_depend_on_the_room(most):
    computed = []

    def copy(slots, places, values):
        values[places, : K.shape[1]] = K[slots]

    def compute(slots, places, values):
        computed.extend(slots)
        copy(slots, places, values)

    kept = KeptValues(K.shape[1], K.dtype, most, compute, padded=48)
    ample = KeptValues(K.shape[1], K.dtype, len(K), copy)
    for count in (3, 700, 700, len(K), 5):
        slots = rng.permutation(len(K))[:count]
        coefs = rng.normal(size=(2, count))
        kept.fetch(np.sort(slots))
        found = kept.sums(slots, coefs, Workers(2))
        assert np.allclose(found, coefs @ K[slots].astype(float), atol=1e-4)
        assert np.array_equal(found, ample.sums(slots, coefs, Workers(1)))
    if most == len(K):
        assert len(computed) == len(K)  # each of them once


@pytest.mark.parametrize("threads", [1, 3])
def test_sums_that_are_asked_for_together(threads, monkeypatch):
    """Of which some have all their values at hand, and others take the room of these."""
    memory = SimpleNamespace(memory_limit=1)
    worker = SimpleNamespace(state=SimpleNamespace(nthreads=threads), memory_manager=memory)
    monkeypatch.setattr(shards, "get_worker", lambda: worker)
    n = CHUNK + 200
    X = np.random.default_rng(1).normal(size=(n, 3)).astype(np.float32)
    shard = shards.RowShard([X], (0, n))
    way = shards.Way(Gaussian(gamma=0.5), "float32", "float32", "float32", True, False, True)
    parts = [np.arange(n) % 3 == k for k in range(3)]
    sets = [shards.Members(bytes([k]), np.packbits(part)) for k, part in enumerate(parts)]
    every = np.arange(n, dtype=np.int32)
    news = shards.News("float32", 0, every, len(every), np.empty((0, 3), np.float32))
    wanted = [((0, 1), every[:90]), ((1, 2), every[80:100]), ((0, 2), every[70:]), ((0,), every)]
    asks = [
        shards.Ask(way, tuple(sets[k] for k in which), rows, rng.normal(size=(2, len(rows))))
        for which, rows in wanted
    ]
    exact = Gaussian(gamma=0.5)(X, X)
    for ask, (which, rows), found in zip(asks, wanted, shards.answer(shard, [news], asks, [], []),
                                         strict=True):  # fmt: skip
        columns = np.concatenate([np.flatnonzero(parts[k]) for k in which])
        assert np.allclose(found, ask.coefs @ exact[np.ix_(rows, columns)], atol=1e-4)
        (alone,) = shards.answer(shard, [], [ask], [], [])
        assert np.array_equal(found, alone)


@pytest.mark.parametrize("count", [0, 1, PLACES, 500])
def test_a_vector_has_its_place_in_any_company(count):
    numbers = rng.permutation(10**6)[:count]
    tiles = tiles_of(numbers)
    assert np.array_equal(np.sort(tiles[tiles >= 0]), np.arange(count))  # each of them once
    place = np.empty(count, int)
    place[tiles[tiles >= 0]] = np.nonzero(tiles >= 0)[1]
    order = rng.permutation(count)[: count // 2 + 1]
    others = tiles_of(numbers[order])
    for k, found in enumerate(np.argwhere(others == np.arange(len(order))[:, None, None])):
        assert found[2] == place[order[k]]


@pytest.mark.parametrize("step", [1, 2, 3, 10, PLACES, 1000])
def test_few_places_are_empty(step):
    count = 50 * PLACES
    assert len(tiles_of(np.arange(0, count * step, step))) < 1.4 * count / PLACES


def test_a_corner_takes_what_it_has_from_the_last_one():
    class Kernel:
        dtype = np.dtype(np.float64)
        rows = np.empty((40, 1))
        n_values = 0

        def values(self, vectors, columns):
            self.n_values += len(vectors) * len(columns)
            return 100.0 * np.minimum.outer(vectors, columns) + np.maximum.outer(vectors, columns)

        def square(self, rows):
            return self.values(rows, rows)

    of = Kernel()
    corners = LastCorner(of)
    for rows in ([3, 1, 2], [2, 7, 1], [7, 1], [9, 8], [9, 4, 8, 1]):
        rows = np.array(rows)
        assert np.array_equal(corners.corner(rows), Kernel().values(rows, rows))
    assert of.n_values == 9 + 3 + 0 + 4 + 8


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (7, 13), (50, 54)])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.99])
def test_rows_arrive_as_they_were(dtype, shape, share):
    X = np.where(rng.random(shape) < share, rng.normal(size=shape), 0.0).astype(dtype)
    X[:1, :1] = -0.0
    sent = packed(X)
    assert isinstance(sent, PackedRows) == (X.size > 13 and share < 0.9)
    assert unpacked(sent).tobytes() == X.tobytes()
    assert unpacked(sent).dtype == dtype
    some = X[:, ::2]
    assert np.array_equal(unpacked(packed(some)), some)


class Rounds:
    """Answers questions in rounds; the first of them waits for a sign that others go on."""

    def __init__(self):
        self.asked, self.begun, self.going = [], threading.Event(), threading.Event()

    def answer(self, questions):
        self.asked.append(questions)
        self.begun.set()
        assert self.going.wait(60)
        if "bad" in questions:
            raise KeyError("bad")
        return [2 * one for one in questions]


def test_while_half_of_the_problems_wait_the_others_go_on():
    rounds, found = Rounds(), {}
    ask = Asking(rounds.answer)
    ask.join(1)  # two problems
    first = threading.Thread(target=lambda: found.update(a=ask("a")), daemon=True)
    first.start()
    assert rounds.begun.wait(60)
    rounds.going.set()  # here, while the first one waits
    found["b"] = ask("b")
    first.join(60)
    assert found == {"a": "aa", "b": "bb"}
    assert rounds.asked == [["a"], ["b"]]


def test_no_more_problems_are_at_work_than_there_are_cores(monkeypatch):
    """One that waits for an answer leaves its core to another."""
    monkeypatch.setattr("largemargin.dask.rows.count_workers", lambda n_jobs: 2)
    working, most, answers = [0], [0], []
    lock = threading.Lock()
    rounds = Rounds()
    rounds.going.set()
    ask = Asking(rounds.answer)
    ask.join(5)  # six problems

    def count(by):
        with lock:
            working[0] += by
            most[0] = max(most[0], working[0])

    def problem(k):
        with ask.at_work():
            for step in range(3):
                count(1)
                time.sleep(0.01)
                count(-1)
                answers.append(ask(10 * k + step))
        ask.join(-1)

    problems = [threading.Thread(target=problem, args=(k,), daemon=True) for k in range(6)]
    for one in problems:
        one.start()
    for one in problems:
        one.join(60)
    assert sorted(answers) == sorted(20 * k + 2 * step for k in range(6) for step in range(3))
    assert most == [2]


def test_all_who_wait_are_told_of_an_error():
    rounds, errors = Rounds(), []
    rounds.going.set()
    ask = Asking(rounds.answer)
    ask.join(7)

    def run():
        try:
            ask("bad")
        except KeyError as error:
            errors.append(error)
        finally:
            ask.join(-1)

    threads = [threading.Thread(target=run, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(errors) == 8
    assert len(traceback.extract_tb(errors[0].__traceback__)) < 8  # not one after the other


@pytest.mark.parametrize("name", ["slots", "here"])
def test_vectors_are_asked_for_side_by_side(name):
    """By two problems at once, of which neither gets an answer before the other asks too."""

    class Rows:
        def __init__(self):
            self.ask = Asking(self.answer)

        def answer(self, asked):
            return asked

    rows, found = Rows(), []
    rows.ask.join(1)
    shared = SimpleNamespace(vectors=lambda dtype, which: rows.ask(which))
    of = SimpleNamespace(
        rows=SimpleNamespace(_shared=shared, dtype=K.dtype, numbers=lambda which: which),
        matrix=rows.ask, _is_fused=False,
    )  # fmt: skip

    def work(k):
        found.append(int(getattr(ShardedVectors(of, np.array([k])), name)[0]))

    problems = [threading.Thread(target=work, args=(k,), daemon=True) for k in range(2)]
    for one in problems:
        one.start()
    for one in problems:
        one.join(timeout=5)
    assert sorted(found) == [0, 1]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.arange(3), np.ndarray),  # few travel as they are
        (np.sort(np.random.default_rng(0).integers(0, 10**6, 5000)), Differences),
        (np.concatenate([np.arange(0, 9000, 2), np.arange(1, 9000, 3)]), Differences),
        (np.arange(2**40, 2**40 + 500), Differences),
        (-np.arange(500, dtype=np.int32), Differences),
        (np.where(np.arange(3000) % 3, 1.0, -0.0), Codes),
        (np.concatenate([np.ones(2000), np.arange(500.0)]), np.ndarray),  # many after all
        (np.random.default_rng(1).normal(size=3000), np.ndarray),
    ],
)  # fmt: skip
def test_numbers_arrive_with_the_same_bits(values, kind):
    sent = packed_numbers(values)
    assert isinstance(sent, kind)
    assert n_bytes(sent) <= values.nbytes
    found = unpacked_numbers(sent)
    assert found.dtype == values.dtype
    assert found.tobytes() == values.tobytes()
