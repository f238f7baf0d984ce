"""A server process."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from largemargin.web.guard import Limits
from largemargin.web.serving.app import make_app

BACKLOG = 1024  # connections that wait to be accepted
GRACE = 30  # seconds that requests in flight have after SIGTERM
HEADERS = 10  # seconds in which a request must say what it wants


@dataclass(frozen=True)
class Settings:
    """What a server is started with."""

    models: list[str]
    token: str | None = None
    hosts: list[str] = field(default_factory=lambda: ["localhost"])
    reload: bool = False
    learn: str | None = None
    limits: dict[str, Any] = field(default_factory=dict)


class PatientProtocol(H11Protocol):
    """A connection on which a request must begin soon, and be whole in its head."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        between = self.cycle is None or self.cycle.response_complete
        if between and self._deadline is None:
            self._wait()  # the head of a next request has begun
        elif not between and self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(HEADERS, self._give_up)

    def _give_up(self) -> None:
        self._deadline = None
        if self.transport is not None and not self.transport.is_closing():
            self.transport.close()


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there."""
    if not 0 <= port <= 65535:
        raise ValueError(f"--port must be a number from 0 to 65535, got {port}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends at once (TCP_NODELAY) only where the protocol is named
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError as error:
        found.close()
        raise OSError(
            f"cannot listen on {host}:{port}: {error.strerror}; give another --port, or 0 for a "
            "free one"
        ) from error
    found.listen(BACKLOG)  # whoever comes before the models are loaded waits
    return found


def tell(sentence: str) -> None:
    """Tell whoever runs the server."""
    print(f"warning: {sentence}", flush=True)


def run(settings: Settings, listening: socket.socket, started: Callable[[], None]) -> None:
    """Serve until a signal comes; requests in flight are finished.

    `started` is called when the models are loaded; what is wrong with them is raised.
    """
    app = make_app(
        settings.models,
        Limits(**settings.limits),
        settings.token,
        frozenset(settings.hosts),
        settings.reload,
        settings.learn,
        tell,
    )
    started()
    config = uvicorn.Config(
        app, log_level="error", access_log=False, http=PatientProtocol, ws="none",
        lifespan="on", server_header=False, timeout_keep_alive=HEADERS,
        timeout_graceful_shutdown=GRACE,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listening])
