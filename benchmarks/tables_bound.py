"""The best rate of gaussian kernel values that a bare loop over tiles reaches.

A tile is a product, its exponentials and the sum of these times coefficients; it is used in cache
and forgotten. The gaussian is one product of augmented rows, in float32 and without a check,

    -gamma |x - v|^2 = [x, 1, |x|^2] . [2 gamma v, -gamma |v|^2, -gamma],

which no machine that keeps promises about rounding can do with less. `LOOPS` are the loops that are
tried, each with every shape of `TILES`: the best counts. Another loop is another entry.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np

TILES = ((256, 512), (512, 256), (1024, 256))  # support vectors x rows
VECTORS, ROWS = 2048, 8192  # that every thread goes through, over and over
WHOLE = 32  # columns that fill two registers of any processor
# (augmented vectors, augmented rows as columns, coefficients, sums of rows, a tile of scratch)
Loop = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], None]


def augmented(X: np.ndarray, V: np.ndarray, gamma: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows and support vectors whose products are the exponents of a gaussian."""
    rows = np.column_stack([X, np.ones(len(X)), (X**2).sum(axis=1)])
    squares = (V**2).sum(axis=1)
    vectors = np.column_stack([2 * gamma * V, -gamma * squares, np.full(len(V), -gamma)])
    return rows.astype(np.float32), vectors.astype(np.float32)


def numpy_tile(
    vectors: np.ndarray, rows: np.ndarray, coefs: np.ndarray, sums: np.ndarray, tile: np.ndarray
) -> None:
    """sums += coefs @ exp(vectors @ rows), a pass for each operation."""
    np.dot(vectors, rows, out=tile)
    np.exp(tile, out=tile)
    sums += coefs @ tile


def compiled_tile(
    vectors: np.ndarray, rows: np.ndarray, coefs: np.ndarray, sums: np.ndarray, tile: np.ndarray
) -> None:
    """The same with one compiled pass after the product."""
    np.dot(vectors, rows, out=tile)
    _compiled_pass()(tile, coefs, sums)


def register_tile(
    vectors: np.ndarray, rows: np.ndarray, coefs: np.ndarray, sums: np.ndarray, tile: np.ndarray
) -> None:
    """The same without a tile: product, exponentials and sums while they are in registers."""
    if len(coefs) % 4 or len(sums) % WHOLE:  # an edge; the trials have none
        compiled_tile(vectors, rows, coefs, sums, tile)
    else:
        _register_pass()(vectors.reshape(-1), rows.reshape(-1), coefs, sums, tile.reshape(-1))


@cache
def _compiled_pass() -> Callable[[np.ndarray, np.ndarray, np.ndarray], None]:
    from benchmarks.tables_loops import add_exponentials

    return add_exponentials


@cache
def _register_pass() -> Callable[..., None]:
    from benchmarks.tables_loops import add_in_registers

    return add_in_registers


LOOPS: dict[str, Loop] = {
    "NumPy": numpy_tile,
    "compiled": compiled_tile,
    "registers": register_tile,
}


def sweep(
    loop: Loop,
    shape: tuple[int, int],
    vectors: np.ndarray,
    rows: np.ndarray,
    coefs: np.ndarray,
) -> np.ndarray:
    """The sums over all support vectors for each row, a tile at a time; `rows` are columns."""
    height, width = shape
    sums = np.zeros(rows.shape[1], np.float32)
    tile = np.empty(shape, np.float32)
    for first in range(0, rows.shape[1], width):
        columns = np.ascontiguousarray(rows[:, first : first + width])
        for top in range(0, len(vectors), height):
            part = slice(top, top + height)
            used = tile[: len(vectors[part]), : columns.shape[1]]
            if not used.flags.c_contiguous:  # an edge; the trials have none
                used = np.empty(used.shape, np.float32)
            loop(vectors[part], columns, coefs[part], sums[first : first + width], used)
    return sums


def rates(columns: int, threads: int, seconds: float) -> dict[str, float]:
    """Values per second of each loop and shape on so many threads, taking turns; BLAS has to be
    left with one thread."""
    rng = np.random.default_rng(0)
    gamma = 0.6 / columns
    X, V = rng.normal(size=(ROWS, columns)), rng.normal(size=(VECTORS, columns))
    rows, vectors = augmented(X, V, gamma)
    rows, coefs = np.ascontiguousarray(rows.T), rng.normal(size=VECTORS).astype(np.float32)
    trials = {
        f"{name} {shape[0]} x {shape[1]}": (loop, shape)
        for (name, loop), shape in product(LOOPS.items(), TILES)
    }
    best = dict.fromkeys(trials, 0.0)
    with ThreadPoolExecutor(threads) as pool:
        end = perf_counter() + seconds
        first = True
        while first or perf_counter() < end:
            for name, (loop, shape) in trials.items():
                start = perf_counter()
                work = [
                    pool.submit(sweep, loop, shape, vectors, rows, coefs) for _ in range(threads)
                ]
                for one in work:
                    one.result()
                rate = threads * VECTORS * ROWS / (perf_counter() - start)
                best[name] = max(best[name], rate)
            first = False
    return best


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """The job of a worker: the best rate at a number of columns."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        found = rates(job["columns"], job["threads"], job["seconds"])
    best = max(found, key=lambda name: found[name])
    return {"rate": found[best], "loop": best, "rates": found}
