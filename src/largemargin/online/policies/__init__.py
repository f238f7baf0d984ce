"""The cache policies: what is stored, and what has to go.

Without a budget: "keep" everything, or "distill" (the paper's variable cache). With one: "margin"
(the paper's fixed cache), "random", "forgetron", "projectron".

With "margin" and "random" a full cache loses an example before the step is chosen, and the step is
then that of the vectors without it. The forgetron's proof needs the step to be that of the vectors
that erred, so there, as in its paper, the removal comes after; the projectron removes nothing.

To add a policy: a file here, a number and a name below, and its place in the walk.
"""

from __future__ import annotations

from largemargin.online.compiled import compiled

KEEP, DISTILL, MARGIN, RANDOM, FORGETRON, PROJECTRON = range(6)
UNBOUNDED = {"distill": DISTILL, "keep": KEEP}
BOUNDED = {"margin": MARGIN, "forgetron": FORGETRON, "random": RANDOM, "projectron": PROJECTRON}


@compiled()
def removes(policy):
    return policy != KEEP and policy != PROJECTRON
