"""The process of a playground."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from largemargin.web.running import HEADERS, PatientProtocol

GRACE = 2  # seconds that requests have when it ends


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._tell = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._tell()


def run(app: Any, listening: socket.socket, started: Callable[[], None]) -> None:
    """Answer the page until a signal comes; `started` is called when it can be opened."""
    config = uvicorn.Config(
        app, log_level="error", access_log=False, http=PatientProtocol, ws="none",
        lifespan="on", server_header=False, timeout_keep_alive=HEADERS,
        timeout_graceful_shutdown=GRACE,
    )  # fmt: skip
    try:
        _Server(config, started).run(sockets=[listening])
    finally:
        listening.close()
