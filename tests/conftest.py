"""How the suite runs: which cases of a crossing the usual run keeps, threads, and Ctrl-C."""

import os
import shutil
import signal
from collections import Counter, defaultdict

import pytest

# Processes that run tests side by side have a core each: were BLAS to use all cores in each of
# them, they would wait for each other. It reads this when NumPy is first imported.
if int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")) > 1:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell that starts the suite in the background has it ignore Ctrl-C, and tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionstart(session):
    """Compile what takes longest in one process each, not in all of them at the same time."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if worker in ("gw0", "gw1"):
        from largemargin import MIRA

        MIRA(precision=("float32", "float64")[worker == "gw0"]).fit([[0.0], [1.0]], [0, 1])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Of a test marked `crossing`, keep so many cases that every value of every parameter occurs;
    the other cases are `full`. What needs a browser is `browser`.
    """
    cases = defaultdict(list)
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
        if item.get_closest_marker("crossing"):
            cases[item.nodeid.split("[")[0]].append(item)
    for crossed in cases.values():
        for item in _beyond_a_cover(crossed):
            item.add_marker(pytest.mark.full)


def _beyond_a_cover(items):
    """The cases that are not needed for every value to occur, found greedily: always the case that
    adds most values, and of those the one whose values occurred least.
    """
    left = {
        item: [(name, id(value)) for name, value in item.callspec.params.items()] for item in items
    }
    seen = Counter()
    while True:
        best = max(left, key=lambda item: _news(left[item], seen), default=None)
        if best is None or all(seen[value] for value in left[best]):
            return left
        seen.update(left.pop(best))


def _news(values, seen):
    """How many of the values did not occur yet, and how seldom the others did."""
    return sum(not seen[value] for value in values), -sum(seen[value] for value in values)


@pytest.fixture(scope="session")
def browser():
    """Debian's chromium without a window; without one the tests that need it say so."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("there is no chromium: install it (Debian: apt-get install chromium)")
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()
