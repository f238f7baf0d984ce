"""The routes of a server in one table, from which it answers and describes itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

from largemargin import __version__

_ROWS = {
    "oneOf": [
        {"type": "array", "items": {"type": "array", "items": {}}},
        {"type": "array", "items": {"type": "object"}},
    ]
}
_TENSOR = {
    "type": "object",
    "required": ["name", "shape", "datatype", "data"],
    "properties": {
        "name": {"type": "string"},
        "shape": {"type": "array", "items": {"type": "integer"}},
        "datatype": {"type": "string"},
        "data": {"type": "array", "items": {}},
    },
}


@dataclass(frozen=True)
class Route:
    """One row of the table: `handler` is the name of a method of the application."""

    method: str
    path: str
    handler: str
    summary: str
    request: dict[str, Any] = field(default_factory=dict)
    answer: str = "application/json"


ROUTES = (
    Route("GET", "/v2", "server", "Name and version of the server."),
    Route("GET", "/v2/health/live", "live", "Whether the server runs."),
    Route("GET", "/v2/health/ready", "ready", "Whether all models are ready."),
    Route("GET", "/v2/models/{name}", "model", "What a model takes and answers."),
    Route("GET", "/v2/models/{name}/ready", "model_ready", "Whether a model is ready."),
    Route(
        "POST", "/v2/models/{name}/infer", "infer",
        "Labels and decision values of tensors, by the Open Inference Protocol.",
        {"application/json": {"type": "object", "required": ["inputs"], "properties": {
            "id": {"type": "string"}, "inputs": {"type": "array", "items": _TENSOR},
            "outputs": {"type": "array", "items": {"type": "object"}}}}},
    ),
    Route(
        "POST", "/predict/{name}", "predict",
        "Labels of rows: lists, objects by feature name, or CSV. With decision, decision values "
        "too; with nearest, so many support vectors.",
        {"application/json": {"oneOf": [_ROWS, {"type": "object", "required": ["rows"],
            "properties": {"rows": _ROWS, "decision": {"type": "boolean"},
                           "nearest": {"type": "integer", "minimum": 0, "maximum": 100}}}]},
         "text/csv": {"type": "string"}},
    ),
    Route(
        "POST", "/learn/{name}", "learn",
        "Teach a model that learns one example, {\"x\": [...], \"y\": label, \"id\": anything}, or "
        "several, one in a line. The answer is that of the model before it learned, and is sent "
        "when the example is on the disk. The same id again gives the first answer again.",
        {"application/json": {"type": "object", "required": ["x", "y"]},
         "application/x-ndjson": {"type": "string"}},
    ),
    Route("GET", "/metrics", "metrics", "Counts and times for Prometheus.", answer="text/plain"),
    Route("GET", "/openapi.json", "openapi", "This description, for programs."),
    Route("GET", "/", "page", "This description, for people.", answer="text/html"),
)  # fmt: skip


def openapi() -> dict[str, Any]:
    """The table as an OpenAPI document."""
    paths: dict[str, Any] = {}
    error = {"description": "What is wrong, in a sentence.", "content": {"application/json": {
        "schema": {"type": "object", "properties": {"error": {"type": "string"}}}}}}  # fmt: skip
    for route in ROUTES:
        entry: dict[str, Any] = {
            "summary": route.summary,
            "operationId": route.handler,
            "responses": {
                "200": {"description": "The answer.", "content": {route.answer: {"schema": {}}}},
                "default": error,
            },
        }
        if "{name}" in route.path:
            entry["parameters"] = [
                {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
            ]
        if route.request:
            content = {kind: {"schema": schema} for kind, schema in route.request.items()}
            entry["requestBody"] = {"required": True, "content": content}
        paths.setdefault(route.path, {})[route.method.lower()] = entry
    return {
        "openapi": "3.1.0",
        "info": {"title": "largemargin", "version": __version__},
        "paths": paths,
    }


def page(models: list[dict[str, Any]]) -> str:
    """The table and the models as a page, without script and without anything from elsewhere."""
    rows = "".join(
        f"<tr><td>{route.method}</td><td><code>{escape(route.path)}</code></td>"
        f"<td>{escape(route.summary)}</td></tr>"
        for route in ROUTES
    )
    served = "".join(
        f"<tr><td><code>{escape(model['name'])}</code></td><td>{escape(model['machine'])}</td>"
        f"<td>{model['features']}</td><td>{escape(model['labels'])}</td></tr>"
        for model in models
    )
    return _PAGE.format(rows=rows, models=served, version=escape(__version__))


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>largemargin</title>
<meta name="viewport" content="width=device-width">
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; }}
table {{ border-collapse: collapse; width: 100%; }}
td, th {{ text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #8886; }}
td {{ overflow-wrap: anywhere; }}
</style></head><body>
<h1>largemargin {version}</h1>
<h2>Models</h2>
<table><thead><tr><th>Name</th><th>Machine</th><th>Features</th><th>Labels</th></tr></thead>
<tbody>{models}</tbody></table>
<h2>Routes</h2>
<table><thead><tr><th>Method</th><th>Path</th><th>What it does</th></tr></thead>
<tbody>{rows}</tbody></table>
<p><a href="/openapi.json">The same for programs</a></p>
</body></html>
"""
