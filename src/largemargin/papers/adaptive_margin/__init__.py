"""Weston and Herbrich (2000): adaptive margins, leave-one-out machines and their benchmark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from largemargin.data.dataset import Dataset
from largemargin.papers.adaptive_margin import curves, planes, tables
from largemargin.papers.adaptive_margin.choosing import ChoiceExperiment, TestExperiment, median_of
from largemargin.papers.adaptive_margin.curves import LambdaExperiment, WidthExperiment
from largemargin.papers.adaptive_margin.machines import MACHINES, Setting
from largemargin.papers.adaptive_margin.margins import (
    HyperplaneExperiment,
    MarginExperiment,
    hyperplane_figure,
    margin_figure,
)
from largemargin.papers.adaptive_margin.plan import (
    PARTS,
    Experiment,
    Plan,
    Settings,
    is_comparable,
)
from largemargin.papers.adaptive_margin.planes import PlaneExperiment
from largemargin.papers.adaptive_margin.sets import Splits
from largemargin.papers.comparison import Table
from largemargin.papers.experiments import Store, provenance, run_missing
from largemargin.papers.figures import Figure
from largemargin.papers.report import Report
from largemargin.runtime.threads import count_workers

__all__ = ["PARTS", "Plan", "reproduce", "run"]

CITATION = (
    "Weston, J. and Herbrich, R. (2000). Adaptive margin support vector machines. Chapter 2 of "
    "Smola, A. J., Bartlett, P. L., Schoelkopf, B. and Schuurmans, D., eds., Advances in Large "
    "Margin Classifiers. MIT Press."
)

Done = list[tuple[Experiment, dict[str, Any]]]
Choices = list[tuple[ChoiceExperiment, dict[str, Any]]]


def run(plan: Plan, load: Callable[..., Dataset], work: Path, *, progress: bool) -> Report:
    """Reproduce with the data sets that the plan needs, on all cores."""
    processes = count_workers(-1)
    return reproduce(plan, plan.load(load), work, progress=progress, processes=processes)


def reproduce(
    plan: Plan,
    splits: dict[str, Splits],
    work: Path,
    *,
    progress: bool = False,
    processes: int = 1,
) -> Report:
    """Run what is missing in the folder `work` and report on all of it.

    `splits` holds those of the data sets that `plan.data` names.
    """
    store = Store(work)

    def finish(wanted: list[Any]) -> list[tuple[Any, dict[str, Any]]]:
        records = run_missing(
            store,
            wanted,
            run_experiment,
            name=lambda experiment: experiment.name,
            cost=lambda experiment: experiment.cost,
            progress=progress,
            processes=processes,
        )
        return list(zip(wanted, records, strict=True))

    choices: Choices = finish(plan.choices(splits))
    settings = _settings(choices, splits)
    done: Done = finish(plan.experiments(splits, settings))
    found_tables, figures = _results(plan, splits, settings, choices, done)
    reduced = plan.reductions(splits)
    part = [plan.part] if plan.part else []
    return Report(
        slug="-".join(["adaptive-margin", *part, *(["reduced"] if reduced else [])]),
        title="Adaptive margin support vector machines, run again",
        citation=CITATION,
        command=plan.command,
        settings={
            "splits": plan.n_splits,
            "chosen": {
                f"{name}, {MACHINES[machine].title}": MACHINES[machine].words(setting)
                for (name, machine), setting in settings.items()
            },
            "data": [one.identity for one in splits.values()],
        },
        reduced=reduced,
        differences=_differences(plan),
        tables=found_tables,
        figures=figures,
        ours="the mean over splits, ± their standard deviation",
        **provenance([record for _, record in [*choices, *done]]),
    )


def run_experiment(experiment: Any) -> tuple[dict[str, Any], dict[str, float]]:
    found: tuple[dict[str, Any], dict[str, float]] = experiment.run()
    return found


def _settings(choices: Choices, splits: dict[str, Splits]) -> Settings:
    """The median of what was best on each training set, and what was published."""
    best: dict[tuple[str, str], list[Setting]] = {}
    for choice, record in choices:
        key = choice.splits.name, choice.machine.name
        best.setdefault(key, []).append(Setting(*record["results"]["best"]))
    settings = {key: median_of(found) for key, found in best.items()}
    for machine in MACHINES.values():
        if machine.known is not None:
            settings |= {(name, machine.name): Setting(*machine.known(name)) for name in splits}
    return settings


def _results(
    plan: Plan, splits: dict[str, Splits], settings: Settings, choices: Choices, done: Done
) -> tuple[tuple[Table, ...], tuple[Figure, ...]]:
    """The tables and figures of the plan's parts, and whether what the text says is so."""
    columns: tables.Columns = {}
    widths: list[dict[str, Any]] = []
    lambdas: dict[str, list[list[float]]] = {}
    figures: list[Figure] = []
    statements: dict[str, bool] = {}
    for experiment, record in done:
        results = record["results"]
        if isinstance(experiment, TestExperiment):
            key = experiment.splits.name, experiment.machine.name
            columns.setdefault(key, tables.Column(experiment.setting)).add(results)
        elif isinstance(experiment, WidthExperiment):
            widths.append(results)
        elif isinstance(experiment, LambdaExperiment):
            lambdas.setdefault(experiment.splits.name, []).extend(results["errors"])
        elif isinstance(experiment, PlaneExperiment):
            figures.append(planes.figure_of(experiment.figure, results))
            if experiment.picture.points == "outlier":
                statements["outlier"] = planes.outlier_is_given_up(results)
        elif isinstance(experiment, HyperplaneExperiment):
            figures.append(hyperplane_figure(results))
        elif isinstance(experiment, MarginExperiment):
            figures.append(margin_figure(results))
    found: list[Table] = []
    if columns:
        comparable = {name: is_comparable(one) for name, one in splits.items()}
        unfinished = sum(record["results"]["unfinished"] for _, record in choices)
        found.append(tables.table_of(columns, tuple(splits), comparable, unfinished))
        statements["boosting"] = tables.boosting_loses(columns, tuple(splits))
    if widths:
        figures.append(curves.width_figure(widths, plan.log_widths))
        statements["width"] = curves.minima_are_near(widths, plan.log_widths)
    if lambdas:
        figures.append(curves.lambda_figure(lambdas, plan.lams))
        statements |= {
            name: curves.BEST_LAMBDA[name](curves.best_lambda(errors, plan.lams))
            for name, errors in lambdas.items()
        }
    if statements:
        found.append(tables.statements_table(statements))
    return tuple(found), tuple(figures)


def _differences(plan: Plan) -> tuple[str, ...]:
    found = []
    if plan.data:
        found += [
            "The splits are ours, drawn with fixed seeds in the published sizes; the chapter used "
            "those of its benchmark. Inputs have mean 0 and deviation 1 over the training part of "
            "each split; those of the benchmark had it over all rows.",
        ]
    if "table" in plan.parts:
        found += [
            "Free parameters are the medians of the best by 5-fold cross-validation on the first "
            "five training sets, as in the chapter; the grids are ours. AB, AB_R and SVM "
            "were quoted by the chapter from its benchmark, and are run here with our machines.",
            "Networks of radial basis functions are boosted as in the benchmark, with our own "
            "training of them.",
        ]
    if "planes" in plan.parts or "margins" in plan.parts:
        found.append("The points in the plane are ours, since those of the book are not printed.")
    if "planes" in plan.parts:
        found.append("Figures 2.2 and 2.3 have the width of figure 2.4; their own is not printed.")
    if "width" in plan.parts:
        found.append("Figure 2.7 is a mean over splits; the chapter does not say on which it is.")
    if "margins" in plan.parts:
        found.append("The distributions of margins are ours: the book has no such figure.")
    return tuple(found)
