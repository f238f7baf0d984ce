"""Cortes and Vapnik (1995): support-vector networks in the plane and on handwritten digits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from largemargin.data.dataset import Dataset
from largemargin.papers.comparison import Table
from largemargin.papers.cortes_vapnik import published
from largemargin.papers.cortes_vapnik.machines import SLACK, BenchmarkExperiment
from largemargin.papers.cortes_vapnik.plan import PARTS, Experiment, Plan, is_comparable
from largemargin.papers.cortes_vapnik.planes import PlaneExperiment, planes
from largemargin.papers.cortes_vapnik.tables import (
    Machines,
    benchmark,
    bound_figure,
    bound_mnist,
    bound_usps,
    table2,
    table3,
)
from largemargin.papers.experiments import Store, provenance, run_missing
from largemargin.papers.figures import Figure
from largemargin.papers.report import Report

__all__ = ["PARTS", "Plan", "reproduce", "run"]

CITATION = (
    "Cortes, C. and Vapnik, V. (1995). Support-vector networks. Machine Learning 20, 273-297."
)


def run(plan: Plan, load: Callable[[str], Dataset], work: Path, *, progress: bool) -> Report:
    """Reproduce with the data sets that the plan needs."""
    usps = load("usps") if plan.needs_usps else None
    mnist = load("mnist") if plan.needs_mnist else None
    return reproduce(plan, usps, mnist, work, progress=progress)


def reproduce(
    plan: Plan,
    usps: Dataset | None,
    mnist: Dataset | None,
    work: Path,
    *,
    progress: bool = False,
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
    for experiment, record in done:
        if isinstance(experiment, PlaneExperiment):
            points[experiment.points] = record["results"]
        elif isinstance(experiment, BenchmarkExperiment):
            others[experiment.classifier] = record
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
        if SLACK == "linear":
            found.append(
                "The slack of an example counts linearly, which is the usual machine; the "
                "experiments of the paper penalised the square of the sum of all slacks."
            )
    if "benchmark" in plan.parts:
        found.append(
            "The classifiers beside the support vector machine are those of scikit-learn, with "
            "settings of ours; LeNet was not run."
        )
    return tuple(found)
