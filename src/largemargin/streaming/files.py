"""The files of a stream: none is written over another, and one process at a time has them.

A lock is on a small file beside it, .NAME.lock, which says who holds it: the file itself may be
replaced at any moment, and a lock would stay with the old one. The system frees a lock when its
process dies, however it dies, so one that is left behind is in nobody's way.
"""

from __future__ import annotations

import contextlib
import os
import platform
import warnings
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from largemargin.model_file import describe
from largemargin.runtime.files import check_writable, remove_leftovers
from largemargin.streaming.checkpoint import StreamPosition
from largemargin.streaming.output import check_new, is_kept

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def locked(path: str) -> Iterator[None]:
    """Hold the lock of a file; raises a ValueError that names the process that has it.

    Where there are no locks, as on some network file systems, this is a warning.
    """
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name}.lock")
    descriptor = _take(path, beside)
    try:
        yield
    finally:
        # removed while it is held: whoever has opened it by now sees that it has gone
        with contextlib.suppress(OSError):
            os.unlink(beside)
        os.close(descriptor)


def _take(path: str, beside: Path) -> int:
    while True:
        descriptor = os.open(beside, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(descriptor)
        except BlockingIOError:
            holder = os.read(descriptor, 300).decode(errors="replace").strip()
            os.close(descriptor)
            raise ValueError(
                f"{path} is in use by {holder or 'another process'}: wait until that has ended, or "
                "give another file"
            ) from None
        except OSError as error:
            warnings.warn(
                f"there are no locks in the folder of {path} ({error.strerror}): see that no other "
                "process writes it",
                stacklevel=2,
            )
        if _is_at(descriptor, beside):
            with contextlib.suppress(OSError):  # on a full disk it is held without a name
                os.truncate(descriptor, 0)
                os.write(descriptor, f"process {os.getpid()} on {platform.node()}\n".encode())
            return descriptor
        os.close(descriptor)  # its holder has ended and removed it in between


def _lock(descriptor: int) -> None:
    if fcntl is None:
        raise OSError(0, "this system has none")
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def check_distinct(
    model: str, output: str | None, save: str | None, checkpoint: str | None
) -> None:
    """No file may be written over another; only the model may take the place of the old one."""
    named = {"--save": save, "--checkpoint": checkpoint, "-o": output}
    seen: dict[str, str] = {}
    for option, path in named.items():
        if path is None or (option == "-o" and not is_kept(path)):
            continue
        check_writable(path)
        real = os.path.realpath(path)
        if real in seen or (option == "-o" and real == os.path.realpath(model)):
            other = seen.get(real, "MODEL")
            raise ValueError(f"{option} and {other} are both {path}: give them different files")
        seen[real] = option


@contextlib.contextmanager
def all_locked(*paths: str | None) -> Iterator[None]:
    """Keep other processes from the files that are written, and tidy up beside them."""
    with contextlib.ExitStack() as stack:
        for path in paths:
            if path is not None and is_kept(path):
                stack.enter_context(locked(path))
                remove_leftovers(os.path.dirname(os.path.realpath(path)))
        yield


def check_save(save: str, model: str, place: StreamPosition | None) -> None:
    """Refuse to write over a model but MODEL itself and the one that the stream has written."""
    if os.path.realpath(save) == os.path.realpath(model):
        return
    if place is not None:
        if (place.options or {}).get("save") == save:
            return
        with contextlib.suppress(ValueError):
            info = describe(save)["info"]
            if "checkpoint" not in info and info.get("stream") == asdict(place.counts):
                return
        if os.path.exists(save):
            raise ValueError(
                f"{save} exists, and this stream has not written it: give another --save"
            )
    check_new("--save", save)
