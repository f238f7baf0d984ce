"""Files of every format, written the plain way, to be read back."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import struct
from pathlib import Path

import numpy as np
import scipy.sparse as sp

COMPRESSORS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
FORMATS = ("svmlight", "csv", "tsv", "json", "parquet", "npz", "sparse-npz", "idx")


def put(path: Path, content: str | bytes) -> Path:
    """Write a file, compressed if its suffix says so."""
    raw = content.encode() if isinstance(content, str) else content
    path.write_bytes(COMPRESSORS.get(path.suffix, bytes)(raw))
    return path


def examples(n: int = 23, width: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers, so that every format holds them exactly, some zero, the last column not."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n, width)).astype(np.float64)
    X[0] = 0
    X[n // 2, -1] = 3
    return X, rng.integers(-2, 3, size=n)


def svmlight_text(X: np.ndarray, y: np.ndarray) -> str:
    lines = []
    for row, label in zip(X, y, strict=True):
        pairs = [f"{j + 1}:{float(v)!r}" for j, v in enumerate(row) if v != 0]
        lines.append(" ".join([str(label), *pairs]))
    return "\n".join(lines) + "\n"


def table_text(X: np.ndarray, y: np.ndarray, delimiter: str = ",", header: str = "") -> str:
    lines = [
        delimiter.join([*(repr(float(v)) for v in row), str(label)])
        for row, label in zip(X, y, strict=True)
    ]
    return "\n".join([*([header] if header else []), *lines]) + "\n"


def json_text(X: np.ndarray, y: np.ndarray) -> str:
    lines = [
        json.dumps({**{f"f{j}": v for j, v in enumerate(row)}, "label": label})
        for row, label in zip(X.tolist(), y.tolist(), strict=True)
    ]
    return "\n".join(lines) + "\n"


def idx_bytes(array: np.ndarray) -> bytes:
    codes = {"u1": 0x08, "i1": 0x09, "i2": 0x0B, "i4": 0x0C, "f4": 0x0D, "f8": 0x0E}
    head = bytes([0, 0, codes[array.dtype.str[1:]], array.ndim])
    return (
        head
        + struct.pack(f">{array.ndim}I", *array.shape)
        + array.astype(array.dtype.newbyteorder(">")).tobytes()
    )


def parquet_bytes(columns: dict, row_group_size: int | None = None) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer, row_group_size=row_group_size)
    return buffer.getvalue()


def npz_bytes(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def sparse_npz_bytes(X: np.ndarray, **more: np.ndarray) -> bytes:
    matrix = sp.csr_matrix(X)
    return npz_bytes(
        format=np.array(b"csr"),
        shape=np.array(matrix.shape),
        data=matrix.data,
        indices=matrix.indices,
        indptr=matrix.indptr,
        **more,
    )


def write(folder: Path, format: str, compression: str, X: np.ndarray, y: np.ndarray) -> Path:
    """A file of the given format and compression with these examples."""
    if format == "svmlight":
        return put(folder / f"a.svm{compression}", svmlight_text(X, y))
    if format in ("csv", "tsv"):
        delimiter = "," if format == "csv" else "\t"
        return put(folder / f"a.{format}{compression}", table_text(X, y, delimiter))
    if format == "json":
        return put(folder / f"a.jsonl{compression}", json_text(X, y))
    if format == "parquet":
        columns = {f"f{j}": X[:, j] for j in range(X.shape[1])} | {"label": y}
        return put(folder / f"a.parquet{compression}", parquet_bytes(columns, row_group_size=7))
    if format == "npz":
        return put(folder / f"a.npz{compression}", npz_bytes(X=X, y=y))
    if format == "sparse-npz":
        return put(folder / f"a.npz{compression}", sparse_npz_bytes(X, y=y))
    put(folder / f"a-labels-idx1{compression}", idx_bytes(y.astype(np.int32)))
    return put(folder / f"a-images-idx2{compression}", idx_bytes(X))
