"""The README and the page Performance are what the results say, and the README's code runs."""

import json
import os
import re
import sys
from pathlib import Path

import pytest
from benchmarks import readme, readme_figures, readme_pages

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_pages_are_what_the_results_give():
    """Regenerate with `python -m benchmarks readme --render`."""
    for file, text in readme_pages.pages(readme.read(readme.RESULTS)).items():
        assert file.read_text(encoding="utf-8") == text, file


def test_an_edit_by_hand_is_seen():
    document = readme.read(readme.RESULTS)
    key = next(iter(readme_figures.HEADLINES))
    (document["measured"] or document["earlier"])["figures"][key]["ours"] = 12345.0
    texts = readme_pages.pages(document)
    for file in (readme_pages.README, readme_pages.PAGE):
        assert "12,300 s" in texts[file]
        assert "12,300 s" not in file.read_text(encoding="utf-8")


def test_the_readme_is_short_and_has_the_two_commands():
    assert len(README.splitlines()) < 130
    assert "\npip install . && largemargin train digits\n" in README
    assert '\npip install ".[test]" && pytest -n auto\n' in README


def test_the_code_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"^```python\n(.*?)^```", README, re.M | re.S)
    exec(code, {})
    accuracy, gap = map(float, capsys.readouterr().out.split())
    assert accuracy > 0.95
    assert gap < 1e-3
    assert (tmp_path / "digits.safetensors").exists()


def test_no_link_of_the_readme_is_broken():
    links = re.findall(r"\]\(([^)#:]+)\)|(?:src|srcset)=\"([^\"]+)\"", README)
    assert len(links) > 20
    assert [a or b for a, b in links if not (ROOT / (a or b)).exists()] == []


def test_every_figure_has_a_place():
    keys = list(readme_figures.figure_keys())
    assert len(set(keys)) == len(keys)
    assert {*readme_figures.CURVE, *readme_figures.HEADLINES} <= set(keys)
    assert {key.split("/")[0] for key in keys} == set(readme.SECTIONS)
    parts = {f"{section}/{part}" for section in readme.SECTIONS
             for _, listed in readme.commands(section, everything=True)
             for part in listed.split()}  # fmt: skip
    assert {key.rpartition("/")[0] for key in keys} <= parts


ROWS = [
    {"part": "gaussian-60000", "machine": "largemargin", "rows": 60_000, "fit": 6.0, "predict": 2.0,
     "error": 0.01, "wrong": ""},
    {"part": "gaussian-60000", "machine": "scikit-learn", "rows": 60_000, "fit": 240.0,
     "predict": 80.0, "error": 0.01, "wrong": ""},
    {"part": "gaussian-60000", "machine": "aoclda", "rows": 60_000, "fit": 1.0, "predict": 1.0,
     "error": 0.4, "wrong": "error"},
    {"part": "gaussian-60000", "machine": "scikit-learn-intelex", "rows": 60_000,
     "missing": "over 9 s, stopped"},
    {"part": "path-10000", "figure": {"name": "path", "ours": 3.0, "unit": "s", "told": "",
                                      "peers": {"the dearest of the fits": 1.5}}},
]  # fmt: skip


def test_figures_of_rows():
    found = readme_figures.figures_of("svm", ROWS, "python -m benchmarks svm")
    fit = found["svm/gaussian-60000/fit"]
    assert (fit["peer"], fit["ratio"], fit["rows"]) == ("scikit-learn", 40.0, 60_000)
    assert fit["out"] == {
        "aoclda": "wrong: error", "scikit-learn-intelex": "over 9 s, stopped"
    }  # fmt: skip
    assert found["svm/path-10000/path"]["ratio"] == 2.0  # times as long as one fit
    assert all(figure["command"] == "python -m benchmarks svm" for figure in found.values())


