"""The commands of `benchmarks/` on very little data: they run, and they can be believed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.svm_objective import kernel_values
from benchmarks.tables_bound import LOOPS, TILES, augmented, rates, sweep
from benchmarks.tables_data import generate

ROOT = Path(__file__).parent.parent

needs_data = pytest.mark.skipif(
    "LARGEMARGIN_DATA" not in os.environ,
    reason="set LARGEMARGIN_DATA to the folder of the data sets to run this",
)


def run(*arguments):
    """The rows that a command prints as JSON, from a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments, "--json"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.startswith("{"), done.stderr
    return json.loads(done.stdout)["rows"]


@pytest.mark.parametrize("name", list(LOOPS))
@pytest.mark.parametrize("shape", TILES)
def test_loops_over_tiles_sum_gaussians(name, shape):
    rng = np.random.default_rng(0)
    X, V, coefs = rng.normal(size=(1100, 7)), rng.normal(size=(1030, 7)), rng.normal(size=1030)
    X[0] = 100.0  # so far away that its values are zero
    rows, vectors = augmented(X, V, 0.1)
    sums = sweep(
        LOOPS[name], shape, vectors, np.ascontiguousarray(rows.T), coefs.astype(np.float32)
    )
    expected = kernel_values(X, V, {"kernel": "rbf", "gamma": 0.1}) @ coefs
    np.testing.assert_allclose(sums, expected, atol=1e-4)


def test_rates_are_of_every_loop_and_shape():
    found = rates(5, threads=1, seconds=0.0)
    assert len(found) == len(LOOPS) * len(TILES)
    assert min(found.values()) > 0


def test_generated_table():
    X, y = generate(20_000)
    again, same = generate(20_000)
    assert X.shape == (20_000, 30)
    assert np.array_equal(X, again)
    assert np.array_equal(y, same)
    assert abs(y.mean() - 0.5) < 0.02


@pytest.mark.full
def test_a_trial_run_of_tables():
    rows = run(
        "tables", "generated-1000", "--rows", "300", "--rounds", "1", "--peers", "scikit-learn"
    )
    machines = {row["machine"]: row for row in rows if "machine" in row}
    assert set(machines) == {"largemargin", "scikit-learn"}
    ours, peer = machines.values()
    assert ours["objective"] == pytest.approx(peer["objective"], rel=1e-4)
    assert ours["error"] == peer["error"]
    assert sum("peer / ours" in row["what"] for row in rows) == 2
    assert sum("bound of" in row["what"] for row in rows) == 2


@pytest.mark.full
@pytest.mark.data
@needs_data
def test_a_trial_run_on_sparse_and_large_tables():
    rows = run("tables", "a9a-sparse", "7", "--rows", "600", "--rounds", "1", "--peers", "none")
    assert {row["part"] for row in rows} == {"a9a-sparse", "covtype-full"}
    full = [row for row in rows if row["part"] == "covtype-full"]
    assert any("growth" in row["what"] for row in full)
    assert all(row["measured"] for row in full)


@pytest.mark.full
def test_a_trial_run_of_converted_machines():
    timed, labels = run("interchange", "digits", "--rounds", "1")
    assert timed["ratio"] > 0
    assert labels["measured"].endswith("100.00%")  # where votes are not tied
