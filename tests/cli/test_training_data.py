"""A model from the command line knows its training data again, scaled or streamed."""

from pathlib import Path

import pytest

from largemargin import load
from largemargin.data import read

from .conftest import table

THEORY = "What the theory says about this model"
NOT_THE_ROWS = "not the rows that the model was trained on"


def known(file, data):
    """Whether a model file was trained on a data file, as its certificate says."""
    model, data = load(file), read(data)
    X = data.X
    if hasattr(model, "steps"):  # what a scaler makes of rows is the same in bits as in training
        X, model = model[:-1].transform(X), model[-1]
    found = model.certificate(X, data.y, leave_one_out=False)
    return found["VC bound"].assumptions[0].holds


def test_the_page_of_a_model_beside_its_data(run, animals, tmp_path):
    options = ("--model", "max-margin-hyperplane", "--scale", "standard")
    assert run("train", animals, *options, "-q", "-o", "m").exit_code == 0
    assert known("m", animals) is True
    assert run("report", "m", animals, "-o", "a.html").exit_code == 0
    html = Path("a.html").read_text()
    assert THEORY in html
    assert NOT_THE_ROWS not in html
    other = table(tmp_path / "other.csv", seed=1)
    assert run("report", "m", animals, "--training", other, "-o", "b.html").exit_code == 0
    assert NOT_THE_ROWS in Path("b.html").read_text()


@pytest.mark.parametrize(
    "options",
    [
        ("--model", "svc", "--scale", "minmax", "--cv", "C=0.1,1"),
        ("--model", "mira", "--stream", "--chunk", 7),
    ],
    ids=str,
)
def test_a_search_and_a_stream(run, animals, options, tmp_path):
    assert run("train", animals, *options, "-q", "-o", "m").exit_code == 0
    assert known("m", animals) is True
    assert known("m", table(tmp_path / "other.csv", seed=1)) is False


def test_a_page_calls_training_rows_what_they_are(run, animals, tmp_path):
    assert (
        run("train", animals, "--model", "svc", "--scale", "standard", "-q", "-o", "m").exit_code
        == 0
    )
    lines = Path(animals).read_text().splitlines()
    renamed, changed = tmp_path / "renamed.csv", tmp_path / "new" / Path(animals).name
    renamed.write_text("\n".join(lines))
    changed.parent.mkdir()
    changed.write_text("\n".join([lines[0], *reversed(lines[1:])]))
    pages = {}
    for name, data in {"same": animals, "renamed": renamed, "changed": changed}.items():
        assert run("report", "m", data, "-o", "page.html").exit_code == 0
        pages[name] = Path("page.html").read_text()
    for name in ("same", "renamed"):
        assert "Training error" in pages[name]
        assert THEORY in pages[name]
        assert "The true error lies between" not in pages[name]
        assert NOT_THE_ROWS not in pages[name]
    assert "Test error" in pages["changed"]
    assert "drawn independently and not trained on" in pages["changed"]
    assert "is not what the model was trained on: these are not the rows" in pages["changed"]
    assert THEORY not in pages["changed"]


def test_what_is_wrongly_named_is_no_training_set(run, animals, tmp_path):
    assert run("train", animals, "--model", "svc", "-q", "-o", "m").exit_code == 0
    one, other = (table(tmp_path / f"{k}.csv", seed=k) for k in (1, 2))
    assert run("report", "m", one, "--training", other, "-o", "page.html").exit_code == 0
    html = Path("page.html").read_text()
    assert "On the training set the error is" not in html
    assert f"{other.name} is not what the model was trained on" in html
