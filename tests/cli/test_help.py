"""`--help`: options in groups, and those of one machine with `--model`."""

import re

import pytest

from largemargin.cli.help import GROUPS
from largemargin.cli.model_options import LEFT_OUT, parameters_of
from largemargin.machines import CARDS

GROUPED = {
    "train": ["Arguments", "Data", "Model", "Kernel", "Search", "Work", "Output", "Options"],
    "stream": ["Arguments", "Data", "Model", "Kernel", "Work", "Resuming", "Output", "Options"],
}


def groups_of(text):
    """The options of a help text by their group."""
    found = {}
    for line in text.splitlines():
        if title := re.fullmatch(r"(\w[\w -]*):", line):
            found[title[1]] = []
        elif found and (option := re.match(r"  (?:-\w, )?--([\w-]+)", line)):
            found[list(found)[-1]].append(option[1])
    return found


@pytest.mark.parametrize("command", GROUPED)
def test_options_stand_in_groups(command, run):
    found = list(groups_of(run(command, "--help").stdout))
    assert [title for title in found if title in GROUPED[command]] == GROUPED[command]
    assert set(found) <= {"Arguments", *GROUPS, "Options"}


@pytest.mark.parametrize("card", CARDS, ids=[card.command for card in CARDS])
def test_a_machine_shows_its_own_options(card, run):
    text = run("train", "digits", "--help", "--model", card.command).stdout
    shown = groups_of(text)
    assert f"Model {card.command}" in shown
    listed = {name for names in shown.values() for name in names}
    for other in CARDS:
        for name in parameters_of(other.name):
            option = {"aggressive": "aggressive", "fit_intercept": "fit-intercept"}.get(name, name)
            if name not in LEFT_OUT:
                is_own = name in parameters_of(card.name)
                assert (option.replace("_", "-") in listed) == is_own, name
    for line in text.splitlines():
        if line.startswith("    largemargin train "):
            assert f"--model {card.command}" in line
    assert f"{card.command}: the" not in text.split("Model ")[1]


def test_a_stream_shows_the_options_of_its_machine(run):
    text = run("stream", "alma", "--help").stdout
    assert "--alpha" in text
    assert "--aggressive" not in text
    assert "--aggressive" in run("stream", "--help").stdout
    assert "largemargin stream NAME --help shows" in run("stream", "--help").stdout


def test_no_option_is_lost(run):
    """Every option of a command stands in its help once."""
    for command in ("train", "predict", "evaluate", "inspect", "report", "compare", "stream"):
        listed = [name for names in groups_of(run(command, "-h").stdout).values() for name in names]
        assert len(listed) == len(set(listed))
        assert "help" in listed
