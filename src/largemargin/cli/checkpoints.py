"""`largemargin train --checkpoint`: a long training in portions, with the model so far on the disk
after each of them.

A portion is a fit with a limit of time; the next one goes on from its coefficients, as --resume
does. Portions grow, since each of them computes anew what belongs to the coefficients.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from largemargin.cli.training import Order

FIRST_PORTION = 30.0  # seconds
LONGEST_PORTION = 900.0


def check_checkpoint(order: Order, stream: bool) -> None:
    """Refuse what cannot be, before anything is read."""
    from pathlib import Path

    from largemargin.cli.resuming import can_go_on
    from largemargin.runtime.files import check_writable

    if order.checkpoint is None:
        return
    if stream:
        raise ValueError(
            "--checkpoint is for rows in memory; a stream is kept by largemargin stream "
            "--checkpoint"
        )
    can_go_on(order, "--checkpoint")
    if order.given.get("calibrate"):
        raise ValueError(
            "--checkpoint keeps one machine, and --calibrate trains five more: leave one of them "
            "out"
        )
    check_writable(order.checkpoint, order.file, order.data, order.test, order.report)
    if Path(order.checkpoint).exists() and not order.resume:
        raise ValueError(
            f"the checkpoint {order.checkpoint} exists: go on from it with --resume, or remove it"
        )


def fit_in_portions(
    machine: Any, X: Any, y: Any, limit: float | None, keep: Callable[[], None]
) -> None:
    """Fit until the machine has converged, Ctrl-C ends it, or its time is over; call `keep` after
    each portion but the last.
    """
    from largemargin.runtime.progress import interruptions

    before, start, portion = interruptions(), time.perf_counter(), FIRST_PORTION
    asked = {name: getattr(machine, name) for name in ("max_seconds", "verbose", "warm_start")}
    try:
        while True:
            left = None if limit is None else max(limit - (time.perf_counter() - start), 1e-3)
            is_last = left is not None and left <= portion
            machine.set_params(max_seconds=left if is_last else portion)
            begun = time.perf_counter()
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                machine.fit(X, y)
            in_time = time.perf_counter() - begun < portion
            is_last = is_last or machine.converged_ or in_time or interruptions() > before
            for warning in told:
                if is_last or "max_seconds=" not in str(warning.message):
                    warnings.warn(warning.message, stacklevel=2)
            if is_last:
                return
            machine.set_params(**{**asked, "verbose": 0})
            keep()
            machine.set_params(warm_start=True, verbose=asked["verbose"])
            portion = min(2 * portion, LONGEST_PORTION)
    finally:
        machine.set_params(**asked)
