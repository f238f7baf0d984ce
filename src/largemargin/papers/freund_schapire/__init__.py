"""Freund and Schapire (1999): the voted perceptron on handwritten digits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from largemargin.data.dataset import Dataset
from largemargin.papers.experiments import Images, Store, provenance, run_missing
from largemargin.papers.freund_schapire import published
from largemargin.papers.freund_schapire.experiments import Experiment, run_experiment
from largemargin.papers.freund_schapire.misses import miss_experiments, misses_table, run_miss
from largemargin.papers.freund_schapire.tables import (
    TABLE_2_DEGREE,
    by_degree,
    figure2,
    is_comparable,
    table1,
    table2,
    table3,
)
from largemargin.papers.report import Report

__all__ = ["Plan", "figure2", "reproduce", "run", "table1", "table2", "table3"]

CITATION = (
    "Freund, Y. and Schapire, R. E. (1999). Large margin classification using the perceptron "
    "algorithm. Machine Learning 37, 277-296."
)
TABLES: dict[str, Callable[..., Any]] = {"table1": table1, "table2": table2, "table3": table3}
FIGURES: dict[str, Callable[..., Any]] = {"figure2": figure2}
PARTS = (*TABLES, *FIGURES, "misses")

# Seconds of an experiment relative to the fastest, for the time left: more mistakes, more work.
COST = {1: 1.1, 2: 1.6, 3: 1.2}


@dataclass(frozen=True)
class Plan:
    """What to run: the paper's plan by default.

    Parameters
    ----------
    part : one of PARTS, or None for all of them
    """

    part: str | None = None
    degrees: tuple[int, ...] = published.DEGREES
    permutations: int = published.PERMUTATIONS
    epochs: int = published.EPOCHS

    @classmethod
    def quick(cls, part: str | None = None) -> Plan:
        """One permutation, one epoch: about a minute on two cores."""
        return cls(part, permutations=1, epochs=1)

    def __post_init__(self) -> None:
        if self.part is not None and self.part not in PARTS:
            raise ValueError(f"there is no {self.part!r}; the parts are {', '.join(PARTS)}")
        if not self.degrees or not set(self.degrees) <= set(published.DEGREES):
            raise ValueError(f"degrees must be some of 1 to 6, got {_words(self.degrees)}")
        if self.part == "table2" and TABLE_2_DEGREE not in self.degrees:
            raise ValueError(f"table 2 is about degree 4, which is not in {_words(self.degrees)}")
        if self.permutations < 1:
            raise ValueError(f"permutations must be at least 1, got {self.permutations}")
        if not 1 <= self.epochs <= published.EPOCHS:
            raise ValueError(f"epochs must be from 1 to {published.EPOCHS}, got {self.epochs}")

    @property
    def parts(self) -> tuple[str, ...]:
        if self.part is not None:
            return (self.part,)
        left_out = set() if self == Plan() else {"misses"}  # which are those of the whole table
        if TABLE_2_DEGREE not in self.degrees:
            left_out.add("table2")
        return tuple(part for part in PARTS if part not in left_out)

    @property
    def degrees_to_run(self) -> tuple[int, ...]:
        if self.part == "table2":
            return (TABLE_2_DEGREE,)
        return tuple(sorted(set(self.degrees)))

    def experiments(self, images: Images) -> list[Experiment]:
        """One for each degree and permutation, all degrees of a permutation before the next."""
        if self.part == "misses":
            return []
        return [
            Experiment(degree, permutation, self.epochs_of(degree), images)
            for permutation in range(self.permutations)
            for degree in self.degrees_to_run
        ]

    def epochs_of(self, degree: int) -> int:
        return min(self.epochs, published.EPOCHS_LINEAR) if degree == 1 else self.epochs

    def reductions(self, n_train: int, n_test: int) -> tuple[str, ...]:
        """What is not as in the paper's plan, one sentence each."""
        found = []
        if self.part not in ("table2", "misses") and self.degrees_to_run != published.DEGREES:
            noun = "degree" if len(self.degrees_to_run) == 1 else "degrees"
            found.append(f"{noun} {_words(self.degrees_to_run)} in place of 1 to 6")
        if self.permutations != published.PERMUTATIONS:
            found.append(
                f"{_plural(self.permutations, 'permutation')} in place of {published.PERMUTATIONS}"
            )
        if self.epochs != published.EPOCHS:
            found.append(f"{_plural(self.epochs, 'epoch')} in place of {published.EPOCHS}")
        if n_train != published.N_TRAIN:
            found.append(f"{n_train:,} training images in place of {published.N_TRAIN:,}")
        if n_test != published.N_TEST:
            found.append(f"{n_test:,} test images in place of {published.N_TEST:,}")
        if not is_comparable(n_train, n_test):
            found.append("other data than the published numbers are about, which are left out")
        return tuple(found)