def test_a_new_run_stands_beside_the_earlier_one():
    figures = readme_figures.figures_of("svm", ROWS, "python -m benchmarks svm")
    here = {**readme.machine(None), "commit": "abcdef", "processor": "Fast 9"}
    measured = {**here, "parts": {}, "figures": {}}
    readme.note(measured, "svm/gaussian-60000", 60.0, "python -m benchmarks svm", figures)
    today = measured["dates"][0]
    old = {"ours": 6.48, "unit": "s", "peers": {"scikit-learn": 272.2, "aoclda": 29.3},
           "out": {}, "peer": "aoclda", "ratio": 4.52, "date": "2026-11-16"}  # fmt: skip
    earlier = {
        "processor": "Slow 8", "cores": 2, "commit": "several commits",
        "dates": ["2026-11-15", "2026-11-17"], "figures": {"svm/gaussian-60000/fit": old},
    }  # fmt: skip
    page = readme_pages.page({"measured": measured, "earlier": earlier})
    assert f"on {today} at commit abcdef" in page
    assert "Fast 9" in page
    assert "40 times as fast" in page
    assert "6.48 s, 4.52 times as fast (2026-11-16)" in page
    shown = readme_pages.headlines({"measured": measured, "earlier": earlier})
    assert "| 6.00 s | 240 s, `scikit-learn` | **40 times as fast** |\n" in shown
    assert "several commits" not in shown
    other = {**earlier, "parts": {"svm/gaussian-60000": {}}}  # of one run
    shown = readme_pages.headlines({"measured": measured, "earlier": other})
    assert "| **40 times as fast** | 6.48 s, 42 times as fast (2026-11-16) |" in shown
    with pytest.raises(SystemExit, match="trial"):
        readme_pages.pages({"measured": {**measured, "trial_rows": 600}, "earlier": None})


def test_sections_are_merged_only_with_the_same_code_and_processor(tmp_path):
    file, here = tmp_path / "readme.json", readme.machine(None)
    fresh = readme.opened(file, here, alone=True)
    assert fresh["measured"]["figures"] == {}
    measured = {**here, "parts": {"lp/speed-400": {}}, "figures": {"lp/speed-400/fit": {}}}
    file.write_text(json.dumps({"measured": measured, "earlier": None}))
    assert readme.opened(file, here, alone=True)["measured"] == measured
    other = {**here, "commit": "another"}
    assert "another commit" in readme.opened(file, other, alone=True)
    assert readme.opened(file, other, alone=False)["earlier"] is None
    other = {**here, "processor": "another"}
    assert "another processor" in readme.opened(file, other, alone=True)
    assert readme.opened(file, other, alone=False)["earlier"] == measured


def test_a_run_that_was_stopped_goes_on(tmp_path, monkeypatch):
    """Parts that the file has are not run again, unless they are asked for."""
    file, ran = tmp_path / "readme.json", []

    def run(section, parts, options, rows):
        for part in parts:
            if stops and len(ran) == 2:
                raise KeyboardInterrupt
            ran.append(f"{section}/{part}")
            told = {"name": "fit", "ours": 1.0, "peers": {}, "unit": "s", "told": ""}
            yield {"part": part, "seconds": 1.0, "rows": [{"part": part, "figure": told}]}

    monkeypatch.setattr(readme, "run", run)
    monkeypatch.setattr(readme, "SECTIONS", {"lp": ("", "a b c"), "budget": ("", "d")})
    monkeypatch.setattr(readme, "LONG", {})
    stops = True
    with pytest.raises(KeyboardInterrupt):
        readme.main(["--output", str(file)])
    assert set(readme.read(file)["measured"]["parts"]) == {"lp/a", "lp/b"}
    stops = False
    assert readme.main(["--output", str(file)]) == 0
    assert ran == ["lp/a", "lp/b", "lp/c", "budget/d"]
    assert set(readme.read(file)["measured"]["figures"]) == {f"{part}/fit" for part in ran}
    assert readme.main(["budget", "--output", str(file)]) == 0
    assert ran[4:] == ["budget/d"]
    assert readme.main(["--output", str(file)]) == 0
    assert len(ran) == 5


@pytest.mark.full
@pytest.mark.skipif("LARGEMARGIN_DATA" not in os.environ, reason="set LARGEMARGIN_DATA")
def test_a_trial_run(tmp_path, monkeypatch):
    file = tmp_path / "readme.json"
    monkeypatch.setattr(sys, "stderr", sys.__stderr__)
    for section in ("lp", "interchange"):
        assert readme.main([section, "--rows", "300", "--output", str(file)]) == 0
    measured = readme.read(file)["measured"]
    assert {part.split("/")[0] for part in measured["parts"]} == {"lp", "interchange"}
    assert measured["figures"]["lp/speed-400/fit"]["peers"]["linprog"] > 0
