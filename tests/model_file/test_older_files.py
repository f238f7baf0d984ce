"""Files that earlier versions wrote are read, and their models give the same bits.

The files are in `data`, whose `write.py` says how they came about and how to add others.
"""

import json

import numpy as np
import pytest

import largemargin
from largemargin import describe, load
from largemargin.machines import CARDS
from largemargin.model_file import registry

from .models import changed, forge, parts_of
from .older_files import (
    EXPECTED,
    about,
    code_path,
    digest,
    exact,
    numbers_in,
    outcome_of_file,
    path_of,
    run_command,
)

RECORDED = json.loads(EXPECTED.read_text())
FILES = RECORDED["files"]
CLOSE = {"float64": 1e-9, "float32": 1e-4}  # share of the largest score, on another processor

each_file = pytest.mark.parametrize("name", FILES)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What a file gives now, worked out once."""
    known = {}

    def outcome(name):
        if name not in known:
            known[name] = outcome_of_file(name, FILES[name], tmp_path_factory.mktemp(name))
        return known[name]

    return outcome


def known_part(now, then):
    """Of parameters as they are now, those that were there when a file was recorded."""
    if isinstance(then, dict):
        return {name: known_part(now[name], value) for name, value in then.items()}
    if isinstance(then, list):
        assert len(now) == len(then)
        return [known_part(*pair) for pair in zip(now, then, strict=True)]
    return now


@each_file
def test_the_model_is_as_it_was(name):
    said = json.loads(json.dumps(about(load(path_of(name)))))
    assert known_part(said, FILES[name]["about"]) == FILES[name]["about"]


@each_file
def test_labels_and_scores(name, found):
    """Those of the queries, before and after it goes on, and those that a resumed stream answers:
    labels are the same on every processor, scores to rounding.
    """
    labels, scores = found(name)
    assert labels == FILES[name]["labels"]
    assert scores.keys() == FILES[name]["scores"].keys()
    close = CLOSE["float32" if "float32" in name else "float64"]
    for when, expected in FILES[name]["scores"].items():
        now, then = numbers_in(exact(scores[when])), numbers_in(expected)
        np.testing.assert_allclose(now, then, rtol=0, atol=close * np.abs(then).max())


@pytest.mark.bits
@each_file
def test_bits(name, found):
    here = code_path()
    if here not in RECORDED["bits"]:
        pytest.skip(f"no bits are recorded for {here}: see data/write.py")
    assert digest(found(name)[1]) == RECORDED["bits"][here][name]


@each_file
def test_describe_and_inspect(name):
    described = describe(path_of(name))
    assert {key: described[key] for key in ("library", "format")} == FILES[name]["written"]
    kind = described["steps"][-1]["class"]
    assert ("checkpoint" in described["info"]) == ("stream" in FILES[name])
    code, printed = run_command("inspect", path_of(name))
    assert code == 0
    assert kind in printed


def test_every_machine_has_a_file():
    """That of a new one is written with `data/write.py`."""
    there = {describe(path_of(name))["steps"][-1]["class"] for name in FILES}
    assert {card.name for card in CARDS} <= there
    assert {path.stem for path in EXPECTED.parent.glob("*.safetensors")} == set(FILES)


# A parameter that a file does not have


def without(name, way, folder):
    """A copy of a file from which a parameter is removed."""
    header, arrays = parts_of(path_of(name))
    forge(folder / "m", changed(header, ("model", *way), KeyError), arrays)
    return folder / "m"


def test_a_missing_parameter_takes_its_default(tmp_path):
    path = without("svc", ("parameters", "warm_start"), tmp_path)
    assert load(path).warm_start is False
    assert "warm_start" not in describe(path)["steps"][0]["parameters"]
    path = without("mira", ("parameters", "average"), tmp_path)
    assert load(path).average is False  # as it was, not as the default is now


@each_file
def test_a_file_without_matern_nu_has_its_default(name):
    """No file of a version before has it, and no kernel of theirs asks for it."""
    model = load(path_of(name))
    final = model[-1] if hasattr(model, "steps") else model
    assert getattr(final, "matern_nu", 1.5) == 1.5
    assert hasattr(final, "matern_nu") == ("kernel" in final.get_params())


def test_or_the_value_that_means_what_the_version_before_did(tmp_path, monkeypatch):
    monkeypatch.setitem(registry.ADDED, "SVC", {"tol": 0.5})
    assert load(path_of("svc")).tol == 1e-3
    model = load(without("svc", ("parameters", "tol"), tmp_path))
    assert model.tol == 0.5
    expected = load(path_of("svc")).decision_function([[1.0, 2.0, 0.5, 0.0]])
    np.testing.assert_array_equal(model.decision_function([[1.0, 2.0, 0.5, 0.0]]), expected)


def test_of_a_base_learner_too(tmp_path, monkeypatch):
    added = {**registry.ADDED["RBFNetwork"], "regularization": 0.25}
    monkeypatch.setitem(registry.ADDED, "RBFNetwork", added)
    way = ("parameters", "estimator", "$estimator", "parameters", "regularization")
    model = load(without("adaboost_networks", way, tmp_path))
    assert model.estimator.regularization == 0.25
    assert load(path_of("adaboost_networks")).estimator.regularization == 1e-6


@pytest.mark.parametrize("cls", registry.ESTIMATORS)
def test_what_is_said_to_be_added_is_there(cls):
    """Of a class, each name in the table is a parameter."""
    added = registry.ADDED.get(cls, {})
    assert added.keys() <= getattr(largemargin, cls)().get_params().keys()
