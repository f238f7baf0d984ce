"""Shell completion: what a shell asks for by starting the command, and a real bash that does."""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from largemargin.cli.app import app


@pytest.fixture
def complete(monkeypatch, tmp_path):
    """The completions of the last of some words."""
    monkeypatch.chdir(tmp_path)

    def ask(*words):
        asked = {
            "_LARGEMARGIN_COMPLETE": "complete_bash", "COMP_CWORD": str(len(words)),
            "COMP_WORDS": " ".join(["largemargin", *words]),
        }  # fmt: skip
        found = CliRunner().invoke(app, [], env=asked, prog_name="largemargin")
        assert found.exit_code == 0, found.output
        return found.stdout.split()

    return ask


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["tr"], ["train"]),
        (["train", "--model", "n"], ["nu-svc", "nu-lp-svc"]),
        (["train", "digits", "--kernel", "l"], ["linear", "laplacian"]),
        (["train", "digits", "--slack", "sq"], ["squared", "squared-sum"]),
        (["train", "--kern"], ["--kernel"]),
        (["train", "usp"], ["usps"]),
        (["evaluate", "m", "usp"], ["usps"]),
        (["stream", "m"], ["mira"]),
        (["stream", "mira", "--on-error", ""], ["fail", "skip"]),
        (["compare", "digits", "--only", "svc,r"], ["svc,romma", "svc,rbf-network"]),
        (["reproduce", "fr"], ["freund-schapire"]),
        (["reproduce", "budget", "n"], ["noise"]),
        (["train", "somewhere/else"], []),  # the shell looks for files
    ],
)
def test_names_are_completed(words, expected, complete):
    assert complete(*words) == expected


def test_files_stand_beside_names(complete, tmp_path):
    (tmp_path / "digested.csv").touch()
    (tmp_path / "dig").mkdir()
    assert complete("train", "dig") == ["digits", "dig/", "digested.csv"]
    assert "digested.csv" in complete("train", "")


@pytest.mark.skipif(not os.path.exists("/bin/bash"), reason="there is no bash here")
def test_bash_completes(tmp_path):
    """The script that --install-completion writes, in a bash of its own."""
    program = tmp_path / "bin" / "largemargin"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nfrom largemargin.cli import main\nmain()\n")
    program.chmod(0o755)
    script = """
        largemargin --install-completion > installed
        source ~/.bashrc
        complete -p largemargin
        COMP_WORDS=(largemargin train digits --model lea); COMP_CWORD=4
        _largemargin_completion largemargin
        echo "${COMPREPLY[@]}"
    """
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    found = subprocess.run(
        ["/bin/bash", "--norc", "-c", script], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "HOME": str(tmp_path), "PATH": path}, timeout=120,
    )  # fmt: skip
    assert "bash completion installed" in (tmp_path / "installed").read_text(), found.stderr
    declared, completed = found.stdout.splitlines()
    assert declared == "complete -o default -F _largemargin_completion largemargin"
    assert completed == "leave-one-out-svc"
