"""Labels, names of features and names of files that a terminal would obey are shown, not sent."""

import csv
import io
import json
from types import SimpleNamespace

import numpy as np
import pytest

import largemargin as lm
from largemargin.runtime.showing import listed, printable, shown

EVIL = "\x1b[31mred\x07\n\x9b2Jgone\u202e[bold]x[/bold]"
OTHER = 'a "quoted"\nlabel'
CONTROLS = ("\x1b", "\x07", "\x9b", "\u202e")


@pytest.fixture
def folder(tmp_path):
    """A model whose labels and columns are as bad as they can be, and its data."""
    X = np.arange(24.0).reshape(12, 2)
    y = np.array([EVIL, OTHER] * 6, object)
    model = lm.MIRA(kernel="linear").fit(X, y)
    lm.save(model, tmp_path / "m", info={"feature_names": [EVIL, "b"], "data": EVIL})
    with (tmp_path / "d.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow([EVIL, "b", "class"])
        table.writerows([*row, label] for row, label in zip(X.tolist(), y, strict=True))
    return tmp_path


def check_clean(result):
    for text in (result.stdout, result.stderr):
        assert not any(control in text for control in CONTROLS)
    assert len(result.stderr) < 5000


def test_what_is_told(run, folder):
    evil = folder / "\x1b[2Jevil.csv"
    evil.write_bytes((folder / "d.csv").read_bytes())
    for order in (
        ("evaluate", folder / "m", folder / "d.csv"),
        ("evaluate", folder / "m", evil),
        ("evaluate", folder / "m", evil, "--json"),
        ("inspect", folder / "m"),
        ("inspect", folder / "m", "--json"),
        ("train", evil, "--model", "mira"),
        ("train", evil, "--model", "mira", "--json"),
        ("train", evil, "--label", EVIL),
        ("train", evil, "--model", EVIL),
        ("predict", folder / EVIL.replace("/", ""), evil),
        (EVIL,),
    ):
        check_clean(run(*order))
    shown_labels = run("evaluate", folder / "m", folder / "d.csv").stdout
    assert r"\x1b[31mred\x07\n\x9b2Jgone\u202e[bold]x[/bold]" in shown_labels
    labels = json.loads(run("inspect", folder / "m", "--json").stdout)["steps"][-1]["labels"]
    assert labels == sorted([EVIL, OTHER])


def test_predictions_are_data(run, folder, monkeypatch):
    expected = [EVIL, OTHER]
    for target in ((), ("-o", folder / "labels.csv")):
        printed = run("predict", folder / "m", folder / "d.csv", *target).stdout
        if target:
            printed = (folder / "labels.csv").read_bytes().decode()
        rows = list(csv.reader(io.StringIO(printed, newline="")))
        assert len(rows) == 12
        assert {row[0] for row in rows} <= set(expected)
    scores = run("predict", folder / "m", folder / "d.csv", "--scores").stdout
    assert {row[0] for row in csv.reader(io.StringIO(scores, newline=""))} <= {"label", *expected}
    terminal = SimpleNamespace(stdout=SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("largemargin.cli.predict.sys", terminal)
    for order in ((), ("--scores",)):
        result = run("predict", folder / "m", folder / "d.csv", *order)
        check_clean(result)
        assert len(result.stdout.splitlines()) == 12 + bool(order)


def test_plain_labels_are_written_as_ever(run, tmp_path):
    model = lm.MIRA().fit(np.eye(3), ["a,b", "c d", "5'"])
    lm.save(model, tmp_path / "m")
    np.savez(tmp_path / "d.npz", X=np.eye(3))
    lines = run("predict", tmp_path / "m", tmp_path / "d.npz").stdout.splitlines()
    assert set(lines) <= {"a,b", "c d", "5'"}


def test_messages_are_short(fails, run, tmp_path):
    huge = "x" * 200_000
    (tmp_path / "a.csv").write_text(f"{huge},{huge},c\n1,2,a\n3,4,b\n")
    assert len(fails("train", tmp_path / "a.csv")) < 1000
    (tmp_path / "a.csv").write_text("1,2,a\n3,4,b\n")
    assert len(fails("train", tmp_path / "a.csv", "--label", huge)) < 3000
    assert len(fails("train", tmp_path / "a.csv", "--kernel", huge)) < 3000
    assert len(fails("train", tmp_path / "a.csv", "--cv", huge)) < 3000
    model = lm.MIRA().fit(np.eye(3), ["y" * 4096, "b", "c"])
    lm.save(model, tmp_path / "m", info={"data": huge, "feature_names": ["n" * 60_000] * 3})
    np.savez(tmp_path / "d.npz", X=np.eye(3), y=np.array(["b", "c", "b"]))
    assert len(run("inspect", tmp_path / "m").stdout) < 20_000
    assert len(run("evaluate", tmp_path / "m", tmp_path / "d.npz").stdout) < 20_000


def test_pages_hold_labels_as_text(run, folder):
    label = "<script>alert(1)</script>&\"'"
    X = np.arange(24.0).reshape(12, 2)
    with (folder / "e.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow([label, "b", "class"])
        table.writerows([*row, (label, "<b>")[k % 2]] for k, row in enumerate(X.tolist()))
    result = run("train", folder / "e.csv", "--model", "svc", "--report", folder / "r.html")
    assert result.exit_code == 0, result.output
    page = (folder / "r.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "&lt;b&gt;" in page


def test_pictures_make_no_formula_of_labels():
    pytest.importorskip("matplotlib").use("agg")
    import pandas as pd
    from matplotlib import pyplot as plt

    X = pd.DataFrame(np.random.default_rng(0).normal(size=(8, 2)), columns=["$\\frac{", "a\x1b$x$"])
    y = ["$\\bad{$", "b"] * 4
    model = lm.SVC(kernel="linear").fit(X, y)
    from largemargin.report import plot_decision

    ax = plot_decision(model, X, y, resolution=5)
    ax.legend()
    ax.figure.canvas.draw()
    assert r"class \$\bad{\$" in ax.get_legend_handles_labels()[1]
    plt.close("all")


def test_values_in_sentences():
    class Strange:
        def __repr__(self):
            raise RuntimeError("no")

    assert shown(10**5000) == "(a value of type int that cannot be shown)"
    assert shown(Strange()) == "(a value of type Strange that cannot be shown)"
    assert len(shown(np.zeros(10**6))) < 120
    assert shown(list(range(10**6))) == "a list of 1000000 values"
    assert shown("\x1b\n") == r"'\x1b\n'"
    assert shown(b"\x1b" * 1000).endswith("... (1000 bytes)")
    assert len(listed([EVIL * 100] * 1000)) < 1500
    assert printable("Zürich 東京 \u0645\u200c\u062e") == "Zürich 東京 \u0645\u200c\u062e"
    assert printable("\x00\x7f\u2028\ud800") == r"\x00\x7f\u2028\ud800"
