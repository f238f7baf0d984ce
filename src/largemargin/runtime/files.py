"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

try:
    import fcntl
except ImportError:  # a system without locks: what a killed process leaves behind stays
    fcntl = None  # type: ignore[assignment]

_PREFIX, _SUFFIX = ".largemargin-", ".tmp"


def write_atomically(path: str | PathLike[str], parts: Iterable[bytes | memoryview]) -> None:
    """Write the parts one after the other into a file that is at `path` only when it is complete.

    They go into a file beside it, which is flushed to the disk and then renamed, so at any moment,
    whatever fails, `path` is the old file or the new one. An existing file keeps its permissions; a
    link keeps pointing where it did. An OSError is a sentence that names the file. What killed
    processes left beside it is removed.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "greeting"
    >>> write_atomically(path, [b"hello ", b"there"])
    >>> path.read_bytes()
    b'hello there'
    """
    check_writable(path)
    target = Path(os.path.realpath(path))
    _remove_leftovers_once(target.parent)
    beside = target.with_name(f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}")
    try:
        with contextlib.ExitStack() as held, open(_new_file(beside), "wb") as file:
            if fcntl is not None:  # the lock lasts until the file has its name
                held.callback(os.close, os.dup(file.fileno()))
            with contextlib.suppress(FileNotFoundError):
                os.chmod(beside, target.stat().st_mode & 0o777)
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
            file.close()
            os.replace(beside, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        if isinstance(error, OSError):
            raise type(error)(f"cannot write {path}: {error.strerror or error}") from error
        raise
    flush_folder(target)


def _new_file(path: Path) -> int:
    """The descriptor of a new file with a lock on it, which says that somebody is writing it."""
    while True:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        if fcntl is None:
            return descriptor
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)  # it was taken for a leftover before it had its lock


def remove_leftovers(folder: str | PathLike[str]) -> None:
    """Remove the unfinished files of processes that were killed while they wrote into a folder.

    Whoever writes a file holds a lock on it, so what nobody holds is a leftover. Without locks, or
    where a file is not ours to remove, all stay.
    """
    if fcntl is None:
        return
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX):
                with contextlib.suppress(OSError):
                    _remove_unlocked(entry.path)


_remove_leftovers_once = functools.cache(remove_leftovers)  # a folder of a million files is slow


def _remove_unlocked(path: str) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)
    finally:
        os.close(descriptor)


def check_writable(path: str | PathLike[str], *others: str | PathLike[str] | None) -> None:
    """Raise an OSError that says what to do if no file can be made at `path`, or if it is one of
    the other files that a command is to read or write.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a folder; give the name of a file")
    if target.exists() and not target.is_file():  # a rename would put a file in its place
        raise OSError(f"cannot write {path}: it is a device or a pipe; give the name of a file")
    if any(other is not None and os.path.realpath(other) == str(target) for other in others):
        raise FileExistsError(
            f"cannot write {path}: it is one of the command's other files; name another one"
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"cannot write {path}: the folder {target.parent} does not exist; create it first"
        )
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(
            f"cannot write {path}: you may not write in the folder {target.parent}; give another"
        )


def flush_folder(path: str | PathLike[str]) -> None:
    """Make a new or renamed file last through a power cut, if the system can flush folders."""
    with contextlib.suppress(OSError):
        descriptor = os.open(Path(os.path.realpath(path)).parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
