"""Streams that are killed at random moments end in the model and the output of one that was not."""

import json
import os
import random
import time

import pytest

from largemargin.streaming.checkpoint import read_checkpoint

N_LINES = 900
OPTIONS = (
    "stream", "mira", "--budget", 40, "--policy", "random", "--gamma", 0.3, "--average",
    "--scores", "--on-error", "skip", "-q", "--max-features", 16,
)  # fmt: skip


def write_events(path):
    """Events with names, categories, labels that appear late, lines that only ask, and bad ones."""
    numbers = random.Random(0)
    with open(path, "w") as file:
        for i in range(N_LINES):
            x = {f"f{numbers.randrange(13)}": numbers.gauss(0, 1) for _ in range(6)}
            signs = sum(x.values())
            x["town"] = f"t{numbers.randrange(30)}"
            event = {"x": x, "id": i, "y": "abcd"[(signs > 0) + 2 * (i % 300 > 200)]}
            if numbers.random() < 0.2:
                del event["y"]
            line = json.dumps(event)
            file.write(line[:-3] + "\n" if numbers.random() < 0.05 else line + "\n")
    return path


def wait_for_a_moment(output, before, length, numbers):
    """Return at a random moment: mostly when the output has grown by a random part of the length
    that it ends with, sometimes when little time has passed."""
    if numbers.random() < 0.1:
        time.sleep(numbers.uniform(0, 0.3))
        return
    wanted, deadline = None, time.monotonic() + 60
    while time.monotonic() < deadline:
        now = output.stat() if output.exists() else None
        if now is not None and (before is None or now.st_mtime_ns != before.st_mtime_ns):
            if wanted is None:
                wanted = now.st_size + numbers.uniform(0, length / 6)
            if now.st_size >= min(wanted, length):
                break
        time.sleep(0.0002)
    time.sleep(numbers.uniform(0, 0.004))


def kill_and_resume(commands, folder, n_kills, seed):
    """Kill so many processes; returns how many lines the checkpoints they left had consumed."""
    events = write_events(folder / "events.jsonl")
    assert commands.run(folder, *OPTIONS, "-o", "o", "-m", "m", stdin=events).returncode == 0
    expected = (folder / "o").read_bytes(), (folder / "m").read_bytes()
    assert len(expected[0].splitlines()) == N_LINES
    numbers = random.Random(seed)
    args = (*OPTIONS, "-o", "out", "-m", "model", "--checkpoint", "check")
    files = [folder / name for name in ("out", "model", "check")]
    places = []
    while len(places) < n_kills or files[1].exists():
        if files[1].exists():
            assert (files[0].read_bytes(), files[1].read_bytes()) == expected
            for file in files:
                file.unlink()
        resume = ["--resume"] if files[2].exists() else ["--overwrite"]
        before = files[0].stat() if files[0].exists() else None
        running = commands.start(
            folder, *args, "--every", numbers.randint(1, 60), *resume, stdin=events
        )
        if not files[2].exists() or places[-1] < 0.95 * N_LINES:  # else it may come to its end
            wait_for_a_moment(files[0], before, len(expected[0]), numbers)
            running.kill()
        result = running.wait()
        assert result.returncode in (0, -9), result.stderr
        if result.returncode:
            places.append(read_checkpoint(files[2])[1].counts.lines if files[2].exists() else 0)
    assert (
        commands.run(
            folder, *args, "--resume" if files[2].exists() else "--overwrite", stdin=events
        ).returncode
        == 0
    )
    assert (files[0].read_bytes(), files[1].read_bytes()) == expected
    assert not [name for name in os.listdir(folder) if name.startswith(".")]
    return places


def test_a_few_dozen_kills(commands, tmp_path):
    places = kill_and_resume(commands, tmp_path, 24, seed=1)
    assert sum(0 < lines < N_LINES for lines in places) > 12


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_a_thousand_kills(commands, tmp_path, seed):
    places = kill_and_resume(commands, tmp_path, 100, seed=seed)
    assert sum(0 < lines < N_LINES for lines in places) > 50
