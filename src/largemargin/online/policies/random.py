"""Random removal (Cesa-Bianchi & Gentile 2006): when the cache is full, any example goes.

The generator is SplitMix64, whose state is one number, so that a saved model goes on drawing where
it stopped.
"""

from __future__ import annotations

import numpy as np

from largemargin.online.compiled import compiled

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@compiled()
def choose(state, size):
    """A slot of a full cache; `state` goes on by one draw."""
    state[0] += _GOLDEN
    bits = state[0]
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    bits = (bits ^ (bits >> np.uint64(31))) >> np.uint64(32)
    return np.int64((bits * np.uint64(size)) >> np.uint64(32))
