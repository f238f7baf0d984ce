"""Several server processes on one socket; one that dies is replaced.

Each loads its models itself. The first begins alone, so that what is wrong with them is told once.
"""

from __future__ import annotations

import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from largemargin.web.running import Settings, run, tell

PAUSE = 0.5  # seconds between two looks at the processes, and before one is replaced
READY = ""  # what a process says when its models are loaded; else what is wrong
DIED = "a process of the server died while it loaded its models: start the server again"
_SPAWN = get_context("spawn")


def run_several(
    settings: Settings, listening: socket.socket, workers: int, started: Callable[[], None]
) -> None:
    """Serve with so many processes until a signal comes; requests in flight are finished."""
    ending: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, frame: ending.append(number))
    process, said = _begun(settings, listening)
    processes = [process]
    try:
        while not ending and not said.poll(PAUSE):
            pass
        if not ending:
            problem = _heard(said)
            if problem != READY:
                raise ValueError(problem)
            started()
            processes += [_begun(settings, listening)[0] for _ in range(workers - 1)]
        while not ending:
            wait([process.sentinel for process in processes], timeout=PAUSE)
            for k, process in enumerate(processes):
                if not process.is_alive() and not ending:
                    tell(f"a process of the server ended with code {process.exitcode}; another one "
                         "takes its place")  # fmt: skip
                    time.sleep(PAUSE)
                    processes[k] = _begun(settings, listening)[0]
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


def _begun(settings: Settings, listening: socket.socket) -> tuple[SpawnProcess, Connection]:
    said, saying = _SPAWN.Pipe(duplex=False)
    process = _SPAWN.Process(target=_serve, args=(settings, listening, saying))
    process.start()
    saying.close()
    return process, said


def _heard(said: Connection) -> str:
    try:
        return str(said.recv())
    except EOFError:
        return DIED


def _serve(settings: Settings, listening: socket.socket, saying: Connection) -> None:
    """One process: it says that it is ready, or what keeps it from that."""

    def say(what: str) -> None:
        with suppress(OSError):  # only the first process has somebody who listens
            saying.send(what)
        saying.close()

    with suppress(KeyboardInterrupt):
        try:
            run(settings, listening, lambda: say(READY))
        except (OSError, ValueError) as error:
            if saying.closed:
                raise
            say(str(error))
            sys.exit(2)
