"""Names that people try: what was meant by one that does not exist.

A name that others have for a thing is in the table; of the rest the one that is spelled most
similarly is taken, if any is.
"""

from __future__ import annotations

from collections.abc import Iterable

# Names of machines, kernels and options elsewhere, and ours, the best first.
SYNONYMS = {
    # machines
    "svm": "svc", "csvc": "svc", "libsvm": "svc", "supportvectormachine": "svc",
    "nusvm": "nu-svc", "oneclass": "one-class-svm", "ocsvm": "one-class-svm",
    "novelty": "one-class-svm", "outlier": "one-class-svm",
    "linearsvc": "svc --kernel linear", "linearsvm": "svc --kernel linear",
    "liblinear": "svc --kernel linear", "hyperplane": "max-margin-hyperplane",
    "perceptron": "voted-perceptron, aggressive-perceptron",
    "kernelperceptron": "voted-perceptron, aggressive-perceptron",
    "averagedperceptron": "voted-perceptron, aggressive-perceptron",
    "passiveaggressive": "mira", "pa": "mira", "adatron": "kernel-adatron",
    "boosting": "adaboost", "boost": "adaboost", "adaboostclassifier": "adaboost",
    "rbfn": "rbf-network", "lpsvm": "lp-svc", "loosvm": "leave-one-out-svc",
    "logistic": "logistic-regression", "lr": "logistic-regression, --learning-rate",
    # kernels
    "gaussian": "rbf", "gauss": "rbf", "radial": "rbf", "squaredexponential": "rbf",
    "polynomial": "poly", "quadratic": "poly", "cubic": "poly", "laplace": "laplacian",
    "exponential": "laplacian", "dot": "linear", "tanh": "sigmoid", "none": "linear, none",
    # ways to scale
    "zscore": "standard", "normalize": "standard, --scale", "std": "standard",
    # options
    "cost": "--C", "c": "--C", "regularisation": "--regularization, --C",
    "lambda": "--lam", "alpha": "--lam", "sigma": "--gamma", "bandwidth": "--gamma",
    "randomstate": "--seed", "randomseed": "--seed", "nestimators": "--n-rounds",
    "rounds": "--n-rounds", "iterations": "--max-iter, --epochs", "niter": "--max-iter, --epochs",
    "maxiterations": "--max-iter", "maxepochs": "--epochs", "passes": "--epochs",
    "timeout": "--max-seconds", "timelimit": "--max-seconds", "maxtime": "--max-seconds",
    "tolerance": "--tol", "target": "--label", "y": "--label", "labelcolumn": "--label",
    "delimiter": "--sep", "separator": "--sep", "ignore": "--drop", "exclude": "--drop",
    "out": "--output", "outfile": "--output", "savemodel": "--output, --save",
    "algorithm": "--model", "classifier": "--model", "threads": "--n-jobs",
    "jobs": "--n-jobs", "workers": "--n-jobs",
    "cachesize": "--memory", "testset": "--test", "testdata": "--test", "gridsearch": "--cv",
    "crossvalidate": "--cv", "crossvalidation": "--cv", "grid": "--cv", "html": "--report",
    "normalise": "--scale", "standardize": "--scale", "scaling": "--scale", "silent": "--quiet",
    "probability": "--calibrate", "balanced": "--class-weight", "force": "--overwrite",
    "continue": "--resume", "skiperrors": "--on-error",
    # commands
    "fit": "train", "learn": "train", "test": "evaluate", "score": "evaluate", "eval": "evaluate",
    "classify": "predict", "show": "inspect", "info": "inspect", "describe": "inspect",
    "benchmark": "compare", "paper": "reproduce", "online": "stream", "help": "--help",
    "version": "--version", "export": "convert",
}  # fmt: skip


def suggestion(word: str, known: Iterable[str]) -> str:
    """The known name that was probably meant, or nothing.

    >>> suggestion("svm", ["voted-perceptron", "svc"]), suggestion("--kernal", ["--kernel"])
    ('svc', '--kernel')
    >>> suggestion("LinearSVC", ["svc", "mira"])
    'svc --kernel linear'
    """
    from difflib import get_close_matches

    known = list(known)
    by_letters = {_letters(name): name for name in known}
    word = word[:100]  # nobody misspells a longer one
    if _letters(word) in by_letters:
        return by_letters[_letters(word)]
    for meant in SYNONYMS.get(_letters(word), "").split(", "):
        if meant and meant.split()[0] in known:
            return meant
    begun = [name for letters, name in by_letters.items() if letters.startswith(_letters(word))]
    if len(begun) == 1 and len(word) > 2:
        return begun[0]
    found = get_close_matches(_letters(word), by_letters, n=1, cutoff=0.7)
    return by_letters[found[0]] if found else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a sentence that says that there is no such name.

    >>> "got 'gaussian'" + did_you_mean("gaussian", ["linear", "rbf"])
    "got 'gaussian'; did you mean rbf?"
    >>> did_you_mean("xyz", ["linear", "rbf"])
    ''
    """
    meant = suggestion(word, known)
    return f"; did you mean {meant}?" if meant else ""


def _letters(name: str) -> str:
    """A name without what people write in one way or another: case, dashes, spaces."""
    return "".join(c for c in name.lower() if c.isalnum())
