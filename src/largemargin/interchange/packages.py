"""Packages of others, which are there if the user installed them."""

from __future__ import annotations

from importlib.util import find_spec

# The extra of this project that brings a package.
EXTRAS = {"onnx": "interchange", "mlflow": "mlflow"}


def needed(package: str) -> None:
    """Refuse to go on without a package, with the command that installs it."""
    if find_spec(package) is None:
        raise ImportError(
            f"this needs the package {package}, which is not installed: "
            f"pip install 'largemargin[{EXTRAS[package]}]'"
        )
