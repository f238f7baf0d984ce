"""What a page shows when it is opened in a real browser."""

from dataclasses import dataclass, field
from pathlib import Path


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


def visit_of(browser, path, *, width=390, height=800, dark=False, whole=False):
    """Open a file, with all that is folded unfolded, and return what happened."""
    page = browser.new_page(
        viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
    )
    visit = Visit()
    page.on("request", lambda request: visit.requests.append(request.url))
    page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    page.on("console", lambda said: visit.complaints.append(said.text))
    page.goto(Path(path).resolve().as_uri())
    visit.width = page.evaluate("document.documentElement.scrollWidth")
    visit.screenshot = page.screenshot(full_page=whole)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    visit.text = page.evaluate("document.body.innerText")
    pictures = "[...document.images].filter(i => {}).length"
    visit.broken_pictures = page.evaluate(pictures.format("!i.naturalWidth"))
    visit.unnamed_pictures = page.evaluate(pictures.format("!i.alt"))
    page.close()
    return visit
