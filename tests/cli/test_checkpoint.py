"""`largemargin train --checkpoint`: a training that is killed goes on where it was."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from largemargin import load
from largemargin.cli import checkpoints
from largemargin.cli.app import app
from largemargin.svm import SVC

TRAIN = ("--model", "svc", "--C", 10, "-o", "m.safetensors", "--checkpoint", "c.safetensors")


def run(*words):
    return CliRunner().invoke(app, ["train", *map(str, words)])


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=300) > 0, "up", "down")
    lines = [",".join([*map(str, row), label]) for row, label in zip(X.round(3), y, strict=True)]
    (tmp_path / "t.csv").write_text("a,b,c,label\n" + "\n".join(lines))
    return tmp_path


@pytest.fixture
def portions(monkeypatch):
    """Each fourth fit converges; what limit of time each had, and whether it went on."""
    fit, made = SVC.fit, []

    def slowly(self, X, y, sample_weight=None):
        made.append((self.max_seconds, self.warm_start))
        fit(self.set_params(max_iter=1 if len(made) % 4 else -1), X, y)
        self.set_params(max_iter=-1)
        return self

    monkeypatch.setattr(SVC, "fit", slowly)
    monkeypatch.setattr(checkpoints, "FIRST_PORTION", 1e-9)
    return made


def test_a_model_in_portions_is_the_model(table, portions):
    assert run("t.csv", *TRAIN, "--test-size", 0).exit_code == 0
    assert portions[0] == (1e-9, False)
    assert portions[1:3] == [(2e-9, True), (4e-9, True)]
    assert not (table / "c.safetensors").exists()
    model = load(table / "m.safetensors")
    assert (model[-1].max_seconds, model[-1].warm_start) == (None, False)
    assert len(portions) == 4
    portions.pop()
    plain = run("t.csv", *TRAIN[:4], "-o", "plain.safetensors", "--test-size", 0)
    assert plain.exit_code == 0
    X = np.random.default_rng(1).normal(size=(50, 3))
    scores = [
        load(table / name).decision_function(X) for name in ("m.safetensors", "plain.safetensors")
    ]
    np.testing.assert_allclose(*scores, atol=0.02)


class Killed(BaseException):
    """What nobody catches."""


@pytest.mark.parametrize("after", [2, 5])
def test_what_was_killed_goes_on(after, table, portions, monkeypatch):
    """In the fit that is measured, or in the one on all rows."""
    from largemargin.cli import trained

    write, written = trained.write, []

    def kill(*args):
        write(*args)
        written.append(args[1].file)
        if len(written) == after:
            raise Killed

    monkeypatch.setattr(trained, "write", kill)
    with pytest.raises(Killed):
        CliRunner().invoke(app, ["train", "t.csv", *map(str, TRAIN)], catch_exceptions=False)
    monkeypatch.setattr(trained, "write", write)
    assert written == ["c.safetensors"] * after
    assert not (table / "m.safetensors").exists()
    begun = load(table / "c.safetensors")[-1]
    assert (begun.max_seconds, begun.warm_start, begun.converged_) == (None, False, False)
    assert (begun.training_record.data.n_rows < 300) is (after == 2)
    assert begun.verbose == 0

    again = run("t.csv", *TRAIN)
    assert again.exit_code == 2
    assert "the checkpoint c.safetensors exists: go on from it with --resume" in again.output
    portions.clear()
    found = run("t.csv", *TRAIN, "--resume", "--json")
    assert found.exit_code == 0, found.output
    assert portions[0][1] is True
    told = json.loads(found.stdout)
    assert told["rows"] == 300
    assert told["held_out"]["error"] < 0.3
    assert not (table / "c.safetensors").exists()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--checkpoint", "c"), "voted-perceptron begins anew each time: leave it out"),
        (("--model", "mira", "--stream", "--checkpoint", "c"), "largemargin stream --checkpoint"),
        (("--model", "svc", "--cv", "C=1,2", "--checkpoint", "c"), "leave out --cv"),
        (("--model", "svc", "--calibrate", "--checkpoint", "c"), "leave one of them out"),
        (("--model", "svc", "-o", "c", "--checkpoint", "c"), "name another one"),
        (("--model", "svc", "--resume", "--checkpoint", "c"), "no checkpoint 'c', to go on with"),
    ],
)
def test_refusals(words, why, table):
    found = run("t.csv", *words)
    assert found.exit_code == 2
    assert why in found.output
    assert found.output.count("\n") == 1
