"""The playground in a real browser: drawn, dragged, compared, stepped, shared, small and dark."""

import contextlib
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

from largemargin.machines import CARDS

from .conftest import SHOTS

pytestmark = pytest.mark.browser


@contextlib.contextmanager
def playing(*args):
    """`largemargin playground` on a free port: its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "largemargin", "playground", *args, "--no-browser", "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield re.search(r"http://\S+", process.stderr.readline())[0]
    finally:
        process.terminate()
        process.wait(30)
        process.stderr.close()


@pytest.fixture(scope="module")
def address():
    with playing() as found:
        yield found


@pytest.fixture
def opened(browser, address):
    """Opens pages and, in the end, holds them to: no error, and no request to elsewhere."""
    pages, troubles = [], []

    def opening(fragment="", base=address, fitted=True, **options):
        context = browser.new_context(**{"viewport": {"width": 1300, "height": 1000}, **options})
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("console", lambda m: m.type == "error" and troubles.append(m.text))
        page.on(
            "request",
            lambda r: r.url.startswith((base, "blob:", "data:")) or troubles.append(r.url),
        )
        page.goto(f"{base}{fragment}")
        page.wait_for_selector("body[data-ready=true]")
        if fitted:
            settled(page)
        pages.append(context)
        return page

    yield opening
    for context in pages:
        context.close()
    assert not troubles


def pane(page, name="A"):
    return page.locator(f".pane[data-pane={name}]")


def settled(page, name="A"):
    """Wait until the fit of a pane is drawn."""
    page.wait_for_function(
        "name => { const pane = document.querySelector(`.pane[data-pane=${name}]`);"
        " return !pane.dataset.busy && pane.querySelector('.time').textContent; }",
        arg=name,
    )


def at(page, x, y, name="A"):
    """Where a place of the plane is on the screen."""
    pane(page, name).locator(".plane").scroll_into_view_if_needed()
    box = pane(page, name).locator(".plane svg").bounding_box()
    return box["x"] + (x + 1) / 2 * box["width"], box["y"] + (1 - y) / 2 * box["height"]


def n_points(page):
    return pane(page).locator(".point").count()


def shot(page, name):
    if SHOTS:
        page.screenshot(path=f"{SHOTS}/{name}.png", full_page=True)


def test_draw_drag_erase_undo(opened):
    page = opened()
    shot(page, "first")
    assert n_points(page) == 120
    page.click("#clear")
    for x, y in [(-0.5, -0.5), (-0.6, 0.2), (-0.4, 0.6)]:
        page.mouse.click(*at(page, x, y))
    page.keyboard.press("2")
    for x, y in [(0.5, 0.5), (0.6, -0.2), (0.4, -0.6)]:
        page.mouse.click(*at(page, x, y))
    page.select_option("#A-kernel", '"linear"')
    settled(page)
    assert n_points(page) == 6
    assert "6 points (3 + 3)" in page.inner_text("#count")
    before = int(pane(page).get_attribute("data-support"))
    assert before == pane(page).locator(".support").count() >= 2
    page.mouse.move(*at(page, 0.4, -0.6))
    page.mouse.down()
    page.mouse.move(*at(page, 0.0, -0.6), steps=5)
    page.mouse.move(*at(page, -0.5, 0.0), steps=5)
    page.mouse.up()
    settled(page)
    assert n_points(page) == 6
    assert pane(page).locator(".slack path").count() >= 1
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    assert n_points(page) == 5
    page.keyboard.press("Control+Shift+z")
    assert n_points(page) == 6
    page.click("[data-tool=erase]")
    page.mouse.click(*at(page, 0.5, 0.5))
    assert n_points(page) == 5
    page.click("[data-tool=brush]")
    page.mouse.move(*at(page, 0.2, 0.8))
    page.mouse.down()
    page.mouse.move(*at(page, 0.8, 0.8), steps=20)
    page.mouse.up()
    assert n_points(page) > 9


def test_undo_while_a_hand_is_at_it(opened):
    page = opened()
    page.click("#clear")
    page.mouse.move(*at(page, 0, 0))
    page.mouse.down()
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+Shift+z")
    page.keyboard.press("Control+z")
    page.mouse.move(*at(page, 0.5, 0.5), steps=3)
    page.mouse.up()
    assert n_points(page) == 0
    page.focus(".pane[data-pane=A] .plane svg")
    for key in ("Enter", "m", "Control+z", "Control+z", "ArrowLeft", "m", "Delete", "ArrowLeft"):
        page.keyboard.press(key)
    assert n_points(page) == 0


def test_two_thousand_points_of_five_classes(opened):
    page = opened()
    five = [(math.cos(1.2566 * k), math.sin(1.2566 * k), k) for k in range(5)]
    rows = [f"{x + i / 999},{y + i % 37 / 99},{'abcde'[k]}" for i in range(400) for x, y, k in five]
    upload(page, "five.csv", "\n".join(["x,y,kind", *rows]))
    page.wait_for_selector("#table-choice select")
    settled(page)
    assert n_points(page) == 2000
    assert "2000 points (400 + 400 + 400 + 400 + 400), which is the limit" in (
        page.inner_text("#count")
    )
    rings = pane(page).locator(".support")
    sizes = rings.evaluate_all("all => all.map((ring) => Number(ring.getAttribute('r')))")
    assert 5 < min(sizes) <= max(sizes) < 11  # so many rings must not hide the points
    page.mouse.click(*at(page, 0.98, -0.98))
    settled(page)
    assert n_points(page) == 2000
    page.click("[data-tool=erase]")
    point = pane(page).locator(".point").first.bounding_box()
    page.mouse.click(point["x"] + point["width"] / 2, point["y"] + point["height"] / 2)
    settled(page)
    assert n_points(page) == 1999
    assert "limit" not in page.inner_text("#count")
    shot(page, "five")


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_choose_each_machine_and_step_through_it(opened, card):
    page = opened("#preset=overlap&size=60")
    page.select_option("#machine-A", card.name)
    page.wait_for_function(
        "name => document.querySelector('.pane[data-pane=A]').dataset.machine === name",
        arg=card.name,
    )
    settled(page)
    assert pane(page).locator(".problem").is_hidden()
    assert pane(page).locator(".boundary").get_attribute("d")
    assert re.search(r"fit [\d.]+ ms", pane(page).locator(".time").inner_text())
    page.click(".pane[data-pane=A] .replay-open")
    page.wait_for_selector(".pane[data-pane=A][data-frame='0']")
    page.click(".pane[data-pane=A] .replay-next")
    page.wait_for_selector(".pane[data-pane=A][data-frame='1']")
    assert len(pane(page).locator(".replay-words").inner_text()) > 10
    page.select_option(".pane[data-pane=A] .replay-speed", "fast")
    page.click(".pane[data-pane=A] .replay-play")
    page.wait_for_function(
        "() => Number(document.querySelector('.pane[data-pane=A]').dataset.frame) > 3"
    )
    shot(page, f"replay-{card.command}")


def test_compare_and_the_map_of_differences(opened):
    page = opened("#preset=banana&A=SVC&A.kernel=linear&B=SVC&B.gamma=10")
    settled(page, "B")
    page.wait_for_function(
        "() => document.querySelector('.differ-words').textContent.includes('%')"
    )
    words = page.inner_text(".differ-words")
    assert float(re.search(r"([\d.]+) % of the plane", words)[1]) > 3
    assert page.locator("#differ .wrong").count() == int(re.search(r"on (\d+) of", words)[1])
    shot(page, "compare")


def test_a_link_opens_the_same_picture(opened):
    page = opened("#preset=spirals")
    page.select_option("#machine-A", "NuSVC")
    settled(page)
    page.mouse.click(*at(page, 0.95, 0.95))
    settled(page)
    page.click("#copy-link")
    page.wait_for_function("() => location.hash.includes('points=')")
    link = page.evaluate("location.hash")
    other = opened(link)

    def seen(one):
        return (
            pane(one).get_attribute("data-machine"),
            pane(one).get_attribute("data-support"),
            pane(one).locator(".point").evaluate_all("all => all.map(p => p.outerHTML)"),
            pane(one).locator(".boundary").get_attribute("d"),
        )

    assert seen(page) == seen(other)
    assert seen(other)[0] == "NuSVC"


def test_another_link_in_the_same_window(opened):
    page = opened("#preset=banana&A=NuSVC")
    page.click("#copy-link")
    page.wait_for_function("() => location.hash.includes('points=')")
    assert page.input_value("#preset") == "banana"
    page.evaluate("location.hash = 'preset=xor&A=LPSVC'")
    page.wait_for_selector(".pane[data-pane=A][data-machine=LPSVC]")
    assert page.input_value("#preset") == "xor"


FAMILIES = sorted((Path(__file__).parents[2] / "docs" / "machines").glob("*.rst"))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda path: path.stem)
def test_the_links_of_the_documentation(opened, family):
    (fragment,) = re.findall(r"<http://127.0.0.1:8090/(#\S+)>", family.read_text())
    page = opened(fragment)
    settled(page, "B")
    for name in "AB":
        assert pane(page, name).locator(".problem").is_hidden()
        machine = re.search(rf"[#&]{name}=(\w+)", fragment)[1]
        assert pane(page, name).get_attribute("data-machine") == machine
    shot(page, f"family-{family.stem}")


def test_hover_tells_of_leaving_out(opened):
    page = opened("#preset=separable&size=20&A=SVC&A.kernel=linear&A.C=inf")
    first = pane(page).locator(".support").first
    x, y = (float(first.get_attribute(name)) for name in ("cx", "cy"))
    page.mouse.move(*at(page, x / 500 - 1, 1 - y / 500))
    page.wait_for_function(
        "() => document.querySelector('.looked').textContent.includes('Left out')"
    )
    words = pane(page).locator(".looked").inner_text()
    assert "margin 1" in words
    assert "coefficient" in words
    assert pane(page).locator(".without").get_attribute("d")
    shot(page, "hover")


def test_certificates(opened):
    page = opened("#preset=separable&size=40&A=SVC&A.kernel=linear")
    page.click(".pane[data-pane=A] .certificate-box summary")
    page.wait_for_selector(".pane[data-pane=A] .statement")
    assert pane(page).locator(".statement").count() > 10
    assert pane(page).locator(".statement.off").count() >= 1
    shot(page, "certificate")


def test_a_csv_and_its_columns(opened, tmp_path):
    path = tmp_path / "plants.csv"
    rows = [f"{i % 7},{i % 5},{i % 3},{'rose' if i % 2 else 'iris'}" for i in range(30)]
    path.write_text("\n".join(["long,wide,deep,kind", *rows]))
    page = opened()
    page.set_input_files("#open-csv", str(path))
    page.wait_for_selector("#table-choice select")
    settled(page)
    assert n_points(page) == 30
    assert "principal component" in page.inner_text("#table-choice p")
    assert "rose" in page.inner_text("#classes")
    page.select_option("[data-column=x]", "long")
    page.select_option("[data-column=y]", "wide")
    page.wait_for_function(
        "() => !document.querySelector('#table-choice p').textContent.includes('princ')"
    )
    with page.expect_download() as csv:
        page.click("#save-csv")
    assert csv.value.path().read_text().count("\n") == 31
    shot(page, "csv")


def test_a_file_of_the_command(opened):
    with playing("iris") as base:
        page = opened(base=base)
        assert n_points(page) == 150 - 38
        assert "setosa" in page.inner_text("#classes")
        point = pane(page).locator(".point.c0").first.bounding_box()
        page.mouse.move(point["x"] + point["width"] / 2, point["y"] + point["height"] / 2)
        page.wait_for_function(
            "() => /setosa: .*answered setosa, which/.test("
            "document.querySelector('.looked').textContent)"
        )


def test_take_away(opened, tmp_path):
    from largemargin import load

    page = opened()
    with page.expect_download() as model:
        page.click("#save-model")
    model.value.save_as(tmp_path / "m.safetensors")
    fitted = load(tmp_path / "m.safetensors")
    assert fitted.n_support_ == int(pane(page).get_attribute("data-support"))
    with page.expect_download() as picture:
        page.click("#save-svg")
    text = picture.value.path().read_text()
    assert text.count('class="support"') == fitted.n_support_
    assert "data:image/png" in text
    page.click("#copy-python")
    page.wait_for_selector("#script:not([hidden])")
    assert "SVC(" in page.input_value("#script")


def test_a_phone(opened):
    page = opened(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.touchscreen.tap(*at(page, -0.9, 0.9))
    settled(page)
    assert n_points(page) == 121
    page.check("#compare")
    settled(page, "B")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    shot(page, "phone")


def two_panes(page):
    page.check("#compare")
    settled(page, "B")
    page.wait_for_function("() => document.querySelector('.differ-words').textContent")


def certificate(page):
    page.click(".pane[data-pane=A] .certificate-box summary")
    page.wait_for_selector(".pane[data-pane=A] .statement")
    page.click(".pane[data-pane=A] .parameters summary")


def replaying(page):
    page.click(".pane[data-pane=A] .replay-open")
    page.wait_for_selector(".pane[data-pane=A][data-frame='0']")


def upload(page, name, text):
    table = {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
    page.set_input_files("#open-csv", files=[table])


def a_table(page):
    text = "long,wide,deep,kind\n" + "".join(
        f"{i % 7},{i % 5},{i % 3},{i % 2}\n" for i in range(30)
    )
    upload(page, "a.csv", text)
    page.wait_for_selector("#table-choice select")


def nothing_to_fit(page):
    page.click("#clear")
    page.wait_for_selector(".pane[data-pane=A] .problem:not([hidden])")


STATES = (two_panes, certificate, replaying, a_table, nothing_to_fit)


@pytest.mark.parametrize("width", [390, 1280])
def test_an_accessibility_checker_finds_nothing_serious(opened, serious, width):
    """In every state of the page, one added to the other, light and dark."""
    page = opened("#preset=three&A=SVC", viewport={"width": width, "height": 900})
    for state in STATES:
        state(page)
        for look in ("light", "dark"):
            page.select_option("#look", look)
            settled(page) if state is not nothing_to_fit else None
            assert not serious(page), (state.__name__, look)
            if state is replaying:  # a changed look is a new fit
                break
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        shot(page, f"state-{state.__name__}-{width}")


def test_light_or_dark_is_chosen_and_kept(opened):
    page = opened(color_scheme="dark")
    back = "getComputedStyle(document.body).backgroundColor"
    pixel = (
        "Array.from(document.querySelector('.plane canvas').getContext('2d')"
        ".getImageData(5, 5, 1, 1).data)"
    )
    seen = {}
    for look in ("system", "light", "dark"):
        page.select_option("#look", look)
        settled(page)
        seen[look] = page.evaluate(back), page.evaluate(pixel)
    shot(page, "dark")
    assert seen["system"] == seen["dark"] != seen["light"]
    page.select_option("#look", "light")
    page.reload()
    page.wait_for_selector("body[data-ready=true]")
    assert page.evaluate(back) == seen["light"][0]
    assert page.input_value("#look") == "light"


def test_the_replays_of_a_support_vector_machine(opened):
    page = opened("#preset=overlap&size=60&A=SVC&A.C=10")
    replaying(page)
    page.locator(".pane[data-pane=A] .replay-at").fill("12")
    words = pane(page).locator(".replay-words")
    count = int(re.search(r"working set, (\d+) point", words.inner_text())[1])
    assert pane(page).locator(".point.lit").count() == count
    page.select_option(".pane[data-pane=A] .replay-kind", "steps")
    page.wait_for_function(
        "() => document.querySelector('.replay-words').textContent.startsWith('After 1 step')"
    )
    page.click(".pane[data-pane=A] .replay-next")
    assert pane(page).locator(".point.lit").count() == 2
    gaps = re.findall(r"[\d.e-]+\d", pane(page).locator(".gap svg").get_attribute("aria-label"))
    assert float(gaps[1]) > 0.5 > 1e-3 > float(gaps[2])
    shot(page, "steps")


@pytest.mark.parametrize(
    "fragment",
    ["#preset=constructor", "#preset=rings&size=1e9&noise=-3", "#points=AAAA&preset=xor&size=-5",
     "#A=SVC&A.C=abc&B=__proto__&%ff&&=="],
)  # fmt: skip
def test_odd_links(opened, fragment):
    """They end in a picture or a sentence."""
    page = opened(fragment, fitted=False)
    page.wait_for_function(
        "() => document.querySelector('.time').textContent"
        " || !document.querySelector('.problem').hidden"
    )
    assert n_points(page) <= 1000


def test_a_file_that_is_too_large(opened, tmp_path):
    (tmp_path / "big.csv").write_bytes(b"a,b\n" * 2_000_000)
    page = opened()
    page.set_input_files("#open-csv", str(tmp_path / "big.csv"))
    page.wait_for_function(
        "() => document.querySelector('#away-words').textContent.includes('has 8 MB')"
    )
    assert n_points(page) == 120


def test_a_table_that_cannot_be_read_changes_nothing(browser, address):
    page = browser.new_page(viewport={"width": 1300, "height": 1000})
    page.goto(address)
    page.wait_for_selector("body[data-ready=true]")
    settled(page)
    a_table(page)
    upload(page, "a.csv", "")
    page.wait_for_function(
        "() => document.querySelector('#away-words').textContent.includes('there is no table')"
    )
    page.select_option("[data-column=x]", "deep")
    page.wait_for_function("() => document.querySelector('#count').textContent.includes('deep')")
    page.context.close()


def test_a_table_is_undone_with_its_names(opened):
    page = opened("#preset=three")
    a_table(page)
    settled(page)
    assert "across: first principal component" in page.inner_text("#count")
    page.click("#undo")
    assert page.inner_text("#count") == "120 points (40 + 40 + 40)"
    assert page.locator("#table-choice").is_hidden()
    page.click("#redo")
    assert "across: first principal component" in page.inner_text("#count")
    assert page.locator("#table-choice").is_visible()
    page.select_option("#preset", "xor")
    assert page.inner_text("#count") == "120 points (60 + 60)"
    assert page.locator("#table-choice").is_hidden()


def test_a_table_of_many_quotes(opened):
    """Written in JSON it is half as large again."""
    page = opened()
    upload(page, "quoted.csv", "a,b,kind\n" + '"1","2","x"\n"3","4","y"\n' * 240_000)
    page.wait_for_function(
        "() => document.querySelector('#table-choice').textContent.includes('of 480,000 rows')"
    )


def test_a_fit_that_takes_too_long_is_asked_for_again(browser, address):
    """The first since the installation is compiled."""
    page = browser.new_page()
    late = {"error": "this took more than 10 seconds"}
    answers = iter([late, late])

    def slow_at_first(route):
        found = next(answers, None)
        route.continue_() if found is None else route.fulfill(status=503, json=found)

    page.route("**/fit", slow_at_first)
    page.goto(address)
    page.wait_for_selector("body[data-ready=true]")
    settled(page)
    assert pane(page).locator(".problem").is_hidden()
    assert int(pane(page).get_attribute("data-support")) > 2
    page.context.close()


def test_the_keyboard(opened):
    page = opened()
    page.click("#clear")
    page.focus(".pane[data-pane=A] .plane svg")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    page.keyboard.press("2")
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    settled(page)
    assert n_points(page) == 2
    assert pane(page).get_attribute("data-support") == "2"
    page.keyboard.press("Delete")
    assert n_points(page) == 1
    page.wait_for_selector(".pane[data-pane=A] .problem:not([hidden])")
