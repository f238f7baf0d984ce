"""What to run of the paper, and what is not as in a full run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from largemargin.data.dataset import Dataset
from largemargin.papers.cortes_vapnik import published
from largemargin.papers.cortes_vapnik.machines import (
    CLASSIFIERS,
    MNIST_CS,
    MNIST_DEGREE,
    USPS_CS,
    BenchmarkExperiment,
    MachineExperiment,
    SearchForC,
    smooth,
)
from largemargin.papers.cortes_vapnik.planes import SETS, PlaneExperiment
from largemargin.papers.experiments import Images

PARTS = ("planes", "table2", "table3", "benchmark", "bound")
NEED_USPS = {"table2", "bound"}
NEED_MNIST = {"table3", "benchmark", "bound"}

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
        return PARTS if self.part is None else (self.part,)

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
        if usps is not None:
            gamma = 1 / usps.X.shape[1]
            for smoothed in (True, False):
                images = Images(_smoothed(usps) if smoothed else usps)
                found += [
                    MachineExperiment(images, degree, gamma, self.search(USPS_CS), smoothed)
                    for degree in self.degrees
                ]
        if mnist is not None:
            images = Images(mnist)
            found.append(MachineExperiment(images, MNIST_DEGREE, 1.0, self.search(MNIST_CS)))
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
