"""The basis of a kernel model in a file: its kernel, and vectors or, if the kernel was given by
its values, their positions alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.kernels.basis import Basis
from largemargin.kernels.engine import check_overflow, largest_square
from largemargin.kernels.functions import Kernel
from largemargin.model_file.arrays import (
    LARGEST,
    check_array,
    check_range,
    pack_rows,
    unpack_rows,
)

BASIS_FACTS = ("kernel", "precision", "n_support")


def pack_basis(basis: Basis) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The facts and arrays of a basis."""
    facts = {"kernel": basis.kernel, "precision": basis.dtype.name, "n_support": len(basis)}
    arrays = {"basis.examples": basis.examples}
    if len(basis) and not basis.kernel.by_column:
        vectors = basis.vectors
        arrays |= (
            pack_rows(vectors, "basis") if sp.issparse(vectors) else {"basis.vectors": vectors}
        )
    return facts, arrays


def empty_basis(facts: dict[str, Any]) -> Basis:
    """A basis of the kernel and type that the facts tell, without vectors yet."""
    if not isinstance(facts["kernel"], Kernel):
        raise ValueError("there is no kernel")
    if facts["precision"] not in ("float32", "float64"):
        raise ValueError(f"kernel values cannot be of type {str(facts['precision'])[:40]!r}")
    return Basis(facts["kernel"], np.dtype(facts["precision"]))


def fill_basis(
    basis: Basis,
    facts: dict[str, Any],
    arrays: dict[str, np.ndarray],
    n_features: int,
    n_examples: int = LARGEST,
) -> None:
    """Take vectors out of the arrays and give them the slots they had.

    Their examples are among so many; those of a precomputed kernel are columns.
    """
    kernel, examples = basis.kernel, arrays.pop("basis.examples")
    size = len(examples)
    check_array(examples, "basis.examples", np.int64, (size,))
    check_range(
        examples,
        "basis.examples",
        0,
        min(n_features, n_examples) if kernel.by_column else n_examples,
    )
    if type(facts["n_support"]) is not int or facts["n_support"] != size:
        raise ValueError("the number of support vectors is not that of the basis")
    if not size:
        return
    if kernel.by_column:
        basis.add(None, examples)
        return
    if "basis.vectors" in arrays:
        vectors = arrays.pop("basis.vectors")
        check_array(vectors, "basis.vectors", vectors.dtype, (size, n_features))
        values = vectors
    else:
        vectors = unpack_rows(arrays, "basis", size, n_features)
        values = vectors.data
    fits = values.dtype == basis.dtype if kernel.on_products else values.dtype in ("f4", "f8")
    if not fits or not np.isfinite(values).all():
        raise ValueError(f"the vectors of the basis are not finite numbers of type {basis.dtype}")
    if kernel.on_products:
        check_overflow(kernel, basis.dtype, largest_square(vectors))
    basis.add(vectors, examples)
