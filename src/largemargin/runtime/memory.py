"""How much memory may be used, and memory for large arrays."""

from __future__ import annotations

import ctypes
import mmap
import os
import re
import threading
import weakref
from contextlib import suppress
from functools import cache
from math import prod
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np

from largemargin.runtime.showing import shown

LEAST_MEMORY = 1 << 26  # bytes that are taken to be free, whatever the system says
HUGE_PAGES_FROM = 1 << 22  # bytes of an array from which on NumPy asks for huge pages
KEPT = (1 << 25) - (1 << 16)  # bytes of the largest array whose memory the C library may keep
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of `mallopt`
MALLOC_NAMES = "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"  # where a user sets the same
MALLOC_USUAL = 1 << 17  # what both are otherwise
CACHE_LINE = 64  # bytes, on all usual processors
MOST_LENT = 1 << 26  # bytes of memory that waits for the next who needs it


class _Files(NamedTuple):
    """What the files of a control group are called."""

    limits: tuple[str, ...]
    used: str
    cached: str


_UNIFIED = _Files(("memory.max", "memory.high"), "memory.current", "inactive_file")
_SEPARATE = _Files(("memory.limit_in_bytes",), "memory.usage_in_bytes", "total_inactive_file")
_UNLIMITED = 1 << 62  # a limit so large that no machine has it means that there is none
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
        f"got {shown(memory)}"
    )


def _free_memory() -> int:
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 4 * 2**30
    return max(int(min(free, room_in_groups())), LEAST_MEMORY)


def room_in_groups(root: str | PathLike[str] = "/") -> float:
    """What the control groups that this process is in leave it: a container, or a batch system, may
    allow less than the machine has. Infinite without a limit; `root` is where `proc` and `sys` are.
    """
    return min((_room_in(*group) for group in _limited_groups(str(root))), default=float("inf"))


@cache  # to look for them takes as long as a small fit
def _limited_groups(root: str) -> list[tuple[Path, _Files, int]]:
    """The groups with a limit, and that limit. Each group is within all those above it."""
    try:
        lines = Path(root, "proc/self/cgroup").read_text().splitlines()
    except (OSError, ValueError):
        lines = []
    found = []
    groups = [line.split(":", 2) for line in lines if line.count(":") >= 2]
    for _, controllers, path in groups or [["0", "", "/"]]:
        if not controllers:
            top, kind = Path(root, "sys/fs/cgroup"), _UNIFIED
        elif "memory" in controllers.split(","):
            top, kind = Path(root, "sys/fs/cgroup", controllers), _SEPARATE
            top = top if top.is_dir() else top.with_name("memory")
        else:
            continue
        # a group that is not to be seen from within a container is its outermost one
        parts = [part for part in path.split("/") if part not in ("", ".", "..")]
        for depth in range(len(parts), -1, -1):
            group = top.joinpath(*parts[:depth])
            limits = [_number_in(group / name) for name in kind.limits]
            limit = min((limit for limit in limits if limit is not None), default=_UNLIMITED)
            if limit < _UNLIMITED:
                found.append((group, kind, limit))
    return found


def _room_in(group: Path, kind: _Files, limit: int) -> float:
    """What one group leaves. Files that were read are in memory only as long as there is room."""
    used = _number_in(group / kind.used)
    if used is None:
        return float("inf")
    try:
        found = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        used -= min(int(found.get(kind.cached, 0)), used)
    except (OSError, ValueError):
        pass
    return max(limit - used, 0)


def _number_in(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):  # not there, or "max"
        return None


@cache
def keep_freed_memory() -> None:
    """Have the C library keep the memory of arrays that were freed, some dozens of megabytes of it,
    for the next ones. It gives back what exceeds twice the largest array that it has seen so far,
    and to get it again takes longer than a small fit has to do otherwise. The array that is shown
    to it here takes no memory, since nothing is written to it.
    """
    np.empty(KEPT, np.uint8)


