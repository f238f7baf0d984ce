"""ALMA_2(alpha; B, C), the approximate large margin algorithm (Gentile 2001).

With xh = x/|x| and k = 1 at first:

    if y w.xh <= (1 - alpha) B / sqrt(k):
        w' = w + C / sqrt(k) y xh,   w = w' / max(1, |w'|),   k += 1
"""

from __future__ import annotations

import numpy as np

from largemargin.online.compiled import compiled


@compiled()
def threshold(settings, k):
    """Of the score over |x|; settings are (1 - alpha) B and C."""
    return settings[0] / np.sqrt(k)


@compiled()
def step(settings, sign, score, norm, k, square):
    """The coefficient of x and the factor of w."""
    length = np.sqrt(max(square, 0.0))
    if length == 0.0 or sign * score > length * threshold(settings, k):
        return 0.0, 1.0
    eta = settings[1] / np.sqrt(k)
    longer = norm + eta * (2.0 * sign * score / length + eta)
    shrink = 1.0 / np.sqrt(longer) if longer > 1.0 else 1.0
    return shrink * eta * sign / length, shrink
