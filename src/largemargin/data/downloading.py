"""A file from the network, complete or not at all."""

from __future__ import annotations

import shutil
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

_SECONDS = 60.0  # without an answer, until it is given up


def download(address: str, path: Path) -> None:
    """Write what is found at an address to a file; what goes wrong on the way is an `OSError`."""
    try:
        with urlopen(address, timeout=_SECONDS) as answer, path.open("wb") as file:
            shutil.copyfileobj(answer, file)
    except HTTPException as error:
        raise OSError(f"{type(error).__name__}: {error}") from error
