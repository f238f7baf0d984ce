"""`sklearn.svm` with our classes in it, and without them again."""

import subprocess
import sys

import pytest
from sklearn import svm

from largemargin import dropin
from largemargin.dropin.__main__ import main

from .scikit_learn_plugin import LISTED, exceptions

NAMES = ("SVC", "NuSVC", "OneClassSVM", "LinearSVC")


def test_a_patch_is_undone_exactly():
    before = dict(vars(svm))
    dropin.patch_sklearn()
    dropin.patch_sklearn()
    try:
        assert all(getattr(svm, name) is getattr(dropin, name) for name in NAMES)
        changed = {name for name in before if vars(svm)[name] is not before[name]}
        assert changed == set(NAMES)
    finally:
        dropin.unpatch_sklearn()
    dropin.unpatch_sklearn()
    assert dict(vars(svm)) == before


SCRIPT = """
import sys
from beside import SVC
print(__name__, SVC.__module__, sys.argv[1:], SVC().fit([[0.0], [1.0]], [0, 1]).n_support_)
sys.exit(3)
"""


@pytest.fixture
def script(tmp_path):
    (tmp_path / "beside.py").write_text("from sklearn.svm import SVC\n")
    (tmp_path / "script.py").write_text(SCRIPT)
    return tmp_path / "script.py"


def test_a_script(script, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "path", list(sys.path))
    try:
        with pytest.raises(SystemExit) as found:
            main([str(script), "--flag", "x"])
    finally:
        dropin.unpatch_sklearn()
        del sys.modules["beside"]
    assert found.value.code == 3
    assert capsys.readouterr().out == "__main__ largemargin.dropin.machines ['--flag', 'x'] [1 1]\n"


@pytest.mark.full
def test_a_script_in_a_process_of_its_own(script):
    command = [sys.executable, "-m", "largemargin.dropin", str(script), "--flag"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.stdout == "__main__ largemargin.dropin.machines ['--flag'] [1 1]\n"
    assert found.returncode == 3


def test_no_script(tmp_path, capsys):
    for arguments, code in (([], 2), ([str(tmp_path / "missing.py")], 2), (["--help"], 0)):
        with pytest.raises(SystemExit) as found:
            main(arguments)
        assert found.value.code == code
    said = capsys.readouterr()
    assert "there is no script" in said.err
    assert said.out.startswith("usage: python -m largemargin.dropin")


def test_exceptions_are_few_and_have_reasons():
    assert LISTED.exists()
    for version in ("1.6", "1.7", "1.8", "1.9"):
        listed = exceptions(f"{version}.0")
        assert len(listed) <= 10
        assert all(len(reason) > 20 for reason in listed.values())
