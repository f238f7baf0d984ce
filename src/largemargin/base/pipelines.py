"""Models inside others: the last step of a pipeline, and the best model of a search.

A pipeline is told by its `steps`, a search by its `best_estimator_`, so that nothing is imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from largemargin.runtime.arrays import MatrixLike


def final_step(model: Any) -> Any:
    """The last step of a pipeline; a model alone is its own."""
    return model[-1] if hasattr(model, "steps") else model


def earlier_steps(model: Any) -> Any:
    """A pipeline of all steps but the last; None where there are none."""
    return model[:-1] if hasattr(model, "steps") and len(model.steps) > 1 else None


def before_final_step(model: Any, X: MatrixLike) -> MatrixLike:
    """Rows as the last step of a pipeline sees them."""
    steps = earlier_steps(model)
    return X if steps is None else steps.transform(X)


def best_model(model: Any) -> Any:
    """The best model of a search; any other model is its own."""
    return getattr(model, "best_estimator_", model)


def deciding_model(model: Any) -> Any:
    """What decides in the end: of a search the best model, of a pipeline its last step."""
    inside = final_step(best_model(model))
    return model if inside is model else deciding_model(inside)
