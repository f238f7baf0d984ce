"""What to use instead of parameters that scikit-learn's estimators have and ours do not."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

INSTEAD = {
    "probability": "give calibrate=True",
    "decision_function_shape": "give multiclass='ovr' or 'ovo'; scores have one column per class",
    "break_ties": "leave it out, ties are broken by margins",
    "cache_size": "give memory, such as memory='500MB'",
    "shrinking": "leave it out, the solver decides",
    "random_state": "leave it out, nothing is random",
    "multi_class": "give multiclass='ovr', 'ovo' or 'crammer-singer'",
    "loss": "give slack='linear' for hinge loss or slack='squared' for squared hinge loss",
    "penalty": "take largemargin.dropin.LinearSVC for penalty='l1'",
    "dual": "leave it out, the solver decides",
    "intercept_scaling": "take largemargin.dropin.LinearSVC for a threshold that is regularised",
    "n_estimators": "give n_rounds",
}
DROP_INS = ("SVC", "NuSVC", "OneClassSVM")


def explaining(init: Callable[..., None]) -> Callable[..., None]:
    """A constructor that says what to use instead of a parameter of scikit-learn."""
    known = set(inspect.signature(init).parameters)
    foreign = {name: remedy for name, remedy in INSTEAD.items() if name not in known}

    @wraps(init)
    def explained(self: Any, *args: Any, **parameters: Any) -> None:
        for name in parameters:
            if name in foreign:
                raise TypeError(_sentence(type(self).__name__, name, foreign[name]))
        init(self, *args, **parameters)

    return explained


def _sentence(machine: str, name: str, remedy: str) -> str:
    sentence = f"{machine} has no parameter {name!r}: {remedy}"
    if machine in DROP_INS:
        sentence += f"; largemargin.dropin.{machine} has all parameters of scikit-learn"
    return sentence
