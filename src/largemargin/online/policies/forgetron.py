"""The self-tuned Forgetron (Dekel, Shalev-Shwartz & Singer 2008).

When a step leaves one example too many, all of w is multiplied by phi <= 1 and then the oldest is
dropped: by then it has been shrunk so often that dropping it does little harm. The harm of dropping
an example of coefficient sigma, w having the score mu on it in the direction of its label, is

    Psi(phi) = (phi sigma)^2 + 2 phi sigma - 2 phi^2 sigma mu

and phi is the largest in (0, 1] that keeps the sum of all harm done within 15/32 of the number of
steps made, which is what their mistake bound needs. The paper has two classes, steps of length 1
and k(x, x) <= 1. Here, for the vectors of all classes together, a step counts as its length, sigma
is the length of what is dropped, sigma mu its inner product with w, and lengths are in units of the
longest example so far; for two classes, the perceptron and examples of norm 1 it is theirs.
"""

from __future__ import annotations

import numpy as np

from largemargin.online.arrays import TOP
from largemargin.online.cache import oldest, remove, scale_row
from largemargin.online.compiled import compiled, once

SHARE = 15.0 / 32.0
HARM, STEPS, LONGEST = range(3)  # places in tuning
N_TUNING = 3


@once()
def count_step(tuning, steps, square):
    """Note a step: its length, and the longest example."""
    tuning[LONGEST] = max(tuning[LONGEST], square)
    if tuning[LONGEST] > 0.0:
        total = 0.0
        for r in range(len(steps)):
            total += steps[r] * steps[r] * (square / tuning[LONGEST])
        tuning[STEPS] += np.sqrt(total)


@compiled()
def largest_factor(quadratic, linear, allowed):
    """The largest phi in (0, 1] with quadratic phi^2 + linear phi <= allowed; linear >= 0."""
    if quadratic + linear <= allowed:
        return 1.0
    root = np.sqrt(max(linear * linear + 4.0 * quadratic * allowed, 0.0))
    return 2.0 * allowed / (linear + root) if linear + root > 0.0 else 1.0


@once()
def forget(learner, cache, rows, left, values):
    """Shrink all vectors and drop the oldest example; `left` and `values` are room."""
    tally, tuning = learner.tally, learner.tuning
    top = tally[TOP]
    slot = oldest(cache, top)
    unit = tuning[LONGEST] if tuning[LONGEST] > 0.0 else 1.0
    square, agreement = 0.0, 0.0
    for r in range(len(rows.scale)):
        raw = rows.coefs[r, slot]
        coef = raw * rows.scale[r]
        score = rows.scale[r] * (rows.others[r, slot] + raw * cache.squares[slot])
        square += coef * coef * (cache.squares[slot] / unit)
        agreement += coef * (score / unit)
    quadratic, linear = square - 2.0 * agreement, 2.0 * np.sqrt(max(square, 0.0))
    allowed = max(SHARE * tuning[STEPS] - tuning[HARM], 0.0)
    phi = largest_factor(quadratic, linear, allowed)
    tuning[HARM] += phi * (phi * quadratic + linear)
    for r in range(len(rows.scale)):
        scale_row(rows, r, phi, top)
        rows.norms[r] *= phi * phi
    remove(learner, cache, rows, slot, left, values)
