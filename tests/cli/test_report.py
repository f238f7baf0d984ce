"""`report`, `train --report`, `evaluate --report` and `compare` as commands."""

import json
import re
import shlex
from html import unescape
from pathlib import Path

import pytest

from largemargin import load, save

from .conftest import table


def test_report_of_a_data_set_with_a_test_set(run):
    made = run("train", "digits", "--model", "svc", "--report", "train.html", "-o", "d.model")
    assert made.exit_code == 0
    assert "report written to train.html" in made.stderr
    for file, command in {
        "report.html": ("report", "d.model", "digits", "-o", "report.html"),
        "evaluate.html": ("evaluate", "d.model", "digits", "--report", "evaluate.html"),
    }.items():
        assert run(*command).exit_code == 0
        html = Path(file).read_text()
        for text in ("SVC on digits", "Test error", "duality gap", "<img",
                     "1,347 rows of 64 features", "rbf, gamma scale", "xi-alpha"):  # fmt: skip
            assert text in html, text
    assert "Test error" in Path("train.html").read_text()


def test_report_of_files(run, animals, model, tmp_path):
    # the file that it was trained on: no test
    assert run("report", model, animals).exit_code == 0
    html = Path(f"{model}.html").read_text()
    assert "Training error" in html
    assert "What the theory says about this model" in html
    assert '<th scope="col">length</th>' in html
    # another file: no certificate, unless the training set is named
    other = table(tmp_path / "other.csv", seed=1)
    assert run("report", model, other, "-o", "a.html").exit_code == 0
    assert "A certificate needs the rows" in Path("a.html").read_text()
    assert run("report", model, other, "-o", "a.html", "--training", animals).exit_code == 0
    html = Path("a.html").read_text()
    assert "Test error" in html
    assert "What the theory says about this model" in html


def test_report_after_scaling_and_search(run, animals):
    options = ("--model", "svc", "--scale", "standard", "--cv", "C=0.1,1,10", "--label", "kind")
    assert run("train", animals, *options, "-q", "--report", "a.html").exit_code == 0
    html = Path("a.html").read_text()
    assert "Path over C" in html
    assert "StandardScaler" in html
    assert "--label kind" in html


def test_the_command_of_a_page_makes_it_again(run, animals):
    """With every option that was given, in the form in which it is given."""
    options = ("--model", "voted-perceptron", "--cv", "degree=1,2", "--cv", "epochs=1,2")
    flags = ("--no-shuffle", "--normalize", "--scoring", "balanced", "--label", "kind")
    assert run("train", animals, *options, *flags, "-q", "--report", "a.html").exit_code == 0
    (told,) = re.findall("<code>largemargin (.*?)</code>", Path("a.html").read_text())
    words = shlex.split(unescape(told))
    assert words.count("--cv") == 2
    assert {"--no-shuffle", "--normalize", "balanced"} <= {*words}
    assert run(*words, "-q").exit_code == 0
    again = Path("a.html").read_text()
    assert told in again


def test_report_of_a_stream(run, animals, tmp_path):
    later = table(tmp_path / "later.csv", seed=1)
    options = ("--model", "mira", "--stream", "--chunk", 7, "--test", later)
    assert run("train", animals, *options, "-o", "m", "--report", "a.html").exit_code == 0
    html = Path("a.html").read_text()
    assert 'id="cache"' in html
    assert "A certificate needs the rows" in html
    assert run("report", "m", animals, "-o", "b.html").exit_code == 0
    assert "cache bound" in Path("b.html").read_text()


