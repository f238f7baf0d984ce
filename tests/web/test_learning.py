"""A server that learns: what it acknowledged is there once, whenever it is killed."""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import httpx
import numpy as np
import pytest

from largemargin import load
from largemargin.web.problems import Problem
from largemargin.web.serving.journal import Journal, Line
from largemargin.web.serving.learning import Learner
from largemargin.web.serving.models import Models

from .conftest import serving


def events(n, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 4)), rng.integers(0, 3, n)
    return [json.dumps({"x": X[i].tolist(), "y": int(y[i]), "id": i}) for i in range(n)]


def learner_of(path):
    from largemargin.model_file.saving import load_with_info

    return Learner(path, *load_with_info(path))


@pytest.fixture
def path(folder, tmp_path):
    return shutil.copy(folder / "mira.safetensors", tmp_path / "mira.safetensors")


def test_it_learns_like_the_stream_and_goes_on(path, monkeypatch):
    monkeypatch.setattr("largemargin.web.serving.learning.EVERY", 7)
    twin = load(path)
    learner = learner_of(path)
    sent = events(40)
    for k, event in enumerate(sent):
        content = json.loads(event)
        expected = twin.predict([content["x"]])[0]
        answer = learner.learn([event])[0]
        assert json.loads(answer)["prediction"] == expected
        twin.partial_fit([content["x"]], [content["y"]])
        if k % 9 == 8:  # as after a crash: nothing is closed but the lock
            os.close(learner._alone)
            learner = learner_of(path)
            assert learner.learn([event]) == [answer]
    X = np.random.default_rng(1).normal(size=(20, 4))
    assert np.array_equal(learner.decision_function(X), twin.decision_function(X))
    assert learner.n_learned == 40


def test_bad_and_repeated_examples(path):
    learner = learner_of(path)
    first, second = events(2)
    answers = learner.learn([first, '{"x": [1, 2], "y": 1}', first, second, "{", first])
    assert isinstance(answers[1], Problem)
    assert isinstance(answers[4], Problem)
    assert answers[0] == answers[2] == answers[5]
    assert learner.n_learned == 2
    changed = json.dumps({**json.loads(first), "y": (json.loads(first)["y"] + 1) % 3})
    problem = learner.learn([changed])[0]
    assert problem.status == 409
    with pytest.raises(ValueError, match="another server learns in"):
        learner_of(path)


def test_null_is_no_id(path):
    learner = learner_of(path)
    sent = [json.dumps({**json.loads(event), "id": None}) for event in events(2)]
    answers = learner.learn([*sent, sent[0]])
    assert all(json.loads(answer)["id"] is None for answer in answers)
    assert learner.n_learned == 3


def test_the_nearest_are_those_of_one_moment(path, rows):
    served = Models({"mira": path}, lambda name, rows: None, "mira")["mira"]
    asking = threading.Thread(target=served.nearest, args=(rows[:1], 3))
    with served.learner.lock:  # as while it learns
        asking.start()
        asking.join(0.3)
        assert asking.is_alive()
    asking.join(20)
    assert not asking.is_alive()


def test_a_lesson_of_many_is_that_of_each(path, tmp_path):
    sent = events(60)
    sent[7:7] = ["{", '{"x": [1, 2], "y": 1}', sent[3], '{"x": [1, 2, 3, 4], "y": "new", "id": 9}']
    together = learner_of(path)
    apart = learner_of(shutil.copy(path, tmp_path / "other.safetensors"))

    def told(answers):
        return [str(answer) for answer in answers]

    found = together.learn(sent[:40]) + together.learn(sent[40:])
    assert told(found) == told(apart.learn([event])[0] for event in sent)
    X = np.random.default_rng(1).normal(size=(20, 4))
    assert np.array_equal(together.decision_function(X), apart.decision_function(X))
    assert together.n_learned == apart.n_learned == 60


def test_a_journal_with_a_torn_end(tmp_path):
    journal = Journal(tmp_path / "j")
    lines = [Line(n, None, "{}", "{}") for n in range(5)]
    journal.append(lines)
    journal.close()
    file = next((tmp_path / "j").iterdir())
    whole = file.read_bytes()
    for cut in range(len(whole) - 30, len(whole)):
        file.write_bytes(whole[:cut])
        again = Journal(tmp_path / "j")
        assert list(again.lines()) == lines[:4]
        assert again.next == 4


def test_segments_that_are_no_longer_needed(tmp_path, monkeypatch):
    monkeypatch.setattr("largemargin.web.serving.journal.SEGMENT", 2)
    journal = Journal(tmp_path / "j")
    for n in range(9):
        journal.append([Line(n, str(n), "{}", "{}")])
    journal.forget(5)
    assert [line.n for line in Journal(tmp_path / "j").lines()] == [4, 5, 6, 7, 8]


