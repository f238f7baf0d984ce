"""`largemargin train FILE --stream`: a file learned in chunks, of which one is in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from largemargin.cli.model_options import ONLINE
from largemargin.cli.output import note, watched
from largemargin.report.fit.words import learned

if TYPE_CHECKING:
    import os

    from largemargin.cli.training import Order
    from largemargin.data import Dataset

CHUNK = 1000
STEPS = 40  # times at which the errors so far are noted, about


def check_stream(order: Order, chunk: int | None) -> None:
    """Refuse what a pass over a file cannot do."""
    from pathlib import Path

    from largemargin.data import NAMES

    model, data = order.model, order.data
    if model not in ONLINE:
        raise ValueError(
            f"--stream is for models that learn as they go, {', '.join(ONLINE)}; got {model}"
        )
    if chunk is not None and chunk < 1:
        raise ValueError(f"--chunk must be at least 1, got {chunk}")
    if order.report is not None and order.test is None:
        raise ValueError(
            "--report needs rows to measure, and --stream keeps none: give some with --test, or "
            "leave it out and then use largemargin report MODEL DATA"
        )
    if order.resume:
        raise ValueError(
            "--resume goes on with rows in memory; a stream goes on with largemargin stream"
        )
    if order.scale not in ("auto", "none") or order.cv:
        option = "--cv" if order.cv else f"--scale {order.scale}"
        raise ValueError(
            f"{option} needs all the data at once: leave it out, or leave out --stream"
        )
    if data in NAMES and not Path(data).exists():
        raise ValueError(f"--stream reads a file, and {data} is a named data set")


def train_stream(order: Order, chunk: int | None) -> bool:
    """Learn a file, write, show; returns whether Ctrl-C ended it."""
    from dataclasses import replace

    from largemargin.cli.measuring import advice, measured
    from largemargin.cli.report import rows_for, write_report
    from largemargin.cli.trained import page_command, show, show_next_steps, tested_facts, write
    from largemargin.runtime.progress import interruptions

    order, machine, before = replace(order, scale="none"), order.machine(), interruptions()
    data, result = learn_file(machine, order, chunk)
    measures = test = None
    result["test_rows"] = result["test_error"] = None
    try:
        if order.test is not None:
            test = X_test, y_test = _test_rows(order, data)
            result["test_rows"] = X_test.shape[0]
            measures = measured(machine, X_test, y_test, order.test)
            result |= {"test_error": measures.error, **measures.as_json()}
    except KeyboardInterrupt:
        note("warning: the test was interrupted; the model is written without it")
    finally:  # whatever is wrong with the test, what was learned is kept
        info = write(machine, order, data, result)
    for sentence in advice(measures, machine, "none") if measures else []:
        note(f"warning: {sentence}")
    facts = tested_facts(result, measures, "no test data, a stream is passed over once")
    show(order, machine, result, facts)
    if order.report is not None and test is not None:
        write_report(
            order.report, machine, info, test=rows_for(machine, str(order.test), *test),
            training=None, command=page_command(order, False), quiet=order.quiet,
            model_file=order.file,
        )  # fmt: skip
    show_next_steps(order)
    return interruptions() > before


def _test_rows(order: Order, data: Dataset) -> Any:
    from largemargin.cli.inputs import read_test_data

    assert order.test is not None
    return read_test_data(order.test, data, order.reading)


def learn_file(machine: Any, order: Order, chunk: int | None) -> tuple[Dataset, dict[str, Any]]:
    """Pass over a file once, learning from it.

    Ctrl-C and `max_seconds` end the pass after a chunk. Returns a data set that stands for the
    file, with a row of it and every label once, and what there is to say.
    """
    import os
    import time
    from dataclasses import replace

    from largemargin.cli.sources import column
    from largemargin.data import stream
    from largemargin.runtime.progress import Watch

    start, rows, seen, data = time.perf_counter(), 0, None, order.data
    watch = Watch("stream", None, verbose=watched(order.quiet), max_seconds=machine.max_seconds)
    before = os.stat(data) if os.path.isfile(data) else None
    progress: list[list[int]] = []
    with watch:
        chunks: Iterator[Dataset] = stream(
            data, CHUNK if chunk is None else chunk, label=column(order.reading.label),
            **order.reading.given,
        )  # fmt: skip
        for seen in chunks:
            if seen.y is None:
                raise ValueError(
                    f"{data} has no labels to learn from: name their column with --label"
                )
            machine.partial_fit(seen.X, seen.y)
            rows += seen.X.shape[0]
            progress.append([rows, machine.online_errors_])
            error = 100 * machine.online_errors_ / rows
            watch.advance(seen.X.shape[0], f"{machine.n_support_} stored, {error:.2f} % wrong")
            if watch.stopped:
                break
    if seen is None:
        raise ValueError(f"{data} has no rows to learn from")
    if len(machine.classes_) < 2:
        raise ValueError(
            f"{data} has only one class, {machine.classes_[0]}, in the {rows} rows seen: give data "
            "with two classes or more, or name the column of the labels with --label"
        )
    told = []
    if watch.stopped:
        told = [
            f"stopped after {rows} examples because {watch.stopped}; the model is of what was "
            "seen so far"
        ]
    if before is not None and _changed(data, before):
        told.append(
            f"{data} changed while it was read; the model is of what was seen: train again from a "
            "file that stays as it is"
        )
    for sentence in told:
        note(f"warning: {sentence}")
    result = {
        "data": data, "rows": rows, "features": seen.X.shape[1], **learned(machine),
        "progressive_error": machine.online_errors_ / rows,
        "progress": progress[:: -max(1, len(progress) // STEPS)][::-1],
        "seconds": time.perf_counter() - start,
    }  # fmt: skip
    if told:
        result["warnings"] = told
    return replace(seen, X=seen.X[:1], y=machine.classes_), result


def _changed(data: str, before: os.stat_result) -> bool:
    """Whether a file has been replaced, written to or removed since."""
    import os

    try:
        now = os.stat(data)
    except OSError:
        return True
    return any(
        getattr(now, name) != getattr(before, name)
        for name in ("st_dev", "st_ino", "st_size", "st_mtime_ns")
    )
