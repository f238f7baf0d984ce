"""Compiled loops over kernel values for linear programs: arithmetic on plain arrays."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def settle(values, slots, first, examples, columns, diagonal, low, high, largest):
    """Go once over new rows of kernel values, from column `first` on, while they are in cache.

    Values below low[example] high[column] become zero, the value of an example with itself becomes
    that of `diagonal`, exactly, and `largest` has the largest absolute value of each column beside
    that.
    """
    for r in range(len(slots)):
        row = values[slots[r]]
        example = examples[r]
        for j in range(len(columns)):
            if columns[j] == example:
                row[first + j] = diagonal[example]
                continue
            size = abs(row[first + j])
            if size < low[example] * high[columns[j]]:
                row[first + j] = 0
            elif size > largest[j]:
                largest[j] = size
