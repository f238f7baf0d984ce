"""`largemargin stream`: answers, errors, names, checkpoints, signals and pipes."""

import json
import os
import select
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from largemargin import MIRA, SVC, describe, load, save
from largemargin.streaming.checkpoint import read_checkpoint

from ..streaming.bad_lines import BAD

COMMAND = [sys.executable, "-m", "largemargin", "stream"]
POLY = ("mira", "--kernel", "poly", "--degree", "2", "--gamma", "1")


def rows(n, seed=0):
    """Integers, on which arithmetic is exact, and labels of three classes."""
    numbers = np.random.default_rng(seed)
    X = numbers.integers(-3, 4, size=(n, 4))
    return X, np.array(["ant", "bee", "cat"])[1 * (X[:, 0] > 0) + (X[:, 1] * X[:, 2] > 0)]


def lines(X, y):
    return [
        json.dumps({"x": x, "y": label, "id": i})
        for i, (x, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True))
    ]


def write(path, texts):
    path.write_bytes("".join(f"{text}\n" for text in texts).encode(errors="surrogateescape"))
    return path


@pytest.fixture
def stream(commands, tmp_path):
    """Run the command on lines; returns what it printed."""

    def run(events, *args):
        file = write(tmp_path / "events.jsonl", events)
        return commands.run(tmp_path, "stream", *args, stdin=file)

    return run


def answers(result):
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_answers_are_those_before_learning(stream, tmp_path):
    X, y = rows(300)
    asked = np.arange(300) % 5 == 4
    events = lines(X, y)
    for i in np.flatnonzero(asked):
        events[i] = json.dumps({"x": X[i].tolist()})
    result = stream(events, *POLY, "--budget", 30, "--scores", "-m", "m")
    found = answers(result)
    model, errors = MIRA(kernel="poly", degree=2, gamma=1.0, budget=30, random_state=0), 0
    for i, answer in enumerate(found):
        assert answer.get("id") == (None if asked[i] else i)
        if hasattr(model, "learner_state"):
            assert answer["prediction"] == model.predict(X[i : i + 1])[0]
            scores = model.decision_function(X[i : i + 1])[0]
            if len(model.classes_) == 2:
                assert answer["score"] == pytest.approx(scores, abs=1e-12)
            elif len(model.classes_) == 3:
                assert list(answer["scores"]) == model.classes_.tolist()
                assert list(answer["scores"].values()) == pytest.approx(scores, abs=1e-12)
        else:
            assert answer["prediction"] is None
        if not asked[i]:
            errors += answer["prediction"] != y[i]
            model.partial_fit(X[i : i + 1], y[i : i + 1])
    loaded = load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.support_, model.support_)
    np.testing.assert_allclose(loaded.dual_coef_, model.dual_coef_, atol=1e-12)
    assert loaded.get_params() == model.get_params()
    assert "300 lines, 240 learned" in result.stderr
    assert f"progressive error {errors / 2.4:.2f} %" in result.stderr
    assert describe(tmp_path / "m")["info"]["stream"]["errors"] == errors


def test_a_model_goes_on(stream, tmp_path):
    X, y = rows(200)
    stream(lines(X, y), *POLY, "-m", "whole")
    stream(lines(X, y)[:120], *POLY, "-m", "m")
    found = stream(lines(X, y)[120:], "m", "-m", "m", "-q")
    assert (found.returncode, found.stderr) == (0, "")
    whole, parts = load(tmp_path / "whole"), load(tmp_path / "m")
    np.testing.assert_array_equal(parts.decision_function(X), whole.decision_function(X))
    assert parts.online_errors_ == whole.online_errors_


def test_a_trained_model_with_a_scaler_goes_on(run, stream, animals, tmp_path):
    assert run(
        "train", animals, "--model", "mira", "--scale", "standard", "-o", "m", "-q"
    ).exit_code == 0  # fmt: skip
    model = load(tmp_path / "m")
    text = animals.read_text().splitlines()[1:]
    X = [[float(number) for number in line.split(",")[:3]] for line in text]
    events = [json.dumps({"x": x}) for x in X[:20]]
    events += [json.dumps({"x": {"height": x[2], "length": x[0], "width": x[1]}}) for x in X[:20]]
    expected = model.predict(np.array(X[:20])).tolist()
    found = answers(stream([*events, '{"x": [1, 2, 3], "y": "ant"}'], "m", "-m", "n"))
    assert [answer["prediction"] for answer in found[:40]] == expected * 2
    assert load(tmp_path / "n")[-1].learner_state.tally[0] == 91
    assert "none of the classes" in stream(['{"x": [1, 2, 3], "y": "dog"}'], "m").stderr


