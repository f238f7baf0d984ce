"""Kernel values for a stretch of the stream at once: against the cache, and within the stretch.

Threads run over panels of rows, whose shapes do not depend on how many threads there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.gram import fill as fill_together
from largemargin.kernels import FunctionKernel
from largemargin.online.apart import fill_apart
from largemargin.online.arrays import Block
from largemargin.online.vectors import Vectors
from largemargin.workers import Workers

LOOK_AHEAD = 256  # examples: longer ones spend more on values among themselves than they gain
PANEL = 64  # rows of a product


def block_bytes(n_rows: int, top: int, dtype: np.dtype) -> int:
    """What the kernel values of a block take."""
    return n_rows * (top + n_rows) * dtype.itemsize


def make_block(
    vectors: Vectors,
    top: int,
    X: Any,
    squares: np.ndarray,
    labels: np.ndarray,
    positions: np.ndarray,
    team: Workers,
    apart: bool = False,
) -> Block:
    """The block of the rows of X, which have these squared norms, labels and places in the stream.

    Values within it are there on and below the diagonal. If so asked, each is computed `apart`.
    """
    fill = fill_apart if apart else fill_together
    kernel, dtype = vectors.kernel, vectors.dtype
    n = X.shape[0]
    against = np.empty((n, top), dtype)
    within = np.zeros((n, n), dtype)
    cached = vectors.first(top)

    def run(lo: int) -> None:
        hi = min(lo + PANEL, n)
        panel = (X[lo:hi], squares[lo:hi])
        ahead = (positions[:hi, None] if kernel.by_column else X[:hi], squares[:hi])
        for others, out in ((cached, against[lo:hi]), (ahead, within[lo:hi, :hi])):
            if not out.shape[1]:
                continue
            if kernel.by_column:  # the columns of these rows
                out[:] = fill(kernel, dtype, panel, others, np.empty(out.shape[::-1], dtype)).T
            elif out.flags.c_contiguous:
                fill(kernel, dtype, others, panel, out)
            else:
                out[:] = fill(kernel, dtype, others, panel, np.empty(out.shape, dtype))

    team.map(run, range(0, n, PANEL))
    if kernel.by_column or isinstance(kernel, FunctionKernel):
        own = np.diagonal(within).astype(np.float64)
    else:
        own = kernel.diag(X)
    return Block(labels, own, against, within)