NURSERY = """
import contextlib, io, os, shutil, sys, tempfile
import uvicorn.protocols.http.h11_impl, uvicorn.lifespan.on, starlette.routing
import largemargin.cli.app, largemargin.web.several
from largemargin.model_file.saving import load_with_info
from largemargin.web.serving import journal, learning
with tempfile.TemporaryDirectory() as folder:  # what is needed is loaded by being used
    path = shutil.copy(sys.argv[1], folder)
    learner = learning.Learner(path, *load_with_info(path))
    learner.learn(['{"x": [1, 2, 3, 4], "y": 1, "id": 1}'])
    learner.close()
    sys.argv = ["largemargin", "serve", "nothing", "--port", "0"]
    with contextlib.suppress(SystemExit), contextlib.redirect_stderr(io.StringIO()):
        largemargin.cli.main()
learning.EVERY, journal.SEGMENT = 50, 120
for line in sys.stdin:
    born = os.fork()
    if not born:
        os.dup2(os.open("server.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        sys.argv = ["largemargin", *line.split()]
        largemargin.cli.main()
        os._exit(0)
    print(born, flush=True)
    os.waitpid(born, 0)
    print("gone", flush=True)
"""


class Nursery:
    """A process that has loaded the library, and of which servers are forked: they begin at once.

    They write checkpoints and begin segments of the journal more often than usual, so that some
    are killed while they do.
    """

    def __init__(self, folder, port):
        self._command = f"serve mira.safetensors --learn mira --port {port}\n"
        self.base = f"http://127.0.0.1:{port}"
        self._process = subprocess.Popen(
            [sys.executable, "-c", NURSERY, "mira.safetensors"], cwd=folder, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()

    def server(self):
        """The number of a new server process."""
        self._process.stdin.write(self._command)
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def gone(self):
        """Wait for its end."""
        assert self._process.stdout.readline() == "gone\n"


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def teach(base, sent, answered, at, killer):
    """Teach a server from example `at` on until it is killed; what comes next."""
    with httpx.Client(base_url=base, timeout=30) as client:
        while True:
            try:
                answer = client.post("/learn/mira", content=sent[at])
            except httpx.TransportError:
                if killer.finished.is_set():
                    return at
                time.sleep(0.005)  # it does not listen yet
                continue
            assert answer.status_code == 200, answer.text
            assert answered.setdefault(at, answer.text) == answer.text
            at += 1
            if killer.ident is None:
                killer.start()


def kills(folder, count, seed):
    """Teach servers that are killed one after the other at any moment, each fourth while it starts;
    every acknowledged example is there once.
    """
    path, choice = folder / "mira.safetensors", random.Random(seed)
    sent, answered, at = events(100_000, seed), {}, 0
    with Nursery(folder, free_port()) as nursery:
        for k in range(count):
            pid = nursery.server()
            life = choice.random() * 0.2
            killer = threading.Timer(life, os.kill, (pid, signal.SIGKILL))
            if k % 4 == 3:
                killer.start()
            at = teach(nursery.base, sent, answered, at, killer)
            killer.join()
            nursery.gone()
    assert at > count  # they learned, too
    learner = learner_of(path)
    for k in list(answered)[-50:]:  # each once more: the first answer, and nothing is learned
        assert learner.learn([sent[k]]) == [answered[k].strip()]
    learner.learn([sent[at]])
    assert learner.n_learned == at + 1 == len(answered) + 1
    twin = load(path)
    contents = [json.loads(event) for event in sent[: at + 1]]
    twin.partial_fit([c["x"] for c in contents], [c["y"] for c in contents])
    X = np.random.default_rng(1).normal(size=(50, 4))
    assert np.array_equal(learner.decision_function(X), twin.decision_function(X))


@pytest.mark.browser
def test_a_dozen_kills(path, tmp_path):
    kills(tmp_path, 12, 0)


@pytest.mark.slow
def test_a_thousand_kills(path, tmp_path):
    kills(tmp_path, int(os.environ.get("LARGEMARGIN_KILLS", "1000")), 1)


@pytest.mark.browser
def test_sigterm_keeps_what_was_learned(path, tmp_path):
    with serving(path, "--learn", "mira", cwd=tmp_path) as server:
        for event in events(20):
            assert server.client.post("/learn/mira", content=event).status_code == 200
        pretty = json.dumps({"x": [1, 2, 3, 4], "y": 1, "id": "p"}, indent=1)
        assert "prediction" in server.client.post("/learn/mira", content=pretty).json()
        several = server.client.post("/learn/mira", content="\n".join(events(3)))
        assert len(several.text.splitlines()) == 3
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(60)
    time.sleep(0.1)
    learner = learner_of(path)
    assert learner.n_learned == 21
