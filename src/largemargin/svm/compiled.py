"""The compiled loops, at hand from their first use on: the compiler takes longer to load than all
the rest, and an import within a function longer than many a loop on little data.
"""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def loops() -> Any:
    """The module `_loops`."""
    from largemargin.svm import smo as _loops

    return _loops


@cache
def sums() -> Any:
    """The module `_sums`."""
    from largemargin.svm import _sums

    return _sums
