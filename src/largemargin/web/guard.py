"""What a request must pass before it is looked at: host, token, size, and how many there are.

It stands around the whole application, so that no route can forget it.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from largemargin.runtime.showing import shown
from largemargin.web.problems import Problem

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
# What needs no token, since it tells nothing, and no place among the requests in flight: a server
# that is busy is alive.
OPEN = ("/v2/health/live", "/v2/health/ready")
SECURITY = [
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (
        b"content-security-policy",
        b"default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        b"form-action 'none'; frame-ancestors 'none'",
    ),
]


@dataclass(frozen=True)
class Limits:
    """What a server takes on at most."""

    body: int = 16 << 20  # bytes of a request
    rows: int = 10_000  # rows of a request
    in_flight: int = 256  # requests at the same time
    seconds: float = 30.0  # for one request, its arrival included


def is_host(header: str, names: frozenset[str]) -> bool:
    """Whether a Host header names this server: by an address, or by a name that it has.

    A page of somebody else that has its own name point here is not answered.

    >>> is_host("127.0.0.1:8080", frozenset()), is_host("[::1]", frozenset())
    (True, True)
    >>> is_host("models:80", frozenset({"models"})), is_host("evil.example", frozenset())
    (True, False)
    """
    host = header.strip().lower()
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        ip_address(host)
    except ValueError:
        return host in names
    return True


class Guard:
    """An ASGI application around another one.

    Parameters
    ----------
    app : ASGI application
    limits : Limits
    token : str or None
        What requests must bring as `Authorization: Bearer TOKEN`.
    hosts : set of str
        Names of this server; addresses are always taken.
    refused : callable
        Is told the status of a request that did not come through.
    """

    def __init__(
        self,
        app: Any,
        limits: Limits,
        token: str | None = None,
        hosts: frozenset[str] = frozenset({"localhost"}),
        refused: Callable[[int], None] = lambda status: None,
    ) -> None:
        self._app, self._limits = app, limits
        self._hosts = frozenset(name.lower() for name in hosts)
        self._token = None if token is None else token.encode()
        self._refused = refused
        self._in_flight = 0

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def sending(message: dict[str, Any]) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                given = {name for name, _ in message["headers"]}
                more = [(name, value) for name, value in SECURITY if name not in given]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        self._in_flight += 1
        try:
            self._check(scope)
            async with asyncio.timeout(self._limits.seconds):
                body = await self._body(scope, receive)
                await self._app(scope, _replayed(body, receive), sending)
        except Problem as problem:
            self._refused(problem.status)
            await answer_problem(problem, sending)
        except TimeoutError:
            self._refused(503)
            if not begun:
                await answer_problem(
                    Problem(
                        503,
                        f"no answer within {self._limits.seconds:g} seconds: send fewer rows",
                        {"retry-after": "1"},
                    ),
                    sending,
                )
        finally:
            self._in_flight -= 1

    def _check(self, scope: dict[str, Any]) -> None:
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if not is_host(headers.get(b"host", b"").decode("latin-1"), self._hosts):
            raise Problem(
                421,
                "the Host header does not name this server: use its address, or start it with "
                "--allow-host NAME",
            )
        if self._token is not None and scope["path"] not in OPEN:
            kind, _, given = headers.get(b"authorization", b"").partition(b" ")
            same = hmac.compare_digest(given.strip(), self._token)
            if not same or kind.lower() != b"bearer":
                raise Problem(
                    401,
                    "this server wants its token: send the header Authorization: Bearer TOKEN",
                    {"www-authenticate": "Bearer"},
                )
        if self._in_flight > self._limits.in_flight and scope["path"] not in OPEN:
            raise Problem(
                503,
                f"{self._limits.in_flight} requests are being answered, which is the limit: try "
                "again in a second",
                {"retry-after": "1"},
            )
        encoding = headers.get(b"content-encoding", b"identity").decode("latin-1")
        if encoding.strip().lower() != "identity":
            raise Problem(
                415, f"the body is encoded as {shown(encoding)}: send it as it is, without encoding"
            )
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > self._limits.body:
            raise self._too_large()

    async def _body(self, scope: dict[str, Any], receive: Receive) -> bytes:
        """The whole body, if it is not too large."""
        if scope["method"] not in ("POST", "PUT", "PATCH"):
            return b""
        parts, size, more = [], 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Problem(400, "the connection ended within the request: send it again")
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._limits.body:
                raise self._too_large()
            more = message.get("more_body", False)
        return b"".join(parts)

    def _too_large(self) -> Problem:
        return Problem(
            413,
            f"the request is larger than {self._limits.body} bytes: send fewer rows in one request",
            {"connection": "close"},
        )


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body that was read, and after that what comes."""
    given = False

    async def again() -> dict[str, Any]:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def answer_problem(problem: Problem, send: Send) -> None:
    """Send what is wrong, as JSON."""
    content = json.dumps({"error": problem.sentence}).encode()
    headers = {
        "content-type": "application/json",
        "content-length": str(len(content)),
        **(problem.headers or {}),
    }
    encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": problem.status, "headers": encoded})
    await send({"type": "http.response.body", "body": content})
