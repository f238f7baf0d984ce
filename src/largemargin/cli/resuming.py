"""`largemargin train --resume`: go on from the coefficients of a model file, with the same data.

A model that was stopped, by Ctrl-C or a time limit, goes on with the rows that it was trained on:
those that were not held out, which are drawn again with the seed that the file notes, or all. What
was measured on rows that were held out is kept where the model has seen all rows since.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from largemargin.base.pipelines import final_step
from largemargin.machines import by_command
from largemargin.runtime.showing import shown

if TYPE_CHECKING:
    from largemargin.cli.training import Order
    from largemargin.data import Dataset


@dataclass(frozen=True, eq=False)
class Earlier:
    """A model to go on with, and the notes of its training."""

    file: str
    model: Any
    info: dict[str, Any]

    @property
    def held_out(self) -> dict[str, Any]:
        from largemargin.report.fit.training_rows import held_out_of

        return held_out_of(self.info)

    def test_size(self) -> float:
        """The share of the rows that has to be held out again; 0 if it was trained on all."""
        noted = self.held_out
        return 0.0 if not noted or noted["refitted"] else float(noted["fraction"])

    def check_rows(self, part: Dataset, data: str) -> None:
        """Refuse rows that the model was not trained on."""
        import numpy as np

        from largemargin.cli.inputs import knows_labels, numbers_of
        from largemargin.report.fit.training_rows import ALL, trained_on

        if not knows_labels(self.model):
            return
        assert part.y is not None
        truth = numbers_of(part.y, self.model.classes_, data)
        if trained_on(self.model, self.info, part.X, np.asarray(truth)) != ALL:
            raise ValueError(
                f"--resume: {self.file} was not trained on the rows of {data}: give the data and "
                "the options of that training, or another file with -o and no --resume"
            )

    def machine(self, wanted: Any) -> Any:
        """The machine to go on with, with the parameters that are wanted now."""
        machine = final_step(self.model)
        return machine.set_params(**{**wanted.get_params(deep=False), "warm_start": True})


def can_go_on(order: Order, option: str) -> None:
    """Refuse a machine that begins anew each time, and work that is not one machine."""
    if "warm_start" not in by_command()[order.model].cls._get_param_names():
        raise ValueError(
            f"{option} is for machines that can go on from their coefficients, svc, nu-svc and "
            f"one-class-svm; {order.model} begins anew each time: leave it out"
        )
    for other, given in {"--cv": order.cv, "--dask": order.dask}.items():
        if given:
            raise ValueError(f"{option} goes on with one machine here: leave out {other}")


def earlier(order: Order) -> Earlier:
    """The model to go on with: the checkpoint, if there is one, or else the model file."""
    from pathlib import Path

    from largemargin.cli.inputs import read_model

    can_go_on(order, "--resume")
    file, cls = order.file, by_command()[order.model].cls
    if order.checkpoint is not None and Path(order.checkpoint).exists():
        file = order.checkpoint
    if not Path(file).exists():
        also = "" if order.checkpoint is None else f", and no checkpoint {shown(order.checkpoint)},"
        raise ValueError(
            f"--resume: there is no model file {shown(file)}{also} to go on with: name it with -o, "
            "or leave --resume out"
        )
    model, info = read_model(file)
    found = type(final_step(model))
    if found is not cls:
        raise ValueError(
            f"--resume: {file} holds a {found.__name__}, and --model {order.model} is a "
            f"{cls.__name__}: give the --model of that training"
        )
    return Earlier(file, model, info)
