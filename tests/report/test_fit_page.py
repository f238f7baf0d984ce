"""The page of a fit, for every estimator, in a real browser; and what it must say."""

import re

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import largemargin
from largemargin.certificates import Assumption, Certificate, Statement
from largemargin.certificates.certificate import not_applicable
from largemargin.compare.candidates import our_classes
from largemargin.compare.page import render as compared
from largemargin.compare.results import Certified, Comparison, Result
from largemargin.report.fit.fit_report import describe_fit
from largemargin.report.fit.outcome import Rows
from largemargin.report.fit.page import render
from largemargin.report.intervals import ErrorRate

QUICK = {"AdaBoost": {"n_rounds": 20}, "VotedPerceptron": {"epochs": 3}}


def fitted(name, data):
    model = getattr(largemargin, name)(**QUICK.get(name, {}))
    return model.fit(*data)


def page_of(model, training, test, **more):
    rows = [None if part is None else Rows(name, *part) for name, part in
            (("training set", training), ("test set", test))]  # fmt: skip
    return render(describe_fit(model, training=rows[0], test=rows[1], **more))


@pytest.mark.parametrize("name", our_classes())
def test_every_estimator_has_a_page_that_renders(name, visit, three_digits, tmp_path):
    training, test = three_digits
    model = fitted(name, training)
    file = tmp_path / "page.html"
    file.write_text(page_of(model, training, test, info={"data": "three digits"}))
    for width, dark in ((390, False), (1200, True)):
        seen = visit(file, width=width, dark=dark)
        assert seen.complaints == []
        # the page itself, and the pictures that it holds: nothing from anywhere else
        others = [url for url in seen.requests if not url.startswith("data:")]
        assert others == [file.as_uri()]
        assert seen.width <= width  # nothing is cut off on a phone
        assert seen.broken_pictures == seen.unnamed_pictures == 0
    wrong = int((model.predict(test[0]) != test[1]).sum())
    assert f"{wrong} of 80 rows wrong" in seen.text
    assert f"{name} on three digits" in seen.text
    for heading in ("Confusions", "Margins", "Certificate", "Hardest", "Timings"):
        assert heading in seen.text


def test_dark_and_light_differ(visit, three_digits, tmp_path):
    training, test = three_digits
    file = tmp_path / "page.html"
    file.write_text(page_of(fitted("SVC", training), training, test))
    light, dark = (visit(file, dark=dark).screenshot for dark in (False, True))
    assert light != dark


