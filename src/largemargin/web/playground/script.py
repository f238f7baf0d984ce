"""The same fit and picture as a script."""

from __future__ import annotations

from typing import Any

from largemargin.machines import DETECTOR
from largemargin.web.playground.tasks import Task

_SCRIPT = '''\
"""A fit of the playground: the points, the machine, its picture."""

import matplotlib.pyplot as plt
import numpy as np

from largemargin import {imports}
from largemargin.report import plot_decision

points = np.array([
{points}
])
X, y = points[:, :2], points[:, 2].astype(int)

model = {machine}
model.fit({given})

plot_decision(model, {given})
print(model)
{printed}
plt.show()
'''


def script(task: Task) -> str:
    """A script that makes this fit and shows it."""
    detector = task.card.kind == DETECTOR
    rows = [
        f"    [{x:.4f}, {y:.4f}, {label}]," for (x, y), label in zip(task.X, task.y, strict=True)
    ]
    machine = task.machine()
    base = machine.get_params(deep=False).get("estimator")
    names = sorted({task.card.name, *([type(base).__name__] if base is not None else [])})
    return _SCRIPT.format(
        imports=", ".join(names),
        points="\n".join(rows),
        machine=_call(task.card.name, machine.get_params(deep=False), type(machine)()),
        given="X" if detector else "X, y",
        printed='print("outliers:", np.mean(model.predict(X) < 0))'
        if detector
        else 'print("training error:", np.mean(model.predict(X) != y))',
    )


def _call(name: str, given: dict[str, Any], default: Any) -> str:
    usual = default.get_params(deep=False)
    changed = {key: value for key, value in given.items() if repr(value) != repr(usual[key])}
    return f"{name}({', '.join(f'{key}={_written(value)}' for key, value in changed.items())})"


def _written(value: Any) -> str:
    return "np.inf" if value == float("inf") else repr(value)
