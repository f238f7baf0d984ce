"""Streams of named values and categories: files served afterwards, `--resume auto`, kills."""

import csv
import json
import random

import pytest

from .test_stream import POLY, lines
from .test_stream import rows as numbered_rows


def learned(run_stream):
    """A stream of named values and what it answers afterwards; returns these answers' rows."""
    numbers = random.Random(0)
    rows = []
    for _ in range(400):
        x = {"size": numbers.gauss(0, 1), "color": numbers.choice(["red", "blue", "green"])}
        x["zip"] = f"0{numbers.randint(0, 20)}"
        if numbers.random() < 0.2:
            del x["color"]
        rows.append((x, "yes" if (x.get("color") == "red") ^ (x["size"] > 0) else "no"))
    events = [json.dumps({"x": x, "y": y}) for x, y in rows[:250]]
    result = run_stream(events, "mira", "--gamma", 1, "--max-features", 16, "-m", "m")
    assert result.returncode == 0, result.stderr
    return rows[250:]


@pytest.fixture
def run_stream(commands, tmp_path):
    def run(events, *args):
        (tmp_path / "events").write_text("".join(f"{line}\n" for line in events))
        return commands.run(tmp_path, "stream", *args, stdin=tmp_path / "events")

    return run


def test_predict_and_evaluate_answer_as_the_stream(run_stream, run, fails, tmp_path):
    rows = learned(run_stream)
    expected = [
        json.loads(run_stream([json.dumps({"x": x})], "m", "-q").stdout)["prediction"]
        for x, _ in rows[:5]
    ]
    with open(tmp_path / "rows.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["zip", "answer", "size", "color"])
        table.writerows([x["zip"], y, x["size"], x.get("color", "")] for x, y in rows)
    labels = run("predict", "m", "rows.csv").stdout.splitlines()
    assert labels[:5] == expected
    wrong = sum(label != y for label, (_, y) in zip(labels, rows, strict=True))
    found = json.loads(run("evaluate", "m", "rows.csv", "--json").stdout)
    assert (found["errors"], found["rows"]) == (wrong, 150)
    assert found["error"] < 0.25
    (tmp_path / "rows.jsonl").write_text(
        "".join(json.dumps({"x": x, "y": y}) + "\n" for x, y in rows)
    )
    assert json.loads(run("evaluate", "m", "rows.jsonl", "--json").stdout)["errors"] == wrong
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / "few.csv").write_text("weight,size,price\n1,2,3\n")
    few = run("predict", "m", "few.csv")
    assert few.exit_code == 0
    assert "lacks names that the model knows, which count as 0: 'color', 'zip'" in few.stderr
    assert "does not know, which are left out: 'weight', 'price'" in few.stderr
    assert "none of its columns" in fails("predict", "m", "other.csv")


def test_resume_auto_begins_and_goes_on(run_stream, tmp_path):
    events = lines(*numbered_rows(120))
    assert run_stream(events, *POLY, "-m", "m", "-o", "o").returncode == 0
    args = (
        *POLY,
        "--checkpoint",
        "c",
        "-o",
        "out",
        "-m",
        "model",
        "--every",
        7,
        "--resume",
        "auto",
    )
    assert run_stream(events[:50], *args).stderr.startswith("50 lines")
    assert run_stream(events[:80], *args, "--overwrite").stderr.startswith("80 lines")
    assert run_stream(events, *args).stderr.startswith("120 lines")
    for one, other in (("m", "model"), ("o", "out")):
        assert (tmp_path / one).read_bytes() == (tmp_path / other).read_bytes()
    (tmp_path / "c").unlink()
    before = (tmp_path / "out").read_bytes()
    lost = run_stream(events[:9], *args)
    assert lost.returncode == 2
    assert "there is no checkpoint c to go on from" in lost.stderr
    assert "-o another file" in lost.stderr
    assert "--overwrite" in lost.stderr
    assert (tmp_path / "out").read_bytes() == before
    assert run_stream(events[:9], *args, "--overwrite").stderr.startswith("9 lines")
    assert len((tmp_path / "out").read_bytes().splitlines()) == 9


def test_resume_has_its_old_form_and_no_other(fails):
    assert "--resume needs --checkpoint" in fails("stream", "--resume", "mira")
    assert "--resume needs --checkpoint" in fails("stream", "mira", "--resume", "auto")
    told = fails("stream", "mira", "--checkpoint", "c", "--resume=never")
    assert "--resume stands alone or has the value auto, got 'never'" in told
    assert "did you mean aggressive-perceptron?" in fails("stream", "perceptron")
