"""Compiled: kernel values among the stored examples."""

from __future__ import annotations

from largemargin.online.compiled import part


@part()
def stored_values(cache, slot, top, values):
    """Fill in those of one against all: of two, the later has them."""
    for j in range(top):
        values[j] = cache.gram[slot, j]
    for j in range(top):
        if cache.positions[j] > cache.positions[slot]:
            values[j] = cache.gram[j, slot]
