"""From the rows that benchmarks print to figures, and the tables in which figures are shown.

A figure is ours beside those of the peers, in one unit. `ratio` is how many times as fast ours is
as the fastest peer with a right answer, or, beside a bound, how many times the bound ours takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.svm_peers import OURS

BOUND = "bound"
Figure = dict[str, Any]
Row = dict[str, Any]


def figures_of(section: str, rows: list[Row], command: str) -> dict[str, Figure]:
    """All figures of a command by their keys, `section/part/name`."""
    found: dict[str, Figure] = {}
    parts = list(dict.fromkeys(row["part"] for row in rows))
    for part in parts:
        mine = [row for row in rows if row["part"] == part]
        machines = {row["machine"]: row for row in mine if "machine" in row}
        for clock in ("fit", "predict") if OURS in machines else ():
            if clock in machines[OURS]:
                found[f"{section}/{part}/{clock}"] = raced(machines, clock)
        for row in mine:
            if "figure" in row:
                told = dict(row["figure"])
                found[f"{section}/{part}/{told.pop('name')}"] = judged(told)
    return {key: {**figure, "command": command} for key, figure in found.items()}


def raced(machines: dict[str, Row], clock: str) -> Figure:
    """The times of machines that ran on the same rows."""
    ours, peers = machines[OURS], {k: v for k, v in machines.items() if k != OURS}
    told = f"{100 * ours['error']:.2f} % test error"
    figure = {"ours": ours[clock], "unit": "s", "told": told, "rows": ours["rows"]}
    figure["peers"] = {
        name: row[clock] for name, row in peers.items() if clock in row and not row.get("wrong")
    }
    figure["out"] = {  # of the race, and why
        name: row.get("missing") or f"wrong: {row['wrong']}"
        for name, row in peers.items()
        if name not in figure["peers"]
    }
    if ours.get("wrong"):
        figure["told"] = f"WRONG: {ours['wrong']}"
    return judged(figure)


def judged(figure: Figure) -> Figure:
    """A figure with its ratio, rounded to what a clock can tell."""
    ours, peers, more = figure["ours"], figure["peers"], figure["unit"] == "a second"
    figure = {**figure, "ours": rounded(ours), "peers": {k: rounded(v) for k, v in peers.items()}}
    if not peers:
        return figure
    peer = (max if more else min)(peers, key=lambda name: peers[name])
    upside_down = more or not compares(peer)
    ratio = ours / peers[peer] if upside_down else peers[peer] / ours
    return {**figure, "peer": peer, "ratio": rounded(ratio)}


def compares(peer: str) -> bool:
    """Whether a peer is to be beaten: a bound, or ours with less to do, is not."""
    return peer not in (BOUND, "one fit", "the dearest of the fits", "with all the memory")


def rounded(value: float) -> float:
    return float(f"{value:.4g}")


@dataclass(frozen=True)
class Table:
    """A table of the page Performance: figures by their keys, and what each is of."""

    section: str
    title: str
    about: str
    lines: dict[str, str]
    bound: str = ""  # what the bound is, where there is one


def figure_keys() -> Iterator[str]:
    for table in TABLES:
        yield from table.lines


CURVE = ("svm/gaussian-5000/fit", "svm/gaussian-10000/fit", "svm/gaussian-20000/fit",
         "svm/gaussian-60000/fit")  # fmt: skip

# The three of the README: what, and the peer beside which it is shown.
HEADLINES = {
    "svm/gaussian-60000/fit": (
        "Gaussian support vector machine on MNIST, 60,000 images: fit",
        "scikit-learn",
    ),
    "linear/covtype-standardised/C0.01-threads2": (
        "Linear machine on covtype, 400,000 rows: fit",
        "LinearSVC",
    ),
    "voted-perceptron/fit/fit": (
        "Voted perceptron on MNIST, 60,000 images, 30 epochs: fit",
        BOUND,
    ),
}

TABLES = [
    Table(
        "svm",
        "Support vector machines on MNIST",
        "Gaussian kernel (gamma 0.02, C 10), one-vs-one, pixels from 0 to 1. Every machine runs in "
        "its own process with two threads. Objectives are compared: an answer with another "
        "objective or error is marked wrong, and its time does not count.",
        {
            "svm/gaussian-5000/fit": "5,000 rows: fit",
            "svm/gaussian-10000/fit": "10,000 rows: fit",
            "svm/gaussian-20000/fit": "20,000 rows: fit",
            "svm/gaussian-60000/fit": "60,000 rows: fit",
            "svm/gaussian-60000/predict": "the same model: predict 10,000 rows",
            "svm/polynomial/fit": "polynomial of degree 4, 60,000 rows: fit",
            "svm/polynomial-rest/fit": "the same, one-vs-rest, ten classes: fit",
            "svm/small/iris": "iris: fit and predict",
            "svm/small/breast cancer": "breast cancer: fit and predict",
            "svm/small/digits": "digits: fit and predict",
        },
    ),
    Table(
        "svm",
        "What several fits share",
        "A path over ten values of C and five-fold cross-validation share kernel rows. The last "
        "column says how many times one fit they take.",
        {
            "svm/path-10000/path": "ten values of C, 10,000 rows",
            "svm/path-60000/path": "ten values of C, 60,000 rows",
            "svm/cross-validation-10000/folds": "five folds, 10,000 rows",
            "svm/cross-validation-60000/folds": "five folds, 60,000 rows",
            "svm/memory/fit": '60,000 rows with ``memory="1GB"``, the same bits: fit',
            "svm/memory/peak": "the same: resident size of the process",
        },
        bound="the data, 1 GB and 300 MB",
    ),
    Table(
        "tables",
        "Tables of few columns",
        "The generated table has 30 columns and 10 % wrong labels (Gaussian kernel, gamma 0.02, C "
        "1), float32. Every machine runs in its own process with two threads, and objectives and "
        "errors are compared. Up to 4,000 rows of float32 data aoclda can be faster: largemargin "
        "goes on to the exact solution in float64.",
        {
            "tables/generated-1000/fit": "generated, 1,000 rows: fit",
            "tables/generated-2000/fit": "2,000 rows: fit",
            "tables/generated-4000/fit": "4,000 rows: fit",
            "tables/generated-8192/fit": "8,192 rows: fit",
            "tables/generated-10000/fit": "10,000 rows: fit",
            "tables/generated-20000/fit": "20,000 rows: fit",
            "tables/generated-20000/predict": "the same model: predict 10,000 rows",
            "tables/generated-40000/fit": "40,000 rows: fit",
            "tables/generated-40000/predict": "the same model: predict 10,000 rows",
            "tables/generated-100000/fit": "100,000 rows: fit",
            "tables/generated-100000/predict": "the same model: predict 10,000 rows",
            "tables/generated-100000/peak": "the same fit: resident size of the process",
            "tables/generated-C100/fit": "20,000 rows with C 100: fit",
            "tables/ijcnn1/fit": "ijcnn1, 49,990 rows (gamma 2, C 32): fit",
            "tables/ijcnn1/predict": "the same model: predict 91,701 rows",
            "tables/covtype-50000/fit": "covtype, class 2 against the rest, 50,000 rows: fit",
            "tables/covtype-full/fit-464809": "the same, 464,809 rows (gamma 32, C 32): fit",
        },
    ),
    Table(
        "linear",
        "Linear machines",
        '``SVC(kernel="linear")`` beside LIBLINEAR, which is ``LinearSVC(loss="hinge")`` at its '
        "default tolerance and knows one thread only. The objective has a free threshold.",
        {
            "linear/covtype-standardised/C0.01-threads1":
            "covtype standardised, 400,000 x 54, C 0.01, one thread",
            "linear/covtype-standardised/C0.01-threads2": "the same, two threads",
            "linear/dense/C0.1-threads1": "dense, 100,000 x 100, C 0.1, one thread",
            "linear/dense/C0.1-threads2": "the same, two threads",
            "linear/dense/C1-threads1": "dense, 100,000 x 100, C 1, one thread",
            "linear/dense/C1-threads2": "the same, two threads",
            "linear/text/C1-threads1": "like text, sparse, 50,000 x 30,000, C 1, one thread",
            "linear/text/C1-threads2": "the same, two threads",
        },
    ),
    Table(
        "voted-perceptron",
        "The voted perceptron",
        "Polynomial kernel of degree 4 on MNIST, ten classes, 30 epochs.",
        {
            "voted-perceptron/fit/fit": "fit, 60,000 x 784",
            "voted-perceptron/predict/rules": "all seven rules of the paper, 10,000 test images",
            "voted-perceptron/predict/one-row": "predict one row",
            "voted-perceptron/linear/fit": "linear kernel, ten epochs: fit",
            "voted-perceptron/votedperceptron/fit": "digits, 8 against the rest: fit and predict",
            "voted-perceptron/memory/peak": 'fit with ``memory="500MB"``: resident size',
            "voted-perceptron/cold-start/import": "``from largemargin import VotedPerceptron``",
            "voted-perceptron/cold-start/digits-warm": "``largemargin train digits``",
            "voted-perceptron/cold-start/digits-empty": "the same for the first time: it compiles",
        },
        bound="the float32 product with the support vectors; of memory, the data and 800 MB",
    ),
    Table(
        "lp",
        "Linear-programming machines and boosting",
        "``AdaptiveMarginSVC`` on the banana set (Gaussian kernel of width 0.5, lambda 1) beside "
        "``scipy.optimize.linprog`` on the dense program, with equal objectives (to 1e-7). "
        "``AdaBoost`` beside ``sklearn.ensemble.AdaBoostClassifier``.",
        {
            "lp/speed-400/fit": "400 rows: fit",
            "lp/speed-1000/fit": "1,000 rows: fit",
            "lp/speed-2000/fit": "2,000 rows: fit",
            "lp/all-rows/fit": "all 5,300 rows: fit",
            "lp/path/path": "a path of 20 values of lambda, 2,000 rows",
            "lp/stumps/fit": "``AdaBoost``, 500 stumps, 5,000 x 60: fit",
        },
    ),
    Table(
        "budget",
        "Online learners on a budget",
        "Two threads. River and Vowpal Wabbit learn one example at a time.",
        {
            "budget/letter/fit": "LETTER, 16,000 examples, 26 classes, ``MIRA(budget=500)``",
            "budget/mnist/fit": "MNIST, 60,000 examples, degree 9, ``MIRA(budget=1000)``",
            "budget/rivals/LETTER": "LETTER, A-M against N-Z, budget 500: examples",
            "budget/rivals/MNIST": "MNIST, 8 against the rest, budget 500: examples",
            "budget/million/speed": "a million examples of 50 features, budget 500",
        },
        bound="the product with 1,000 vectors",
    ),
    Table(
        "interchange",
        "Machines of scikit-learn, converted",
        "An ``SVC`` that scikit-learn has trained predicts faster after ``from_sklearn``, with the "
        "same decision values (to 1e-9).",
        {
            "interchange/digits/predict": "digits: predict all test rows",
            "interchange/letter/predict": "letter: predict all test rows",
            "interchange/banana/predict": "banana: predict all test rows",
            "interchange/mnist/predict": "MNIST, 6,000 training rows: predict 6,000 rows",
            "interchange/one-row/predict": "digits: one row at a time",
        },
    ),
    Table(
        "serve",
        "The server and the playground",
        "The Gaussian machine of 10,000 rows of MNIST over HTTP, one row a request, 64 clients; "
        "and a point dragged among 200 in the playground.",
        {
            "serve/load/throughput": "``largemargin serve``: requests",
            "serve/loop/loop": "predict one row in a loop, without a server: rows",
            "playground/two-classes/within": "machines that answer within 100 ms",
        },
    ),
]  # fmt: skip
