"""A server that learns: what it acknowledged is there once, whenever it is killed."""

import json
import os
import random
import shutil
import signal
import threading
import time

import httpx
import numpy as np
import pytest

from largemargin import load
from largemargin.web.problems import Problem
from largemargin.web.serving.journal import Journal, Line
from largemargin.web.serving.learning import Learner

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


def kills(folder, count, seed):
    """Teach a server that is killed again and again; every acknowledged example is there once."""
    path, choice = folder / "mira.safetensors", random.Random(seed)
    sent, answered, at = events(100_000, seed), {}, 0
    for _ in range(count):
        with serving(path, "--learn", "mira", cwd=folder) as server:
            killer = threading.Timer(choice.random() * 0.4, server.kill)
            killer.start()
            try:
                with httpx.Client(base_url=server.base, timeout=30) as client:
                    while True:
                        answer = client.post("/learn/mira", content=sent[at])
                        assert answer.status_code == 200, answer.text
                        answered.setdefault(at, answer.text)
                        assert answered[at] == answer.text
                        at += 1
            except httpx.TransportError:
                killer.join()
    with serving(path, "--learn", "mira", cwd=folder) as server:
        for k in list(answered)[-50:]:  # each once more: the first answer, and nothing is learned
            assert server.client.post("/learn/mira", content=sent[k]).text == answered[k]
        server.client.post("/learn/mira", content=sent[at])
    learner = learner_of(path)
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
    kills(tmp_path, 1000, 1)


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
