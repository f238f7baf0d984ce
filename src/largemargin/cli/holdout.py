"""The rows that `train` holds out to measure a model, and how they are known again.

Data without a test set of their own lose a quarter of their rows, drawn by strata. A first model is
trained on the others and measured on these; then a second one is trained with the same settings on
all rows, and that is the one to keep. The model file has the seed, the fraction and the fingerprint
of all rows, so that `evaluate` knows rows that a model was trained on when it meets them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from largemargin.runtime.showing import shown

if TYPE_CHECKING:
    from largemargin.data import Dataset

FRACTION = 0.25
FEWEST_ROWS = 20


@dataclass(frozen=True, eq=False)
class Parts:
    """Data that were divided.

    Attributes
    ----------
    training, whole : Dataset
        What the first model is trained on, and all rows. `training` has the rows that were held
        out as its test set; it is `whole` if none were.
    why_none : str
        Why no rows were held out, in words; empty if some were.
    """

    training: Dataset
    whole: Dataset
    why_none: str = ""

    @property
    def held_out(self) -> bool:
        return not self.why_none

    @property
    def untested(self) -> list[Any]:
        """The classes of one row, none of which is held out."""
        import numpy as np

        classes, counts = np.unique(np.asarray(self.whole.y), return_counts=True)
        return list(classes[counts == 1].tolist())


def check_fraction(fraction: float) -> None:
    """Refuse what is no share of the rows."""
    if not 0 <= fraction < 1:
        raise ValueError(
            f"--test-size must be a share of the rows from 0 to below 1, such as {FRACTION}, got "
            f"{shown(fraction)}"
        )


def divided(data: Dataset, fraction: float, seed: int, pairwise: bool = False) -> Parts:
    """Hold rows out, as many of each class as its share asks for; the only row of a class stays.

    `pairwise` is data that are kernel values, of which columns are held out as well.
    """
    import numpy as np

    from largemargin.base.strata import held_out

    if data.y is None or fraction == 0:
        return Parts(data, data, "none were wanted")
    if data.X_test is not None:
        return Parts(data, data, "the data have a test set")
    n, counts = len(data.y), np.unique(data.y, return_counts=True)[1]
    if n < FEWEST_ROWS:
        return Parts(data, data, f"{n} rows are too few")
    rows, others = held_out(data.y, fraction, seed)
    if not len(others) or len(np.unique(data.y[rows])) < len(counts):
        return Parts(data, data, f"--test-size {fraction:g} of {n} rows leaves a part without rows")
    if len(np.unique(data.y[others])) < 2:
        return Parts(data, data, "only one class has more than one row")
    if pairwise:
        X, X_test = data.X[np.ix_(rows, rows)], data.X[np.ix_(others, rows)]
    else:
        X, X_test = data.X[rows], data.X[others]
    y, y_test = data.y[rows], data.y[others]
    return Parts(replace(data, X=X, y=y, X_test=X_test, y_test=y_test), data)


def divided_again(model: Any, info: dict[str, Any], data: Dataset) -> tuple[Dataset, str]:
    """Data with the rows that were held out in training as their test set, if a model was trained
    on the others; and which of the rows it was trained on.
    """
    from largemargin.cli.inputs import numbers_of
    from largemargin.report.fit.training_rows import SOME, held_out_of, trained_on

    if data.y is None or data.X_test is not None:
        return data, "none"
    truth = numbers_of(data.y, model.classes_, data.name, data.label_name)
    which = trained_on(model, info, data.X, truth)
    if which == SOME:
        noted = held_out_of(info)
        data = divided(data, noted["fraction"], noted["seed"]).training
    return data, which
