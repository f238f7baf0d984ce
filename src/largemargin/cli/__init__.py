"""The command line: one file a command. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """The entry point `largemargin`."""
    # A short-lived process that imports much has little garbage to collect: looking for it less
    # often, and not at all at the end, takes a quarter off the time of `train digits`.
    gc.set_threshold(100_000, 50, 50)
    try:
        from largemargin.cli.app import app

        app(prog_name="largemargin")  # and not "python -m largemargin"
    except KeyboardInterrupt:  # so early that no command has begun
        sys.exit(130)
    finally:
        gc.freeze()
