"""Mistakes of the perceptron, and what they say of the error.

With |x_i| <= R, any unit vector u, any gamma > 0 and d_i = max(0, gamma - y_i (u.x_i)), D^2 = sum
d_i^2, the perceptron makes at most

    theorem 1   (R / gamma)^2            mistakes, if D = 0: however often it goes over the data
    theorem 2   ((R + D) / gamma)^2      mistakes, in one pass over the sequence

of Freund & Schapire (1999); theorem 1 is the perceptron convergence theorem of Block and Novikoff.
T epochs are the sequence T times, so D grows by sqrt(T). With w = u / gamma the second is
(R |w| + sqrt(T) |xi|)^2, xi_i = max(0, 1 - y_i (w.x_i)), which is convex in w. Its minimum lies on
the path of the machines min 1/2 w.w + C sum xi_i^2, and every w gives a valid bound, also one of a
machine that has seen only some of the examples, or has not converged: so the best of some machines
of that path, trained on a sample if there are many examples, of the hard margin, and of the
perceptron's own vectors, each at its best length.

Margins of u are rounded down and the bounds up. The perceptron's scores are rounded too, which may
make a mistake of what was none: then its vector v is longer than the proof allows, |v|^2 <= k R^2
after k mistakes. Since that is all that the proof needs of R, |v|/sqrt(k) takes its place.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning

from largemargin.certificates.certificate import INDEPENDENT, Condition, Statement, Theorem
from largemargin.certificates.covering import check_positive
from largemargin.certificates.feature_space import Asked, feature_space_statements, rows_of
from largemargin.certificates.fitted import (
    Fitted,
    checked,
    expansion_errors,
    norms_of,
    norms_within,
    numbers_of,
    recorded,
    signs_of,
)
from largemargin.certificates.leave_one_out import leave_one_out_statement
from largemargin.certificates.rounding import (
    FEW,
    above,
    at_least,
    at_most,
    quotients,
    raised,
    total,
)
from largemargin.runtime.arrays import MatrixLike, VectorLike

PAPER = "Freund & Schapire 1999"
MISTAKES = Theorem("mistakes", PAPER, "measured", counts=True)
SEPARABLE_BOUND = Theorem(
    "mistake bound, separable data", f"{PAPER}, theorem 1", "always", counts=True
)
MISTAKE_BOUND = Theorem("mistake bound", f"{PAPER}, theorem 2", "always", counts=True)
CONVERSION = Theorem(
    "leave-one-out conversion", f"{PAPER}, theorem 3 and corollary 1", "expectation", True
)
CONVERGED = Theorem("training to convergence", f"{PAPER}, theorem 4", "expectation", True)
THEOREMS = (MISTAKES, SEPARABLE_BOUND, MISTAKE_BOUND, CONVERSION, CONVERGED)

MOST_COMPARED = 3000  # rows that the machines of the path are trained on, at most
MOST_TOGETHER = 15_000  # rows times problems of these, unless that leaves less than a thousand rows
MOST_SEPARATED = 10_000  # rows up to which a hard margin is trained on all of them
MOST_SECONDS = 10.0  # seconds that the path, and the hard margin, may take
PRICES = np.geomspace(1e-1, 1e3, 5)  # C, in units of 1/R^2; smaller ones take long and gain nothing
LEAST_RADIUS = 1e-45  # R from which machines can be trained; the largest is one over it
LEAST_MARGIN = 1e-6  # margin, in units of R, below which data count as not separable


def mistake_bound(
    margins: VectorLike, radius: float, *, gamma: float | None = None, epochs: int = 1
) -> float:
    """Theorems 1 and 2: how many mistakes the perceptron makes at most.

    Parameters
    ----------
    margins : array
        y_i (u.x_i) of the training examples, for any unit vector u.
    radius : float
        R, the largest norm of an example.
    gamma : float or None, default=None
        None takes the best. If no margin is below it the bound is that of theorem 1, and holds for
        any number of epochs.
    epochs : int, default=1
        Passes over the data.

    Examples
    --------
    >>> mistake_bound([0.5, 0.5, 2.0], 2.0, gamma=0.5)
    16.0
    >>> round(mistake_bound([0.5, -0.5, 2.0], 2.0, gamma=0.5), 6)
    36.0
    >>> mistake_bound([-0.5, -0.5, -2.0], 2.0)  # three examples, three mistakes
    3.0
    """
    check_positive("radius", radius)
    check_positive("epochs", epochs)
    values = np.asarray(margins, float)
    if gamma is None:
        return best_gamma(values, radius, epochs)[0]
    check_positive("gamma", gamma)
    D = float(np.linalg.norm(np.maximum(0.0, gamma - values)))
    D = raised(np.sqrt(epochs) * D, len(values) + FEW)
    return above(((Fraction(radius) + Fraction(D)) / Fraction(gamma)) ** 2)


def best_gamma(margins: np.ndarray, radius: float, epochs: int) -> tuple[float, float]:
    """The least bound over gamma, and where it is.

    In t = 1/gamma the root of the bound is the convex R t + sqrt(T) |max(0, 1 - t a)|, sqrt(T m) at
    t = 0 and larger than that from sqrt(T m) / R on.
    """

    def root(t: float) -> float:
        lack = float(np.linalg.norm(np.maximum(0.0, 1 - t * margins)))
        return float(radius * t + np.sqrt(epochs) * lack)

    most = epochs * len(margins)  # gamma = inf: a mistake at every step
    with np.errstate(over="ignore", invalid="ignore"):  # t is huge where R is tiny
        found = minimize_scalar(
            root, bounds=(0.0, np.sqrt(most) / radius), method="bounded", options={"xatol": 1e-12}
        )
    best = min(
        (raised(float(found.fun) ** 2, 2 * len(margins) + FEW), 1 / float(found.x)),
        (float(most), np.inf),
    )
    least = float(margins.min())
    if least > 0:
        best = min(best, (above((Fraction(radius) / Fraction(least)) ** 2), least))
    return best


@dataclass(frozen=True)
class Comparison:
    """Unit vectors u, one per problem, to compare the perceptron with: their margins y (u.x) on all
    examples, rounded down, one row per problem.
    """

    name: str
    margins: np.ndarray


def comparisons(fitted: Fitted) -> list[Comparison]:
    """The perceptron's own vectors, and support vector machines."""
    found = [*_own_vectors(fitted)]
    if can_be_trained(fitted):
        found += _path_of_squared_slacks(fitted)
        if len(fitted) <= MOST_SEPARATED:
            found.append(separating_machine(fitted))
    return found


