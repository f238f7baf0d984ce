"""Real server processes for the tests of the folder."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time

import httpx
import numpy as np
import pytest
from sklearn.datasets import load_iris

from largemargin import MIRA, SVC, save

SHOTS = os.environ.get("LARGEMARGIN_SHOTS")  # a folder for pictures to look at


class Running:
    """A server process, and a client of it."""

    def __init__(self, process, base):
        self.process, self.base = process, base
        self.client = httpx.Client(base_url=base, timeout=30)

    @property
    def port(self):
        return int(self.base.rsplit(":", 1)[1])

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@contextlib.contextmanager
def serving(*args, cwd, env=None):
    """`largemargin serve` on a free port, ended with the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "largemargin", "serve", *map(str, args), "--port", "0"],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    line = process.stderr.readline()
    found = re.search(r"http://\S+:\d+", line)
    if not found:
        process.wait()
        raise AssertionError(line + process.stderr.read())
    running = Running(process, found[0])
    try:
        for _ in range(600):
            with contextlib.suppress(httpx.TransportError):
                running.client.get("/v2/health/live")
                break
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.1)
        yield running
    finally:
        running.client.close()
        if process.poll() is None:
            process.terminate()
            process.wait(60)
        process.stdout.close()
        process.stderr.close()


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Two models: iris, with names of columns and text labels, and one that learns."""
    folder = tmp_path_factory.mktemp("models")
    data = load_iris(as_frame=True)
    save(SVC().fit(data.data, data.target_names[data.target]), folder / "iris.safetensors")
    X, y = data.data.to_numpy(), data.target.to_numpy()
    learner = MIRA(budget=30, gamma=0.3, policy="projectron")
    save(learner.partial_fit(X[::3], y[::3], classes=[0, 1, 2]), folder / "mira.safetensors")
    return folder


@pytest.fixture(scope="session")
def server(folder):
    with serving(folder, "--max-body", 100_000, "--max-rows", 50, cwd=folder) as running:
        yield running


@pytest.fixture(scope="session")
def rows():
    return np.array(load_iris().data)


@pytest.fixture
def serious():
    """What an accessibility checker finds on a page, the serious of it."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe here")

    def found(page):
        return [
            (one["id"], [node["html"][:150] for node in one["nodes"][:4]])
            for one in axe.Axe().run(page).response["violations"]
            if one["impact"] in ("serious", "critical")
        ]

    return found
