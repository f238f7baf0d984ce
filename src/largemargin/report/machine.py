"""What a number was measured on, and how long it took, in words that name no host and no path."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any


def describe_machine() -> str:
    """Processor, cores in use, operating system, and the versions that the numbers depend on."""
    import numpy as np

    cores = usable_cores()
    return ", ".join(
        [
            _processor(),
            f"{cores} core{'s' if cores > 1 else ''}",
            platform.system(),
            f"Python {platform.python_version()}",
            f"NumPy {np.__version__} ({_blas()})",
        ]
    )


def duration(seconds: float) -> str:
    """A length of time for people: "48 s", "12 min", "1 h 5 min"."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor() -> str:
    if sys.platform.startswith("linux"):
        try:
            for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
                if line.startswith("model name"):
                    return " ".join(line.partition(":")[2].split())
        except OSError:
            pass
    if sys.platform == "darwin":
        try:
            question = ["sysctl", "-n", "machdep.cpu.brand_string"]
            return subprocess.run(
                question, capture_output=True, text=True, timeout=5
            ).stdout.strip()
        except (OSError, subprocess.SubprocessError):
            pass
    return platform.processor() or platform.machine() or "unknown processor"


def _blas() -> str:
    import numpy as np

    try:
        built_with: Any = np.show_config(mode="dicts")
        blas = built_with["Build Dependencies"]["blas"]
        return f"{blas['name']} {blas['version']}"
    except (KeyError, TypeError):
        return "BLAS unknown"
