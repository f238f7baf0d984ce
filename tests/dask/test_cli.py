"""Commands with --dask, on a cluster of this machine."""

import json
import os
import signal

import numpy as np
import pandas as pd
import pytest
from distributed import LocalCluster
from typer.testing import CliRunner

import largemargin
from largemargin.cli.app import app
from largemargin.dask.reading import read_parts
from largemargin.dask.spreading import spread
from largemargin.dask.starting import NO_DASHBOARD
from largemargin.data import read
from largemargin.papers.experiments import Store, run_missing
from tests.papers.test_experiments import Square

from .conftest import wait_for_all

pytestmark = pytest.mark.cluster

LABELS = np.array(["ant", "bee"])


@pytest.fixture
def run(tmp_path, monkeypatch, client):
    monkeypatch.chdir(tmp_path)

    def invoke(*args, code=0):
        address = client.scheduler.address
        found = CliRunner().invoke(app, [*map(str, args), "--dask", address])
        if found.exception and not isinstance(found.exception, SystemExit):
            raise found.exception
        assert found.exit_code == code, found.output
        return found

    return invoke


def frame(n=900, seed=0):
    numbers = np.random.default_rng(seed)
    y = numbers.integers(0, 2, n)
    table = pd.DataFrame(numbers.normal(size=(n, 3)) + 1.5 * np.eye(3)[y], columns=list("abc"))
    table.insert(1, "kind", LABELS[y])
    return table


@pytest.fixture
def parts(tmp_path):
    """The same rows as one file, and in uneven parts of several kinds."""
    table = frame()
    table.to_csv(tmp_path / "all.csv", index=False)
    for kind in ("parquet", "csv", "bare"):
        (tmp_path / kind).mkdir()
    for k, (start, stop) in enumerate([(0, 10), (10, 10), (10, 600), (600, 900)]):
        rows = table.iloc[start:stop]
        rows.to_parquet(tmp_path / "parquet" / f"{k}.parquet")
        rows.to_csv(tmp_path / "csv" / f"{k}.csv", index=False)
        if len(rows):
            rows.to_csv(tmp_path / "bare" / f"{k}.csv.gz", index=False, header=False)
    (tmp_path / "csv" / "_notes.txt").write_text("what programs leave\n")
    return tmp_path


@pytest.mark.parametrize(
    ("source", "label"),
    [("parquet/*.parquet", "kind"), ("parquet", "1"), ("csv", "kind"), ("bare/*.gz", "1")],
)
def test_parts_are_the_rows_of_one_file(client, parts, source, label):
    found = read_parts(str(parts / source), int(label) if label == "1" else label, None, client)
    whole = read(parts / "all.csv", label="kind")
    assert found.X.shape == whole.X.shape
    np.testing.assert_array_equal(found.X.compute(), whole.X)
    np.testing.assert_array_equal(found.y, whole.y)
    assert found.feature_names == (None if "bare" in source else whole.feature_names)


def test_addresses_of_files(client, parts):
    found = read_parts(f"file://{parts}/parquet/*.parquet", "kind", None, client)
    assert found.X.shape == (900, 3)


def test_labels_that_are_numbers(client, tmp_path):
    table = frame(40).assign(kind=np.arange(40) % 2 * 2.0)
    table.astype({"a": "float32", "b": "float32", "c": "float32"}).to_parquet(tmp_path / "a.pq")
    found = read_parts(str(tmp_path), "kind", None, client)
    assert found.y.dtype == np.int64
    assert found.X.dtype == np.float32
    assert np.unique(found.y).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.assign(kind=["ant", None] * 10), "row 2: expected a label"),
        (lambda t: t.assign(b=["x"] * 20), "'x'"),
        (lambda t: t.assign(b=[np.nan] + [0.0] * 19), "row 20 of X has NaN in column 1 ('b')"),
        (lambda t: t.rename(columns={"b": "other"}), "b"),
        (lambda t: t.assign(kind="ant"), None),
    ],
)
def test_what_is_wrong_with_a_part_is_said(run, tmp_path, change, words):
    folder = tmp_path / "parts"
    folder.mkdir()
    frame(20).assign(kind="ant").to_parquet(folder / "0.parquet")
    if words is None or "expected a label" in words:
        change(frame(20)).to_parquet(folder / "0.parquet")
    else:
        change(frame(20)).to_parquet(folder / "1.parquet")
    found = run("train", "parts", "--label", "kind", "--model", "svc", code=2)
    assert len(found.stderr.splitlines()) == 1
    assert (words or "only one class, ant") in found.stderr


@pytest.mark.parametrize("scale", ["none", "standard"])
def test_training_on_parts_is_training_on_the_file(run, parts, scale):
    """The same machine; the scaler learns in another order of sums, so to rounding."""
    frame(200, seed=1).to_csv(parts / "test.csv", index=False)
    options = ["--label", "kind", "--model", "svc", "--scale", scale, "--test", "test.csv"]
    found = run(
        "train", "parquet/*.parquet", *options, "--json", "-o", "parts.model",
        "--report", "page.html",
    )  # fmt: skip
    plain = CliRunner().invoke(
        app, ["train", "all.csv", *options, "--json", "-o", "plain.model"]
    )  # fmt: skip
    one, other = json.loads(found.stdout), json.loads(plain.stdout)
    assert one["rows"] == other["rows"] == 900
    assert one["test_error"] == other["test_error"] < 0.3
    assert one["support_vectors"] == other["support_vectors"]
    assert one["cluster"]["shards"] >= 1
    assert (parts / "page.html").stat().st_size > 1000
    models = [largemargin.load(parts / name) for name in ("parts.model", "plain.model")]
    X = read(parts / "test.csv", label="kind").X
    scores = [model.decision_function(X) for model in models]
    np.testing.assert_allclose(*scores, rtol=1e-6, atol=1e-6)
    assert type(models[0]) is type(models[1])


