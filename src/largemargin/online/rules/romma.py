"""ROMMA, the relaxed online maximum margin algorithm (Li & Long 2002), and its aggressive form.

The shortest w' with  y w'.x >= 1  and  w'.w >= |w|^2,  on a mistake, y(w.x) <= 0; aggressive: on
y(w.x) < 1. Both constraints are met with equality by

    w' = a w + b x,   a = (|x|^2 |w|^2 - y w.x) / q,   b = |w|^2 (y - w.x) / q,
    q = |x|^2 |w|^2 - (w.x)^2,

unless y(w.x) >= |x|^2 |w|^2, when the second does not bind and w' = y x / |x|^2, as from w = 0.
Where x and w point in the same or opposite directions, or contradictions in the data have made w
longer than numbers can be, no w' meets both: the vector starts anew from y x / |x|^2.
"""

from __future__ import annotations

from largemargin.online.compiled import compiled

PARALLEL = 1e-8  # q over |x|^2 |w|^2 below which a and b would be mostly rounding
LONGEST = 1e100  # |x|^2 |w|^2 past which a vector starts anew
SHORTEST = 1e-300  # |x|^2 up to which x is zero: 1 / |x|^2 may be beyond all numbers


@compiled()
def step(settings, sign, score, norm, square):
    """The step b and the factor a; settings are the threshold, 1 if aggressive and else 0."""
    aggressive = settings[0] > 0.0
    margin = sign * score
    if square <= SHORTEST or (margin >= 1.0 if aggressive else margin > 0.0):
        return 0.0, 1.0
    room = square * norm
    q = room - score * score
    if norm <= 0.0 or (aggressive and margin >= room) or q <= PARALLEL * room:
        return sign / square, 0.0
    a, b = (room - margin) / q, norm * (sign - score) / q
    if not square * (a * (a * norm + 2.0 * b * score) + b * (b * square)) < LONGEST:
        return sign / square, 0.0
    return b, a
