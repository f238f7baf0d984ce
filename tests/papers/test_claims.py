"""What the committed results decide, and that the page says what counts as deciding it."""

import json
from pathlib import Path

import pytest

from largemargin.papers import PAPERS, rendering
from largemargin.papers.verdicts import error_noise, judge

RESULTS = Path(__file__).parents[2] / "docs" / "reproduction"


@pytest.mark.parametrize("paper", PAPERS)
def test_the_committed_judgement_is_that_of_the_code(paper):
    file = RESULTS / f"{paper}.json"
    assert json.loads(file.read_text())["judgement"] == judge(rendering.read(file)).as_json()


def test_the_noise_of_an_error():
    assert error_noise(50, 100) == pytest.approx(5.0)
    assert error_noise(0, 100) == 0


def test_a_difference_below_the_noise_decides_nothing():
    claims = judge(rendering.read(RESULTS / "cortes-vapnik.json")).claims
    (le_net,) = (claim for claim in claims if "LeNet1" in claim.text)
    assert le_net.words == "not decided"
    assert "standard error" in le_net.number


@pytest.mark.parametrize(
    ("paper", "words"),
    [
        ("freund-schapire", "up to 0.2 counts as alike"),
        ("cortes-vapnik", "a fifth less counts as much better"),
        ("adaptive-margin", "count as near"),
        ("budget", "up to 25 % more counts as near"),
    ],
)
def test_a_cut_off_is_said(paper, words):
    numbers = [claim.number for claim in judge(rendering.read(RESULTS / f"{paper}.json")).claims]
    assert any(words in number for number in numbers)
