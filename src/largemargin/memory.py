"""How much memory may be used, and memory for large arrays."""

from __future__ import annotations

import mmap
import os
import re
from math import prod
from numbers import Real

import numpy as np

LEAST_MEMORY = 1 << 26  # taken to be free, whatever is said
LARGE = 1 << 22  # bytes from which on NumPy asks for huge pages

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def memory_bytes(memory: int | float | str, enough: int | None = None) -> int:
    """The number of bytes that `memory` means: a number, "500MB", or "auto" for half of what is
    free. What is free is not looked up, which takes a while, where little is `enough`.

    >>> memory_bytes("500MB"), memory_bytes(2**20)
    (500000000, 1048576)
    """
    if isinstance(memory, str):
        if memory == "auto":
            little = enough is not None and enough <= LEAST_MEMORY // 2
            return (LEAST_MEMORY if little else _free_memory()) // 2
        parts = re.fullmatch(r"\s*([0-9.]+)\s*([A-Za-z]*)\s*", memory)
        try:
            if parts:
                return int(float(parts[1]) * _UNITS[parts[2].upper()])
        except (ValueError, KeyError):
            pass
    elif isinstance(memory, Real) and not isinstance(memory, bool) and 0 < memory < np.inf:
        return int(memory)
    raise ValueError(
        "memory must be 'auto', a positive number of bytes or a size such as '500MB', "
        f"got {memory!r}"
    )


def _free_memory() -> int:
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 4 * 2**30
    try:  # a container may be allowed less than the machine has
        with (
            open("/sys/fs/cgroup/memory.max") as limit,
            open("/sys/fs/cgroup/memory.current") as used,
        ):
            free = min(free, int(limit.read()) - int(used.read()))
    except (OSError, ValueError):
        pass
    return max(free, LEAST_MEMORY)


def untouched(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array for values that come bit by bit: its pages are there when they are first written to.

    NumPy asks for huge ones. A virtual machine that gets its memory from its host as it goes can
    take five times as long for one as for the small ones in its place.

    >>> untouched((2, 3), np.dtype(np.float32)).shape
    (2, 3)
    """
    size = prod(shape) * dtype.itemsize
    if size < LARGE:
        return np.empty(shape, dtype)
    private = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if os.name == "posix" else {}
    return np.frombuffer(mmap.mmap(-1, size, **private), dtype).reshape(shape)
