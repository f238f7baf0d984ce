"""Files as people have them, through the command line: each trains to a small error, and predicts,
or gets one sentence.
"""

import json

import pytest

from ..data.files_as_they_are import CASES

# a few that tell most, in the usual run; all in the full one
TELLING = ("commas and blanks, no header", "missing values", "a label that is a measurement")


def options_of(case):
    return [word for name, value in case.options.items() for word in (f"--{name}", value)]


def check(case, run, fails, tmp_path):
    path = tmp_path / case.file
    path.write_bytes(case.content)
    args = (path, "--model", "svc", *options_of(case))
    if case.words:
        told = fails("train", *args)
        assert str(path) in told
        # of what a reader says, all but the names of its parameters, which are options here
        words = [w for w in case.words if "label=" not in w and "encoding=" not in w]
        assert all(word in told for word in words if word != "sep=")
        assert not any(f"{name}=" in told for name in ("label", "sep", "encoding", "decimal"))
        return
    result = run("train", *args, "--json", "-o", tmp_path / "m")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["label"] == case.label
    assert found["test_error"] <= case.most_error
    assert found["test_error"] < found["guess_error"]
    assert len(found.get("decisions", [])) >= (case.kinds != "array")
    reading = [word for word in options_of(case) if word not in ("--label", "class")]
    again = json.loads(run("evaluate", tmp_path / "m", path, "--json", *reading).stdout)
    assert again["training_rows"] == "all"
    assert again["held_out"]["error"] == found["test_error"]
    answers = run("predict", tmp_path / "m", path, *reading).stdout.splitlines()
    assert len(answers) == found["rows"]


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.trouble in TELLING], ids=lambda case: case.trouble
)
def test_a_telling_file(case, run, fails, tmp_path):
    check(case, run, fails, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize(
    "case", [c for c in CASES if c.trouble not in TELLING], ids=lambda case: case.trouble
)
def test_a_file(case, run, fails, tmp_path):
    check(case, run, fails, tmp_path)