def can_be_trained(fitted: Fitted) -> bool:
    """Whether examples are of a size that support vector machines can be trained on."""
    return LEAST_RADIUS < fitted.radius < 1 / LEAST_RADIUS


def _own_vectors(fitted: Fitted) -> Iterator[Comparison]:
    """The perceptron's last and average vectors."""
    model = fitted.model
    rules = [("last", False), ("average", False)]
    scores = model.decision_functions(fitted.X, rules)
    for rule in rules:
        outputs, coefs = scores[rule].T.reshape(fitted.signs.shape), model.coefficients(rule)
        # |w|^2 = sum_j c_j w.x_j
        squares = np.einsum("ij,ij->i", coefs, outputs[:, fitted.basis.examples])
        norms = np.sqrt(np.maximum(squares, 0.0))
        errors = expansion_errors(fitted.basis, coefs, fitted.X, fitted.squares)
        name = f"the perceptron's {rule[0]} vector"
        yield _comparison(name, fitted, outputs, coefs, norms, errors)


def _comparison(
    name: str,
    fitted: Fitted,
    scores: np.ndarray,
    coefs: np.ndarray,
    norms: np.ndarray,
    errors: np.ndarray,
) -> Comparison:
    """The comparison with w of these coefficients, from its norms and the errors of its scores."""
    least, most = norms_within(norms, coefs, errors)
    margins = [
        quotients(y * f - error, low, high) if high > 0 else np.zeros(len(f))
        for y, f, error, low, high in zip(fitted.signs, scores, errors, least, most, strict=True)
    ]
    return Comparison(name, np.array(margins))


def radii(fitted: Fitted) -> list[float]:
    """R of each problem, rounded up, or what the perceptron's vector needs in its place."""
    made = np.asarray(fitted.model.n_mistakes_, float)
    rule = ("last", False)
    coefs = fitted.model.coefficients(rule)
    norms = norms_of(fitted.basis, coefs, fitted.X, fitted.foreign)
    assert norms is not None
    errors = expansion_errors(fitted.basis, coefs, fitted.X, fitted.squares)
    longest = norms_within(norms, coefs, errors)[1] / np.sqrt(np.maximum(made, 1.0))
    return [max(fitted.largest_radius, raised(float(length))) for length in longest]


