"""The aggressive perceptron (Krauth & Mezard; Crammer, Kandola & Singer 2003).

An example that does not clear the margin moves the vectors by its whole length.

    two classes:   if y (w.x) <= margin:                      w += y x
    more:          if m_y.x - max_{r != y} m_r.x <= margin:   m_y += x,  m_s -= x,  s the best other
"""

from __future__ import annotations

from largemargin.online.compiled import compiled


@compiled()
def step(scores, label, steps):
    """The step for more than two classes; of equal scores the first class's counts."""
    best = 0 if label else 1
    for r in range(len(scores)):
        if r != label and scores[r] > scores[best]:
            best = r
    steps[label], steps[best] = 1.0, -1.0
    return True
