"""A model file as commands take it: the model, and the notes of its training."""

from __future__ import annotations

from typing import Any


def read_model(file: str) -> tuple[Any, dict[str, Any]]:
    """A model and the notes of its training; the names of columns are the model's own if it has
    them.
    """
    from largemargin.model_file.saving import load_with_info
    from largemargin.report.fit.words import known_notes

    model, info = load_with_info(file)
    return model, known_notes(model, info)
