"""How the loops of the online learners are compiled: quickly, since a user waits for it.

Divisions follow NumPy, without a check for zero at each of them. A `part` of the walk is called
from compiled code only and has no way in from Python, which for tuples of arrays would be most of
it. What is called in `once` place only becomes a piece of its caller instead of being compiled, and
optimised, both for itself and again there.
"""

from __future__ import annotations

from functools import partial

from numba import njit

compiled = partial(njit, cache=True, nogil=True, error_model="numpy")
part = partial(compiled, no_cpython_wrapper=True, no_cfunc_wrapper=True)
once = partial(compiled, inline="always")


@compiled(fastmath={"reassoc", "contract", "nsz"})
def dot(a, b, size):
    total = 0.0
    for j in range(size):
        total += a[j] * b[j]
    return total


@compiled(fastmath={"contract"})
def add(target, factor, values, size):
    """target += factor * values"""
    for j in range(size):
        target[j] += factor * values[j]


@compiled()
def dense_products(V, X, out):
    """out[i, j] = V_i . X_j"""
    for j in range(len(X)):  # few rows of V stay in cache while those of X pass by
        for i in range(len(V)):
            out[i, j] = dot(V[i], X[j], X.shape[1])


@compiled()
def sparse_products(V_data, V_indices, V_ends, X_data, X_indices, X_ends, room, out):
    """The same for rows by their entries; `room` is as long as they are wide, and zero."""
    for i in range(len(V_ends) - 1):
        for k in range(V_ends[i], V_ends[i + 1]):
            room[V_indices[k]] = V_data[k]
        for j in range(len(X_ends) - 1):
            total = 0.0
            for k in range(X_ends[j], X_ends[j + 1]):
                total += X_data[k] * room[X_indices[k]]
            out[i, j] = total
        for k in range(V_ends[i], V_ends[i + 1]):
            room[V_indices[k]] = 0.0