def test_names_become_columns_in_the_order_of_first_sight(stream, tmp_path):
    events = [
        '{"x": {"b": 2, "a": 1}, "y": 1}',
        '{"x": {"c": 1, "d": 1, "e": 1, "f": 1}, "y": 0, "id": "wide"}',
        '{"x": {"a": 3, "c": 1}, "y": 0}',
        '{"x": {}, "y": 1}',
        '{"x": [1, 2, 3, 4], "y": 1}',
    ]
    args = ("mira", "--kernel", "linear", "--max-features", 4, "--on-error", "skip", "-m", "m")
    found = answers(stream(events, *args))
    assert 'the name "e", which is unknown, and all 4 columns' in found[1]["error"]
    assert found[1]["id"] == "wide"
    assert "x is a list in a stream of named numbers" in found[4]["error"]
    assert describe(tmp_path / "m")["info"]["feature_names"] == ["b", "a", "c"]
    model = load(tmp_path / "m")
    assert model.n_features_in_ == 4
    twin = MIRA(kernel="linear").partial_fit([[2, 1, 0, 0], [0, 3, 1, 0], [0, 0, 0, 0]], [1, 0, 1])
    np.testing.assert_allclose(model.coef_, twin.coef_, atol=1e-12)
    assert answers(stream(['{"x": {"a": 9}}', '{"x": {"new": 9}}'], "m"))[0]["prediction"] == 0


CLASSES = ("--classes", "ant,bee,cat")


def test_bad_lines_are_skipped_whole(stream, tmp_path):
    X, y = rows(2 * len(BAD))
    good = lines(X, y)
    mixed, places = [], []
    for i, bad in enumerate(BAD):
        mixed += [good[2 * i], "  \t", bad, good[2 * i + 1]]
        places.append(4 * i + 3)
    result = stream(mixed, *POLY, *CLASSES, "--on-error", "skip", "-m", "mixed")
    reports = result.stderr.splitlines()
    assert len(reports) == len(BAD) + 1
    assert reports[-1].startswith(f"{len(mixed)} lines, {len(good)} learned")
    assert f"{len(BAD)} skipped" in reports[-1]
    found = answers(result)
    assert len(found) == 3 * len(BAD)
    told = [answer for answer in found if "error" in answer]
    for bad, words, place, report, answer in zip(
        BAD, BAD.values(), places, reports, told, strict=False
    ):
        assert report.startswith(f"line {place}: ")
        assert words in report
        assert answer["error"] == report.removesuffix("; skipped")
        assert answer.get("id") == (7 if '"id": 7' in bad else None)
    expected = answers(stream(good, *POLY, *CLASSES, "-m", "good"))
    assert [answer for answer in found if "error" not in answer] == expected
    X = np.eye(4)
    np.testing.assert_array_equal(
        load(tmp_path / "mixed").decision_function(X), load(tmp_path / "good").decision_function(X)
    )
    assert stream(mixed, *POLY, *CLASSES, "--on-error", "skip", "-q").stderr == ""


@pytest.mark.parametrize("bad", list(BAD)[:20:10])
def test_bad_lines_fail(bad, stream, tmp_path):
    good = lines(*rows(12))
    result = stream([*good[:7], bad, *good[7:]], *POLY, *CLASSES, "--checkpoint", "c", "-m", "m")
    assert result.returncode == 2
    assert len(result.stdout.splitlines()) == 7
    assert result.stderr.startswith("error: line 8: ")
    assert BAD[bad] in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "m").exists()
    assert read_checkpoint(tmp_path / "c")[1].counts.lines == 7


def test_a_bad_first_line_settles_nothing(stream):
    args = ("mira", "--kernel", "poly", "--max-features", 2, "--on-error", "skip")
    for bad in (
        '{"x": [1e200], "y": 1}',
        '{"x": {"a": 1e200}, "y": 1}',
        '{"x": {"a": 1, "b": 1, "c": 1}, "y": 1}',
        '{"x": {"a": 1}, "y": [1]}',
    ):
        found = answers(stream([bad, '{"x": [1, 2, 3], "y": "a"}'], *args))
        assert ["error" in answer for answer in found] == [True, False]


def test_a_line_that_is_too_long(stream, tmp_path):
    long = json.dumps({"x": [1, 2, 3, 4], "id": "i" * (1 << 26)})
    good = lines(*rows(3))
    found = answers(stream([good[0], long, *good[1:]], *POLY, "--on-error", "skip"))
    assert f"has {len(long)} bytes, and {1 << 26} are the most" in found[1]["error"]
    assert [answer.get("id") for answer in found] == [0, None, 1, 2]


