"""Ctrl-C in the middle of an experiment, which is then none."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interruptions_raised() -> Iterator[None]:
    """Within it a fit that Ctrl-C cut short raises KeyboardInterrupt.

    Several estimators end their fit with a warning instead, and return what they have.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*interrupted")
        try:
            yield
        except Warning as warning:
            if "interrupted" not in str(warning):
                raise
            raise KeyboardInterrupt from warning