def test_the_browser_test_can_fail(visit, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(
        '<div style="width: 600px">x</div><script>undefined_name()</script>'
        '<img src="data:,nothing"><img src="file:///nowhere.png" alt="lost">'
    )
    seen = visit(file, width=390)
    assert seen.complaints
    assert "file:///nowhere.png" in seen.requests
    assert seen.width > 390
    assert (seen.broken_pictures, seen.unnamed_pictures) == (2, 1)


@pytest.fixture(scope="module")
def machine(three_digits):
    training, test = three_digits
    return make_pipeline(MinMaxScaler(), largemargin.SVC()).fit(*training), training, test


def test_numbers_on_the_page_are_those_of_the_model(machine):
    model, training, test = machine
    report = describe_fit(model, training=Rows("a", *training), test=Rows("b", *test))
    wrong = model.predict(test[0]) != test[1]
    assert (report.error.errors, report.error.rows) == (wrong.sum(), 80)
    assert report.training_error.errors == (model.predict(training[0]) != training[1]).sum()
    assert np.sum(report.confusion.counts) == 80
    assert np.trace(report.confusion.counts) == 80 - wrong.sum()
    assert report.guessing == pytest.approx(1 - np.bincount(test[1]).max() / 80)
    scaled = model[:-1].transform(training[0])
    assert report.certificate == model[-1].certificate(scaled, training[1])
    kept = next(g for g in report.galleries if g.id == "kept")
    assert f"{model[-1].n_support_} training examples" in kept.note
    # the largest weights, of rows with their own labels
    weights = np.abs(model[-1].dual_coef_).max(axis=0)
    first = model[-1].support_[np.argmax(weights)]
    assert kept.examples[0].where == f"training row {first}"
    assert kept.examples[0].caption == str(training[1][first])


def test_without_a_test_the_page_says_so(machine):
    model, training, test = machine
    html = page_of(model, training, None)
    assert "Training error" in html
    assert "says little about new rows" in html
    html = page_of(model, None, test)
    assert "Test error" in html
    assert "A certificate needs the rows" in html
    with pytest.raises(ValueError, match="needs labelled rows"):
        describe_fit(model)


def test_labels_are_escaped_and_unknown_ones_counted(three_digits):
    (X, y), _ = three_digits
    names = np.array(["<b>&zero", 'o"ne', "two"])[y]
    model = largemargin.SVC().fit(X, names)
    truth = np.searchsorted(model.classes_, names)
    truth[:2] = -1
    html = render(describe_fit(model, test=Rows("<file>", X, truth)))
    assert "<b>&zero" not in html
    assert "<file>" not in html
    assert "&lt;b&gt;&amp;zero" in html
    assert "2 rows have labels that the model does not know" in html


def test_certificate_says_vacuous_and_not_applicable(machine, monkeypatch):
    model, training, test = machine
    statements = (
        Statement("a bound", 0.12341, "It is 0.12341.", "theorem 1", "always", bounds_error=True),
        Statement("a vast bound", 3.0, "It says nothing.", "theorem 2", "probability",
                  (Assumption("rows are independent", None),), True, (1.0, 2.0)),
        not_applicable("another", "theorem 3", "expectation", "the kernel is not definite",
                       (Assumption("a definite kernel", False),)),
    )  # fmt: skip
    made = Certificate("SVC", 120, 0.05, statements)
    monkeypatch.setattr(type(model[-1]), "certificate", lambda self, X, y: made)
    html = page_of(model, training, test)
    assert '<div class="value">0.1235</div>' in html  # rounded up, not to the nearest
    assert html.count('<span class="badge vacuous">vacuous</span>') == 1
    assert html.count('<span class="badge">not applicable</span>') == 1
    assert "Not applicable: the kernel is not definite." in html
    assert "a definite kernel: <b>does not hold</b>" in html
    assert "rows are independent: <b>cannot be told from a fit</b>" in html
    assert "By problem: 1, 2" in html


def test_rows_that_are_no_pictures_are_shown_as_numbers():
    numbers = np.random.default_rng(0)
    X = numbers.normal(size=(60, 3))
    y = (X[:, 0] + 0.5 * numbers.normal(size=60) > 0).astype(int)
    model = largemargin.SVC(kernel="linear").fit(X, y)
    info = {"feature_names": ["length", "width", "height"]}
    html = page_of(model, None, (X, y), info=info)
    assert "<img" not in html
    assert re.search(r"<th scope=.col.>length</th><th scope=.col.>width</th>", html)


def test_a_kernel_matrix_has_no_pictures(three_digits):
    (X, y), _ = three_digits
    model = largemargin.SVC(kernel="precomputed").fit(X @ X.T, y)
    assert describe_fit(model, test=Rows("K", X @ X.T, y)).galleries == ()


def test_many_support_vectors_make_a_small_page(visit, tmp_path):
    n = 20_000
    numbers = np.random.default_rng(0)
    blocks = numbers.integers(0, 256, (n, 4, 4)).astype(np.float32) / 255
    X = np.kron(blocks, np.ones((1, 2, 2), np.float32)).reshape(n, 64)
    y = numbers.integers(0, 2, n)
    # with the linear kernel scores are quick, and a margin that large stores every example
    model = largemargin.AggressivePerceptron(kernel="linear", margin=1e9, policy="keep").fit(X, y)
    assert model.n_support_ == n
    file = tmp_path / "page.html"
    file.write_text(page_of(model, (X, y), (X[:500], y[:500])))
    assert file.stat().st_size < 5e6
    seen = visit(file)
    assert "20,000 training examples; a sample: the 48 of largest weight" in seen.text
    assert "the theorem is about policy='distill'" in seen.text
    assert seen.complaints == []


def test_a_search_is_shown(machine):
    model, _, test = machine
    table = [
        {"parameters": {"C": c, "gamma": g}, "mean": 0.1 / c + g, "spread": 0.01, "seconds": 0.5}
        for c in (0.1, 1.0, 10.0)
        for g in (0.01, 0.02)
    ]
    cv = {"table": table, "chosen": table[-2]["parameters"], "folds": 5}
    report = describe_fit(model, test=Rows("t", *test), info={"cv": cv})
    chart = next(c for c in report.charts if c.id == "search")
    assert chart.names == ("gamma 0.01", "gamma 0.02")
    assert chart.curves[0].x == (0.1, 1.0, 10.0)
    assert chart.curves[0].y == pytest.approx((101.0, 11.0, 2.0))
    html = render(report)
    assert html.count('<tr class="chosen">') == 1
    assert "the best is 2.00 %, with C 10, gamma 0.01" in html


def test_the_learning_curve_is_that_of_the_trace(three_digits):
    training, test = three_digits
    model = largemargin.VotedPerceptron(epochs=4).fit(*training)
    report = describe_fit(model, test=Rows("t", *test))
    chart = next(c for c in report.charts if c.id == "learning")
    assert chart.names == ("vote", "average", "last", "random")
    for name in ("vote", "average", "last"):
        curve = chart.curves[chart.names.index(name)]
        model.set_params(method=name)
        found = model.staged_predict(test[0], list(curve.x))
        assert curve.y == pytest.approx(tuple(100 * (found != test[1]).mean(axis=1)))


def test_the_cache_is_that_of_the_stream(three_digits):
    training, _ = three_digits
    model = largemargin.MIRA(budget=20).fit(*training)
    report = describe_fit(model, test=Rows("t", *training))
    (curve,) = next(c for c in report.charts if c.id == "cache").curves
    assert np.array_equal(np.column_stack([curve.x, curve.y]), model.cache_sizes_)


def test_intervals_cover():
    # the definition: the smallest rate under which so many errors or more have probability 2.5 %
    from scipy.stats import binom

    low, high = ErrorRate(6, 450).interval
    assert binom.sf(5, 450, low) == pytest.approx(0.025)
    assert binom.cdf(6, 450, high) == pytest.approx(0.025)
    assert ErrorRate(0, 10).interval[0] == 0.0
    assert ErrorRate(10, 10).interval[1] == 1.0
    assert str(ErrorRate(0, 100)) == "0.00 % (0.00 to 3.63)"


def test_the_page_of_a_comparison_renders(visit, tmp_path):
    good = Result("SVC", "largemargin", "SVC", chosen={"C": 10.0}, error=ErrorRate(3, 50),
                  support_vectors=1234, fit_seconds=0.5, predict_seconds=0.001, size=81_234,
                  certificate=Certified("xi-alpha", 0.25, "always", "At most 25 %."))  # fmt: skip
    bad = Result("SVC (scikit-learn)", "scikit-learn", "SVC", trouble="no result after 5 s")
    found = Comparison("data", 100, 50, 4, 2, True, "minmax", 3, 80, 0, 5.0, 2, 7.0, "a machine",
                       (bad, good))  # fmt: skip
    file = tmp_path / "page.html"
    file.write_text(compared(found, "largemargin compare data"))
    for width, dark in ((390, False), (1200, True)):
        seen = visit(file, width=width, dark=dark)
        assert seen.complaints == []
        assert [url for url in seen.requests if not url.startswith("data:")] == [file.as_uri()]
        assert seen.width <= width
    assert "0.25 (xi-alpha)" in seen.text
    assert "no result after 5 s" in seen.text
