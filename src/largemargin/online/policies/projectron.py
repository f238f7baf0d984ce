"""The Projectron (Orabona, Keshet & Caputo 2009), with a hard budget.

A step w += tau x is made with x itself, which is stored, as long as there is room; and with the
projection of x onto the span of the stored examples, P x = sum_j d_j x_j, once there is none (their
algorithm with the threshold 0 until the cache is full and infinite from then on) or if x is
in the span anyway, to the accuracy of the kernel values. With K the Gram matrix of the cache and k
the values of x against it,

    d = K^-1 k,    |x - P x|^2 = x.x - k.d

K^-1 grows by a row and a column with each example that is stored; since only examples clear of the
span are, its entries stay bounded.
"""

from __future__ import annotations

from largemargin.online.arrays import SIZE
from largemargin.online.cache import add, dot
from largemargin.online.compiled import compiled, once


@compiled()
def project(inverse, values, size, square, weights):
    """Fill in the weights d and return |x - P x|^2."""
    for j in range(size):
        weights[j] = dot(inverse[j], values, size)
    return max(square - dot(weights, values, size), 0.0)


@compiled()
def grow_inverse(inverse, weights, size, residual):
    """The inverse with the next example, whose weights and residual `project` gave."""
    for i in range(size):
        for j in range(i + 1):  # the same both ways to the last bit
            inverse[i, j] += weights[i] * weights[j] / residual
            inverse[j, i] = inverse[i, j]
        inverse[i, size] = inverse[size, i] = -weights[i] / residual
    inverse[size, size] = 1.0 / residual


@once()
def add_projection(learner, cache, rows, steps, values, square, accuracy, weights):
    """w_r += steps_r P x, and True; or False if x is to be stored, for which the inverse is ready.

    `accuracy` is the square root of the rounding of kernel values; `weights` is room.
    """
    size = learner.tally[SIZE]
    residual = project(cache.inverse, values, size, square, weights)
    if size < learner.budget and residual > accuracy * abs(square):
        grow_inverse(cache.inverse, weights, size, residual)
        return False
    for r in range(len(steps)):
        if steps[r] != 0.0:
            coef = steps[r] / rows.scale[r]
            add(rows.coefs[r], coef, weights, size)
            add(rows.debts[r], coef * rows.passed[r], weights, size)
            add(rows.others[r], coef, values, size)  # K d = k
    return True
