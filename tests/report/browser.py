"""A real browser for the tests: Debian's chromium without a window, spoken to through a pipe.

It speaks the DevTools protocol: JSON messages that end with a zero byte, on file descriptors 3 and
4. No other process can reach it, and nothing is downloaded.
"""

import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
SECONDS = 60


def find_chromium():
    """The path of the browser; None if this machine has none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@dataclass
class Visit:
    """What happened when a page was opened."""

    requests: list = field(default_factory=list)
    complaints: list = field(default_factory=list)
    width: int = 0  # of what can be scrolled to, against the window's
    text: str = ""
    broken_pictures: int = 0
    unnamed_pictures: int = 0
    screenshot: bytes = b""


class Browser:
    """Chromium with one page open at a time."""

    def __init__(self):
        path = find_chromium()
        assert path is not None, "no chromium: apt-get install chromium"
        self._folder = tempfile.mkdtemp(prefix="browser-")
        ours_out, theirs_in = os.pipe()[::-1]
        theirs_out, ours_in = os.pipe()[::-1]
        flags = [
            "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
            "--disable-background-networking", "--disable-dev-shm-usage", "--hide-scrollbars",
            "--no-first-run", f"--user-data-dir={self._folder}",
        ]  # fmt: skip
        # the shell puts the pipes where the browser looks for them
        command = f'exec "$0" "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", command, path, *flags], pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        self._out, self._in = os.fdopen(ours_out, "wb", 0), os.fdopen(ours_in, "rb", 0)
        self._number, self._rest, self._events = 0, b"", []
        target = self._ask("Target.createTarget", {"url": "about:blank"}, None)["targetId"]
        attached = self._ask("Target.attachToTarget", {"targetId": target, "flatten": True}, None)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self._ask(f"{domain}.enable")

    def close(self):
        with contextlib.suppress(OSError, RuntimeError):
            self._ask("Browser.close", {}, None)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._out.close()
        self._in.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def visit(self, path, *, width=390, height=800, dark=False, whole=False):
        """Open a file and return what happened."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setDeviceMetricsOverride", metrics)
        self._ask("Emulation.setEmulatedMedia", {"features": [scheme]})
        self._events.clear()
        self._ask("Page.navigate", {"url": Path(path).resolve().as_uri()})
        self._wait_for("Page.loadEventFired")
        time.sleep(0.05)
        visit = Visit()
        visit.width = self._evaluate("document.documentElement.scrollWidth")
        visit.text = self._evaluate("document.body.innerText")
        pictures = "[...document.images].filter(i => {}).length"
        visit.broken_pictures = self._evaluate(pictures.format("!i.naturalWidth"))
        visit.unnamed_pictures = self._evaluate(pictures.format("!i.alt"))
        shot = {"format": "png", "captureBeyondViewport": whole}
        visit.screenshot = base64.b64decode(self._ask("Page.captureScreenshot", shot)["data"])
        for event in self._events:
            self._note(event, visit)
        return visit

    def _note(self, event, visit):
        kind, what = event["method"], event["params"]
        if kind == "Network.requestWillBeSent":
            visit.requests.append(what["request"]["url"])
        elif kind in ("Runtime.exceptionThrown", "Log.entryAdded") or (
            kind == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert")
        ):
            visit.complaints.append(json.dumps(what)[:500])

    def _evaluate(self, expression):
        return self._ask("Runtime.evaluate", {"expression": expression})["result"]["value"]

    def _ask(self, method, parameters=None, session=""):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters or {}}
        if session is not None:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._events.append(answer)

    def _wait_for(self, method):
        end = time.monotonic() + SECONDS
        while not any(event.get("method") == method for event in self._events):
            assert time.monotonic() < end, f"{method} did not come"
            self._events.append(self._read())

    def _read(self):
        while b"\0" not in self._rest:
            part = self._in.read(1 << 16)
            if not part:
                raise RuntimeError("the browser has gone")
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)
