"""The models and the routes as a page, without script and without anything from elsewhere."""

from __future__ import annotations

import json
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from largemargin import __version__
from largemargin.web.serving.routes import ROUTES, Route


def page(models: list[dict[str, Any]]) -> str:
    """The page, in the look of the reports."""
    return _PAGE.format(
        look=_look(),
        version=escape(__version__),
        models="".join(map(_model, models)),
        routes="".join(map(_route, ROUTES)),
    )


@cache
def _look() -> str:
    return files("largemargin.report").joinpath("look.css").read_text("utf-8")


def _model(model: dict[str, Any]) -> str:
    return (
        f"<tr><th scope=row><code>{escape(model['name'])}</code></th>"
        f"<td class=left>{escape(model['machine'])}</td><td>{model['features']}</td>"
        f"<td class=left>{escape(model['labels'])}</td></tr>"
    )


def _route(route: Route) -> str:
    return (
        f"<section class='card route'><h3><span class=badge>{route.method}</span> "
        f"<code>{escape(route.path)}</code></h3><p>{escape(route.summary)}</p>"
        f"{_request(route) if route.request else ''}</section>"
    )


def _request(route: Route) -> str:
    bodies = "".join(
        f"<p><code>{escape(kind)}</code></p><pre>{escape(json.dumps(schema, indent=1))}</pre>"
        for kind, schema in route.request.items()
    )
    return (
        f"<pre>{escape(route.example)}</pre>"
        f"<details><summary>What the body may be</summary>{bodies}</details>"
    )


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>largemargin: models and routes</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<style>{look}
.route {{ padding: .8rem 1.1rem; margin: .7rem 0; }} .route h3 {{ overflow-wrap: anywhere; }}
pre {{ background: var(--faint); padding: .6rem .8rem; border-radius: 6px; font-size: .85rem;
  white-space: pre-wrap; overflow-wrap: anywhere; margin: .5rem 0; }}
</style></head><body><main>
<header><h1>largemargin {version}</h1>
<p class="soft">Models that answer requests. <a href="/openapi.json">The same for programs</a>,
as OpenAPI.</p></header>
<h2>Models</h2>
<div class="scroll card"><table><thead><tr><th class="left">Name</th><th class="left">Machine</th>
<th>Features</th><th class="left">Labels</th></tr></thead><tbody>{models}</tbody></table></div>
<h2>Routes</h2>
{routes}
</main></body></html>
"""
