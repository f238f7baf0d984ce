"""Published numbers and statements of the budget paper are compared with ours, not asserted."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from largemargin.papers import rendering
from largemargin.papers.budget import published
from largemargin.papers.budget.experiments import TASKS, WITH_BUDGET
from largemargin.papers.budget.tables import (
    HOLDS,
    TaskResults,
    noise_table,
    one_pass_table,
    statements,
    table_of,
)


def row(table, group, name):
    return next(row for row in table.groups[group].rows if row.name == name)


def run_of(error, size, online=1.0, insertions=100):
    return {
        "n_train": 1000, "n_test": 1000, "wrong": round(10 * error), "size": size,
        "online_errors": round(10 * online), "margin_errors": insertions, "insertions": insertions,
    }  # fmt: skip


def found_on(name="usps", comparable=True, **changed):
    """Numbers of which every statement of the text is true, but for what is changed."""
    found = TaskResults(
        TASKS[name],
        {100: [run_of(9.0, 100, online=9.0)], 500: [run_of(4.0, 500, insertions=300)]},
        [run_of(4.5, 600, insertions=400)],
        [run_of(6.0, 900)],
        run_of(4.4, 550),
        comparable,
    )
    return replace(found, **changed)


def test_all_statements_can_hold():
    assert all(holds(found_on()) for holds in HOLDS.values())
    assert set(HOLDS) == set(published.STATEMENTS)


@pytest.mark.parametrize(
    ("changed", "broken"),
    [
        ({"machine": run_of(3.0, 550)}, {"fixed-beats-machine", "variable-near-machine"}),
        ({"machine": run_of(4.4, 400)}, {"variable-near-machine"}),
        ({"plain": [run_of(4.5, 900)]}, {"plain-worst"}),
        ({"plain": [run_of(6.0, 580)]}, {"plain-worst"}),
        ({"fixed": {100: [run_of(9, 100, 1, 9)], 500: [run_of(4, 500, 2, 9)]}}, {"online-chooses"}),
        ({"variable": [run_of(4.5, 600, insertions=299)]}, {"variable-inserts-more"}),
    ],
)
def test_statements_are_compared_and_not_asserted(changed, broken):
    found = found_on(**changed)
    assert {name for name, holds in HOLDS.items() if not holds(found)} == broken
    rows = dict(zip(HOLDS, statements([found]).groups[0].rows, strict=True))
    for name, one in rows.items():
        assert one.cells[0].agrees is HOLDS[name](found)
    missed = sum(not holds(found) for holds in HOLDS.values())
    do = "does" if missed == 1 else "do"
    assert (
        statements([found]).verdict == f"{5 - missed} of 5 statements hold here, {missed} {do} not."
    )


def test_statements_are_not_made_of_letter():
    found = found_on("letter", machine=run_of(2.0, 300))
    cells = [one.cells[0] for one in statements([found]).groups[0].rows]
    assert [cell.published is None for cell in cells] == [True, True, False, False, False]
    assert cells[0].agrees is None
    assert cells[0].ours == 0.0


@pytest.mark.parametrize(("error", "agrees"), [(4.7, True), (6.8, False)])
def test_the_machine_is_compared_with_what_is_quoted(error, agrees):
    cell = row(table_of(found_on(machine=run_of(error, 550))), 0, "Test error").cells[-1]
    assert (cell.published.value, cell.published.label) == (4.38, "recalled")
    assert cell.agrees is agrees
    other = row(table_of(found_on(comparable=False)), 0, "Test error").cells[-1]
    assert other.published is None


@pytest.mark.parametrize("wrong", [186, 150])
def test_the_projectron_stands_beside_another_method(wrong):
    run = {"n_test": 1000, "wrong": wrong}
    runs = {("usps", 0.0, p, size): [run] for p in WITH_BUDGET for size in published.BUDGETS}
    found = one_pass_table(runs, ["usps"], {"usps": True})
    cell = row(found, 1, "projectron").cells[0]
    assert cell.published.value == 18.6
    assert (cell.state, cell.agrees) == ("other", None)
    merge = row(found, 1, "merge-BSGD")
    assert [c.published.value for c in merge.cells] == [8.2, 7.1]
    assert not merge.has_ours


def test_noise_is_said_in_words():
    def runs(wrong):
        return [{"n_test": 100, "wrong": wrong, "size": 30}]

    found = {
        ("usps", noise, policy, size): runs(5 + round(100 * noise) * (policy == "margin"))
        for noise in (0.0, 0.1, 0.2)
        for policy in (*WITH_BUDGET, "distill", "keep")
        for size in (None, 40)
    }
    note = noise_table(found, [40]).notes[0]
    assert "at budget 40" in note
    assert "fixed cache from 5.0 to 25.0, forgetron from 5.0 to 5.0" in note


@pytest.mark.parametrize("name", TASKS)
def test_tables_of_a_full_run_fit_into_the_terminal(name):
    runs = [run_of(48.8, 20_000, insertions=59_000), run_of(29.2, 21_000, insertions=58_000)]
    fixed = dict.fromkeys(TASKS[name].sizes, runs)
    found = found_on(name, fixed=fixed, variable=runs, plain=runs, machine=run_of(4.7, 20_000))
    out = io.StringIO()
    console = Console(file=out, width=100)
    for table in (table_of(found), statements([found] * 3)):
        rendering.show_table(table, (), console)
    assert "…" not in out.getvalue()
    assert max(map(len, out.getvalue().splitlines())) <= 100
