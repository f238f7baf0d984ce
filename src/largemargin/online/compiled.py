"""How the loops of the online learners are compiled, and the products of vectors that they share.

A user waits for the compiler, so three kinds of functions keep it short. A `compiled` one follows
NumPy in divisions, without a check for zero at each of them. A `part` is called from compiled code
only and has no wrapper for Python, which for tuples of arrays would be most of what is compiled.
A function that is called in one place only is compiled `once`: it is inlined there instead of being
compiled, and optimised, both for itself and again in its caller.
"""

from __future__ import annotations

from functools import partial

from numba import njit

compiled = partial(njit, cache=True, nogil=True, error_model="numpy")
part = partial(compiled, no_cpython_wrapper=True, no_cfunc_wrapper=True)
once = partial(compiled, inline="always")


@compiled(fastmath={"reassoc", "contract", "nsz"})
def dot(a, b, size):
    # The sum may be reordered, or it could not be vectorised; its order depends on `size` alone.
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
def sparse_products(V_data, V_indices, V_ends, X_data, X_indices, X_ends, scratch, out):
    """The same for CSR matrices; `scratch` has one zero per column, before and after."""
    for i in range(len(V_ends) - 1):
        for k in range(V_ends[i], V_ends[i + 1]):
            scratch[V_indices[k]] = V_data[k]  # V_i as a dense row
        for j in range(len(X_ends) - 1):
            total = 0.0
            for k in range(X_ends[j], X_ends[j + 1]):
                total += X_data[k] * scratch[X_indices[k]]
            out[i, j] = total
        for k in range(V_ends[i], V_ends[i + 1]):
            scratch[V_indices[k]] = 0.0
