"""What --dask refuses before there is a cluster."""

import sys

import pytest

from largemargin.cli.clusters import FORMS, in_parts
from largemargin.machines import by_command


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--model", "mira"], "svc, nu-svc or voted-perceptron; got mira"),
        (["--model", "one-class-svm"], "got one-class-svm"),
        (["--model", "svc", "--stream"], "--stream"),
    ],
)
def test_what_no_cluster_trains(fails, animals, options, words):
    assert words in fails("train", animals, "--dask", "local", *options)


@pytest.mark.parametrize(("option", "value"), [("--cv", "C=1,2"), ("--report", "page.html")])
def test_what_parts_cannot_do(fails, animals, option, value):
    line = fails("train", animals.parent, "--model", "svc", "--dask", "local", option, value)
    assert "stay on the workers" in line


@pytest.mark.parametrize("address", ["nowhere://a:1", "tcp://", "tcp://127.0.0.1:port"])
def test_an_address_without_a_scheduler(fails, animals, address):
    line = fails("train", animals, "--model", "svc", "--dask", address)
    assert f"no scheduler answers at '{address}'" in line


@pytest.mark.parametrize(
    "command",
    [
        ["train", "digits", "--model", "svc"],
        ["compare", "digits", "--only", "svc"],
        ["reproduce", "budget", "noise", "--quick"],
    ],
)
def test_without_dask_the_extra_is_named(fails, monkeypatch, command):
    for name in [name for name in sys.modules if name.startswith("largemargin.dask")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("largemargin.dask", raising=False)
    monkeypatch.setitem(sys.modules, "dask", None)
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert 'pip install "largemargin[dask]"' in fails(*command, "--dask", "local")


def test_options_that_contradict_it(fails):
    assert "--at-once" in fails("compare", "digits", "--at-once", 2, "--dask", "local")
    assert "--dask" in fails("reproduce", "budget", "--render", "--dask", "local")


def test_every_form_is_of_a_machine():
    assert all(FORMS[command] == f"Dask{by_command()[command].name}" for command in FORMS)


def test_parts(tmp_path):
    (tmp_path / "a[1].csv").touch()
    assert in_parts(str(tmp_path))
    assert in_parts("folder/*.parquet")
    assert in_parts("s3://bucket/a.parquet")
    assert not in_parts("digits")
    assert not in_parts(str(tmp_path / "a[1].csv"))
