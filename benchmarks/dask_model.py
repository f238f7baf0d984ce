"""The time of a fit on many workers, on paper.

    T(W) = coordinator + computing / (W x threads) + rounds x (a + b W) + bytes(W) / bandwidth

A fit on one worker with one thread gives the seconds of computing, the coordinator's own seconds,
the rounds and the vectors. Two sizes of a problem give the power of the rows with which each of
them grows, and a and b are those of rounds in which nothing is computed. The coordinator sends each
vector to every worker but its owner, and gets it from its owner: with many workers all bytes pass
through its link, W times the vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np

from benchmarks.timing import note, row
from largemargin.dask.cluster import n_bytes
from largemargin.dask.packing import packed

THREADS = 8  # of a worker
BANDWIDTH = 1.25e9  # bytes per second of the coordinator's link: 10 Gbit/s
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "dask_model.svg"
PARTS = {
    "computing": "the workers' computing", "coordinator": "the coordinator's own work",
    "waiting": "messages", "sending": "the coordinator's link",
}  # fmt: skip


@dataclass(frozen=True)
class Work:
    """What a fit takes, wherever it runs: all of it grows with the rows."""

    n: float
    computing: float
    coordinator: float
    rounds: float
    vectors: float
    row_bytes: float  # of a vector on its way
    sums: float  # bytes of sums and coefficients

    @classmethod
    def of(cls, found: dict[str, Any], data: str) -> Self:
        """From a fit on one worker."""
        X, (stats,) = np.load(data + ".X.npy", mmap_mode="r"), found["stats"]
        some = np.array(X[:1000])
        row_bytes = n_bytes(packed(some)) / len(some)
        own = stats["vectors_own"]
        traffic = stats["bytes_sent"] + stats["bytes_received"]
        return cls(
            len(X), stats["seconds_computing"], found["seconds"] - stats["seconds_waiting"],
            stats["rounds"], own, row_bytes, max(1.0, traffic - own * row_bytes),
        )  # fmt: skip

    def on(self, workers: int, rounds: Latency, threads: int = THREADS) -> Time:
        """The time on so many workers."""
        traffic = workers * self.vectors * self.row_bytes + self.sums
        return Time(
            workers, self.computing / (workers * threads), self.coordinator,
            self.rounds * rounds.on(workers), traffic / BANDWIDTH,
        )  # fmt: skip


@dataclass(frozen=True)
class Time:
    """Seconds, and what they go into."""

    workers: int
    computing: float
    coordinator: float
    waiting: float
    sending: float

    @property
    def total(self) -> float:
        return self.computing + self.coordinator + self.waiting + self.sending

    @property
    def largest(self) -> str:
        return PARTS[max(PARTS, key=lambda name: float(getattr(self, name)))]


@dataclass(frozen=True)
class Law:
    """Two sizes of a problem, and so the power of the rows with which its work grows."""

    small: Work
    large: Work

    def power(self, name: str) -> float:
        less, more = (max(float(getattr(one, name)), 1e-9) for one in (self.small, self.large))
        return float(np.log(more / less) / np.log(self.large.n / self.small.n))

    def at(self, n: float) -> Work:
        ratio = n / self.large.n
        names = [one.name for one in fields(Work) if one.name != "row_bytes"]
        grown = {name: getattr(self.large, name) * ratio ** self.power(name) for name in names}
        return Work(**grown, row_bytes=self.large.row_bytes)

    def told(self) -> str:
        return f"{self.large.n:,.0f} rows: " + ", ".join(
            f"{name} {getattr(self.large, name):.3g} (power {self.power(name):.2f})"
            for name in ("computing", "coordinator", "rounds", "vectors", "sums")
        )


@dataclass(frozen=True)
class Latency:
    """Seconds of a round: a + b W."""

    a: float
    b: float

    @classmethod
    def of(cls, measured: dict[int, float]) -> Self:
        b, a = np.polyfit(list(measured), list(measured.values()), 1)
        return cls(max(float(a), 0.0), max(float(b), 0.0))

    def on(self, workers: int) -> float:
        return self.a + self.b * workers

    def told(self) -> str:
        return f"{1e3 * self.a:.2f} ms and {1e3 * self.b:.2f} ms for each worker"


def checked(law: Law, rounds: Latency, runs: dict[int, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The model against 1 and 2 workers in time, and 3 and 4 in rounds, bytes and messages."""
    work = law.large
    for workers in (1, 2):
        found, expected = runs[workers]["seconds"], work.on(workers, rounds, threads=1).total
        detail = f"{found:.1f} s / {expected:.1f} s"
        yield row(f"  {workers} workers: measured / model", found / expected, 1.2, detail)
    for workers in (3, 4):
        stats = runs[workers]["stats"]
        tasks = sum(one["rounds"] for one in stats)
        sent = sum(one["bytes_sent"] + one["bytes_received"] for one in stats)
        bytes_ = workers * work.vectors * work.row_bytes + work.sums
        yield note(
            f"  {len(stats)} workers: measured / model",
            f"rounds {max(one['rounds'] for one in stats) / work.rounds:.2f}, messages "
            f"{tasks / (len(stats) * work.rounds):.2f}, bytes {sent / bytes_:.2f}",
        )


def duration(seconds: float) -> str:
    """
    >>> duration(40), duration(600), duration(90_000)
    ('40 s', '10 min', '25 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def plot(times: dict[str, Sequence[Time]]) -> None:
    """Time against workers, both logarithmic, and what it would be without anything but computing,
    as dashes.
    """
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "dask"
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4))
    for name, found in times.items():
        workers = [one.workers for one in found]
        (line,) = axes.plot(workers, [one.total for one in found], marker="o", label=name)
        ideal = [one.computing for one in found]
        axes.plot(workers, ideal, "--", color=line.get_color(), linewidth=1)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(workers, [str(count) for count in workers])
    axes.set_xlabel(f"workers of {THREADS} threads")
    axes.set_ylabel("seconds")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(PICTURE, format="svg", metadata={"Date": None})
    plt.close(figure)
