"""What the command line says about how to measure."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass
class Options:
    """Shared by all parts of a run; `python -m benchmarks` fills it in."""

    threads: int = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    rounds: int = 3
    rows: int | None = None  # what stands for 60,000 rows, in a trial run
    limit: float = 900.0  # seconds after which the process of a peer is stopped; ours has 900
    slow: float = 60.0  # seconds; what takes more is not repeated
    brief: bool = False  # measure only what the README and the page Performance show
    peers: tuple[str, ...] | None = None  # those to run, if not all
    dtype: str = "float32"  # of the tables

    def size(self, n: int) -> int:
        """The rows to use where a claim is about n of 60,000."""
        return n if self.rows is None else min(n, max(300, n * self.rows // 60_000))


OPTIONS = Options()
