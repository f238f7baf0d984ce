"""Packages of others, which are there if the user installed them."""

from __future__ import annotations

from importlib.util import find_spec


def needed(package: str, install: str | None = None) -> None:
    """Refuse to go on without a package, with the command that installs it."""
    if find_spec(package) is None:
        raise ImportError(
            f"this needs the package {install or package}, which is not installed: "
            "pip install largemargin[interchange]"
        )