def _path_of_squared_slacks(fitted: Fitted) -> Iterator[Comparison]:
    """Some machines of the path of squared slacks, trained on a sample if there are many rows; the
    sample has every class.
    """
    prices = (PRICES / fitted.radius**2).tolist()
    most = min(MOST_COMPARED, max(1000, MOST_TOGETHER // fitted.n_problems))
    if len(fitted) <= most:
        yield from _support_vector_machines(fitted, prices)
        return
    order = np.random.default_rng(0).permutation(len(fitted))
    firsts = np.unique(fitted.labels[order], return_index=True)[1]
    sample = np.unique(np.append(order[:most], order[firsts]))
    yield from _support_vector_machines(fitted, prices, sample)


def separating_machine(fitted: Fitted) -> Comparison:
    """The vector of largest margin, through the origin; not all its margins are positive if there
    is none that separates.
    """
    (found,) = _support_vector_machines(fitted, [np.inf])
    return found


def _support_vector_machines(
    fitted: Fitted, prices: list[float], sample: np.ndarray | None = None
) -> Iterator[Comparison]:
    """Machines with squared slacks through the origin, one per price C of slack."""
    from largemargin.svm import SVC

    kernel: Any = fitted.kernel
    X, y, seen = fitted.X, fitted.model.classes_[fitted.labels], ""
    if kernel.by_column:
        X, kernel = fitted.gram, "precomputed"
    rows = X
    if sample is not None:
        seen = f" of {len(sample):,} of them"
        X = X[:, sample] if kernel == "precomputed" else X
        rows, y = X[sample], y[sample]
    machine = SVC(
        kernel=kernel, slack="squared", fit_intercept=False,
        min_margin=LEAST_MARGIN * fitted.radius, n_jobs=fitted.model.n_jobs,
        max_seconds=MOST_SECONDS, precision="float64",
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = machine.path(rows, y, prices)
    for C, one in zip(prices, path, strict=True):
        basis, coefs = one.expansion.basis, one.expansion.coefs
        norms = norms_of(basis, coefs, rows, "")
        assert norms is not None
        errors = expansion_errors(basis, coefs, X, fitted.squares)
        name = f"the SVM with C = {C:.3g}{seen}"
        yield _comparison(name, fitted, one.problem_scores(X), coefs, norms, errors)


def statements(
    model: Any, X: MatrixLike, y: VectorLike, asked: Asked
) -> tuple[int, list[Statement]]:
    """The number of examples, and what is said of a voted perceptron."""
    fitted = examine(model, X, y)
    own = [*perceptron_statements(fitted), leave_one_out_statement(fitted, asked.leave_one_out)]
    return feature_space_statements(fitted, own, asked)


def examine(model: Any, X: MatrixLike, y: VectorLike) -> Fitted:
    """A voted perceptron beside data, by the vector that decides, if it is one."""
    X, labels = checked(model, X, y)
    state = model.state
    scores = model.decision_function(X)
    signs = signs_of(labels, len(model.classes_))
    several = (
        f"method={model.method!r} decides with many vectors, not with one"
        if model.method in ("vote", "random")
        else ""
    )
    return Fitted(
        model, X, labels, numbers_of(model, scores), signs, rows_of(scores), state.kernel,
        state.basis, model.coefficients(), np.zeros(len(signs)), recorded(model, X, labels),
        one_vector=several,
    )  # fmt: skip


def perceptron_statements(fitted: Fitted) -> list[Statement]:
    """Theorems 1 to 4 for a voted perceptron."""
    if fitted.silent:
        return [theorem.fails(fitted.silent, fitted.records) for theorem in THEOREMS]
    made = np.asarray(fitted.model.n_mistakes_, float)
    times = "epoch" if fitted.model.n_epochs_ == 1 else "epochs"
    counted = MISTAKES.says(
        made.sum(),
        f"{int(made.sum()):,} mistakes in {fitted.model.n_epochs_} {times} over {len(fitted):,} "
        "examples.",
        by_problem=made,
    )
    definite = Condition(
        "the kernel is positive definite on the examples", not fitted.indefinite, fitted.indefinite
    )
    compared = [] if fitted.indefinite else comparisons(fitted)
    R = [] if fitted.indefinite else radii(fitted)
    return [
        counted,
        separable_statement(fitted, definite, compared, R),
        mistake_bound_statement(fitted, definite, compared, R),
        conversion_statement(fitted, made),
        convergence_statement(fitted, definite, compared),
    ]


def separable_statement(
    fitted: Fitted, definite: Condition, compared: list[Comparison], R: list[float]
) -> Statement:
    """Theorem 1, of Block and Novikoff: the mistake bound for separable data."""
    least = np.array([c.margins.min(axis=1) for c in compared]).reshape(-1, fitted.n_problems)
    gammas = least.max(axis=0, initial=-np.inf)
    separable = Condition(
        "some vector separates the data", bool((gammas > 0).all()) if compared else None,
        "no vector that separates the data was found"
        + ("" if len(fitted) <= MOST_SEPARATED else ", and no SVM of all of them was trained to "
           "look for one")
        + (f" in {int((gammas <= 0).sum())} of {len(gammas)} problems" if len(gammas) > 1 else ""),
    )  # fmt: skip
    refuted = SEPARABLE_BOUND.refuted_by([definite, separable])
    if refuted:
        return refuted
    each = [
        mistake_bound(np.array([g]), one, gamma=g)
        for one, g in zip(R, gammas.tolist(), strict=True)
    ]
    sentence = (
        f"At most {_count(each)} mistakes, however many epochs: the examples are separated "
        f"with the margin gamma = {at_least(gammas.min())}, and the largest norm is R = "
        f"{at_most(fitted.largest_radius)}."
    )
    return SEPARABLE_BOUND.says(total(each), sentence, [definite, separable], each)


def _count(bounds: list[float]) -> str:
    """The largest sum of whole numbers within these bounds, as text."""
    return f"{sum(map(floor, bounds)):,}" if np.isfinite(bounds).all() else "inf"


def mistake_bound_statement(
    fitted: Fitted, definite: Condition, compared: list[Comparison], R: list[float]
) -> Statement:
    """Theorem 2: the mistake bound for any data."""
    refuted = MISTAKE_BOUND.refuted_by([definite])
    if refuted:
        return refuted
    epochs = int(fitted.model.n_epochs_)
    each, names, gammas = [], [], []
    for p in range(fitted.n_problems):
        bounds = [best_gamma(c.margins[p], R[p], epochs) for c in compared]
        best = int(np.argmin([bound for bound, _ in bounds]))
        each.append(bounds[best][0])
        gammas.append(bounds[best][1])
        names.append(compared[best].name)
    how = (
        f"{names[0]}, gamma = {at_least(gammas[0])}"
        if len(each) == 1
        else "the best found for each"
    )
    repeated = f", {epochs} times over" if epochs > 1 else ""
    sentence = (
        f"At most {_count(each)} mistakes on this sequence of {len(fitted):,} examples"
        f"{repeated}, whether or not the data can be separated (compared with {how})."
    )
    return MISTAKE_BOUND.says(total(each), sentence, [definite], each)


def conversion_statement(fitted: Fitted, made: np.ndarray) -> Statement:
    """Theorem 3 and corollary 1: from mistakes in one pass to the expected error."""
    model = fitted.model
    times = {"vote": 2, "random": 1}.get(model.method)
    conditions = [
        Condition(
            "the prediction is the vote or a random vector", times is not None,
            f"the theorem is about method='vote' and 'random', not {model.method!r}",
        ),
        Condition(
            "one epoch", model.n_epochs_ == 1,
            f"the theorem is about one pass over the data, and there were {model.n_epochs_}",
        ),
        Condition("the pass was over all examples", model.trace_.n_steps == len(fitted),
                  "the pass was not over all the examples"),
        INDEPENDENT,
    ]  # fmt: skip
    refuted = CONVERSION.refuted_by(conditions)
    if refuted or times is None:
        return refuted or CONVERSION.fails("")
    each = np.array([above(Fraction(times * int(k), len(fitted) + 1)) for k in made])
    sentence = (
        f"The expected error is at most {'2 ' if times == 2 else ''}E[k]/(m + 1), where k "
        f"counts the mistakes in one pass over m + 1 examples. With the {int(made.sum()):,} "
        f"mistakes on these m = {len(fitted):,} examples in place of the expectation, this is "
        f"{at_most(total(each))}."
    )
    return CONVERSION.says(total(each), sentence, conditions, each)


def convergence_statement(
    fitted: Fitted, definite: Condition, compared: list[Comparison]
) -> Statement:
    """Theorem 4: the expected error after training to convergence."""
    model = fitted.model
    conditions = [
        Condition(
            "the prediction is the last vector", model.method == "last",
            f"the theorem is about method='last', not {model.method!r}",
        ),
        Condition(
            "the last epoch had no mistake", bool(model.converged_),
            "training did not go on until an epoch had no mistake",
        ),
        definite,
        INDEPENDENT,
    ]  # fmt: skip
    refuted = CONVERGED.refuted_by(conditions)
    if refuted:
        return refuted
    each = []
    for p in range(fitted.n_problems):
        trace = model.trace_
        erred = fitted.basis.examples[np.unique(trace.slot[trace.problem == p])]
        gamma = max((float(c.margins[p, erred].min()) for c in compared), default=0.0)
        lone = len(np.setdiff1d(np.flatnonzero(fitted.alone_by_problem[p]), erred))
        R = fitted.largest_radius
        geometric = above((Fraction(R) / Fraction(gamma)) ** 2) if gamma > 0 else np.inf
        each.append(min(float(len(erred)), geometric) + lone)
    by_problem = [above(Fraction(k) / (len(fitted) + 1)) for k in each]
    sentence = (
        "The expected error is at most E[min(k, (R/gamma)^2)]/(m + 1), where k counts the examples "
        f"with a mistake. With the number found here, {at_most(total(each))}, in place of the "
        f"expectation, this is {at_most(total(by_problem))}."
    )
    return CONVERGED.says(total(by_problem), sentence, conditions, by_problem)
