"""The application of the playground: its page, and what the page asks for."""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from largemargin.model_file import save
from largemargin.web.guard import Guard, Limits
from largemargin.web.playground import controls, looking, picture, replay, script, tables, tasks
from largemargin.web.playground.controls import Describe
from largemargin.web.playground.lanes import Lanes
from largemargin.web.playground.saying import listening
from largemargin.web.problems import Problem

Work = Callable[[dict[str, Any]], Any]

SECONDS = 10.0  # of a request
MOST_SECONDS = 5.0  # of a fit, after which it is drawn as it is
BODY = 16 << 20  # a file of 6 MB, each letter escaped, and what else is sent
KINDS = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Playground:
    """What answers the page.

    Parameters
    ----------
    describe : callable
        The parameters of a machine by its name, as its docstring has them.
    table : Columns or None
        The data that the playground was started with.
    seconds : float
        Of a request at most.
    """

    def __init__(self, describe: Describe, table: tables.Columns | None, seconds: float) -> None:
        self._describe, self._table = describe, table
        self.lanes = Lanes(seconds)

    def machines(self, content: Any) -> Any:
        return controls.machines(self._describe)

    def fit(self, content: Any) -> Any:
        return picture.picture(self._task(content), picture.view_of(content), MOST_SECONDS)

    def without(self, content: Any) -> Any:
        view = picture.view_of(content)
        return looking.without(self._task(content), content.get("index"), view, MOST_SECONDS)

    def certificate(self, content: Any) -> Any:
        return looking.certificate(self._task(content), MOST_SECONDS)

    def replay(self, content: Any) -> Any:
        view, kind = picture.view_of(content), content.get("kind")
        return replay.replay(self._task(content), view, MOST_SECONDS, kind)

    def script(self, content: Any) -> Any:
        return {"script": script.script(self._task(content))}

    def model(self, content: Any) -> Any:
        task = self._task(content)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.safetensors"
            save(task.fitted(), path)
            return Response(path.read_bytes(), media_type="application/octet-stream")

    def table(self, content: Any) -> Any:
        if content.get("file"):
            if self._table is None:
                return {"points": None}
            table = self._table
        else:
            table = tables.of_text(content.get("text"))
        return tables.points(table, *(content.get(name) for name in ("x", "y", "label")))

    def _task(self, content: Any) -> tasks.Task:
        return tasks.task_of(content, self._describe)

    def handler(self, work: Work) -> Callable[[Request], Awaitable[Response]]:
        """A route that computes off the event loop and answers JSON."""

        async def handle(request: Request) -> Response:
            try:
                content = await _content(request)
                lane = (request.url.path, str(content.get("lane", ""))[:100])
                answer = await self.lanes.run(lane, lambda: work(content), _left(request))
            except Problem as problem:
                return _json({"error": problem.sentence}, problem.status, problem.headers)
            except (ValueError, OverflowError, MemoryError) as error:
                return _json({"error": str(error)}, 400)
            return answer if isinstance(answer, Response) else _json(answer)

        return handle


async def _content(request: Request) -> dict[str, Any]:
    """The object that a request brings. Its kind must be that of JSON, which no page of another
    site can send without being asked first.
    """
    if request.method == "GET":
        return dict(request.query_params)
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Problem(415, "send JSON with the content type application/json")
    try:
        content = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise Problem(400, "the request is not JSON") from None
    if not isinstance(content, dict):
        raise Problem(400, "the request must be an object")
    return content


async def _left(request: Request) -> None:
    """Wait until whoever asked has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _json(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(
        json.dumps(content, allow_nan=False), status, headers, media_type="application/json"
    )


def _page_files() -> dict[str, Response]:
    """The files of the page by their paths, read once; the look of the reports is one of them."""
    found = {}
    for entry in files(__package__).joinpath("page").iterdir():
        found[f"/{entry.name}"] = entry.read_bytes()
    found["/look.css"] = files("largemargin.report").joinpath("look.css").read_bytes()
    found["/"] = found.pop("/index.html")
    return {
        path: Response(
            content,
            headers={"content-security-policy": POLICY, "referrer-policy": "no-referrer"},
            media_type=KINDS[path.rpartition(".")[2] if "." in path else "html"],
        )
        for path, content in found.items()
    }


def make_app(describe: Describe, file: str | None = None, seconds: float = SECONDS) -> Guard:
    """The application with its guard; `file` is data to begin with, a name or a file."""
    table = None if file is None else tables.of_file(file)
    if table is not None:  # whatever is wrong with it is told now
        try:
            tables.points(table)
        except Problem as problem:
            raise ValueError(f"{file}: {problem.sentence}") from None
    playground = Playground(describe, table, seconds)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        with listening():
            yield
        playground.lanes.close()

    def sender(response: Response) -> Callable[[Request], Awaitable[Response]]:
        async def send(request: Request) -> Response:
            return response

        return send

    async def missing(request: Request, error: Exception) -> Response:
        return _json({"error": "there is nothing of that name: the page is at /"}, 404)

    posts: dict[str, Work] = {
        f"/{work.__name__}": work
        for work in (
            playground.fit, playground.without, playground.certificate, playground.replay,
            playground.script, playground.model, playground.table,
        )
    }  # fmt: skip
    routes = [Route(path, sender(page), methods=["GET"]) for path, page in _page_files().items()]
    routes.append(Route("/machines", playground.handler(playground.machines), methods=["GET"]))
    routes += [
        Route(path, playground.handler(work), methods=["POST"]) for path, work in posts.items()
    ]
    app = Starlette(routes=routes, exception_handlers={404: missing}, lifespan=lifespan)
    return Guard(app, Limits(body=BODY, seconds=2 * seconds))
