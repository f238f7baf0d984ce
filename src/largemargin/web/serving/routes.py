"""The routes of a server in one table, from which it answers and describes itself."""

from __future__ import annotations

from dataclasses import dataclass, field
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
    example: str = ""  # a body


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
        example='{"inputs": [{"name": "X", "shape": [1, 4], "datatype": "FP64", '
        '"data": [5.1, 3.5, 1.4, 0.2]}]}',
    ),
    Route(
        "POST", "/predict/{name}", "predict",
        "Labels of rows: lists, objects by feature name, or CSV. With decision, decision values "
        "too; with nearest, so many support vectors.",
        {"application/json": {"oneOf": [_ROWS, {"type": "object", "required": ["rows"],
            "properties": {"rows": _ROWS, "decision": {"type": "boolean"},
                           "nearest": {"type": "integer", "minimum": 0, "maximum": 100}}}]},
         "text/csv": {"type": "string"}},
        example='{"rows": [[5.1, 3.5, 1.4, 0.2]], "decision": true, "nearest": 3}',
    ),
    Route(
        "POST", "/learn/{name}", "learn",
        "Teach a model that learns one example, {\"x\": [...], \"y\": label, \"id\": anything}, or "
        "several, one in a line. The answer is that of the model before it learned, and is sent "
        "when the example is on the disk. The same id again gives the first answer again.",
        {"application/json": {"type": "object", "required": ["x", "y"]},
         "application/x-ndjson": {"type": "string"}},
        example='{"x": [5.1, 3.5, 1.4, 0.2], "y": "setosa", "id": "flower-17"}',
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
