"""Rows that a model was trained on, known again by what its file notes of them.

A model knows the fingerprint of what it was trained on. `largemargin train` holds rows out to
measure a model, and notes as `held_out` the seed, the fraction, the error on these rows, and the
fingerprint of all rows as the last step of the model sees them. So the whole file is known as well
where the model was trained on a part of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from largemargin.base.fingerprint import PARTS, fingerprint
from largemargin.base.pipelines import before_final_step, final_step
from largemargin.certificates.fitted import checked

NONE, ALL, SOME = "none", "all", "some"


def fingerprint_of(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """The fingerprint of rows as the last step of a model sees them, as a model file notes it."""
    rows, labels = checked(final_step(model), before_final_step(model, X), y)
    found = fingerprint(rows, model.classes_, labels)
    return {"n_rows": found.n_rows, **{part: f"{getattr(found, part):032x}" for part in PARTS}}


def trained_on(model: Any, info: dict[str, Any], X: Any, truth: np.ndarray) -> str:
    """Which of these rows a model was trained on, as far as it knows: ALL, SOME or NONE.

    `truth` holds class numbers, -1 for labels that the model does not know.
    """
    record = getattr(final_step(model), "training_record", None)
    whole = held_out_of(info).get("fingerprint")
    whole = whole if isinstance(whole, dict) else {}
    lengths = [record.data.n_rows if record else None, whole.get("n_rows")]
    if (truth < 0).any() or len(truth) not in lengths:
        return NONE
    found = fingerprint_of(model, X, model.classes_[truth])
    if record and all(found[part] == f"{getattr(record.data, part):032x}" for part in PARTS):
        return ALL
    return SOME if found == whole else NONE


def held_out_of(info: dict[str, Any]) -> dict[str, Any]:
    """What a file notes of rows that were held out; empty if there were none."""
    noted: Any = info.get("held_out")
    return dict(noted) if is_held_out(noted) else {}


def is_held_out(value: Any) -> bool:
    """Whether a note has the shape that `largemargin train` gives it."""
    kinds = {"fraction": float, "seed": int, "rows": int, "error": float, "refitted": bool}
    return isinstance(value, dict) and all(
        isinstance(value.get(name), kind) for name, kind in kinds.items()
    )
