"""The page of every family of machines in a real browser: wide and small, light and dark."""

import os

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, make_blobs, make_classification, make_moons
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import largemargin as lm
from largemargin.report import fit_report
from largemargin.tables import TablePreprocessor

pytestmark = pytest.mark.browser

SHOTS = os.environ.get("LARGEMARGIN_SHOTS")  # a folder for pictures to look at
WIDTHS, SCHEMES = (1280, 390), ("light", "dark")
JUDGED = ((1280, "light"), (390, "dark"))  # by axe: each width and each scheme once


def halves(X, y):
    return X[::2], y[::2], X[1::2], y[1::2]


def two_columns():
    return lm.SVC(C=10), halves(*make_moons(200, noise=0.25, random_state=0))


def pictures():
    X, y = load_digits(return_X_y=True)
    return lm.SVC(kernel="linear"), halves(X[:600] / 16, y[:600])


def perceptron():
    X, y = load_digits(return_X_y=True)
    return lm.VotedPerceptron(epochs=2), halves(X[:600] / 16, y[:600])


def boosting():
    return lm.AdaBoost(n_rounds=20), halves(*make_classification(200, 30, random_state=0))


def linear():
    X, y = load_iris(return_X_y=True)
    names = np.array(["Iris setosa", "Iris versicolor", "Iris virginica"])
    return make_pipeline(StandardScaler(), lm.MaxMarginHyperplane()), halves(X, names[y])


def linear_program():
    return lm.LPSVC(), halves(*make_classification(80, 6, random_state=2))


def network():
    return lm.RBFNetwork(n_centers=4, random_state=0), halves(*make_blobs(90, 3, random_state=0))


def stream():
    return lm.MIRA(budget=30), halves(*make_classification(300, 8, random_state=1))


def imbalanced():
    return lm.SVC(), halves(*make_classification(400, 8, weights=[0.93], random_state=1))


def many_classes():
    X, y = make_blobs(780, 6, centers=26, cluster_std=3.0, random_state=0)
    return lm.SVC(), halves(X, np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))[y])


def searched():
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1]}
    return GridSearchCV(lm.SVC(), grid, cv=2), halves(*make_classification(120, 5, random_state=0))


def mixed_columns():
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(200) < 0.1, np.nan, rng.integers(18, 80, 200)),
            "town": rng.choice(["Basel", "Bern", "Chur"], 200),
            "a column with a name that is rather long for a telephone": rng.normal(size=200),
        }
    )
    y = np.where((frame["town"] == "Bern") | (frame["age"] > 60), "buys it", "leaves")
    model = make_pipeline(TablePreprocessor(), lm.SVC())
    return model, (frame[::2], y[::2], frame[1::2], y[1::2])


FAMILIES = (
    two_columns, pictures, perceptron, boosting, linear, linear_program, network, stream,
    imbalanced, many_classes, searched, mixed_columns,
)  # fmt: skip


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A page of each family, one without rows to test on, and one of an outlier detector."""
    folder = tmp_path_factory.mktemp("pages")
    for family in FAMILIES:
        model, (X, y, X_test, y_test) = family()
        report = fit_report(model.fit(X, y), X_test, y_test, X, y, name=family.__name__)
        report.save(folder / f"{family.__name__}.html")
    X, y = make_moons(60, random_state=0)
    fit_report(lm.NuSVC(nu=0.2).fit(X, y), X_train=X, y_train=y).save(folder / "untested.html")
    fit_report(lm.OneClassSVM(nu=0.2).fit(X), X_train=X).save(folder / "detector.html")
    return folder


@pytest.fixture(scope="module")
def page(browser):
    found = browser.new_page()
    yield found
    found.close()


NAMES = [*(family.__name__ for family in FAMILIES), "untested", "detector"]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_in_a_browser(pages, page, name):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    troubles, file = [], pages / f"{name}.html"
    note_console = lambda m: m.type in ("error", "warning") and troubles.append(m.text)  # noqa: E731
    note_request = lambda r: r.url.startswith("data:") or troubles.append(r.url)  # noqa: E731
    page.on("console", note_console)
    page.goto(file.as_uri())
    page.on("request", note_request)
    assert file.stat().st_size < 300_000
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            if SHOTS:
                page.screenshot(path=f"{SHOTS}/{name}-{width}-{scheme}.png", full_page=True)
            if (width, scheme) in JUDGED:
                found = axe.run(page, options={"resultTypes": ["violations"]}).response
                serious = [
                    v["id"] for v in found["violations"] if v["impact"] in ("serious", "critical")
                ]
                assert serious == [], (width, scheme)
    page.remove_listener("console", note_console)
    page.remove_listener("request", note_request)
    assert troubles == []


def test_counts_or_rates_without_a_script(pages, page):
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto((pages / "pictures.html").as_uri())
    cell = page.locator("table.confusion td.hit").first
    assert cell.inner_text().isdigit()
    page.get_by_label("Percent of the true class").check()
    assert "." in cell.inner_text()
    page.goto((pages / "many_classes.html").as_uri())
    assert page.locator("svg.matrix text.count").first.is_visible()
    page.get_by_label("Percent of the true class").check()
    assert not page.locator("svg.matrix text.count").first.is_visible()


def test_a_table_of_which_there_is_more_has_a_shade_at_its_edge(pages, page):
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto((pages / "many_classes.html").as_uri())
    classes = page.get_by_label("Each class")
    shade = "e => getComputedStyle(e).boxShadow"
    assert "inset" in classes.evaluate(shade)
    classes.evaluate("e => { e.scrollTop = e.scrollHeight }")
    gone = "e => /none|, 0\\) 0px/.test(getComputedStyle(e).boxShadow)"
    page.wait_for_function(gone, arg=classes.element_handle())
    page.goto((pages / "linear.html").as_uri())
    assert page.get_by_label("Each class").evaluate(shade) == "none"


def test_no_line_of_code_is_cut(pages, page):
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto((pages / "two_columns.html").as_uri())
        wide = "all => all.filter(e => e.scrollWidth > e.clientWidth).length"
        assert page.locator("pre").count() == 2
        assert page.locator("pre").evaluate_all(wide) == 0


def test_what_does_not_apply_opens(pages, page):
    page.goto((pages / "two_columns.html").as_uri())
    inside = page.locator(".errors details li").first
    assert not inside.is_visible()
    page.locator(".errors details summary").click()
    assert inside.is_visible()
