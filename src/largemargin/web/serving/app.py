"""The application: each route of the table, answered by a method."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route as StarletteRoute

from largemargin import __version__
from largemargin.base.pipelines import final_step
from largemargin.web.guard import Guard, Limits
from largemargin.web.problems import Problem
from largemargin.web.serving import inference, routes
from largemargin.web.serving.metrics import Metrics
from largemargin.web.serving.models import Models, Served, model_files
from largemargin.web.serving.page import page
from largemargin.web.serving.rows import (
    check_count,
    events_of,
    parse_json,
    rows_of_csv,
    rows_of_records,
)

LOOK = 1.0  # seconds between two looks at the files, with --reload
MOST_NEAREST = 100


class Server:
    """What answers requests.

    Parameters
    ----------
    models : Models
    limits : Limits
    metrics : Metrics
    tell : callable
        Is given sentences for the person who runs the server.
    """

    def __init__(
        self, models: Models, limits: Limits, metrics: Metrics, tell: Callable[[str], None]
    ) -> None:
        self._models, self._limits, self._metrics, self._tell = models, limits, metrics, tell

    async def server(self, request: Request) -> Response:
        return _json({"name": "largemargin", "version": __version__, "extensions": []})

    async def live(self, request: Request) -> Response:
        return _json({"live": True})

    async def ready(self, request: Request) -> Response:
        return _json({"ready": True})

    async def model(self, request: Request) -> Response:
        return _json(inference.metadata(self._served(request)))

    async def model_ready(self, request: Request) -> Response:
        return _json({"name": self._served(request).name, "ready": True})

    async def infer(self, request: Request) -> Response:
        served = self._served(request)
        if "inference-header-content-length" in request.headers:
            raise Problem(400, 'tensors in binary are not taken here: send them in JSON, as "data"')
        content = parse_json(await request.body())
        rows = inference.rows_of_tensors(served, content, self._limits.rows)
        values = await _values(served, rows)
        return _json(inference.answer(served, content, values))

    async def predict(self, request: Request) -> Response:
        served = self._served(request)
        body, options = await request.body(), dict(request.query_params)
        kind = request.headers.get("content-type", "").partition(";")[0]
        if kind.strip().lower() == "text/csv":
            rows = rows_of_csv(served, body, self._limits.rows)
        else:
            content = parse_json(body)
            if isinstance(content, dict):
                if "rows" not in content:
                    raise Problem(400, 'the object has no "rows": send {"rows": [...]} or a list')
                options |= {key: value for key, value in content.items() if key != "rows"}
                content = content["rows"]
            rows = rows_of_records(served, content, self._limits.rows)
        nearest, decision = _options(options)
        values = await _values(served, rows)
        found: dict[str, Any] = {"model": served.name, "labels": served.labels(values).tolist()}
        if decision:
            found["decision"] = values.tolist()
            if values.ndim == 2:
                found["classes"] = served.classes.tolist()
        if nearest:
            found["nearest"] = await asyncio.to_thread(served.nearest, rows, nearest)
        return _json(found)

    async def learn(self, request: Request) -> Response:
        served = self._served(request)
        if served.lessons is None:
            raise Problem(
                403, f"the model {served.name} does not learn here: start the server with --learn"
            )
        events = events_of(await request.body())
        check_count(len(events), self._limits.rows)
        answers = await served.lessons.ask(events)
        if len(answers) == 1:
            if isinstance(answers[0], Problem):
                raise answers[0]
            return Response(answers[0] + "\n", media_type="application/json")
        lines = [
            json.dumps({"error": answer.sentence}) if isinstance(answer, Problem) else answer
            for answer in answers
        ]
        return Response("\n".join(lines) + "\n", media_type="application/x-ndjson")

    async def metrics(self, request: Request) -> Response:
        return PlainTextResponse(self._metrics.text(), media_type="text/plain; version=0.0.4")

    async def openapi(self, request: Request) -> Response:
        return _json(routes.openapi())

    async def page(self, request: Request) -> Response:
        return HTMLResponse(page([_card(served) for served in self._models]))

    def _served(self, request: Request) -> Served:
        return self._models[request.path_params["name"]]

    def handler(self, route: routes.Route) -> Callable[[Request], Awaitable[Response]]:
        """The method of a route, counted and timed, its problems put into JSON."""
        method = getattr(self, route.handler)

        async def handle(request: Request) -> Response:
            began, status = time.perf_counter(), 500
            try:
                response: Response = await method(request)
                status = response.status_code
                return response
            except Problem as problem:
                status = problem.status
                return _json({"error": problem.sentence}, status, problem.headers)
            except (ValueError, MemoryError) as error:
                status = 400
                return _json({"error": str(error)}, status)
            finally:
                self._metrics.request(route.path, status, time.perf_counter() - began)

        return handle

    async def watch(self) -> None:
        """Load files that changed, as long as the server runs."""
        troubles: list[str] = []
        while True:
            await asyncio.sleep(LOOK)
            found = await asyncio.to_thread(self._models.load_changed)
            for sentence in found:
                if sentence not in troubles:
                    self._tell(sentence)
            troubles = found


async def _values(served: Served, rows: Any) -> Any:
    return await served.batches.ask(rows)


def _options(options: dict[str, Any]) -> tuple[int, bool]:
    unknown = [name for name in options if name not in ("nearest", "decision")]
    if unknown:
        raise Problem(400, f"there is no option {unknown[0][:80]!r}: use decision or nearest")
    nearest, decision = options.get("nearest", 0), options.get("decision", False)
    if isinstance(nearest, str) and nearest.isdecimal():  # of the address
        nearest = int(nearest[:9])
    if type(nearest) is not int or not 0 <= nearest <= MOST_NEAREST:
        raise Problem(400, f"nearest must be a whole number from 0 to {MOST_NEAREST}")
    if str(decision).lower() not in ("true", "false", "1", "0"):
        raise Problem(400, "decision must be true or false")
    return nearest, str(decision).lower() in ("true", "1")


def _card(served: Served) -> dict[str, Any]:
    few = ", ".join(str(label)[:40] for label in served.classes[:10])
    return {
        "name": served.name,
        "machine": type(final_step(served.model)).__name__,
        "features": served.n_features,
        "labels": few + (", ..." if len(served.classes) > 10 else ""),
    }


def _json(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    text = json.dumps(content, allow_nan=False)
    return Response(text, status, headers, media_type="application/json")


def make_app(
    paths: list[str],
    limits: Limits | None = None,
    token: str | None = None,
    hosts: frozenset[str] = frozenset({"localhost"}),
    reload: bool = False,
    learn: str | None = None,
    tell: Callable[[str], None] = print,
) -> Guard:
    """The application of some model files, with its guard."""
    limits, metrics = limits or Limits(), Metrics()
    models = Models(model_files(paths), metrics.batch, learn)
    server = Server(models, limits, metrics, tell)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        watching = asyncio.create_task(server.watch()) if reload else None
        yield
        if watching is not None:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
        await asyncio.to_thread(models.close)

    async def missing(request: Request, error: Exception) -> Response:
        metrics.refused(404)
        known = "the routes are listed at /openapi.json"
        return _json({"error": f"there is nothing of that name: {known}"}, 404)

    async def not_allowed(request: Request, error: Exception) -> Response:
        metrics.refused(405)
        sentence = "this method is not for this route: see /openapi.json"
        return _json({"error": sentence}, 405, dict(getattr(error, "headers", None) or {}))

    app = Starlette(
        routes=[
            StarletteRoute(route.path, server.handler(route), methods=[route.method])
            for route in routes.ROUTES
        ],
        exception_handlers={404: missing, 405: not_allowed},
        lifespan=lifespan,
    )
    return Guard(app, limits, token, hosts, metrics.refused)