def test_labels_of_any_type(stream, tmp_path):
    for labels, other in (([True, False], 3), ([2, -1], "a"), ([4.0, 5], True), (["", "é"], 1)):
        events = [json.dumps({"x": [i, 1], "y": label}) for i, label in enumerate(labels * 3)]
        found = answers(stream(events, "romma", "-m", "m", "--overwrite"))
        assert {answer["prediction"] for answer in found[1:]} == set(labels)
        assert load(tmp_path / "m").classes_.tolist() == sorted(labels)
        events = [json.dumps({"x": [1, 1], "y": other})]
        assert "use one kind of label" in stream(events, "m").stderr


def test_mistakes_are_one_line(fails, stream, tmp_path):
    X, y = rows(30)
    save(SVC().fit(X, y), tmp_path / "svc")
    save(MIRA().fit(X, y), tmp_path / "mira.model")
    (tmp_path / "file").write_text("hello")
    for args, words in (
        ((), "Missing argument"),
        (("svc",), "svc does not learn from a stream"),
        (("./svc",), "is a SVC, which does not learn from a stream"),
        (("nothing",), "there is no file nothing"),
        (("file",), "not a whole model file"),
        (("mira", "--alpha", 1), "--alpha is not an option of mira"),
        (("mira", "--gamma", "scale"), "use gamma='stream', 'auto' or a number"),
        (("mira", "--gamma", "big"), "gamma must be"),
        (("mira", "--kernel", "precomputed"), "partial_fit needs examples"),
        (("mira", "--kernel", "cosine"), "kernel must be one of"),
        (("mira", "--precision", "half"), "precision must be"),
        (("mira", "--policy", "margin"), "needs a budget"),
        (("mira", "--classes", "a"), "--classes must be two different labels or more"),
        (("mira", "--classes", "a,,b"), "--classes must be two different labels or more"),
        (("mira", "--max-features", 0), "--max-features must be at least 1"),
        (("mira", "--on-error", "cry"), "--on-error must be skip or fail"),
        (("mira", "--every", 5), "--every needs --checkpoint"),
        (("mira", "--resume"), "--resume needs --checkpoint"),
        (("mira", "--checkpoint", "c", "--resume", "--overwrite"), "--resume goes on and"),
        (("mira", "--checkpoint", "c", "--every", 0), "--every must be at least 1"),
        (("mira", "--checkpoint", "c", "--resume"), "there is no checkpoint c to resume from"),
        (("mira", "--checkpoint", "file", "--resume"), "not a whole model file"),
        (("mira", "--checkpoint", "mira.model", "--resume"), "is a model, not a checkpoint"),
        (("mira", "--save", "c", "--checkpoint", "./c"), "--checkpoint and --save are both ./c"),
        (("mira.model", "-o", "mira.model"), "-o and MODEL are both"),
        (("mira.model", "--budget", 5), "--budget is for a new model"),
        (("mira.model", "--seed", 5), "--seed is for a new model"),
        (("mira.model", "--max-features", 5), "--max-features is for a new model"),
        (("mira", "-o", "none/out"), "does not exist"),
        (("mira", "-o", "."), "folder"),
    ):
        assert words in fails("stream", *args)
    assert not (tmp_path / "c").exists()
    result = stream(['{"x": [1]}'], "mira", "-m", "m")
    assert result.returncode == 2
    assert "no line had a label" in result.stderr
    result = stream(['{"x": [1]}'], "mira", "-o", "events.jsonl")
    assert result.returncode == 2
    assert "events.jsonl is the input and the output" in result.stderr
    assert (tmp_path / "events.jsonl").read_text() == '{"x": [1]}\n'


def test_resuming_what_does_not_match(stream, tmp_path):
    events = lines(*rows(50))
    args = (*POLY, "--checkpoint", "c", "-o", "o")
    assert stream(events, *args).returncode == 0
    output = (tmp_path / "o").read_bytes()
    for other, given, words in (
        (events, ("romma", "--checkpoint", "c", "-o", "o"), "its model is MIRA, and ROMMA was"),
        (events, (*args, "--budget", 9), "its budget is None, and 9 was asked for"),
        (events[:40], args, "the input has 40 lines, and the checkpoint has consumed 50"),
        ([*events[:5], *events[6:], "{}"], args, "are not those that the checkpoint has consumed"),
        (events, (*args[:-1], "none"), "there is no file none to go on with"),
    ):
        result = stream(other, *given, "--resume")
        assert result.returncode == 2
        assert words in result.stderr
        assert len(result.stderr.splitlines()) == 1
        assert (tmp_path / "o").read_bytes() == output
    (tmp_path / "o").write_bytes(output[:-1])
    result = stream(events, *args, "--resume")
    assert f"has {len(output) - 1} bytes, and the checkpoint was written when it had" in (
        result.stderr
    )