def test_a_file_goes_to_the_workers_too(run, parts):
    found = run(
        "train", "all.csv", "--label", "kind", "--model", "nu-svc", "--cv", "nu=0.4,0.6",
        "--scale", "minmax", "--report", "page.html",
    )  # fmt: skip
    assert "900 x 3" in found.stdout
    assert "cross-validation" in found.stdout
    assert "cluster" in found.stdout
    model = largemargin.load(parts / "all.safetensors")
    assert type(model[-1]) is largemargin.NuSVC
    assert model[-1].nu in (0.4, 0.6)


def test_the_voted_perceptron_makes_the_mistakes_of_one_process(run, parts):
    options = ["--label", "kind", "--epochs", "2", "--scale", "none", "--json"]
    found = json.loads(run("train", "csv", *options).stdout)
    plain = CliRunner().invoke(app, ["train", "all.csv", *options])
    assert found["mistakes"] == json.loads(plain.stdout)["mistakes"]


def test_local_is_a_cluster_for_the_time_of_the_command(parts, monkeypatch):
    monkeypatch.chdir(parts)
    found = CliRunner().invoke(
        app, ["train", "csv", "--label", "kind", "--model", "svc", "--dask", "local"]
    )
    assert found.exit_code == 0, found.output
    assert found.stderr == ""
    assert type(largemargin.load(parts / "csv.safetensors")[-1]) is largemargin.SVC


def test_a_scheduler_without_workers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("largemargin.dask.starting.FIRST_WORKER", 0.5)
    with LocalCluster(n_workers=0, host="127.0.0.1", scheduler_kwargs=NO_DASHBOARD) as empty:
        found = CliRunner().invoke(
            app, ["train", "digits", "--model", "svc", "--dask", empty.scheduler_address]
        )
    assert found.exit_code == 2
    assert "has no worker" in found.stderr
    assert len(found.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("nowhere://bucket/*.csv", "cannot be opened"),
        ("nothing/*.csv", "expected files that end with .parquet"),
        ("mixed", "expected files of one kind"),
    ],
)
def test_what_is_not_there_is_said(run, tmp_path, source, words):
    (tmp_path / "mixed").mkdir()
    frame(20).to_parquet(tmp_path / "mixed" / "a.parquet")
    frame(20).to_csv(tmp_path / "mixed" / "b.csv")
    found = run("train", source, "--model", "svc", code=2)
    assert words in found.stderr
    assert len(found.stderr.splitlines()) == 1


def test_compare(run, parts):
    found = run(
        "compare", "all.csv", "--label", "kind", "--only", "svc,logistic-regression",
        "--max-seconds", 20, "--json",
    )  # fmt: skip
    table = json.loads(found.stdout)
    assert len(table["results"]) >= 2
    assert all(result["error"] is not None for result in table["results"]), table


def test_reproduce(run, tmp_path):
    command = ["reproduce", "adaptive-margin", "planes", "--quick", "--work", "work", "-o", "out"]
    found = json.loads(run(*command, "--json").stdout)
    assert found["figures"]
    assert len(list((tmp_path / "work").iterdir())) > 1


def test_experiments_go_on_where_they_were(client, tmp_path):
    """The client keeps what workers finish, and asks them for what is missing only."""

    def run(square):
        if square.of == 4:
            raise ValueError("no more")
        (tmp_path / f"ran-{square.of}-{os.getpid()}").touch()
        return {"square": square.of**2}, {"run": 0.5}

    def found(numbers):
        for file in tmp_path.glob("ran-*"):
            file.unlink()
        records = run_missing(
            Store(tmp_path / "kept"), [Square(n) for n in numbers], run,
            name=str, cost=lambda _: 1.0, progress=False, client=client,
        )  # fmt: skip
        ran = [file.name.split("-")[1:] for file in tmp_path.glob("ran-*")]
        assert str(os.getpid()) not in [process for _, process in ran]
        return sorted(int(of) for of, _ in ran), [one["results"]["square"] for one in records]

    assert found([3, 1, 2]) == ([1, 2, 3], [9, 1, 4])
    assert found([1, 2, 3, 5]) == ([5], [1, 4, 9, 25])
    with pytest.raises(ValueError, match="no more"):
        found([4])
    assert found([5]) == ([], [25])


def test_what_pieces_share_travels_with_all_of_them(client):
    shared = np.arange(1000)
    items = [(k, shared) for k in range(5)]
    found = dict(spread(client, lambda item: (item[0], item[1].sum()), items, "sum"))
    assert found == {k: (k, 499500) for k in range(5)}


def test_what_a_piece_raises_is_raised(client):
    with pytest.raises(ZeroDivisionError):
        list(spread(client, lambda k: 1 // k, [1, 0], "divide"))


def test_a_piece_of_a_worker_that_dies_is_done_by_another(client, tmp_path):
    died = tmp_path / "died"

    def once(k):
        if k == 1 and not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return k

    assert sorted(spread(client, once, range(4), "die")) == [(k, k) for k in range(4)]
    assert died.exists()
    wait_for_all(client, 2)
