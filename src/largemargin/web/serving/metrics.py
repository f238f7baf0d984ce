"""Counts and times in the text format that Prometheus reads."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Histogram:
    """How many values were at most each of some limits."""

    def __init__(self, limits: tuple[float, ...]) -> None:
        self._limits = limits
        self._counts = [0] * (len(limits) + 1)
        self._sum = 0.0

    def add(self, value: float) -> None:
        self._counts[bisect_left(self._limits, value)] += 1
        self._sum += value

    def lines(self, name: str, labels: str) -> list[str]:
        below, found = 0, []
        for limit, count in zip([*self._limits, float("inf")], self._counts, strict=True):
            below += count
            at = "+Inf" if limit == float("inf") else f"{limit:g}"
            found.append(f'{name}_bucket{{{labels},le="{at}"}} {below}')
        return [
            *found,
            f"{name}_sum{{{labels}}} {self._sum!r}",
            f"{name}_count{{{labels}}} {below}",
        ]


class Metrics:
    """What a server counts."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._rows: Counter[str] = Counter()
        self._seconds: dict[str, Histogram] = {}
        self._batches: dict[str, Histogram] = {}

    def request(self, route: str, status: int, seconds: float) -> None:
        self._requests[route, status] += 1
        self._seconds.setdefault(route, Histogram(SECONDS)).add(seconds)

    def refused(self, status: int) -> None:
        """A request that did not come to a route."""
        self._requests["none", status] += 1

    def batch(self, model: str, rows: int) -> None:
        self._rows[model] += rows
        self._batches.setdefault(model, Histogram(ROWS)).add(rows)

    def text(self) -> str:
        lines = _head("requests_total", "counter", "Requests by route and status.")
        lines += [
            f'largemargin_requests_total{{route="{route}",status="{status}"}} {count}'
            for (route, status), count in sorted(self._requests.items())
        ]
        lines += _head("errors_total", "counter", "Requests with a status of 400 or more.")
        errors = sum(count for (_, status), count in self._requests.items() if status >= 400)
        lines.append(f"largemargin_errors_total {errors}")
        lines += _head("rows_total", "counter", "Rows answered by model.")
        lines += [
            f'largemargin_rows_total{{model="{_escaped(model)}"}} {count}'
            for model, count in sorted(self._rows.items())
        ]
        lines += _head("request_seconds", "histogram", "Seconds of a request by route.")
        for route, seconds in sorted(self._seconds.items()):
            lines += seconds.lines("largemargin_request_seconds", f'route="{route}"')
        lines += _head("batch_rows", "histogram", "Rows of a batch by model.")
        for model, rows in sorted(self._batches.items()):
            lines += rows.lines("largemargin_batch_rows", f'model="{_escaped(model)}"')
        return "\n".join(lines) + "\n"


def _head(name: str, kind: str, what: str) -> list[str]:
    return [f"# HELP largemargin_{name} {what}", f"# TYPE largemargin_{name} {kind}"]


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
