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
