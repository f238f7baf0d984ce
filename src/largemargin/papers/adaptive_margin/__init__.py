"""Weston and Herbrich (2000): adaptive margins, leave-one-out machines and their benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from largemargin.data.dataset import Dataset
from largemargin.data.named import SPLIT_SIZES
from largemargin.papers.adaptive_margin import published, tables
from largemargin.papers.adaptive_margin.choosing import (
    LAMBDA_SETS,
    LAMBDAS,
    LOG_WIDTHS,
    QUICK_LAMBDAS,
    QUICK_LOG_WIDTHS,
    WIDTH_SET,
    ChoiceExperiment,
    LambdaExperiment,
    TestExperiment,
    WidthExperiment,
    median_of,
)
from largemargin.papers.adaptive_margin.experiments import (
    MARGIN_SET,
    PICTURES,
    HyperplaneExperiment,
    MarginExperiment,
    PlaneExperiment,
)
from largemargin.papers.adaptive_margin.machines import (
    MACHINES,
    Load,
    Machine,
    Setting,
    Splits,
    load_splits,
)
from largemargin.papers.adaptive_margin.tables import hyperplane_figure, margin_figure
from largemargin.papers.experiments import Store, provenance, run_missing
from largemargin.papers.figures import Figure
from largemargin.papers.report import Report, Table
from largemargin.runtime.threads import count_workers

__all__ = ["PARTS", "Plan", "reproduce", "run"]

CITATION = (
    "Weston, J. and Herbrich, R. (2000). Adaptive margin support vector machines. Chapter 2 of "
    "Smola, A. J., Bartlett, P. L., Schoelkopf, B. and Schuurmans, D., eds., Advances in Large "
    "Margin Classifiers. MIT Press."
)

PARTS = ("table", "planes", "width", "lambda", "margins")
DATA_OF = {
    "table": tuple(published.SETS),
    "planes": (),
    "width": (WIDTH_SET,),
    "lambda": LAMBDA_SETS,
    "margins": (MARGIN_SET,),
}
"""The data sets that each part needs."""

FOLDS, QUICK_FOLDS = 5, 2
QUICK_SPLITS, QUICK_CHOOSING = 2, 1
CHUNK = 10
"""Splits in one experiment: so many are lost at most by an interruption, on each core."""
WIDTH_SPLITS = 10

Experiment = (
    TestExperiment | PlaneExperiment | WidthExperiment | LambdaExperiment | HyperplaneExperiment
    | MarginExperiment
)  # fmt: skip
Settings = dict[tuple[str, str], Setting]
"""What was chosen, by data set and machine."""


@dataclass(frozen=True)
class Plan:
    """What to run: the chapter's plan by default.

    Parameters
    ----------
    part : one of PARTS, or None for all of them
    splits : of every data set; None is 100
    small : coarse grids, chosen from with one training set
    """

    part: str | None = None
    splits: int | None = None
    small: bool = False

    @classmethod
    def quick(cls, part: str | None = None) -> Plan:
        """About a minute on two cores."""
        return cls(part, QUICK_SPLITS, small=True)

    def __post_init__(self) -> None:
        if self.part is not None and self.part not in PARTS:
            raise ValueError(f"there is no {self.part!r}; the parts are {', '.join(PARTS)}")
        if self.splits is not None and not 1 <= self.splits <= published.N_SPLITS:
            raise ValueError(f"splits must be from 1 to {published.N_SPLITS}, got {self.splits}")

    @property
    def parts(self) -> tuple[str, ...]:
        return PARTS if self.part is None else (self.part,)

    @property
    def n_splits(self) -> int:
        return self.splits or published.N_SPLITS

    @property
    def n_choosing(self) -> int:
        return QUICK_CHOOSING if self.small else published.N_CHOOSING

    @property
    def lams(self) -> tuple[float, ...]:
        return QUICK_LAMBDAS if self.small else LAMBDAS

    @property
    def log_widths(self) -> tuple[float, ...]:
        return QUICK_LOG_WIDTHS if self.small else LOG_WIDTHS

    @property
    def data(self) -> tuple[str, ...]:
        """The data sets that are needed."""
        needed = {name for part in self.parts for name in DATA_OF[part]}
        return tuple(name for name in published.SETS if name in needed)

    def load(self, load: Load) -> dict[str, Splits]:
        count = max(self.n_splits, self.n_choosing)
        return {name: load_splits(load, name, count) for name in self.data}

    def choices(self, splits: dict[str, Splits]) -> list[ChoiceExperiment]:
        """What must be known before the rest can run."""
        return [
            ChoiceExperiment(
                splits[name].some(k, 1), machine, QUICK_FOLDS if self.small else FOLDS,
                refined=not self.small,
            )
            for name in splits
            for machine in self._chosen(name)
            for k in range(self.n_choosing)
        ]  # fmt: skip

    def _chosen(self, name: str) -> list[Machine]:
        """The machines with free parameters that are needed on a data set."""
        needed = []
        if "table" in self.parts:
            needed = [machine for machine in MACHINES.values() if machine.known is None]
        elif "lambda" in self.parts and name in LAMBDA_SETS:
            needed = [MACHINES["loo"]]
        return [machine.small() for machine in needed] if self.small else needed

    def experiments(self, splits: dict[str, Splits], settings: Settings) -> list[Experiment]:
        """Everything else."""
        found: list[Experiment] = []
        if "margins" in self.parts:
            found += [HyperplaneExperiment(), MarginExperiment(splits[MARGIN_SET].some(0, 1))]
        if "planes" in self.parts:
            found += map(PlaneExperiment, PICTURES)
        if "width" in self.parts:
            found += self._widths(splits[WIDTH_SET])
        if "lambda" in self.parts:
            found += self._lambdas(splits, settings)
        if "table" in self.parts:
            found += self._table(splits, settings)
        return found

    def _table(self, splits: dict[str, Splits], settings: Settings) -> Iterable[Experiment]:
        return (
            TestExperiment(chunk, machine, settings[name, machine.name])
            for name in splits
            for machine in MACHINES.values()
            for chunk in _chunks(splits[name], self.n_splits)
        )

    def _widths(self, splits: Splits) -> Iterable[Experiment]:
        count = min(self.n_splits, WIDTH_SPLITS)
        return (WidthExperiment(splits.some(k, 1), self.log_widths) for k in range(count))

    def _lambdas(self, splits: dict[str, Splits], settings: Settings) -> Iterable[Experiment]:
        return (
            LambdaExperiment(chunk, settings[name, "loo"].outer, self.lams)
            for name, count in published.FIGURE8_SPLITS.items()
            for chunk in _chunks(splits[name], min(self.n_splits, count))
        )

    def reductions(self, splits: dict[str, Splits]) -> tuple[str, ...]:
        """What is not as in a full run, one sentence each."""
        found = ["a quick run"] if self.small and self.data else []
        if self.splits is not None and self.splits < published.N_SPLITS and self.data:
            noun = "split" if self.splits == 1 else "splits"
            found.append(f"{self.splits} {noun} in place of {published.N_SPLITS}")
        if self.small and {"table", "lambda"} & set(self.parts):
            found.append(f"choices made with {QUICK_CHOOSING} training set and {QUICK_FOLDS} folds")
        less = [published.SETS[name] for name in splits if not is_comparable(splits[name])]
        if less:
            found.append(f"other sizes of {', '.join(less)}, without the published numbers")
        return tuple(found)

    @property
    def command(self) -> str:
        """What to type to get this plan."""
        words = ["largemargin reproduce adaptive-margin"]
        words += [self.part] if self.part else []
        words += ["--quick"] if self.small else []
        if self.splits != (QUICK_SPLITS if self.small else None):
            words.append(f"--splits {self.splits}")
        return " ".join(words)


def _chunks(splits: Splits, count: int) -> Iterable[Splits]:
    return (splits.some(k, min(CHUNK, count - k)) for k in range(0, count, CHUNK))


def is_comparable(splits: Splits) -> bool:
    """Whether the training and the test part are as large as the published ones."""
    part = splits.parts[0]
    return (len(part.X), len(part.X_test)) == SPLIT_SIZES[splits.name]


Done = list[tuple[Experiment, dict[str, Any]]]
Choices = list[tuple[ChoiceExperiment, dict[str, Any]]]


def run(
    plan: Plan, load: Callable[..., Dataset], work: Path, *, progress: bool, client: Any = None
) -> Report:
    """Reproduce with the data sets that the plan needs, on all cores."""
    processes = count_workers(-1)
    return reproduce(
        plan, plan.load(load), work, progress=progress, client=client, processes=processes
    )


def reproduce(
    plan: Plan,
    splits: dict[str, Splits],
    work: Path,
    *,
    progress: bool = False,
    client: Any = None,
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
            client=client,
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
            figures.append(tables.figure_of(experiment.figure, results))
            if experiment.picture.points == "outlier":
                statements["outlier"] = tables.outlier_is_given_up(results)
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
        figures.append(tables.width_figure(widths, plan.log_widths))
        statements["width"] = tables.minima_are_near(widths, plan.log_widths)
    if lambdas:
        figures.append(tables.lambda_figure(lambdas, plan.lams))
        statements |= {
            name: tables.best_is_stated(name, errors, plan.lams) for name, errors in lambdas.items()
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
        found.append("Figure 2.7 is a median over splits; the chapter does not say on which it is.")
    if "margins" in plan.parts:
        found.append("The distributions of margins are ours: the book has no such figure.")
    return tuple(found)
