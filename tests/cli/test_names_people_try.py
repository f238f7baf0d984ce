"""Names that do not exist: what was probably meant is said, in the one line of the error."""

import pytest

from largemargin import SVC
from largemargin.machines import CARDS
from largemargin.runtime.suggesting import SYNONYMS, suggestion

MODELS = [card.command for card in CARDS]


@pytest.mark.parametrize(
    ("args", "meant"),
    [
        (("train", "digits", "--model", "svm"), "svc"),
        (("train", "digits", "--model", "SVC"), "svc"),
        (("train", "digits", "--model", "linear-svc"), "svc --kernel linear"),
        (("train", "digits", "--model", "perceptron"), "voted-perceptron"),
        (("train", "digits", "--model", "boosting"), "adaboost"),
        (("train", "digits", "--model", "one_class_svm"), "one-class-svm"),
        (("train", "digits", "--kernel", "gaussian"), "rbf"),
        (("train", "digits", "--model", "svc", "--kernel", "polynomial"), "poly"),
        (("train", "digits", "--kernal", "rbf"), "--kernel"),
        (("train", "digits", "--c", "1"), "--C"),
        (("train", "digits", "--random-state", "1"), "--seed"),
        (("train", "digits", "--timeout", "1"), "--max-seconds"),
        (("train", "digits", "--model", "svc", "--cv", "c=1,2"), "C"),
        (("predict", "m", "digits", "--ouptut", "x"), "--output"),
        (("stream", "mira", "--max-feature", "3"), "--max-features"),
        (("stream", "passive-aggressive"), "mira"),
        (("compare", "digits", "--only", "svm"), "svc"),
        (("compare", "digits", "--kernel", "gauss"), "rbf"),
        (("reproduce", "freund-shapire"), "freund-schapire"),
        (("reproduce", "budget", "panels1"), "panels"),
        (("trein", "digits"), "train"),
        (("fit", "digits"), "train"),
        (("svc",), "train DATA --model svc"),
        (("train", "digts"), "digits"),
    ],
)
def test_what_was_meant_is_said(args, meant, fails):
    told = fails(*args)
    assert f"did you mean {meant}" in told


def test_what_is_like_nothing_gets_no_suggestion(fails):
    for args in (
        ("fly",),
        ("train", "digits", "--frobnicate"),
        ("train", "digits", "--model", "x"),
    ):
        assert "did you mean" not in fails(*args)


def test_files_and_values(fails, tmp_path):
    (tmp_path / "mine.csv").write_text("1,2\n")
    assert "did you mean train mine.csv?" in fails("mine.csv")
    told = fails("train", "digits", "--degree", "two")
    assert told == "error: --degree must be a whole number, got 'two'; see largemargin train --help"
    assert "--C must be a number, got 'x'" in fails("train", "digits", "--C=x")
    assert "put what has spaces between quotes" in fails("train", "my", "data.csv")


def test_python_says_it_too():
    with pytest.raises(ValueError, match=r"got .gaussian.; did you mean rbf\?"):
        SVC(kernel="gaussian").fit([[0.0], [1.0]], [0, 1])


def test_the_table_names_what_exists(run):
    """Every synonym of a machine, a kernel or an option means one that is there."""
    commands = ("train", "predict", "evaluate", "compare", "stream", "reproduce")
    help = "".join(run(*words, "--help").stdout for words in ([], *([c] for c in commands)))
    coming = {"--sep", "--drop", "--calibrate", "convert", "logistic-regression"}
    for meant in SYNONYMS.values():
        names = [name.split()[0] for name in meant.split(", ")]
        assert any(name in help or name in coming for name in names), meant


def test_a_name_is_its_own_suggestion():
    for name in MODELS:
        assert suggestion(name, MODELS) == name
        assert suggestion(name.replace("-", "_").upper(), MODELS) == name
        if len(name) > 5:
            assert suggestion(name[:2] + name[3:], MODELS) == name
    assert suggestion("x" * 10_000, MODELS) == ""
