"""Every page of the documentation in a real browser: wide and narrow, by day and by night.

The documentation is built for the test, unless LARGEMARGIN_DOCS names a folder with it.
"""

import functools
import html.parser
import http.server
import os
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[1]
SHOTS = os.environ.get("LARGEMARGIN_SHOTS")  # a folder for pictures to look at
SERIOUS = {"serious", "critical"}
WIDTHS, SCHEMES = (1280, 390), ("light", "dark")
OWN_TESTS = ("reproduction/",)  # pages that other rooms make, and test

# What is wider than the window, of that which is not scrolled inside something else.
OVERFLOW = """() => document.documentElement.scrollWidth > innerWidth
    ? [...document.querySelectorAll("article *")]
        .filter(e => e.getBoundingClientRect().right > innerWidth + 1)
        .map(e => `${e.tagName}.${e.className}: ${e.textContent.slice(0, 40)}`).slice(-3)
        .concat(`${document.documentElement.scrollWidth} wide`)
    : []"""
AXE = """async rules => (await axe.run("article", rules)).violations.map(
    v => ({id: v.id, impact: v.impact, at: v.nodes.map(n => n.html.slice(0, 90)).slice(0, 3)}))"""
CONTRAST = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
OTHERS = {"resultTypes": ["violations"], "rules": {"color-contrast": {"enabled": False}}}
# Frame and colours of code are the same on all pages, and take most of the time: they are looked at
# on these. The pages of the reference have one template: axe looks at one of so many.
WHOLE = ("index.html", "recipes.html", "search.html", "api/generated/largemargin.SVC.html")
REFERENCE, ONE_OF = "api/generated/", 6
STRIP = """() => document.querySelectorAll(
    ".sidebar-drawer, .toc-drawer, .mobile-header, svg > *, pre *").forEach(e => e.remove())"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def documentation(tmp_path_factory):
    """The folder of the HTML pages."""
    built = os.environ.get("LARGEMARGIN_DOCS")
    if built is None:
        built = str(tmp_path_factory.mktemp("documentation"))
        command = [sys.executable, "-m", "sphinx", "-q", str(ROOT / "docs"), built]
        subprocess.run(command, check=True, timeout=900)
    assert Path(built, "index.html").is_file(), f"LARGEMARGIN_DOCS: no documentation in {built}"
    return Path(built)


@pytest.fixture(scope="module")
def address(documentation):
    handler = functools.partial(Quiet, directory=documentation)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def page(browser, address):
    """A page of a browser that notes errors, and requests that go elsewhere, in `troubles`."""
    page = browser.new_page()
    page.troubles = []
    page.on("pageerror", lambda error: page.troubles.append(f"error: {error}"))
    page.on("console", lambda m: m.type == "error" and page.troubles.append(m.text))
    page.on(
        "request",
        lambda r: r.url.startswith((address, "data:", "blob:")) or page.troubles.append(r.url),
    )
    yield page
    page.close()


def pages_of(folder):
    names = (path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.html")))
    return [name for name in names if not name.startswith(("_static/", *OWN_TESTS))]


def test_every_page(documentation, address, page):
    axe = pytest.importorskip("axe_playwright_python.base", reason="axe is not installed")
    names = pages_of(documentation)
    assert len(names) > 100
    reference = [name for name in names if name.startswith(REFERENCE)]
    unjudged = set(reference) - {*reference[::ONE_OF], *WHOLE}
    found = {}
    for name in names:
        script = None if name in unjudged else axe.AXE_SCRIPT
        troubles = look_at(page, f"{address}/{name}", script, name)
        if troubles:
            found[name] = troubles
    assert found == {}


def look_at(page, url, axe, name):
    """What is wrong with a page. It is loaded once; then the window and the scheme change, at once
    where axe does not look.
    """
    page.troubles.clear()
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})
    page.emulate_media(color_scheme="light")
    page.goto(url)
    found = []
    for k, width in enumerate(WIDTHS):
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in SCHEMES if axe is not None else SCHEMES[k : k + 1]:
            page.emulate_media(color_scheme=scheme)
            found += [f"{width} {scheme}: {wide}" for wide in page.evaluate(OVERFLOW)]
            if SHOTS:
                file = name.removesuffix(".html").replace("/", "-")
                page.screenshot(path=f"{SHOTS}/{file}-{width}-{scheme}.png", full_page=True)
    if axe is not None:
        page.evaluate(axe)
        found += accessible(page, name)
    return [*found, *page.troubles]


def accessible(page, name):
    """What axe finds: the colours in both schemes, the rest once."""
    whole = name in WHOLE
    if not whole:
        page.evaluate(STRIP)
    found = page.evaluate(AXE, OTHERS)
    if whole or not name.startswith(REFERENCE):
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            found += page.evaluate(AXE.replace('"article"', "document") if whole else AXE, CONTRAST)
    return [str(one) for one in found if one["impact"] in SERIOUS]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("predict_proba", "probabilities"),
        ("imbalance", "recipes"),
        ("pickle", "recipes"),
        ("LinearSVC", "coming_from_sklearn"),
        ("cite", "cite"),
        ("glossary", "glossary"),
    ],
)
def test_search_finds(words, wanted, address, page):
    page.troubles.clear()
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(f"{address}/search.html?q={quote(words)}")
    page.wait_for_function(
        "name => [...document.querySelectorAll('#search-results li a')]"
        ".some(a => a.getAttribute('href').split(/[?#]/)[0] === `${name}.html`)",
        arg=wanted,
        timeout=20_000,
    )
    assert page.troubles == []


class Names(html.parser.HTMLParser):
    """The addresses that a page refers to, and the places that it has."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.places = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places.update(filter(None, (found.get("id"), tag == "a" and found.get("name"))))
        self.targets.update(filter(None, (found.get("href"), found.get("src"))))


def test_every_link_inside_leads_somewhere(documentation):
    read = functools.cache(lambda path: Names(path.read_text()))
    missing = []
    for name in pages_of(documentation):
        for target in read(documentation / name).targets:
            file, _, place = unquote(target).partition("#")
            if ":" in file or file.startswith("//"):
                continue
            path = (
                (documentation / name).parent / file.split("?")[0] if file else documentation / name
            )
            html_page = path.suffix == ".html" and path.is_file()
            if not path.exists() or (place and html_page and place not in read(path).places):
                missing.append((name, target))
    assert missing == []