class _Holders:
    """Those for whom the C library keeps the memory of arrays that were freed."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # an owner may end on a thread that has it
        self._count = 0

    def add(self, owner: object) -> None:
        with self._lock:
            self._count += 1
            if self._count == 1:
                _set_malloc(KEPT, 2 * KEPT)
        weakref.finalize(owner, self._let_go).atexit = False

    def _let_go(self) -> None:
        with self._lock:
            self._count -= 1
            if not self._count:
                _set_malloc(*(int(os.environ.get(name, MALLOC_USUAL)) for name in MALLOC_NAMES))


_holders = _Holders()


def keep_freed_memory_while_alive(owner: object) -> None:
    """The same as `keep_freed_memory` for as long as an object is alive, also where the library was
    told to give memory back at once, as the workers of Dask are: it does not learn then.
    """
    _holders.add(owner)


def _set_malloc(own_mapping_from: int, trimmed_from: int) -> None:
    """Bytes of an array from which on it has a mapping of its own, and free bytes from which on the
    GNU C library gives them back; with another library, or with none, nothing changes.
    """
    with suppress(OSError, AttributeError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_MMAP_THRESHOLD, own_mapping_from)
        mallopt(M_TRIM_THRESHOLD, trimmed_from)


class _Lent:
    """Memory of arrays that are too large for the C library to keep, for the next ones."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: list[np.ndarray] = []

    def take(self, size: int) -> np.ndarray:
        with self._lock:
            for k, one in enumerate(self._free):
                if one.nbytes >= size:
                    return self._free.pop(k)
            self._free.clear()  # too small for what is asked for now
        return np.empty(size, np.uint8)

    def give(self, memory: np.ndarray) -> None:
        with self._lock:
            if memory.nbytes + sum(one.nbytes for one in self._free) <= MOST_LENT:
                self._free.append(memory)

    def after_fork(self) -> None:
        """In a new process, where another thread may have had the lock."""
        self._lock = threading.Lock()


_lent = _Lent()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_lent.after_fork)


def lend(count: int, dtype: np.dtype) -> np.ndarray:
    """A flat array for at least so many numbers, in memory that was in use before, if there is
    some: fresh memory is slow. Whoever is done with it and all that refers to it gives it back.

    >>> lend(6, np.dtype(np.float32)).shape
    (6,)
    """
    size = count * dtype.itemsize
    if size <= KEPT:
        return np.empty(count, dtype)
    memory = _lent.take(size)
    return memory[: len(memory) // dtype.itemsize * dtype.itemsize].view(dtype)


def give_back(array: np.ndarray) -> None:
    """Have the memory that an array was lent wait for the next one."""
    memory = array if array.base is None else array.base
    if array.nbytes > KEPT and isinstance(memory, np.ndarray):
        _lent.give(memory)


def aligned(count: int, dtype: np.dtype) -> np.ndarray:
    """A flat array for so many numbers that begins with a line of the cache.

    Those of NumPy begin anywhere. A register that is filled from two lines takes twice as long to
    load, and where registers are as wide as lines, that is each of them.

    >>> one = aligned(5, np.dtype(np.float32))
    >>> one.shape, one.ctypes.data % CACHE_LINE
    ((5,), 0)
    """
    size = count * dtype.itemsize
    memory = np.empty(size + CACHE_LINE, np.uint8)
    first = -memory.ctypes.data % CACHE_LINE
    return memory[first : first + size].view(dtype)


def lazily_paged(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array for values that come bit by bit: its pages are there when they are first written to.

    NumPy asks for huge ones. A virtual machine that gets its memory from its host as it goes can
    take five times as long for one as for the small ones in its place.

    >>> lazily_paged((2, 3), np.dtype(np.float32)).shape
    (2, 3)
    """
    size = prod(shape) * dtype.itemsize
    if size < HUGE_PAGES_FROM:
        return np.empty(shape, dtype)
    private = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if os.name == "posix" else {}
    return np.frombuffer(mmap.mmap(-1, size, **private), dtype).reshape(shape)