def run(
    plan: Plan, load: Callable[[str], Dataset], work: Path, *, progress: bool, client: Any = None
) -> Report:
    """Reproduce with MNIST."""
    return reproduce(plan, load("mnist"), work, progress=progress, client=client)


def reproduce(
    plan: Plan, data: Dataset, work: Path, *, progress: bool = False, client: Any = None
) -> Report:
    """Run what is missing in the folder `work` and report on all of it.

    `data` is MNIST with pixels 0..255, or something of its kind.
    """
    images = Images(data)
    wanted = plan.experiments(images)
    store = Store(work)
    records = run_missing(
        store,
        wanted,
        run_experiment,
        name=lambda e: f"degree {e.degree}, permutation {e.permutation + 1} of {plan.permutations}",
        cost=lambda e: COST.get(e.degree, 1.0),
        progress=progress,
        client=client,
    )
    misses = _run_misses(plan, images, store, progress, client)
    found = by_degree(records)
    reduced = plan.reductions(images.n_train, images.n_test)
    comparable = is_comparable(images.n_train, images.n_test)
    return Report(
        slug="-".join(
            [
                "freund-schapire",
                *([plan.part] if plan.part else []),
                *(["reduced"] if reduced else []),
            ]
        ),
        title="The voted perceptron of Freund and Schapire, run again",
        citation=CITATION,
        command=_command(plan),
        settings={
            "data": images.identity,
            "degrees": list(plan.degrees_to_run),
            "permutations": plan.permutations,
            "epochs": {str(degree): plan.epochs_of(degree) for degree in plan.degrees_to_run},
        },
        reduced=reduced,
        differences=_differences(plan, comparable),
        tables=(
            *(TABLES[part](found, comparable=comparable) for part in plan.parts if part in TABLES),
            *([misses_table(misses, comparable=comparable)] if misses else []),
        ),
        figures=tuple(
            FIGURES[part](found, comparable=comparable) for part in plan.parts if part in FIGURES
        ),
        ours="the mean over permutations, ± their standard deviation"
        + (" (one permutation here, so there is none)" if plan.permutations == 1 else ""),
        **provenance([*records, *misses]),
    )


def _run_misses(
    plan: Plan, images: Images, store: Store, progress: bool, client: Any
) -> list[dict[str, Any]]:
    if "misses" not in plan.parts:
        return []
    return run_missing(
        store,
        miss_experiments(images, plan.permutations, plan.epochs_of(1)),
        run_miss,
        name=lambda experiment: experiment.name,
        cost=lambda experiment: experiment.cost,
        progress=progress,
        client=client,
    )


def _differences(plan: Plan, comparable: bool) -> tuple[str, ...]:
    seeds = f"the seeds 0 to {plan.permutations - 1}" if plan.permutations > 1 else "the seed 0"
    return (
        "The images are the public MNIST files, which may differ from the NIST images of the "
        "paper; pixels are 0 to 255, since with them the published numbers of mistakes come out."
        if comparable
        else "The data is not that of the paper.",
        f"The permutations are ours, from {seeds}, and so are the draws of the random rule.",
        "From d = 2 on, pixels are divided by 255 and the constant of the kernel by its square: "
        "the same algorithm, with kernel values in the range of float32.",
        "After an epoch without a mistake the later ones are counted but not run: they would "
        "change nothing.",
    )


def _command(plan: Plan) -> str:
    words = ["largemargin reproduce freund-schapire"]
    full = Plan()
    words += [plan.part] if plan.part else []
    if plan.degrees != full.degrees:
        words.append("--degrees " + ",".join(map(str, plan.degrees)))
    if plan.permutations != full.permutations:
        words.append(f"--permutations {plan.permutations}")
    if plan.epochs != full.epochs:
        words.append(f"--epochs {plan.epochs}")
    return " ".join(words)


def _words(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers)) or "none"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
