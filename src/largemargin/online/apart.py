"""Kernel values each computed by itself, so that its bits depend on the two examples alone.

A matrix product is faster, but the last bit of a value in it depends on the shape of the product.
Where a stream comes in pieces of any size, and must end in the same model to the last bit, an inner
product is a loop of its own: over the columns, or over the entries of the vector that came first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.kernels.engine import fill
from largemargin.kernels.functions import Kernel


def fill_apart(
    kernel: Kernel,
    dtype: np.dtype,
    rows: tuple[Any, np.ndarray],
    vectors: tuple[Any, np.ndarray],
    out: np.ndarray,
) -> np.ndarray:
    """What `gram.fill` does; of the two examples of a value, that in `rows` came first."""
    if not kernel.on_products:  # these compute every value by itself anyway
        return fill(kernel, dtype, rows, vectors, out)
    from largemargin.online._loops import dense_products, sparse_products

    (X, X_squares), (V, V_squares) = rows, vectors
    if sp.issparse(X):
        room = np.zeros(X.shape[1], out.dtype)
        sparse_products(V.data, V.indices, V.indptr, X.data, X.indices, X.indptr, room, out)
    else:
        dense_products(V, X, out)
    return kernel.from_products(out, V_squares, X_squares)
