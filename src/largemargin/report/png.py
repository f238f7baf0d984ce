"""Small grey pictures as PNG, for pages that hold their pictures themselves."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np

_GREY, _INK = 0, 4  # colour types: grey values; grey values with their opacity


def encode(pixels: np.ndarray, *, ink: bool = False) -> bytes:
    """A picture of a matrix of bytes: grey values, or black ink that is that opaque.

    Ink on nothing suits a page of any colour.
    """
    height, width = pixels.shape
    shown = np.ascontiguousarray(pixels, np.uint8)
    if ink:
        shown = np.stack([np.zeros_like(shown), shown], axis=-1)
    # each line begins with its filter: 0, none
    lines = np.zeros((height, 1 + shown[0].size), np.uint8)
    lines[:, 1:] = shown.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, _INK if ink else _GREY, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def data_uri(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
