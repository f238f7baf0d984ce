"""What to run of the chapter, and what is not as in a full run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from largemargin.data.named import SPLIT_SIZES
from largemargin.papers.adaptive_margin import published
from largemargin.papers.adaptive_margin.choosing import ChoiceExperiment, TestExperiment
from largemargin.papers.adaptive_margin.curves import (
    LAMBDA_SETS,
    LAMBDAS,
    LOG_WIDTHS,
    QUICK_LAMBDAS,
    QUICK_LOG_WIDTHS,
    WIDTH_SET,
    LambdaExperiment,
    WidthExperiment,
)
from largemargin.papers.adaptive_margin.machines import MACHINES, Machine, Setting
from largemargin.papers.adaptive_margin.margins import (
    MARGIN_SET,
    HyperplaneExperiment,
    MarginExperiment,
)
from largemargin.papers.adaptive_margin.planes import PICTURES, PlaneExperiment
from largemargin.papers.adaptive_margin.sets import Load, Splits, load_splits

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
