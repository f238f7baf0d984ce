"""Finished experiments are kept whole, and only what is missing is run."""

import json
import os
from dataclasses import dataclass

import pytest

from largemargin.papers.experiments import Store, run_missing


@dataclass(frozen=True)
class Square:
    of: int
    format: int = 1

    @property
    def file_name(self):
        return f"{self.of}.json"

    def as_json(self):
        return {"of": self.of, "format": self.format}


def run_squares(folder, numbers, *, fail_at=None, format=1):
    ran = []

    def run(square):
        if square.of == fail_at:
            raise KeyboardInterrupt
        ran.append(square.of)
        return {"square": square.of**2}, {"run": 0.5}

    records = run_missing(
        Store(folder), [Square(n, format) for n in numbers], run,
        name=str, cost=lambda _: 1.0, progress=False,
    )  # fmt: skip
    return ran, [record["results"]["square"] for record in records]


def test_runs_once(tmp_path):
    assert run_squares(tmp_path, [3, 1, 2]) == ([3, 1, 2], [9, 1, 4])
    assert run_squares(tmp_path, [1, 2, 3, 4]) == ([4], [1, 4, 9, 16])


@pytest.mark.parametrize(
    "damage",
    ["", "{", "[]", "null", '{"format": 1}', '{"format": 99, "settings": {}}', "\x00\xff" * 9],
)
def test_runs_again_what_is_damaged(tmp_path, damage):
    run_squares(tmp_path, [1, 2, 3])
    (tmp_path / "2.json").write_text(damage, encoding="latin-1")
    assert run_squares(tmp_path, [1, 2, 3]) == ([2], [1, 4, 9])
    assert run_squares(tmp_path, [1, 2, 3]) == ([], [1, 4, 9])


def test_runs_again_what_has_other_settings(tmp_path):
    run_squares(tmp_path, [1, 2])
    assert run_squares(tmp_path, [1, 2], format=2) == ([1, 2], [1, 4])


def test_interruption_keeps_what_is_finished(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run_squares(tmp_path, [1, 2, 3], fail_at=2)
    assert [path.name for path in tmp_path.iterdir()] == ["1.json"]
    assert run_squares(tmp_path, [1, 2, 3]) == ([2, 3], [1, 4, 9])


def test_record(tmp_path):
    run_squares(tmp_path, [5])
    record = json.loads((tmp_path / "5.json").read_text())
    assert record["settings"] == {"of": 5, "format": 1}
    assert record["seconds"] == {"run": 0.5}
    assert record["machine"]
    assert len(record["date"]) == 10


def square(one):
    return {"square": one.of**2, "process": os.getpid()}, {"run": 0.1}


def test_several_processes_keep_the_order_and_everything(tmp_path):
    wanted = [Square(n) for n in (3, 1, 2, 5)]
    run = {"name": str, "cost": lambda _: 1.0, "progress": False}
    found = run_missing(Store(tmp_path), wanted, square, processes=2, **run)
    assert [record["results"]["square"] for record in found] == [9, 1, 4, 25]
    assert all(record["results"]["process"] != os.getpid() for record in found)
    assert run_missing(Store(tmp_path), wanted, None, processes=2, **run) == found
