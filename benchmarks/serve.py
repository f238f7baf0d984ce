"""`largemargin serve` under load, beside a plain FastAPI application around scikit-learn's `SVC`.

The gaussian machine of MNIST, one row a request, from 1, 8 and 64 clients that each send their next
request when they have the answer to the last one. The peer has the same support vectors and
coefficients and the same body of JSON. `predict` of one row in a loop, without a server, stands
beside both. Each server is a process of its own, and the clients are another.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.options import OPTIONS
from benchmarks.timing import failed, faster, figure, note
from benchmarks.timing import row as row_of

Row = dict[str, Any]
SECONDS = 10.0  # of load for each number of clients
WARM_UP = 1.0  # seconds of requests that do not count
CLIENTS = (1, 8, 64)
PEER = """
import pickle, sys
import numpy as np, uvicorn
from fastapi import FastAPI
model = pickle.load(open(sys.argv[1], "rb"))
app = FastAPI()
@app.post("/predict/mnist")
def predict(rows: list[list[float]]):
    return {"labels": model.predict(np.array(rows)).tolist()}
uvicorn.run(app, port=int(sys.argv[2]), log_level="warning")
"""


@cache
def _trained() -> tuple[Path, np.ndarray]:
    """A folder with our model and the peer's, and rows to ask for."""
    import pickle

    from sklearn.svm import SVC as Peer

    from largemargin import SVC, save
    from largemargin.data import load

    data = load("mnist")
    n = OPTIONS.rows or 60_000
    X, X_test = data.X[:n] / 255.0, data.X_test[:2000] / 255.0
    folder = Path(tempfile.mkdtemp(prefix="serve-benchmark-"))
    settings = {"C": 10.0, "gamma": 0.02}
    save(SVC(multiclass="ovo", **settings).fit(X, data.y[:n]), folder / "mnist.safetensors")
    with open(folder / "peer.pickle", "wb") as file:
        pickle.dump(Peer(cache_size=1000, **settings).fit(X, data.y[:n]), file)
    return folder, np.asarray(X_test)


@contextlib.contextmanager
def _ours() -> Iterator[str]:
    folder, _ = _trained()
    command = [sys.executable, "-m", "largemargin", "serve", "mnist.safetensors", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r"http://\S+:\d+", process.stderr.readline())
        assert found is not None
        try:
            yield found[0]
        finally:
            process.terminate()


@contextlib.contextmanager
def _peer() -> Iterator[str]:
    folder, _ = _trained()
    port = 18_080 + os.getpid() % 1000
    (folder / "peer.py").write_text(PEER)
    command = [sys.executable, "peer.py", "peer.pickle", str(port)]
    with subprocess.Popen(command, cwd=folder) as process:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


async def _load(
    base: str, clients: int, bodies: list[bytes], within: float = SECONDS
) -> list[float]:
    """Seconds of each request within the time of a measurement."""
    host, port = base.removeprefix("http://").split(":")
    taken: list[float] = []
    end = time.perf_counter() + within

    async def one(k: int) -> None:
        reader, writer = await asyncio.open_connection(host, int(port))
        while time.perf_counter() < end:
            body = bodies[k % len(bodies)]
            k += clients
            began = time.perf_counter()
            writer.write(
                b"POST /predict/mnist HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                b"application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
            )
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head
            length = re.search(rb"content-length: (\d+)", head, re.I)
            assert length is not None
            await reader.readexactly(int(length[1]))
            taken.append(time.perf_counter() - began)
        writer.close()

    await asyncio.gather(*(one(k) for k in range(clients)))
    return taken


def _measured(base: str, clients: int) -> dict[str, float]:
    bodies = [json.dumps([row.tolist()]).encode() for row in _trained()[1]]
    for _ in range(100):  # until the models are loaded
        with contextlib.suppress(OSError):
            asyncio.run(_load(base, 1, bodies[:1], WARM_UP))
            break
        time.sleep(1)
    taken = np.array(asyncio.run(_load(base, clients, bodies)))
    p50, p99 = np.percentile(taken, [50, 99]) * 1000
    return {"a second": len(taken) / SECONDS, "p50 ms": p50, "p99 ms": p99}


def loop() -> Iterator[Row]:
    """`predict` of one row after the other, without a server."""
    from largemargin import load

    folder, X = _trained()
    model = load(folder / "mnist.safetensors")
    model.predict(X[:1])
    began, count = time.perf_counter(), 0
    while time.perf_counter() < began + SECONDS:
        model.predict(X[count % len(X)][None])
        count += 1
    told = figure("loop", count / SECONDS, {}, "a second")
    yield note("predict of one row in a loop", f"{count / SECONDS:.0f} a second", **told)


def load_test() -> Iterator[Row]:
    servers = {"largemargin serve": _ours}
    if importlib.util.find_spec("fastapi"):
        servers["FastAPI and SVC"] = _peer
    else:
        yield failed("throughput at 64 clients", "FastAPI is not installed", ">= 5")
    found: dict[tuple[str, int], dict[str, float]] = {}
    for name, started in servers.items():
        with started() as base:
            for clients in CLIENTS[-1:] if OPTIONS.brief else CLIENTS:
                row = found[name, clients] = _measured(base, clients)
                told = f"{row['a second']:.0f} a second, p50 {row['p50 ms']:.1f} ms"
                yield note(f"{name}, {clients} clients", f"{told}, p99 {row['p99 ms']:.1f} ms")
    most = found["largemargin serve", CLIENTS[-1]]
    yield row_of("p99 of 64 clients, in units of 100 ms", most["p99 ms"] / 100, 1.0, "ms / 100")
    if len(servers) == 2:
        peer = found["FastAPI and SVC", CLIENTS[-1]]["a second"]
        detail = f"{most['a second']:.0f} against {peer:.0f} a second"
        told = figure(
            "throughput", most["a second"], {"FastAPI and SVC": peer}, "a second",
            f"p99 {most['p99 ms']:.0f} ms",
        )  # fmt: skip
        yield faster("throughput at 64 clients", most["a second"] / peer, 5.0, detail, **told)


PARTS = [{"loop": loop, "load": load_test}]
