"""Cortes and Vapnik (1995): support-vector networks in the plane and on handwritten digits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from largemargin.data.dataset import Dataset
from largemargin.papers.cortes_vapnik import published
from largemargin.papers.cortes_vapnik.experiments import (
    CLASSIFIERS,
    MNIST_CS,
    MNIST_DEGREE,
    OWN_MNIST_CS,
    OWN_SLACK,
    OWN_USPS_CS,
    SETS,
    USPS_CS,
    BenchmarkExperiment,
    MachineExperiment,
    PlaneExperiment,
    SearchForC,
    smooth,
)
from largemargin.papers.cortes_vapnik.slack import slack_mnist, slack_usps
from largemargin.papers.cortes_vapnik.tables import (
    Machines,
    benchmark,
    bound_figure,
    bound_mnist,
    bound_usps,
    planes,
    table2,
    table3,
)
from largemargin.papers.experiments import Images, Store, provenance, run_missing
from largemargin.papers.figures import Figure
from largemargin.papers.report import Report, Table

__all__ = ["PARTS", "Plan", "reproduce", "run"]

CITATION = (
    "Cortes, C. and Vapnik, V. (1995). Support-vector networks. Machine Learning 20, 273-297."
)

PARTS = ("planes", "table2", "table3", "benchmark", "bound", "slack")
NEED_USPS = {"table2", "bound", "slack"}
NEED_MNIST = {"table3", "benchmark", "bound", "slack"}

QUICK_DEGREES = (1, 2, 4)
QUICK_TRAIN = 3_000
QUICK_FOLDS, QUICK_ROWS = 3, 2_000

Experiment = PlaneExperiment | MachineExperiment | BenchmarkExperiment


@dataclass(frozen=True)
class Plan:
    """What to run: everything by default.

    Parameters
    ----------
    part : one of PARTS, or None for all of them
    degrees : of the machines on USPS
    small : few images of MNIST, and few folds and images to choose C with
    """

    part: str | None = None
    degrees: tuple[int, ...] = published.DEGREES
    small: bool = False

    @classmethod
    def quick(cls, part: str | None = None) -> Plan:
        """About a minute on two cores."""
        return cls(part, QUICK_DEGREES, small=True)

    def __post_init__(self) -> None:
        if self.part is not None and self.part not in PARTS:
            raise ValueError(f"there is no {self.part!r}; the parts are {', '.join(PARTS)}")
        if not self.degrees or not set(self.degrees) <= set(published.DEGREES):
            raise ValueError(f"degrees must be some of 1 to 7, got {_words(self.degrees)}")
        object.__setattr__(self, "degrees", tuple(sorted(set(self.degrees))))

    @property
    def parts(self) -> tuple[str, ...]:
        if self.part is not None:
            return (self.part,)
        return PARTS[:-1] if self.small else PARTS  # the paper's slack takes several times as long

    @property
    def needs_usps(self) -> bool:
        return not NEED_USPS.isdisjoint(self.parts)

    @property
    def needs_mnist(self) -> bool:
        return not NEED_MNIST.isdisjoint(self.parts)

    def mnist_images(self, mnist: Dataset) -> Dataset:
        """Pixels 0 to 1, and in a small run some of the training images."""
        X, y = mnist.X, mnist.y
        assert y is not None
        if self.small and len(y) > QUICK_TRAIN:
            # RandomState, since its stream is frozen: always the same images
            chosen = np.sort(np.random.RandomState(0).permutation(len(y))[:QUICK_TRAIN])
            X, y = X[chosen], y[chosen]
        return Dataset(_unit(X), y, _unit(mnist.X_test), mnist.y_test, mnist.name)

    def experiments(self, usps: Dataset | None, mnist: Dataset | None) -> list[Experiment]:
        """All that the parts need, on the images as `usps` and `mnist_images` have them."""
        found: list[Experiment] = []
        if "planes" in self.parts:
            found += [PlaneExperiment(name) for name in SETS]
        usual, own = self.part != "slack", "slack" in self.parts
        if usps is not None:
            gamma = 1 / usps.X.shape[1]
            smoothed = Images(_smoothed(usps))
            for images in (smoothed, Images(usps)) if usual else ():
                found += [
                    MachineExperiment(
                        images, degree, gamma, self.search(USPS_CS), images is smoothed
                    )
                    for degree in self.degrees
                ]
            if own:
                search = self.search(OWN_USPS_CS)
                found += [
                    MachineExperiment(smoothed, degree, gamma, search, True, OWN_SLACK)
                    for degree in self.degrees
                ]
        if mnist is not None:
            images = Images(mnist)
            if usual:
                found.append(MachineExperiment(images, MNIST_DEGREE, 1.0, self.search(MNIST_CS)))
            if own:
                search = self.search(OWN_MNIST_CS)
                found.append(MachineExperiment(images, MNIST_DEGREE, 1.0, search, slack=OWN_SLACK))
            if "benchmark" in self.parts:
                found += [BenchmarkExperiment(images, name) for name in CLASSIFIERS]
        return found

    def search(self, Cs: tuple[float, ...]) -> SearchForC:
        return SearchForC(Cs, QUICK_FOLDS, QUICK_ROWS) if self.small else SearchForC(Cs)

    def reductions(self, usps: Dataset | None, mnist: Dataset | None) -> tuple[str, ...]:
        """What is not as in a full run, one sentence each."""
        found = ["a quick run"] if self.small else []
        if self.needs_usps and self.degrees != published.DEGREES:
            noun = "degree" if len(self.degrees) == 1 else "degrees"
            found.append(f"{noun} {_words(self.degrees)} in place of 1 to 7")
        for name, data, sizes in (
            ("USPS", usps, published.USPS_SIZES),
            ("MNIST", mnist, published.MNIST_SIZES),
        ):
            if data is not None and not is_comparable(data, sizes):
                found.append(
                    f"{len(data.X):,} training and {len(data.X_test):,} test images of {name} in "
                    f"place of {sizes[0]:,} and {sizes[1]:,}, without the published numbers"
                )
        if self.small and (self.needs_usps or self.needs_mnist):
            found.append(
                f"C chosen on at most {QUICK_ROWS:,} training images with {QUICK_FOLDS} folds in "
                f"place of all with {SearchForC(()).folds}"
            )
        return tuple(found)

    @property
    def command(self) -> str:
        """What to type to get this plan."""
        words = ["largemargin reproduce cortes-vapnik"]
        words += [self.part] if self.part else []
        words += ["--quick"] if self.small else []
        if self.degrees != (QUICK_DEGREES if self.small else published.DEGREES):
            words.append("--degrees " + ",".join(map(str, self.degrees)))
        return " ".join(words)


def is_comparable(data: Dataset, sizes: tuple[int, int]) -> bool:
    """Whether the published numbers are about as much data."""
    return (len(data.X), len(data.X_test)) == sizes


def _unit(X: np.ndarray) -> np.ndarray:
    return np.asarray(X / X.dtype.type(255))


def _smoothed(data: Dataset) -> Dataset:
    return Dataset(smooth(data.X), data.y, smooth(data.X_test), data.y_test, data.name)


def _words(numbers: Any) -> str:
    return ", ".join(map(str, numbers)) or "none"


def run(
    plan: Plan, load: Callable[[str], Dataset], work: Path, *, progress: bool, client: Any = None
) -> Report:
    """Reproduce with the data sets that the plan needs."""
    usps = load("usps") if plan.needs_usps else None
    mnist = load("mnist") if plan.needs_mnist else None
    return reproduce(plan, usps, mnist, work, progress=progress, client=client)


def reproduce(
    plan: Plan,
    usps: Dataset | None,
    mnist: Dataset | None,
    work: Path,
    *,
    progress: bool = False,
    client: Any = None,
) -> Report:
    """Run what is missing in the folder `work` and report on all of it.

    `usps` has values from -1 to 1 and `mnist` pixels 0..255. What the plan does not need is None.
    """
    mnist = None if mnist is None else plan.mnist_images(mnist)
    wanted = plan.experiments(usps, mnist)
    records = run_missing(
        Store(work),
        wanted,
        run_experiment,
        name=lambda experiment: experiment.name,
        cost=lambda experiment: experiment.cost,
        progress=progress,
        client=client,
    )
    reduced = plan.reductions(usps, mnist)
    tables, figures = _results(plan, usps, mnist, list(zip(wanted, records, strict=True)))
    part = [plan.part] if plan.part else []
    return Report(
        slug="-".join(["cortes-vapnik", *part, *(["reduced"] if reduced else [])]),
        title="The support-vector networks of Cortes and Vapnik, run again",
        citation=CITATION,
        command=plan.command,
        settings={"experiments": [record["settings"] for record in records]},
        reduced=reduced,
        differences=_differences(plan),
        tables=tables,
        figures=figures,
        ours="from the one training set that there is",
        **provenance(records),
    )


def run_experiment(experiment: Experiment) -> tuple[dict[str, Any], dict[str, float]]:
    return experiment.run()


def _results(
    plan: Plan,
    usps: Dataset | None,
    mnist: Dataset | None,
    done: list[tuple[Experiment, dict[str, Any]]],
) -> tuple[tuple[Table, ...], tuple[Figure, ...]]:
    """The tables and figures of the plan's parts."""
    points, others = {}, {}
    on_usps: Machines = {True: {}, False: {}}
    on_mnist: dict[str, Any] = {}
    own: dict[int, dict[str, Any]] = {}
    own_mnist: dict[str, Any] = {}
    for experiment, record in done:
        if isinstance(experiment, PlaneExperiment):
            points[experiment.points] = record["results"]
        elif isinstance(experiment, BenchmarkExperiment):
            others[experiment.classifier] = record
        elif experiment.slack == OWN_SLACK and experiment.smoothed:
            own[experiment.degree] = record["results"]
        elif experiment.slack == OWN_SLACK:
            own_mnist = record["results"]
        elif mnist is not None and experiment.images.data is mnist:
            on_mnist = record
        else:
            on_usps[experiment.smoothed][experiment.degree] = record["results"]
    whole_usps = usps is not None and is_comparable(usps, published.USPS_SIZES)
    whole_mnist = mnist is not None and is_comparable(mnist, published.MNIST_SIZES)
    tables: list[Table] = []
    figures: list[Figure] = []
    if "planes" in plan.parts:
        figures.append(planes(points))
    if "table2" in plan.parts and usps is not None:
        tables.append(table2(on_usps, usps.X.shape[1], comparable=whole_usps))
    if "table3" in plan.parts:
        tables.append(table3(on_mnist["results"], comparable=whole_mnist))
    if "benchmark" in plan.parts:
        table, figure = benchmark(
            on_mnist["results"], on_mnist["seconds"], others, comparable=whole_mnist
        )
        tables.append(table)
        figures.append(figure)
    if "bound" in plan.parts:
        tables.append(bound_usps(on_usps, comparable=whole_usps))
        tables.append(bound_mnist(on_mnist["results"], comparable=whole_mnist))
        figures.append(bound_figure(on_usps, on_mnist["results"]))
    if own:
        tables.append(slack_usps(own, on_usps[True], comparable=whole_usps))
    if own_mnist:
        usual = on_mnist.get("results")
        tables.append(slack_mnist(own_mnist, usual, comparable=whole_mnist))
    return tuple(tables), tuple(figures)


