"""NPZ files: arrays ``X`` and ``y`` (or ``data`` and ``target``), or a sparse matrix of SciPy.

Nothing pickled is ever loaded, since unpickling runs whatever code the file asks for.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.data.errors import MAX_LABEL, DataError, broken
from largemargin.data.features import check_finite, checked_sparse, float_type
from largemargin.data.files import Source
from largemargin.data.formats import Block, Reader, ReadOptions
from largemargin.data.labels import LabelColumn, LabelKind, first_bad_label, label_kind
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.showing import MANY, shown

_SPARSE_KEYS = {"format", "shape", "data", "indices", "indptr"}


class NpzReader(Reader):
    """An NPZ file; its arrays are read whole and handed out in slices."""

    def __init__(self, source: Source, options: ReadOptions) -> None:
        label = options.label
        if not (label is None or label is False or isinstance(label, str)):
            raise ValueError(
                f"label must be the name of an array of the NPZ file or False, got {shown(label)}"
            )
        self._path = source.path
        with source.open_seekable() as stream:
            try:
                with np.load(stream, allow_pickle=False) as arrays:
                    self._X = self._features(arrays)
                    self._y = self._labels(arrays, label)
            except DataError:
                raise
            except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
                raise self._damaged(stream.seek(0, 2), error) from error
            except MemoryError as error:
                raise broken(
                    self._path,
                    f"an array does not fit in memory, or its header is damaged ({error})",
                ) from error
            except (ValueError, KeyError, RuntimeError, NotImplementedError) as error:
                raise self._refused(stream.seek(0, 2), error) from error
        check_finite(self._path, self._X)

    def survey(self) -> LabelKind | None:
        return None if self._y is None else label_kind(self._y)

    def blocks(self, rows: int) -> Iterator[Block]:
        for start in range(0, self._X.shape[0], rows):
            part = slice(start, start + rows)
            yield Block(self._X[part], None if self._y is None else self._y[part])

    def _features(self, arrays: Any) -> Matrix:
        if set(arrays.files) >= _SPARSE_KEYS:
            return self._sparse(arrays)
        name = next((n for n in ("X", "data") if n in arrays.files), None)
        if name is None:
            raise broken(
                self._path,
                "expected an array X or data, or a matrix of scipy.sparse.save_npz; saw "
                f"{_names(arrays)}",
            )
        X = arrays[name]
        if X.ndim < 2 or X.dtype.kind not in "biuf" or 0 in X.shape:
            raise broken(
                self._path,
                f"expected {name} to be numbers with one row per example, saw shape {X.shape} of "
                f"{X.dtype}",
            )
        return X.reshape(len(X), -1).astype(float_type(X.dtype), copy=False)

    def _sparse(self, arrays: Any) -> sp.csr_matrix:
        format = arrays["format"].item()
        format = format.decode() if isinstance(format, bytes) else format
        if format != "csr":
            raise broken(
                self._path, f"expected a sparse matrix in CSR format, saw {format}; save X.tocsr()"
            )
        data, indices, indptr = (arrays[key] for key in ("data", "indices", "indptr"))
        data = data.astype(float_type(data.dtype), copy=False)
        X = sp.csr_matrix((data, indices, indptr), shape=tuple(arrays["shape"]))
        X = checked_sparse(X)
        X.sum_duplicates()
        if 0 in X.shape:
            raise broken(self._path, f"expected at least one example, saw shape {X.shape}")
        return X

    def _labels(self, arrays: Any, label: LabelColumn) -> np.ndarray | None:
        if label is False:
            return None
        names = [label] if isinstance(label, str) else ["y", "target"]
        name = next((n for n in names if n in arrays.files), None)
        if name is None:
            if label is None:
                return None
            raise broken(
                self._path, f"there is no array called {shown(label)}; saw {_names(arrays)}"
            )
        y = arrays[name]
        if y.ndim == 0 or not y.size == len(y) == self._X.shape[0]:
            raise broken(
                self._path,
                f"expected {self._X.shape[0]} labels in {name}, one per row of the examples, saw "
                f"shape {y.shape}",
            )
        if y.dtype.kind not in "biufUSmM":
            raise broken(
                self._path,
                f"expected {name} to be labels of one type, numbers or text, saw {shown(y.dtype)}",
            )
        y = np.asarray(y.reshape(-1))
        if (at := first_bad_label(y)) is not None:
            problem = f"expected a label of at most {MAX_LABEL} characters, saw {shown(y[at])}"
            if y.dtype.kind not in "US":
                problem = f"expected a label, saw {y[at]}; fill it in"
            raise broken(self._path, problem, row=at + 1, column=name)
        return y

    def _damaged(self, size: int, error: Exception) -> DataError:
        return broken(
            self._path,
            f"expected a complete NPZ file, saw {size} bytes that are damaged or cut off "
            f"({shown(str(error), 300)[1:-1]}); copy or write the file again",
        )

    def _refused(self, size: int, error: Exception) -> DataError:
        if "allow_pickle" in str(error):
            return broken(
                self._path,
                "holds pickled objects, which are refused because loading them can run code; save "
                "arrays of numbers or strings",
            )
        return self._damaged(size, error)


def _names(arrays: Any) -> str:
    first = ", ".join(shown(name)[1:-1] for name in arrays.files[:MANY])
    return first + ", ..." * (len(arrays.files) > MANY) or "no arrays"