def test_bad_reports(fails, animals, model, tmp_path, monkeypatch):
    assert "another one" in fails("train", animals, "-o", "x", "--report", "x")
    assert "no-folder" in fails("train", animals, "--report", "no-folder/x.html")
    assert "no-folder" in fails("report", model, animals, "-o", "no-folder/x.html")
    assert "name that too" in fails("evaluate", model, animals, "--training", animals)
    stream = ("--model", "mira", "--stream", "--report", "x.html")
    line = fails("train", animals, *stream)
    assert "--test" in line
    assert "largemargin report MODEL DATA" in line
    strange = table(tmp_path / "strange.csv", labels=("ant", "bee", "dog"))
    line = fails("report", model, animals, "--training", strange)
    assert "labels that the model does not know" in line
    assert "features" in fails("report", model, "digits")
    fewer = table(tmp_path / "fewer.csv", n=10)
    line = fails("report", model, animals, "--training", fewer)
    assert "has 10 rows, and the model was trained on" in line
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    assert 'pip install "largemargin[report]"' in fails("report", model, animals)


def test_compare(run, animals):
    command = ("compare", animals, "--only", "svc,perceptron", "--report", "c.html")
    found = run(*command, "--json", "--folds", 2, "--max-seconds", 60)
    assert found.exit_code == 0
    assert json.loads(found.stdout)["guess_error"] == pytest.approx(2 / 3)
    results = json.loads(found.stdout)["results"]
    assert {(r["library"], r["name"]) for r in results} == {
        ("largemargin", "SVC"), ("scikit-learn", "SVC"), ("scikit-learn", "Perceptron"),
    }  # fmt: skip
    assert all(r["error"]["rows"] == 24 and not r["trouble"] for r in results)
    page = Path("c.html").read_text()
    assert "--only svc,perceptron --kernel rbf --scale minmax --max-seconds 60 --folds 2" in page
    assert re.search("^[123] of 3: Perceptron .scikit-learn.$", found.stderr, re.M)
    assert "3 machines on" in Path("c.html").read_text()
    shown = run("compare", animals, "--only", "perceptron", "--folds", 2, "-q")
    assert "66 rows of 3 features to train on, 24 to test on (held out)" in shown.stdout
    assert "(always answering ant)" in shown.stdout
    assert "warning" not in shown.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--only", "forest"), "there is no machine 'forest'"),
        (("--kernel", "cosine"), "kernel must be one of"),
        (("--scale", "log"), "scale must be one of"),
        (("--max-seconds", "-1"), "max_seconds must be a positive number"),
        (("--folds", "1"), "folds must be at least 2"),
        (("--report", "no-folder/c.html"), "no-folder"),
    ],
)
def test_bad_comparisons(fails, animals, options, message):
    assert message in fails("compare", animals, *options)


def test_nothing_to_compare(fails, tmp_path):
    lonely = table(tmp_path / "lonely.csv", labels=("ant",))
    assert "only one class" in fails("compare", lonely)
    assert "nowhere.csv" in fails("compare", "nowhere.csv")


NOTES = [
    {"rows": "many"},
    {"seconds": "a day"},
    {"warnings": 5},
    {"versions": "1.2"},
    {"feature_names": 5},
    {"feature_names": ["length"] * 9},
    {"cv": "5 folds"},
    {"cv": {"table": []}},
    {"cv": {"table": [{"parameters": {"C": 1}}], "chosen": {"C": 1}, "folds": 5}},
]


@pytest.mark.parametrize("info", NOTES)
def test_notes_of_any_shape_in_a_model_file(run, animals, model, info):
    save(load(model), "noted.model", info=info)
    assert run("report", "noted.model", animals, "-o", "a.html").exit_code == 0
    assert run("inspect", "noted.model").exit_code == 0
    assert run("evaluate", "noted.model", animals).exit_code == 0


def test_support_vectors_have_labels_only_of_their_own_training_set(run, animals, model, tmp_path):
    save(load(model), "noted.model")
    others = [table(tmp_path / f"other-{n}.csv", n=n, seed=1) for n in (10, 90)]
    for training, known in [(animals, True), *((other, False) for other in others)]:
        options = ("--training", training, "-o", "a.html")
        assert run("report", "noted.model", others[1], *options).exit_code == 0
        kept = Path("a.html").read_text().split('<h2 id="kept">')[1]
        assert ('<th scope="row">row ' not in kept) == known
