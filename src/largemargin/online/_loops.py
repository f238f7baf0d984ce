"""Compiled: inner products of rows, each summed in an order that its two rows alone decide."""

from __future__ import annotations

from largemargin.online.cache import dot
from largemargin.online.compiled import compiled


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
