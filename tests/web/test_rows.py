"""Rows and batches without a server: what belongs together, and what must not touch the others."""

import asyncio
import json
import random

import numpy as np
import pytest

from largemargin.data import Table
from largemargin.web.guard import Guard, Limits
from largemargin.web.problems import Problem
from largemargin.web.serving.models import decided
from largemargin.web.serving.rows import events_of
from largemargin.web.serving.together import Together


def decide(rows):
    """Sums of rows; a row that begins with 13 makes the whole batch fail."""
    if (rows[:, 0] == 13).any():
        raise ValueError("13 brings bad luck")
    with np.errstate(over="ignore"):
        return rows.sum(axis=1)


def test_bad_rows_fail_for_whoever_sent_them():
    parts = [np.ones((2, 2)), np.array([[13.0, 1.0]]), np.full((1, 2), 1e308), np.zeros((3, 2))]
    good, bad, huge, zeros = decided(decide, parts)
    np.testing.assert_array_equal(good, [2, 2])
    np.testing.assert_array_equal(zeros, [0, 0, 0])
    assert "bad luck" in str(bad)
    assert isinstance(huge, Problem)


def test_only_columns_of_the_same_kind_are_joined():
    seen = []

    def kinds(table):
        seen.append((table.column("a").dtype.kind, table.shape[0]))
        return np.zeros(table.shape[0])

    number = Table({"a": np.array([1.5])})
    text = Table({"a": np.array(["red", None], object)})
    found = decided(kinds, [number, text, number])
    assert [len(values) for values in found] == [1, 2, 1]
    assert seen == [("f", 2), ("O", 2)]


def test_an_exception_among_the_answers_is_raised_for_its_request():
    async def ask():
        together = Together(lambda batch: [_answer(what) for what in batch], lambda what: 1, 10)
        return await asyncio.gather(*map(together.ask, (1, 2, 3)), return_exceptions=True)

    one, two, three = asyncio.run(ask())
    assert (one, three) == (1, 3)
    assert isinstance(two, ValueError)


def _answer(what):
    return ValueError("even") if what % 2 == 0 else what


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ('{"x": [1], "y": 1}', 1),
        ('{"x": [1],\n "y": 1}', 1),
        ('{\n "x": [1],\n "y": 1\n}\n', 1),
        ('{"x": [1], "y": 1}\r\n{"x": [2], "y": 1}\n\n', 2),
        ('{"x": [1], "y": "a\u2028b\x85"}', 1),
        ('{"x": [1], "y": 1}\n{"x"', 2),
    ],
)
def test_examples_of_a_request(body, count):
    events = events_of(body.encode())
    assert len(events) == count
    assert json.loads(events[0])["x"] == [1]


def status_of(guard, path="/v2", **headers):
    """What a guard answers to a request with some headers."""
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "GET", "path": path, "headers": pairs}
    asyncio.run(guard(scope, receive, send))
    return sent[0]["status"]


async def welcome(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ("Bearer s3cret", 200), ("bearer s3cret", 200), ("Bearer s3cret ", 200), ("", 401),
        ("Bearer", 401), ("Bearer s3cre", 401), ("Bearer s3crets", 401), ("Basic s3cret", 401),
        ("s3cret", 401), ("Bearer Bearer s3cret", 401), ("Bearer é", 401),
    ],
)  # fmt: skip
def test_tokens(given, status):
    guard = Guard(welcome, Limits(), "s3cret", frozenset({"Models.Example"}))
    assert status_of(guard, host="models.EXAMPLE:80", authorization=given) == status
    assert status_of(guard, "/v2/health/live", host="localhost.evil", authorization=given) == 421


LEAVES = [
    None, True, 0, -1, 1.5, 1e308, 1e-320, 10**30, 10**400, 2**63, "", "a", "\ud800", "\0",
    "x" * 300, [], {}, [[]], "nan", "\u2028",
]  # fmt: skip


class Noise:
    """Requests that are nearly right."""

    def __init__(self, seed):
        self.draw = random.Random(seed)

    def junk(self, depth=0):
        kind = self.draw.random()
        if depth > 2 or kind < 0.6:
            return self.draw.choice(LEAVES)
        if kind < 0.8:
            return [self.junk(depth + 1) for _ in range(self.draw.randrange(5))]
        names = self.draw.sample(["a", "x", "y", "id", "name", "shape", "rows"], 3)
        return {name: self.junk(depth + 1) for name in names}

    def perhaps(self, value, share=0.1):
        return self.junk() if self.draw.random() < share else value

    def numbers(self, count):
        return [self.perhaps(round(self.draw.uniform(-5, 5), 2), 0.03) for _ in range(count)]

    def predict(self):
        rows = [self.perhaps(self.numbers(4), 0.05) for _ in range(self.draw.choice([1, 3, 60]))]
        options = {"decision": self.perhaps(True), "nearest": self.perhaps(2)}
        return self.draw.choice(["/predict/iris", "/predict/mira"]), {
            "rows": self.perhaps(rows), **(options if self.draw.random() < 0.5 else {}),
        }  # fmt: skip

    def infer(self):
        tensors = [
            {
                "name": self.perhaps("X"),
                "shape": self.perhaps([self.perhaps(2, 0.05), self.perhaps(4, 0.05)]),
                "datatype": self.perhaps(self.draw.choice(["FP64", "FP32", "INT8", "BOOL"])),
                "data": self.perhaps(self.numbers(8)),
            }
            for _ in range(self.draw.choice([1, 1, 2]))
        ]
        return "/v2/models/iris/infer", {
            "id": self.perhaps("a"), "inputs": self.perhaps(tensors),
            "outputs": self.perhaps([{"name": self.perhaps("label")}]),
        }  # fmt: skip

    def learn(self):
        return "/learn/mira", {
            "x": self.perhaps(self.numbers(4)), "y": self.perhaps(1), "id": self.perhaps(2, 0.5),
        }  # fmt: skip

    def request(self):
        path, content = self.draw.choice([self.predict, self.infer, self.learn])()
        return path, json.dumps(self.perhaps(content, 0.03)).encode()


def noise(folder, tmp_path, count, seed):
    """So many requests, in this process; every one is answered, and what is learned stays whole."""
    import shutil
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from starlette.testclient import TestClient

    from largemargin.web.serving.app import make_app

    copied = [shutil.copy(path, tmp_path) for path in sorted(folder.glob("*.safetensors"))]
    seen, making = set(), Noise(seed)
    for _ in range(2):  # the second starts from what the first has learned
        app = make_app(copied, Limits(rows=50, body=100_000), learn="mira")
        with TestClient(app, base_url="http://localhost") as client:
            for _ in range(count // 2):
                path, body = making.request()
                answer = client.post(path, content=body)
                assert answer.status_code in (200, 400, 404, 409, 413), (path, body, answer.text)
                json.loads(answer.text, parse_constant=pytest.fail)
                assert len(answer.text) < 20_000
                seen.add((path.split("/")[1], answer.status_code))
    assert {(room, status) for room in ("predict", "v2", "learn") for status in (200, 400)} <= seen


def test_nearly_right_requests(folder, tmp_path):
    noise(folder, tmp_path, 100, 0)


@pytest.mark.full
def test_many_nearly_right_requests(folder, tmp_path):
    noise(folder, tmp_path, 10_000, 1)
