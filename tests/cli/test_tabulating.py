"""What a terminal shows: what matters first, nothing broken, and plain text in a pipe."""

import fcntl
import os
import pty
import re
import struct
import sys
import termios

import pytest

from largemargin.cli import tabulating
from largemargin.cli.app import GROUPS, app
from largemargin.cli.output import note

MACHINES = ["SVC", "SVC (scikit-learn)", "AggressivePerceptron"]


@pytest.fixture
def terminal(monkeypatch):
    """A terminal of so many columns on both streams."""

    def of(columns):
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)

    return of


def shown(capsys):
    return re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_a_table_loses_columns_and_breaks_no_name(terminal, capsys, columns):
    terminal(columns)
    names = ["machine", "error", "interval", "seconds", "chosen"]
    rows = [(name, "1.33 %", "0.49 to 2.88", "1.25", "C 10, gamma 0.001") for name in MACHINES]
    tabulating.emit_table(names, rows, drop=("chosen", "seconds", "interval"))
    text = shown(capsys)
    assert all(len(line) <= columns for line in text.splitlines())
    assert all(name in text for name in MACHINES)
    assert ("chosen" in text.splitlines()[1]) == (columns >= 80)
    assert ("left out" in text) == (columns < 80)


def test_a_fact_is_broken_between_words_and_its_name_is_not(terminal, capsys):
    terminal(40)
    tabulating.emit_facts([("support vectors", "word " * 20)], strong=("support vectors",))
    out = capsys.readouterr().out
    assert "\x1b[1m" in out
    lines = re.sub(r"\x1b\[[\d;]*m", "", out).splitlines()
    assert lines[0].startswith("support vectors  word")
    assert set(" ".join(lines[1:]).split()) == {"word"}


def test_a_pipe_has_plain_text_in_whole_lines(capsys):
    tabulating.emit_facts([("name", "word " * 40)], title="title", strong=("name",))
    out, words = capsys.readouterr().out, " ".join(["word"] * 40)
    assert out == f"\ntitle\nname  {words}\n"


def test_errors_are_broken_between_words(terminal, capsys):
    message = "error: there is no column called 'kind of animal'; the columns are a, b, c and d"
    note(message)
    assert capsys.readouterr().err == f"{message}\n"
    terminal(50)
    note(message)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert " ".join(line.strip() for line in lines) == message


def test_every_command_is_in_one_group(run):
    listed = [name for group in GROUPS.values() for name in group]
    known = [command.callback.__name__ for command in app.registered_commands]
    assert sorted(listed) == sorted(known)
    text = run("--help").stdout
    for title, commands in GROUPS.items():
        assert f"{title}:" in text
        for name, told in commands.items():
            assert re.search(rf"^  {name} +{re.escape(told)}$", text, re.M)


def test_the_error_is_first_and_what_to_do_next_is_last(run, animals):
    out = run("train", animals, "-o", "m").stdout.splitlines()
    out = [line for line in out if line]
    assert out[0] == f"{animals}, trained"
    assert re.fullmatch(r"test error +\d.* % \(95 % interval \S+ to \S+\) of \d+ .*rows", out[1])
    assert out[2].startswith("guess's error")
    assert out[-5:-3] == ["next steps", f"classes, confusions   largemargin evaluate m {animals}"]
    assert out[-1].endswith("largemargin inspect m")
    seen = [line for line in run("inspect", "m").stdout.splitlines() if line]
    assert seen[1].split("  ") == out[1].replace(" held-out", "").split("  ")
    both = run("train", animals, "-o", "m", "--report", "r.html").output
    assert both.index("report written to r.html") < both.index("next steps")
    told = run("evaluate", "m", animals).stdout.splitlines()[2]
    # of rows that it was trained on there is no interval
    assert re.fullmatch(r"training error +\d.* %, \d+ of 90 rows", told)


def test_a_matrix_that_is_too_wide_becomes_a_list(run, tmp_path, monkeypatch):
    rows = [f"{k % 9 + 0.3 * (k % 4)},{'class ' + 'abcdefghi'[k % 9]}" for k in range(180)]
    (tmp_path / "many.csv").write_text("\n".join(["x,kind", *rows]) + "\n")
    assert run("train", "many.csv", "-o", "m", "--model", "mira").exit_code == 0
    assert "true \\ predicted" in run("evaluate", "m", "many.csv").stdout
    monkeypatch.setattr(tabulating, "width", lambda: 80)
    narrow = run("evaluate", "m", "many.csv").stdout
    assert "true \\ predicted" not in narrow
    assert "the 10 commonest confusions of 9 classes" in narrow


@pytest.mark.full
@pytest.mark.parametrize("columns", [80, 120])
def test_in_a_real_terminal(animals, columns):
    order = ["train", str(animals), "-o", str(animals.with_name("m")), "--model", "svc"]
    process, end = pty.fork()
    if process == 0:
        os.environ.pop("COLUMNS", None)
        os.execv(sys.executable, [sys.executable, "-m", "largemargin", *order])
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    out = b""
    try:
        while piece := os.read(end, 65536):
            out += piece
    except OSError:  # the other side has ended
        pass
    assert os.waitpid(process, 0)[1] == 0
    assert out.startswith(b"reading")
    assert b"\x1b[1mtest error" in out
    last = re.sub(rb"\x1b\[[\d;?]*[a-zA-Z]", b"", out.partition(b"trained")[2]).decode()
    assert all(len(line) <= columns for line in last.splitlines())
