"""A server under full load for minutes: its memory does not grow.

LARGEMARGIN_LOAD_MINUTES sets the minutes, ten unless told, after a minute that does not count.
"""

import asyncio
import itertools
import json
import os
import re
import shutil
import time

import numpy as np
import pytest

from .conftest import serving

MINUTES = float(os.environ.get("LARGEMARGIN_LOAD_MINUTES", "10"))
CLIENTS = 8  # of each kind of request
GROWTH = 0.02  # of the memory, which is the noise of the allocator
IDS = 100_000  # that a server keeps: its memory is full only then


def resident(pid):
    """Bytes of memory that a process has."""
    with open(f"/proc/{pid}/status") as file:
        return 1024 * int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])


def example(x, number):
    return json.dumps({"x": x, "y": number % 3, "id": number})


async def ask(base, path, bodies, until, taken):
    """One request after the other, each when the last one is answered."""
    host, port = base.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    while time.monotonic() < until:
        body = next(bodies).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200"), (answer, body)
        await reader.readexactly(int(re.search(rb"content-length: (\d+)", answer)[1]))
        taken[path] = taken.get(path, 0) + 1
    writer.close()


async def load(server, kinds, seconds):
    """The memory each second, and how many requests of each kind were answered."""
    until, taken, seen = time.monotonic() + seconds, {}, []
    asking = [
        asyncio.create_task(ask(server.base, path, bodies, until, taken))
        for path, bodies in kinds.items()
        for _ in range(CLIENTS)
    ]
    while time.monotonic() < until:
        await asyncio.sleep(1)
        seen.append(resident(server.process.pid))
    await asyncio.gather(*asking)
    return seen, taken


@pytest.mark.slow
def test_memory_does_not_grow(folder, tmp_path, rows):
    for path in folder.glob("*.safetensors"):
        shutil.copy(path, tmp_path)
    texts = [json.dumps([row.tolist()]) for row in rows]
    tensors = [
        json.dumps({"inputs": [{"name": "X", "shape": [1, 4], "datatype": "FP64", "data": row}]})
        for row in rows.tolist()
    ]
    number = itertools.count()
    lessons = (example(x, next(number)) for x in itertools.cycle(rows.tolist()))
    kinds = {
        "/predict/iris": itertools.cycle(texts),
        "/v2/models/iris/infer": itertools.cycle(tensors),
        "/learn/mira": lessons,
    }
    with serving(tmp_path, "--learn", "mira", cwd=tmp_path) as server:
        for _ in range(IDS // 10_000):
            body = "\n".join(itertools.islice(lessons, 10_000))
            assert server.client.post("/learn/mira", content=body, timeout=300).status_code == 200
        asyncio.run(load(server, kinds, min(60.0, 60 * MINUTES)))
        seen, taken = asyncio.run(load(server, kinds, 60 * MINUTES))
    tenth = max(5, len(seen) // 10)
    first, last = np.median(seen[:tenth]) / 1e6, np.median(seen[-tenth:]) / 1e6
    told = ", ".join(f"{path} {count / MINUTES / 60:.0f}" for path, count in taken.items())
    print(
        f"\n{MINUTES:g} minutes; requests a second: {told}; {first:.1f} MB, at the end {last:.1f}"
    )
    assert last <= first * (1 + GROWTH)