def _differences(plan: Plan) -> tuple[str, ...]:
    found = []
    if "planes" in plan.parts:
        found.append("The points in the plane are ours, since those of the paper are not printed.")
    if plan.needs_usps:
        found.append(
            "The public USPS files have 7,291 and 2,007 images, for about 7,300 and 2,000 in the "
            "paper, and are not centred or de-slanted. The kernel is (u.v/256 + 1)^d with values "
            "from -1 to 1, which is the paper's (u.v + 1)^d with images divided by 16: it stays "
            "between 0 and 2^d. The paper does not say how it scaled its images."
        )
    if plan.needs_mnist:
        found.append(
            "The images are the public MNIST files in place of the paper's mixture of NIST images, "
            "with pixels from 0 to 1 and the kernel (u.v + 1)^4."
        )
    if plan.needs_usps or plan.needs_mnist:
        found.append(
            "The paper prints no C: here it was chosen by cross-validation on the training set."
        )
        if plan.part != "slack":
            found.append(
                "The slack of an example counts linearly, which is the usual machine. The "
                "experiments of the paper penalised the square of the sum of all slacks, with "
                "which tables 2 and 3 are shown as well."
            )
    if "benchmark" in plan.parts:
        found.append(
            "The classifiers beside the support vector machine are those of scikit-learn, with "
            "settings of ours; LeNet was not run."
        )
    return tuple(found)
