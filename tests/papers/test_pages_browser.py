"""The pages of papers and of a comparison in a real browser: wide and narrow, light and dark."""

import os

import pytest

from largemargin.compare.candidates import OURS
from largemargin.compare.page import render
from largemargin.compare.results import Certified, Comparison, Result
from largemargin.papers import PAPERS, figures, rendering
from largemargin.report.intervals import ErrorRate
from tests.papers.test_rendering import COMMITTED

pytestmark = pytest.mark.browser

SHOTS = os.environ.get("LARGEMARGIN_SHOTS")  # a folder for pictures to look at
# of a table the first group of rows stands for the others, which are many and alike; what is in a
# picture is not read but its label is
ALIKE = {"exclude": [[".results tbody:nth-of-type(n+2)"], [".drawn svg > *"], ["svg.scatter > *"]]}
WIDTHS, SCHEMES = (1280, 390), ("light", "dark")


def comparison():
    """Twelve machines, of which one failed, one is far off and one has warnings."""
    bound = Certified("needed examples, leave-one-out", 0.25, "always", "At most 25 %.")
    results = [
        Result(
            f"Machine{k}", OURS if k % 3 else "scikit-learn", f"Machine{k}",
            chosen={"multiclass": "crammer-singer", "C": 10.0, "gamma": 3.51}, searched=6,
            settings=18 if k == 4 else 6, error=ErrorRate(3 + k, 450), support_vectors=100 * k,
            fit_seconds=0.002 * 2**k, predict_seconds=0.01, size=81_234,
            certificate=bound if k % 2 else None, notes=("It did not converge.",) * (k == 5),
        )
        for k in range(10)
    ]  # fmt: skip
    results += [
        Result("Far", OURS, "Far", error=ErrorRate(400, 450), fit_seconds=0.1, size=812),
        Result("Failed", OURS, "Failed", trouble="no result after 30 s of processor time"),
        Result("Late", OURS, "Late", trouble="interrupted"),
    ]
    return Comparison(
        "digits", 1347, 450, 64, 10, True, "minmax", 3, 600, 0, 30.0, 2, 70.0, "a machine",
        tuple(results), 400, 3,
    )  # fmt: skip


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """All pages by name, with the pictures that are committed."""
    folder = tmp_path_factory.mktemp("pages")
    for paper in PAPERS:
        report = rendering.read(COMMITTED / f"{paper}.json")
        names = rendering.picture_names(report)
        drawn = {figure: (COMMITTED / name).read_text() for figure, name in names.items()}
        (folder / f"{paper}.html").write_text(rendering.as_page(report, drawn, "../all.html"))
    (folder / "compare.html").write_text(render(comparison(), "largemargin compare digits"))
    return folder


@pytest.fixture
def opened(browser, pages):
    """Opens a page and, in the end, holds it to: no error, and no request to elsewhere."""
    contexts, troubles = [], []

    def opening(name, width, scheme):
        context = browser.new_context(
            viewport={"width": width, "height": 1000}, color_scheme=scheme
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("console", lambda m: m.type == "error" and troubles.append(m.text))
        address = (pages / f"{name}.html").as_uri()
        page.on("request", lambda r: r.url.startswith((address, "data:")) or troubles.append(r.url))
        page.goto(address)
        if SHOTS:
            page.screenshot(path=f"{SHOTS}/{name}-{width}-{scheme}.png", full_page=True)
        return page

    yield opening
    for context in contexts:
        context.close()
    assert not troubles


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", [*PAPERS, "compare"])
def test_a_page_fits_and_can_be_read(opened, name, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = opened(name, width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = axe.Axe().run(page, ALIKE, {"resultTypes": ["violations"]}).response["violations"]
    serious = [
        (one["id"], node["target"], node["failureSummary"])
        for one in found if one["impact"] in ("serious", "critical") for node in one["nodes"][:2]
    ]  # fmt: skip
    assert serious == []


def test_the_verdict_and_the_picture_come_first(opened):
    for name in PAPERS:
        page = opened(name, 1280, "light")
        assert page.locator(".verdict .big").inner_text()
        box = page.locator(".verdict").bounding_box()
        assert box["y"] + box["height"] < 1000
    page = opened("compare", 1280, "light")
    picture, table = page.locator(".picture").bounding_box(), page.locator("table").bounding_box()
    assert picture["y"] < table["y"]


def test_a_narrow_comparison_is_a_list(opened):
    page = opened("compare", 390, "light")
    first = page.locator(".results tbody tr").first
    assert first.bounding_box()["width"] <= 390
    assert "Machine0" in first.inner_text()
    assert page.locator(".results td[data-label]").count() == page.locator(".results td").count()


def test_the_dark_page_has_dark_pictures(opened):
    page = opened("cortes-vapnik", 1280, "dark")
    color = page.evaluate("getComputedStyle(document.querySelector('.drawn svg path')).fill")
    assert sum(map(int, color[4:-1].split(", "))) < 200


def test_figures_know_the_colours_of_a_page():
    assert all(color in figures.OF_PAGE for color in figures.COLORS)
