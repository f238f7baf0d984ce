"""The pictures of the playground, taken anew from the page: python docs/images/playground.py

It needs a chromium, Playwright and Pillow.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def settled(page: Any, name: str = "A") -> None:
    """Wait until the fit of a pane is drawn."""
    page.wait_for_function(
        "name => { const pane = document.querySelector(`.pane[data-pane=${name}]`);"
        " return !pane.dataset.busy && pane.querySelector('.time').textContent; }",
        arg=name,
    )


def opened(browser: Any, address: str, fragment: str, scheme: str, width: int, height: int) -> Any:
    page = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme
    ).new_page()
    page.goto(address + fragment)
    page.wait_for_selector("body[data-ready=true]")
    settled(page)
    return page


def saved(page: Any, name: str, clip: dict[str, float] | None = None) -> None:
    """The window or a part of it, with so many colours as are needed."""
    from PIL import Image

    path = FOLDER / name
    page.screenshot(path=path, clip=clip)
    Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
        path, optimize=True
    )


def compare(browser: Any, address: str) -> None:
    """A linear and a gaussian machine beside each other."""
    fragment = "#preset=banana&A=SVC&A.kernel=linear&B=SVC&B.gamma=10"
    page = opened(browser, address, fragment, "light", 1300, 1440)
    settled(page, "B")
    page.wait_for_function("() => document.querySelector('.differ-words').textContent")
    end = page.locator(".pane[data-pane=A] .numbers").bounding_box()["y"]
    saved(page, "playground.png", {"x": 0, "y": 0, "width": 1300, "height": end})


def replay(browser: Any, address: str) -> None:
    """The solver on its way, in the dark."""
    page = opened(browser, address, "#preset=rings&A=SVC&A.gamma=4", "dark", 1300, 960)
    page.click(".replay-open")
    page.wait_for_selector(".pane[data-frame='0']")
    page.select_option(".replay-kind", "steps")
    page.wait_for_function(
        "() => document.querySelector('.replay-words').textContent.startsWith('After 1 step')"
    )
    page.locator(".replay-at").first.fill("14")
    saved(page, "playground_replay.png")


def hover(browser: Any, address: str) -> None:
    """A support vector that is looked at, and what would be without it; on a phone."""
    fragment = "#preset=separable&size=30&A=SVC&A.kernel=linear&A.C=inf"
    page = opened(browser, address, fragment, "light", 430, 760)
    page.locator(".replay-open").first.scroll_into_view_if_needed()
    box = page.locator(".support").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_function(
        "() => document.querySelector('.looked').textContent.includes('Left out')"
    )
    saved(page, "playground_phone.png")


def main() -> None:
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    command = [sys.executable, "-m", "largemargin", "playground", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            found = re.search(r"http://\S+/", process.stderr.readline())
            assert found is not None
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=chromium, args=["--no-sandbox"]
                )
                for take in (compare, replay, hover):
                    take(browser, found[0])
                browser.close()
        finally:
            process.terminate()


if __name__ == "__main__":
    main()
