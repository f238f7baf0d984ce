"""Files for a model that learned from a stream whose values have names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from largemargin.cli.output import note
from largemargin.runtime.showing import listed

if TYPE_CHECKING:
    from largemargin.data import Dataset


def rows_by_name(
    model: Any, info: dict[str, Any], source: str, label: str | None, no_label: bool = False
) -> Dataset | None:
    """The rows of a file with names, for a model of such a stream; None if either is not one."""
    from largemargin.streaming.serving import is_named_stream, read_for_stream, serves

    if not is_named_stream(info, int(model.n_features_in_)):
        return None
    if not os.path.isfile(source) or not serves(source):
        return None
    import numpy as np

    from largemargin.data import Dataset
    from largemargin.streaming.checkpoint import schema_of

    wanted: str | int | None = label
    if label is not None and label.lstrip("-").isdecimal():
        wanted = int(label)
    schema = schema_of(model, info, "the model")
    found = read_for_stream(source, schema, label=wanted, no_label=no_label)
    if found.missing:
        note(
            f"warning: {source} lacks names that the model knows, which count as 0: "
            f"{listed(found.missing)[1:-1]}"
        )
    if found.extra:
        note(
            f"warning: {source} has names that the model does not know, which are left out: "
            f"{listed(found.extra)[1:-1]}"
        )
    y = None if found.labels is None else np.array(found.labels)
    return Dataset(found.X, y, name=source, feature_names=tuple(schema.names or ()))
