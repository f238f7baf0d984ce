"""What the page of a fit is made of: pictures, charts, the choice of examples."""

import io
import math
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from largemargin.certificates.certificate import Statement
from largemargin.report import charts
from largemargin.report.charts import Curve, Histogram, LineChart, linear_ticks
from largemargin.report.fit import examples
from largemargin.report.fit.curves import margin_histogram
from largemargin.report.fit.examples import album_of, hard_gallery, wrong_gallery
from largemargin.report.fit.outcome import Outcome, Rows, confusion_matrix, margins_of
from largemargin.report.fit.page import stated
from largemargin.report.fit.search import search_chart
from largemargin.report.templates import figure


@pytest.mark.parametrize("ink", [False, True])
def test_png_holds_the_pixels(ink):
    from PIL import Image

    pixels = np.random.default_rng(0).integers(0, 256, (5, 7)).astype(np.uint8)
    picture = Image.open(io.BytesIO(examples.encode_png(pixels, ink=ink)))
    read = np.asarray(picture)
    assert np.array_equal(read[..., 1] if ink else read, pixels)
    assert not ink or not read[..., 0].any()


def images(n=50, side=8, seed=0):
    blocks = np.random.default_rng(seed).integers(0, 2, (n, side // 4, side // 4))
    return np.kron(blocks, np.ones((1, 4, 4))).reshape(n, side * side)


def test_pictures_are_told_from_tables():
    assert album_of(images()).side == 8
    assert album_of(sp.csr_matrix(images())).side == 8
    assert album_of(images()).ink
    noise = np.random.default_rng(0).normal(size=(50, 64))
    assert album_of(noise).side == 0
    assert album_of(images()[:, :63]).side == 0
    assert album_of(np.ones((5, 64))).side == 0
    assert album_of(np.random.default_rng(0).normal(size=(50, 16))).side == 0


def test_margins_by_definition():
    scores = np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0], [1.0, 1.0, 0.0]])
    truth = np.array([0, 2, -1])
    assert margins_of(scores, truth).tolist() == [1.0, -1.0, -math.inf]
    assert margins_of(np.array([2.0, -3.0]), np.array([0, 0])).tolist() == [-2.0, 3.0]


def test_confusions_by_counting():
    truth, predicted = np.array([0, 0, 1, 2, -1]), np.array([0, 1, 1, 0, 2])
    assert confusion_matrix(truth, predicted, 3).tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 0]]


def outcome(margins, X=None):
    margins = np.array(margins, float)
    truth = np.ones(len(margins), int)
    rows = Rows("rows", np.zeros((len(margins), 2)) if X is None else X, truth)
    return Outcome(rows, (margins > 0).astype(int), margins, 0.0)


def test_examples_are_in_order():
    found = outcome([0.5, -3.0, -0.1, 4.0, -1.0])
    album = album_of(found.rows.X)
    wrong = wrong_gallery(album, found, ["no", "yes"])
    assert [e.where for e in wrong.examples] == ["row 1", "row 4", "row 2"]
    assert wrong.examples[0].caption == "yes taken for no"
    hard = hard_gallery(album, found, ["no", "yes"])
    assert [e.where for e in hard.examples] == ["row 2", "row 0", "row 4", "row 1", "row 3"]
    assert wrong_gallery(album, outcome([1.0, 2.0]), ["no", "yes"]) is None


def test_histogram_keeps_errors_apart():
    margins = np.r_[np.linspace(0.1, 3, 400), -0.05]
    chart = margin_histogram(outcome(margins), outcome([1.0, 2.0]))
    below = [
        share for share, edge in zip(chart.bars, chart.edges[1:], strict=False) if edge <= 1e-9
    ]
    assert sum(below) == pytest.approx(1 / 401)
    assert sum(chart.bars) == pytest.approx(1)
    assert sum(chart.outline) == pytest.approx(1)
    assert 'class="bar wrong"' in charts.draw(chart)


@pytest.mark.parametrize("margins", [[0.0], [1.0], [-1.0, -2.0], [0.0, 0.0, 1e-300], [-1e9, 1e-9]])
def test_histograms_of_odd_margins_are_drawn(margins):
    chart = margin_histogram(outcome(margins), None)
    assert sum(chart.bars) == pytest.approx(1)
    ET.fromstring(charts.draw(chart))


@pytest.mark.parametrize(
    "curve",
    [
        Curve("one point", (1.0,), (0.0,)),
        Curve("flat", (1.0, 2.0, 3.0), (0.0, 0.0, 0.0)),
        Curve("wide", (1e-6, 1e6), (1.0, 2.0), spread=(0.5, 0.1)),
        Curve("from zero", (0.0, 10.0), (1.0, 2.0), marks=True),
    ],
)
@pytest.mark.parametrize("log", [False, True])
def test_odd_curves_are_drawn_within_the_picture(curve, log):
    drawn = charts.draw(LineChart("c", "t", "x < y", "y", (curve,), "says <this>", log_x=log))
    root = ET.fromstring(drawn)
    places = [float(c.get("cx")) for c in root.iter("circle")]
    assert len(places) == len(curve.x)
    assert all(0 <= x <= charts.WIDTH for x in places)
    assert root.find("title").text == "says <this>"


def test_a_search_over_words_has_no_curve():
    table = [{"parameters": {"kernel": k}, "mean": 0.1, "spread": 0.0} for k in ("rbf", "poly")]
    assert search_chart({"table": table, "chosen": table[0]["parameters"], "folds": 5}) is None


def test_bounds_are_rounded_up():
    numbers = np.random.default_rng(0).random(200)
    assert all(float(figure(value, 3, "above")) >= value for value in numbers)
    assert figure(0.5, side="above") == "0.5"
    assert figure(math.inf, side="above") == "inf"
    assert figure(0.1, side="above") == "0.1"


def test_the_number_of_any_theorem_is_rounded_up():
    always = Statement("mistake bound", 81312.3, "At most ...", "theorem 1", "always")
    assert stated(always) == "81,320"
    assert stated(replace(always, kind="measured")) == "81,310"
    assert stated(replace(always, bounds_error=True)) == "over 1,000"
    assert stated(replace(always, bounds_error=True, value=12.3)) == "12.3"


def test_ticks_are_round_and_inside():
    assert linear_ticks(-0.3, 1.1) == [-0.2, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert linear_ticks(5.0, 5.0) == [5.0]
    assert isinstance(Histogram("h", "", "", "", (0.0, 1.0), (1.0,), (), (), "").as_json(), dict)
