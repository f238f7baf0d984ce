"""The playground: a fit with its picture while a point is dragged, 200 points, each machine.

What is measured is a whole request of the page over HTTP to a server process: points and parameters
in, scores on the grid, margins and support vectors out; and, where there is a chromium, a point
dragged in it, with what the page takes to draw.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from benchmarks.options import OPTIONS
from benchmarks.timing import figure, note, seconds
from largemargin.machines import CARDS

Row = dict[str, Any]
POINTS = 200
WANTED = 100.0  # milliseconds
MACHINES = 12  # of which so many should keep to it


def points(n: int, n_classes: int = 2) -> list[list[float]]:
    """Clouds that overlap."""
    rng = np.random.default_rng(0)
    labels = np.arange(n) % n_classes
    angles = 2 * np.pi * labels / n_classes
    X = 0.45 * np.c_[np.cos(angles), np.sin(angles)] + 0.3 * rng.normal(size=(n, 2))
    X = np.clip(X, -1, 1)
    return [[*row, int(label)] for row, label in zip(X.tolist(), labels, strict=True)]


def drags(n_classes: int) -> Iterator[Row]:
    """The first point is moved a little before each request, as a hand does."""
    given = points(OPTIONS.size(POINTS), n_classes)
    within = 0
    with _server() as address:
        for card in CARDS:
            times = _times(f"{address}fit", card.name, given)
            median = float(np.median(times))
            within += median <= WANTED
            yield note(
                f"{card.name}, {len(given)} points, {n_classes} classes",
                f"{median:.0f} ms (worst {max(times):.0f})",
            )
    yield _verdict(within, "over HTTP")


def _verdict(within: int, where: str) -> Row:
    return {
        **note(f"machines within {WANTED:g} ms, {where}", f"{within} of {len(CARDS)}"),
        **figure("within", within, {}, f"of {len(CARDS)} machines"),
        "wanted": f">= {MACHINES}",
        "held": within >= MACHINES,
    }


@contextmanager
def _server() -> Iterator[str]:
    """The address of a playground of its own."""
    command = [sys.executable, "-m", "largemargin", "playground", "--no-browser", "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        found = re.search(r"http://\S+/", process.stderr.readline())
        assert found is not None
        yield found[0]
    finally:
        process.terminate()
        process.wait()
        process.stderr.close()


def _times(address: str, machine: str, given: list[list[float]]) -> list[float]:
    """Milliseconds of 20 requests, after two that load what the machine needs."""
    times = []
    for k in range(22):
        moved = [[given[0][0] * 0.9 + 0.005 * k, *given[0][1:]], *given[1:]]
        body = json.dumps({"points": moved, "machine": machine}).encode()
        times.append(1e3 * seconds(partial(_ask, address, body)))
    return times[2:]


def _ask(address: str, body: bytes) -> None:
    request = urllib.request.Request(address, body, {"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        json.load(answer)


def in_a_browser() -> Iterator[Row]:
    """A point dragged in chromium: from its question to the picture, as the page itself says."""
    chromium = shutil.which("chromium")
    if chromium is None:
        yield note("in a browser", "there is no chromium here")
        return
    from playwright.sync_api import sync_playwright

    within = 0
    with _server() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1300, "height": 1000})
        page.goto(f"{address}#preset=overlap&size={OPTIONS.size(POINTS)}")
        page.wait_for_selector("body[data-ready=true]")
        page.evaluate(
            "() => document.addEventListener('fitted', () => window.times.push("
            "document.querySelector('.time').textContent))"
        )
        for card in CARDS:
            times = _drag(page, card.name)
            median = float(np.median(times))
            within += median <= WANTED
            yield note(f"{card.name}, dragged in a browser", f"{median:.0f} ms ({len(times)} fits)")
        browser.close()
    yield _verdict(within, "in a browser, picture included")


def _drag(page: Any, machine: str) -> list[float]:
    page.select_option("#machine-A", machine)
    page.wait_for_selector(f".pane[data-machine={machine}]")
    page.wait_for_timeout(300)
    page.evaluate("() => { window.times = []; }")
    box = page.locator(".plane svg").first.bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + box["height"] - 20)
    page.mouse.down()
    for k in range(40):
        page.mouse.move(box["x"] + 20 + 3 * k, box["y"] + box["height"] - 20 - 2 * k)
        page.wait_for_timeout(25)
    page.mouse.up()
    page.wait_for_timeout(300)
    page.keyboard.press("Control+z")
    told = page.evaluate("() => window.times")
    return [
        float(found[1]) for text in told[3:] if (found := re.search(r"([\d.]+) ms in all", text))
    ]


def two_classes() -> Iterator[Row]:
    yield from drags(2)


def three_classes() -> Iterator[Row]:
    yield from drags(3)


PARTS = [{"two-classes": two_classes}, {"three-classes": three_classes}, {"browser": in_a_browser}]
