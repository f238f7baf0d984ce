"""Leave-one-out: bounds from one fit, and the error itself by fitting again.

Example i is a leave-one-out error if the machine trained without it misclassifies it. The only
example of its class is one always: no machine trained on the rest answers with a class that it has
not seen. Any other is, of a support vector machine, with alpha_i >= 0 and slack xi_i, only if

    support vectors     alpha_i > 0                                (Vapnik)
    Jaakkola-Haussler   y_i f(x_i) - alpha_i k(x_i, x_i) <= 0      without a threshold
    xi-alpha            2 alpha_i R^2 + xi_i >= 1                  with one (Joachims)
                        R^2 = max k(x, x) - min k(x, x')

With the squared hinge loss the machine is a hard margin in a space with one more coordinate per
example, where k(x_i, x_i) is larger by 1/(2C), which no other example sees.

The proofs compare the dual objective of the solution with that of the one without i, to which
alpha_i is added. If the first is only known to within a gap of the best, alpha_i times the output
may be less by the gap: so gap / alpha_i counts against an example. Where alpha_i = 0, w moves by no
more than sqrt(2 gap) when i is left out, and the output by no more than sqrt(2 gap k(x_i, x_i)).
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from largemargin.certificates.certificate import Statement, Theorem
from largemargin.certificates.fitted import Fitted
from largemargin.certificates.rounding import FEW, kernel_error
from largemargin.kernels.functions import UNIT
from largemargin.machines import card_of
from largemargin.runtime.arrays import MatrixLike, VectorLike

AUTO_ROWS = 200  # rows up to which "auto" trains a machine again without each of them
AUTO_SECONDS = 1.0  # processor time that this may take
LEAVE_ONE_OUT_ERROR = Theorem(
    "leave-one-out error", "by training again without each example", "measured"
)


def support_vector_bound(coefs: MatrixLike) -> float:
    """The share of examples with a coefficient, which the leave-one-out error of a support vector
    machine does not exceed.

    Parameters
    ----------
    coefs : array of shape (n_samples,) or (n_problems, n_samples)
        Of all the training examples. An example counts once, however many problems need it.

    Examples
    --------
    >>> support_vector_bound([[0.0, 1.0, -1.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    0.5
    """
    return float(np.atleast_2d(np.asarray(coefs)).any(axis=0).mean())


def leave_one_out_bound(
    margins: VectorLike,
    alphas: VectorLike,
    squares: VectorLike,
    *,
    threshold: bool,
    least: float | None = None,
    ridge: float = 0.0,
) -> float:
    """A bound of the leave-one-out error of a support vector machine from one fit.

    Jaakkola and Haussler's without a threshold, for which alone it holds; the xi-alpha estimate of
    Joachims with one.

    Parameters
    ----------
    margins : array
        y_i f(x_i) of the training examples.
    alphas : array
        Their coefficients, 0 or more.
    squares : array
        k(x_i, x_i).
    threshold : bool
        Whether the machine has a threshold.
    least : float, optional
        With a threshold: the least k(x_i, x_j), or less; -max k(x_i, x_i) if not given.
    ridge : float, default=0.0
        1/(2C) for squared slacks.

    Examples
    --------
    >>> leave_one_out_bound([1.0, 1.0, 3.0], [0.5, 2.0, 0.0], [1.0, 1.0, 1.0], threshold=False)
    0.3333333333333333
    """
    flags = possible_errors(
        np.asarray(margins, float), np.asarray(alphas, float), np.asarray(squares, float),
        threshold, least, ridge,
    )  # fmt: skip
    return float(flags.mean())


def possible_errors(
    margins: np.ndarray,
    alphas: np.ndarray,
    squares: np.ndarray,
    threshold: bool,
    least: float | None,
    ridge: float,
    short: np.ndarray | float = 0.0,
    bounded: bool = False,
) -> np.ndarray:
    """The examples that can be leave-one-out errors, if their outputs may be less by `short`.

    The bound of Jaakkola and Haussler without a threshold, the xi-alpha estimate of Joachims with
    one. `ridge` and `bounded` are of the loss: what it adds to the diagonal of the kernel matrix,
    and whether it bounds the coefficients.
    """
    if not threshold:
        # an example without a coefficient is classified as it was
        return np.asarray(margins - alphas * squares <= short)
    most = float(squares.max())
    R_square = most - (-most if least is None else least)
    slack = np.maximum(0.0, 1 - margins)
    if ridge:  # alpha_i ridge of xi_i is part of the longer vector, and only a bound leaves more
        slack = np.maximum(0.0, slack - ridge * alphas) * bounded
    return np.asarray(2 * alphas * (R_square + ridge) + slack >= 1 - short)


def shortfall(fitted: Fitted, alphas: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """How much nearer to an error each example may be than its output says, from the gap of each
    problem between the primal and the dual objective, and from rounding.
    """
    assert fitted.squares is not None
    if not np.isfinite(gaps).all():
        return np.full(alphas.shape, np.inf)
    moved = np.sqrt(2 * gaps)[:, None] * np.sqrt(np.maximum(fitted.squares, 0.0))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        lost = np.where(alphas > 0, gaps[:, None] / alphas, moved)
    each = kernel_error(fitted.kernel, fitted.X, np.float64) + FEW * UNIT * fitted.squares
    rounding = fitted.score_errors[:, None] + 4 * alphas * each + FEW * UNIT
    return np.asarray(lost + rounding)


def lone_words(fitted: Fitted, flags: np.ndarray) -> str:
    """What a sentence says of examples that count only since they are alone in their class; `flags`
    are those that count already.
    """
    count = int((fitted.alone & ~flags).sum())
    if not count:
        return ""
    return f", and {count} alone in {'its class' if count == 1 else 'their classes'},"


def least_kernel_value(fitted: Fitted, most_rows: int) -> float | None:
    """A lower bound of k(x, x') over the examples, or None."""
    if len(fitted) <= most_rows:
        return float(fitted.gram.min()) - kernel_error(fitted.kernel, fitted.X, np.float64)
    return 0.0 if fitted.kernel.stationary else None


def leave_one_out_statement(
    fitted: Fitted, asked: bool | str, needed: np.ndarray | None = None
) -> Statement:
    """The leave-one-out error itself, by training again. `needed` marks the examples that have to
    be left out; the others are known to be classified rightly without themselves. "auto" asks for
    the error if it is cheap.
    """
    rows = np.arange(len(fitted)) if needed is None else np.flatnonzero(needed | fitted.alone)
    if fitted.silent:
        return LEAVE_ONE_OUT_ERROR.fails(fitted.silent, fitted.records)
    if asked is False or (asked == "auto" and len(fitted) > AUTO_ROWS):
        return LEAVE_ONE_OUT_ERROR.fails(
            f"it takes {len(rows):,} fits, which were not asked for with leave_one_out=True"
        )
    try:
        errors = leave_one_out_errors(fitted, rows, AUTO_SECONDS if asked == "auto" else np.inf)
    except ValueError as error:  # such as a nu that is too large for what is left
        reason = str(error).rstrip(".")
        return LEAVE_ONE_OUT_ERROR.fails(
            f"the machine cannot be trained without one of the examples: {reason}"
        )
    if errors is None:
        return LEAVE_ONE_OUT_ERROR.fails(
            f"it takes {len(rows):,} fits, which did not end within {AUTO_SECONDS:g} s; ask for "
            "all of them with leave_one_out=True"
        )
    wrong = int(errors.sum())
    skipped = (
        f"; removing one of the other {len(fitted) - len(rows):,} does not change the solution"
        * (len(rows) < len(fitted))
    )
    lone = int(fitted.alone.sum())
    vanished = f"; {lone} without a fit, since no other example has its class" if lone else ""
    sentence = (
        f"{wrong:,} of {len(fitted):,} examples are misclassified by the machine trained "
        f"without them ({len(rows) - lone:,} fits{skipped}{vanished}). This is an unbiased "
        f"estimate of the error after training on {len(fitted) - 1:,} examples."
    )
    return LEAVE_ONE_OUT_ERROR.says(wrong / len(fitted), sentence)


def leave_one_out_errors(fitted: Fitted, rows: np.ndarray, seconds: float) -> np.ndarray | None:
    """Whether each example is misclassified by the machine trained without it, with the kernel and
    class weights as they are; None if that takes more than so many seconds of a processor. The
    machines of `SVC` are trained all at once, for which there is no limit of time.
    """
    alone = fitted.alone[rows]
    wrong = np.ones(len(rows), bool)  # nobody answers with a class that has not been seen
    machine = clone(fitted.model).set_params(**frozen(fitted))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are about fits that nobody keeps
        if card_of(machine).name == "SVC":
            wrong[~alone] = _all_at_once(machine, fitted, rows[~alone])
            return wrong
        found = _one_by_one(machine, fitted, rows[~alone], time.process_time() + seconds)
    if found is None:
        return None
    wrong[~alone] = found
    return wrong


def _all_at_once(machine: Any, fitted: Fitted, rows: np.ndarray) -> np.ndarray:
    """All the machines at once, over the same kernel rows."""
    from largemargin.svm import cross_validate

    if not len(rows):
        return np.zeros(0, bool)
    everyone = np.arange(len(fitted))
    folds = [(np.delete(everyone, i), np.array([i])) for i in rows]
    y = fitted.model.classes_[fitted.labels]
    return np.asarray(cross_validate(machine, fitted.X, y, [machine.C], folds).scores[0] == 0)


def _one_by_one(machine: Any, fitted: Fitted, rows: np.ndarray, until: float) -> np.ndarray | None:
    """One machine after another; None if they do not end in time."""
    y, X, wrong = fitted.model.classes_[fitted.labels], fitted.X, []
    for i in rows.tolist():
        if time.process_time() > until:
            return None
        rest = np.arange(len(fitted)) != i
        given, asked = X[rest], X[i : i + 1]
        if machine.precomputed:
            given, asked = given[:, rest], asked[:, rest]
        wrong.append(clone(machine).fit(given, y[rest]).predict(asked)[0] != y[i])
    return np.array(wrong, bool)


def frozen(fitted: Fitted) -> dict[str, Any]:
    """Parameters that do not change with what is left out."""
    model, params = fitted.model, fitted.model.get_params()
    plain = getattr(fitted.kernel, "kernel", fitted.kernel)  # without the constant of a threshold
    found: dict[str, Any] = {
        "n_jobs": 1, "verbose": 0, "gamma": getattr(plain, "gamma", None), "calibrate": False,
    }  # fmt: skip
    if params.get("class_weight") == "balanced":
        counts = np.bincount(fitted.labels, minlength=len(model.classes_))
        factors = len(fitted) / (len(counts) * counts)
        found["class_weight"] = dict(zip(model.classes_.tolist(), factors.tolist(), strict=True))
    return {k: value for k, value in found.items() if k in params and value is not None}