def test_resuming_goes_on_with_what_came_after(stream, tmp_path):
    events = lines(*rows(120))
    assert stream(events, *POLY, "-m", "m", "-o", "o").returncode == 0
    args = (*POLY, "--checkpoint", "c", "-o", "out", "-m", "model", "--every", 7)
    assert stream(events[:50], *args).returncode == 0
    (tmp_path / "out").write_bytes((tmp_path / "out").read_bytes() + b'{"id": 50, "predic')
    result = stream(events, *args, "--resume")
    assert result.returncode == 0
    assert result.stderr.startswith("120 lines, 120 learned")
    for one, other in (("m", "model"), ("o", "out")):
        assert (tmp_path / one).read_bytes() == (tmp_path / other).read_bytes()
    assert stream(events, *args, "--resume").returncode == 0
    assert (tmp_path / "o").read_bytes() == (tmp_path / "out").read_bytes()
    assert len(answers(stream(events[:30], *POLY, "--checkpoint", "d"))) == 30
    assert len(answers(stream(events, *POLY, "--checkpoint", "d", "--resume"))) == 90


def start(folder, *args):
    return subprocess.Popen(
        [*COMMAND, *args], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, bufsize=0,
    )  # fmt: skip


def answer_to(running, line):
    """Send a line, and wait for its answer."""
    running.stdin.write(line.encode() + b"\n")
    assert select.select([running.stdout], [], [], 120)[0], "no answer came"
    return json.loads(running.stdout.readline())


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.full)]
)
def test_a_client_that_waits_and_a_signal(number, stream, tmp_path):
    events = lines(*rows(60))
    expected = answers(stream(events, *POLY, "-m", "whole"))
    with start(tmp_path, *POLY, "--checkpoint", "c", "-m", "m") as running:
        assert [answer_to(running, line) for line in events[:20]] == expected[:20]
        running.stdin.write(events[20].encode()[:10])  # a line that never ends
        time.sleep(0.05)
        running.send_signal(number)
        out, err = running.communicate(timeout=120)
        assert running.returncode == 128 + number
        assert out == b""
        assert err.startswith(b"20 lines, 20 learned")
    assert load(tmp_path / "m").learner_state.tally[0] == 20
    result = stream(events, *POLY, "--checkpoint", "c", "--resume", "-m", "m")
    assert answers(result) == expected[20:]
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.bits
@pytest.mark.full
def test_one_byte_at_a_time(commands, tmp_path):
    numbers = np.random.default_rng(0)
    events = _random_events(numbers, 90)
    file = write(tmp_path / "events", events)
    args = ("alma", "--budget", "12", "--gamma", "0.05", "--scores", "-o")
    assert commands.run(tmp_path, "stream", *args, "o", "-m", "m", stdin=file).returncode == 0
    with start(tmp_path, *args, "out", "-m", "model") as running:
        for byte in file.read_bytes()[:-1]:  # the last line may lack its end
            running.stdin.write(bytes([byte]))
        running.communicate(timeout=120)
        assert running.returncode == 0
    for one, other in (("m", "model"), ("o", "out")):
        assert (tmp_path / one).read_bytes() == (tmp_path / other).read_bytes()


def _random_events(numbers, n):
    X, y = numbers.normal(size=(n, 21)).tolist(), numbers.integers(0, 4, n).tolist()
    return [json.dumps({"x": X[i], "y": y[i]} if i % 4 else {"x": X[i]}) for i in range(n)]


@pytest.mark.full
def test_whoever_writes_too_fast_has_to_wait(tmp_path):
    data = ("\n".join(lines(*rows(2000))) + "\n").encode()
    with start(tmp_path, *POLY, "-q") as running:
        running.stdin.write(data[: data.index(b"\n") + 1])
        running.stdout.readline()  # it runs
        os.set_blocking(running.stdin.fileno(), False)
        taken, last = 0, time.monotonic()
        while time.monotonic() < last + 1.5:
            try:
                taken += os.write(running.stdin.fileno(), data[taken % len(data) :][:4096])
                last = time.monotonic()
            except BlockingIOError:
                time.sleep(0.01)
            assert taken < 3_000_000, "nothing holds the writer back"
        running.kill()


@pytest.mark.full
def test_a_reader_that_has_gone(tmp_path):
    data = ("\n".join(lines(*rows(5000))) + "\n").encode()
    write(tmp_path / "events", [data.decode()])
    with open(tmp_path / "events", "rb") as file:
        running = subprocess.Popen(
            [*COMMAND, *POLY], cwd=tmp_path, stdin=file, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
    with running:
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(120) == 128 + signal.SIGPIPE
