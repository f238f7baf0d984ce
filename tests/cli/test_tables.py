"""Tables of mixed columns, from the command line."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

from largemargin import SVC, describe, load, save
from largemargin.base.strata import held_out
from largemargin.data import read
from largemargin.tables import TablePreprocessor

SVM = ("--model", "svc", "-o", "m")


@pytest.fixture
def people(tmp_path):
    """Numbers, text, gaps and an identifier; the label depends on the first two."""
    rng = np.random.default_rng(0)
    lines = ["id,age,job,town,rich"]
    for k in range(120):
        age, job = rng.integers(18, 80), rng.choice(["clerk", "king", "cook"])
        rich = "yes" if age / 20 + 3 * (job == "king") > 4 else "no"
        lines.append(f"p{k:03},{age if k % 9 else ''},{job},{k % 4},{rich}")
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "people.csv"


def test_mixed_columns_just_train(run, people):
    result = run("train", people, *SVM)
    assert result.exit_code == 0
    shown = result.stdout
    for words in ("rich (it is the last column", "'job' (3 values)", "one-hot", "'id' is dropped",
                  "of 30 held-out rows", "replaced by the median"):  # fmt: skip
        assert words in shown
    info = describe("m")["info"]
    assert info["label"] == "rich"
    assert info["feature_names"] == ["id", "age", "job", "town"]
    assert all(sentence in run("inspect", "m").stdout for sentence in info["decisions"])


def test_the_same_from_python(run, people, tmp_path):
    found = json.loads(run("train", people, *SVM, "--no-refit", "--json").stdout)
    data = read(people, mixed=True)
    rows, others = held_out(data.y, 0.25, 0)
    model = Pipeline([("table", TablePreprocessor()), ("model", SVC())])
    model.fit(data.X[rows], data.y[rows])
    assert found["test_error"] == np.mean(model.predict(data.X[others]) != data.y[others])
    expected = model.decision_function(data.X)
    np.testing.assert_array_equal(load("m").decision_function(data.X), expected)
    save(model, tmp_path / "n")
    np.testing.assert_array_equal(load(tmp_path / "n").decision_function(data.X), expected)


def test_options_of_tables(run, fails, people):
    run("train", people, *SVM, "--drop", "id,job", "--categorical", "town")
    told = " ".join(describe("m")["info"]["decisions"])
    assert "'id' and 'job' are dropped as asked for" in told
    assert "'town' (4 values)" in told
    result = run("train", people, *SVM, "--missing", "drop", "--json")
    assert "note: 14 of 120 rows have a missing value and are left out" in result.stderr
    assert json.loads(result.stdout)["rows"] == 120 - 14
    assert "trained with --missing drop" in fails("predict", "m", people)
    assert "give --missing impute" in fails("train", people, *SVM, "--missing", "refuse")


def test_positions_are_those_of_the_file(run, fails, people, tmp_path):
    lines = [line.rsplit(",", 1) for line in people.read_text().splitlines()]
    (tmp_path / "first.csv").write_text("\n".join(f"{y},{row}" for row, y in lines))
    args = ("train", "first.csv", *SVM, "--label", 0)
    run(*args, "--drop", 2, "--categorical", 4)
    told = " ".join(describe("m")["info"]["decisions"])
    assert "'age' is dropped as asked for" in told
    assert "'town' (4 values)" in told
    for label in (0, "rich"):
        assert "the column 'rich' holds the labels" in fails(*args, "--drop", label)
    assert "there are 'id', 'age', 'job', 'town'" in fails(*args, "--drop", 5)


@pytest.mark.parametrize("row", range(8))
def test_a_bad_cell_has_the_row_of_the_file(row, run, people, tmp_path):
    """Whether it is held out or not."""
    lines = people.read_text().splitlines()
    cells = lines[1 + row].split(",")
    lines[1 + row] = ",".join([cells[0], "12x", *cells[2:]])
    (tmp_path / "bad.csv").write_text("\n".join(lines))
    result = run("train", "bad.csv", *SVM)
    assert result.exit_code == 2
    assert f"'12x' in row {row}, counted from 0" in result.stderr
    assert "name the column with --categorical or --drop" in result.stderr


def test_columns_are_remembered(run, fails, people, tmp_path):
    run("train", people, *SVM)
    expected = run("predict", "m", people).stdout
    lines = [line.split(",") for line in Path(people).read_text().splitlines()]
    turned = "\n".join(f"{job},x,{age},{town},{name}" for name, age, job, town, _ in lines)
    (tmp_path / "new.csv").write_text(turned.replace("job,x", "job,extra", 1) + "\n")
    result = run("predict", "m", "new.csv")
    assert result.stdout == expected
    assert "'extra' is not used" in result.stderr
    refused = run("evaluate", "m", "new.csv")
    assert refused.exit_code == 2
    assert "has no labels to compare with" in refused.stderr
    (tmp_path / "less.csv").write_text("age,town\n33,1\n")
    assert "the column 'job' is missing" in fails("predict", "m", "less.csv").replace(
        "the columns 'id', 'job' are", "the column 'job' is"
    )


def test_the_page_of_a_table(run, people):
    run("train", people, *SVM, "--report", "a.html")
    page = Path("a.html").read_text()
    for words in ('<td class="left">king</td>', "one-hot encoded", "Support vectors", "Test error",
                  "would be wrong on"):  # fmt: skip
        assert words in page


@pytest.mark.full
def test_compare_and_streams(run, fails, people):
    shown = run("compare", people, "--only", "svc,perceptron", "--folds", 2, "-q").stdout
    assert "2 classes of rich" in shown
    line = fails("train", people, "--model", "mira", "--stream")
    assert "expected a number" in line


needs_adult = pytest.mark.skipif(
    "LARGEMARGIN_DATA" not in os.environ,
    reason="set LARGEMARGIN_DATA to the folder of the data sets to run this",
)


@pytest.fixture
def adult():
    return Path(os.environ["LARGEMARGIN_DATA"]) / "adult" / "adult.data"


@needs_adult
@pytest.mark.data
def test_some_adults(run, adult, tmp_path):
    (tmp_path / "some.data").write_text("\n".join(adult.read_text().splitlines()[:1500]) + "\n")
    found = json.loads(run("train", "some.data", *SVM, "--json").stdout)
    assert found["label"] == "x14"
    assert found["test_error"] < min(0.2, found["guess_error"])


@needs_adult
@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize(("model", "most"), [(("--model", "svc"), 0.152), ((), 0.17)], ids=str)
def test_adult_as_it_lies_on_disks(model, most, run, adult):
    """The mean error of ten seeds, from the raw file."""
    errors = [
        json.loads(run("train", adult, *model, "--seed", k, "--no-refit", "--json").stdout)
        for k in range(10)
    ]
    assert np.mean([found["test_error"] for found in errors]) <= most
