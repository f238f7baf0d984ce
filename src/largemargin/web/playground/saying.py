"""What machines warn of, by thread: several fit at the same time, and each page wants its own."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_HERE = threading.local()


@contextmanager
def listening() -> Iterator[None]:
    """As long as it lasts, warnings go to whoever collects them in their thread, else nowhere."""

    def hear(message: Warning | str, *others: Any, **more: Any) -> None:
        getattr(_HERE, "said", []).append(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = hear
        yield


@contextmanager
def said_here() -> Iterator[list[str]]:
    """Collect what is warned of in this thread."""
    _HERE.said = []
    try:
        yield _HERE.said
    finally:
        _HERE.said = []
