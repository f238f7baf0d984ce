"""The options of models, for `train` and `stream`. None is not given: the default holds."""

from __future__ import annotations

from typing import Annotated

import typer

Kernel = Annotated[
    str | None,
    typer.Option(
        help="poly, linear, rbf, laplacian, sigmoid or precomputed. "
        "[default: rbf; voted-perceptron: poly]"
    ),
]
Degree = Annotated[
    int | None,
    typer.Option(help="Degree of the polynomial. [default: 3; voted-perceptron: 4]"),
]
Gamma = Annotated[
    str | None,
    typer.Option(
        help="Kernel coefficient: a number, auto (1 / features) or scale (auto / variance). "
        "[default: scale; voted-perceptron and online learners: auto]"
    ),
]
Coef0 = Annotated[float | None, typer.Option(help="Constant of poly and sigmoid. [default: 1]")]
Cost = Annotated[
    float | None,
    typer.Option(
        "--C",
        help="svc, kernel-adatron, lp-svc, max-margin-hyperplane: price of errors; inf is the hard "
        "margin (not lp-svc). alma: scale of the steps. [default: 1; kernel-adatron: inf; alma: "
        "1.41]",
    ),
]
Nu = Annotated[
    float | None,
    typer.Option(
        help="nu-svc, nu-lp-svc: bounds the share of margin errors from above and, nu-svc, of "
        "support vectors from below. [default: 0.5; nu-lp-svc: 0.1]"
    ),
]
Lambda = Annotated[
    float | None,
    typer.Option(
        "--lam",
        help="adaptive-margin-svc: how much of its own part an example's margin grows by; 1 is "
        "leave-one-out-svc. [default: 1]",
    ),
]
NormOfW = Annotated[
    float | None,
    typer.Option(
        "--norm",
        help="max-margin-hyperplane: p of the norm of w, from 1 to inf; distances are in the "
        "conjugate norm. [default: 2]",
    ),
]
Slack = Annotated[
    str | None, typer.Option(help="svc: linear, squared or squared-sum. [default: linear]")
]
Multiclass = Annotated[
    str | None,
    typer.Option(
        help="Support vector machines: ovr (one class against the rest), ovo (every pair) or, svc "
        "only, crammer-singer. [default: ovr]"
    ),
]
ClassWeight = Annotated[
    str | None,
    typer.Option(
        help="svc, nu-svc, LP machines, max-margin-hyperplane: balanced gives every class the same "
        "weight in all."
    ),
]
LearningRate = Annotated[
    str | None, typer.Option(help="kernel-adatron: a number, or auto. [default: auto]")
]
Tol = Annotated[
    float | None,
    typer.Option(
        help="Support vector machines: largest violation of the optimality conditions; LP "
        "machines and max-margin-hyperplane: largest relative duality gap. [default: 0.001; LP "
        "machines and max-margin-hyperplane: 1e-07]"
    ),
]
MinMargin = Annotated[
    float | None,
    typer.Option(
        help="svc, nu-svc, max-margin-hyperplane: margin below which a hard margin counts as "
        "impossible. [default: 1e-06]"
    ),
]
MaxIter = Annotated[
    int | None,
    typer.Option(
        help="Support vector machines: most steps a problem; -1 is no limit. rbf-network: steps on "
        "the centres. [default: -1; kernel-adatron: 1000; rbf-network: 10]"
    ),
]
FitIntercept = Annotated[
    bool | None,
    typer.Option(
        "--fit-intercept/--no-intercept",
        help="Learn a threshold. [default: yes; voted-perceptron: no]",
        show_default=False,
    ),
]
Epochs = Annotated[
    int | None, typer.Option(help="voted-perceptron: passes over the data. [default: 10]")
]
Method = Annotated[
    str | None,
    typer.Option(
        help="voted-perceptron: vote, average, last, random, longest, pocket or holdout. "
        "[default: vote]"
    ),
]
Normalize = Annotated[
    bool | None,
    typer.Option(
        "--normalize",
        help="voted-perceptron: divide each prediction vector by its norm.",
        show_default=False,
    ),
]
Shuffle = Annotated[
    bool | None,
    typer.Option(
        "--shuffle",
        help="voted-perceptron: visit the examples in a random order.",
        show_default=False,
    ),
]
Margin = Annotated[
    float | None,
    typer.Option(
        help="aggressive-perceptron, mira: what an example must clear not to be learned. "
        "[default: 0.01]"
    ),
]
Aggressive = Annotated[
    bool | None,
    typer.Option(
        "--aggressive/--mistakes-only",
        help="romma: learn below the margin 1, or on mistakes only. [default: aggressive]",
        show_default=False,
    ),
]
Alpha = Annotated[
    float | None,
    typer.Option(help="alma: share of the largest margin that may be missed. [default: 0.9]"),
]
MarginScale = Annotated[
    float | None, typer.Option("--B", help="alma: scale of the margin. [default: 2.83 / alpha]")
]
Budget = Annotated[
    int | None, typer.Option(help="Online learners: the most examples stored. [default: no limit]")
]
Policy = Annotated[
    str | None,
    typer.Option(
        help="Online learners: distill or keep; with a budget margin, forgetron, random or "
        "projectron. [default: distill; with a budget: margin]"
    ),
]
Average = Annotated[
    bool | None,
    typer.Option(
        "--average",
        help="Online learners: answer with the average over the stream.",
        show_default=False,
    ),
]
BaseLearner = Annotated[
    str | None,
    typer.Option(
        "--estimator", help="adaboost: what is boosted, stumps or rbf-network. [default: stumps]"
    ),
]
Rounds = Annotated[int | None, typer.Option(help="adaboost: rounds at most. [default: 500]")]
Regularization = Annotated[
    float | None,
    typer.Option(
        help="adaboost: how much is forgiven of examples that had much weight. rbf-network: price "
        "of the output weights. [default: 0; rbf-network: 1e-06]"
    ),
]
Centers = Annotated[
    int | None, typer.Option(help="rbf-network: number of basis functions. [default: 10]")
]
Jobs = Annotated[int | None, typer.Option(help="Threads; every core if not given.")]
Memory = Annotated[
    str | None, typer.Option(help="For kernel values held, such as 500MB. [default: auto]")
]
Precision = Annotated[
    str | None, typer.Option(help="Of kernel values: float32, float64 or auto. [default: auto]")
]
MaxSeconds = Annotated[float | None, typer.Option(help="Stop training after so long.")]


def number_or_word(text: str | None) -> float | str | None:
    """What an option that takes either was given."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return text
