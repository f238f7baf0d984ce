"""Support vector machines against scikit-learn, scikit-learn-intelex, aoclda and thundersvm.

1 gaussian, 2 polynomial, 3 small data, 4 prediction, 5 path and cross-validation, 6 growth,
7 memory, 8 noise. A number runs all measures of a part; each has a name as well.
Every machine runs in its own process with the same number of threads, taking turns. An answer with
another objective or error than the best is marked wrong, and its time does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.options import OPTIONS
from benchmarks.svm_peers import OURS
from benchmarks.svm_race import (
    CLOSE,
    ERROR_CLOSE,
    GAUSSIAN,
    KERNELS,
    SAME,
    Result,
    fastest,
    folder,
    judge,
    machines,
    mnist,
    race,
    run,
    store,
    table,
    take_turns,
)
from benchmarks.timing import failed, faster, figure, note, row

Row = dict[str, Any]
Measure = Callable[[], Iterator[Row]]

FULL, TENTH, NOISY = 60_000, 10_000, 20_000
GROWTH = (5_000, 10_000, 20_000, 40_000, 60_000)
CS = [float(C) for C in np.logspace(-1, 2, 10)]
FOLDS = 5
ALLOWED_MEMORY = "1GB"
ALLOWED_BYTES = 1.3e9  # beside the data: the kernel values, and all the rest


def speed(
    what: str, results: dict[str, Result], least: float, peer: str | None = None
) -> Iterator[Row]:
    """Our fit against a peer's, or against the fastest that is right."""
    ours, wanted = results[OURS], f">= {least:g}"
    name = peer or fastest(results)
    if "missing" in ours or ours["wrong"]:
        yield failed(what, f"ours: {ours.get('missing') or ours['wrong']}", wanted)
    elif name is None or "missing" in results.get(name, {"missing": "not run"}):
        reason = "no peer gave a right answer" if name is None else f"{name} gave no answer"
        yield failed(what, reason, wanted)
    else:
        theirs = results[name]["fit"]
        detail = f"{name} {theirs:.2f} s / {ours['fit']:.2f} s"
        yield faster(what, theirs / ours["fit"], least, detail)


def bound(results: dict[str, Result]) -> Iterator[Row]:
    """Our fit against the products of support vectors with the examples of their problems."""
    ours = results[OURS]
    if "bound" in ours:
        yield note(
            "  bound: products of the support vectors alone",
            f"{ours['bound']:.2f} s for {ours['values'] / 1e6:.0f} million values: "
            f"ours takes {ours['fit'] / ours['bound']:.2f} times that",
        )


def pairs(kernel: str, rows: int, least: float, least_sklearn: float | None) -> Iterator[Row]:
    """One-vs-one fits of all machines, and how many times as fast ours is."""
    n = OPTIONS.size(rows)
    results = race(kernel, n, "ovo")
    yield from table(results, n)
    yield from bound(results)
    title = f"{kernel} ovo {n:,}:"
    yield from speed(f"{title} fastest correct peer / ours", results, least)
    if least_sklearn is not None:
        what = f"{title} scikit-learn / ours"
        yield from speed(what, results, least_sklearn, "scikit-learn")


def rest() -> Iterator[Row]:
    """One-vs-rest, ten classes that share rows, against ten fits of a peer."""
    n = OPTIONS.size(FULL)
    results = race("polynomial", n, "ovr", ("scikit-learn-intelex", "aoclda"))
    yield from table(results, n)
    yield from bound(results)
    title = f"polynomial ovr {n:,}: fastest correct ten fits / ours"
    yield from speed(title, results, 4.0)


def noise(C: float) -> Iterator[Row]:
    """Two classes, one label in five wrong: most examples are support vectors, at their bounds."""
    n, rng = OPTIONS.size(NOISY), np.random.default_rng(0)
    X = rng.normal(size=(n + 1000, 10)).astype(np.float32)
    sides = X @ rng.normal(size=10) + X[:, 0] * X[:, 1] / 2 > 0
    y = (sides ^ (rng.random(len(X)) < 0.2)).astype(int)
    data = store("noise", {"X": X[:n], "y": y[:n], "X_test": X[n:], "y_test": y[n:]})
    kernel = {"C": C, "kernel": "rbf", "gamma": 0.1}
    job = {"kind": "fit", "kernel": kernel, "multiclass": "ovo", "data": data}
    results = take_turns({name: {**job, "machine": name} for name in machines()}, "fit")
    judge(results, 1000)
    yield from table(results, n)
    yield from speed(f"noise, C = {C:g}, {n:,}: fastest correct peer / ours", results, 1.0)


def small() -> Iterator[Row]:
    """Fit plus predict of the training set in a warm process, best of many, against
    scikit-learn (one-vs-one, whatever ours does).
    """
    from sklearn.datasets import load_breast_cancer, load_digits, load_iris

    for name, loader in (
        ("iris", load_iris),
        ("breast cancer", load_breast_cancer),
        ("digits", load_digits),
    ):
        X, y = loader(return_X_y=True)
        data = store(name, {"X": X, "y": y, "X_test": X[:1], "y_test": y[:1]})
        kernel = {"C": 1.0, "kernel": "rbf", "gamma": float(1 / (X.shape[1] * X.var()))}
        job = {"kind": "small", "kernel": kernel, "data": data, "seconds": 2.0}
        several = len(np.unique(y)) > 2
        jobs = {"scikit-learn": {**job, "machine": "scikit-learn", "multiclass": "ovo"}}
        for reduction in ("ovo", "ovr") if several and not OPTIONS.brief else ("ovo",):
            jobs[reduction] = {**job, "machine": OURS, "multiclass": reduction}
        results = take_turns(jobs, "both")
        peer = results.pop("scikit-learn")
        for reduction, ours in results.items():
            what = f"{name}, {len(X):,} rows{f', {reduction}' if several else ''}: ours / sklearn"
            told = small_figure(name, ours, peer) if reduction == "ovo" else {}
            yield {**small_row(what, ours, peer, reduction), **told}


def small_row(what: str, ours: Result, peer: Result, reduction: str) -> Row:
    for result in (ours, peer):
        if "missing" in result:
            return failed(what, result["missing"], "<= 1")
    off = abs(ours["objective"] - peer["objective"]) / abs(peer["objective"])
    same = reduction == "ovr" or off < CLOSE  # ten other problems have another objective
    compared = "" if reduction == "ovr" else f", objectives differ by {off:.0e}"
    found = row(
        what,
        ours["both"] / peer["both"],
        1.0,
        f"{1e3 * ours['both']:.2f} ms / {1e3 * peer['both']:.2f} ms, training error "
        f"{100 * ours['error']:.1f} / {100 * peer['error']:.1f} %{compared}",
    )
    return {**found, "held": found["held"] and same}


def small_figure(name: str, ours: Result, peer: Result) -> Row:
    if "missing" in ours or "missing" in peer:
        return {}
    return figure(name, 1e3 * ours["both"], {"scikit-learn": 1e3 * peer["both"]}, "ms")


def prediction() -> Iterator[Row]:
    """The test set with the largest gaussian model, against the product with its support vectors
    and against every peer.
    """
    n = OPTIONS.size(FULL)
    results = race("gaussian", n, "ovo")
    ours = results[OURS]
    rows = f"{mnist(n)['test_rows']:,} rows"
    if reason := ours.get("missing") or ours["wrong"]:
        yield failed(f"predict {rows}", reason, "<= 1.5")
        return
    yield row(
        f"predict {rows} / X_test @ support vectors",
        ours["predict"] / ours["product"],
        1.5,
        f"{ours['predict']:.2f} s / {ours['product']:.2f} s",
    )
    for name, peer in results.items():
        if reason := peer.get("missing") or peer["wrong"]:
            yield note(f"  {name}", reason)
        elif name != OURS:
            yield row(
                f"predict {rows}: ours / {name}",
                ours["predict"] / peer["predict"],
                1.0,
                f"{ours['predict']:.2f} s / {peer['predict']:.2f} s",
            )


def shared(kind: str, rows: int) -> Result:
    """A job of ours alone, on the gaussian machine."""
    return run(
        {
            "kind": kind,
            "machine": OURS,
            "kernel": GAUSSIAN,
            "multiclass": "ovo",
            "data": mnist(OPTIONS.size(rows)),
            "rounds": OPTIONS.rounds,
            "Cs": CS,
            "folds": FOLDS,
        }
    )


def path(rows: int) -> Iterator[Row]:
    """Ten values of C over shared rows, against the one that alone takes longest."""
    what = f"path of ten C, {OPTIONS.size(rows):,} rows / the dearest one"
    result = shared("path", rows)
    if "missing" in result:
        yield failed(what, result["missing"], "<= 2.5")
        return
    dearest = int(np.argmax(result["single"]))
    yield note(
        "  each C alone, seconds",
        ", ".join(f"{C:.3g}: {t:.2f}" for C, t in zip(CS, result["single"], strict=True)),
    )
    single = result["single"][dearest]
    found = row(
        what,
        result["path"] / single,
        2.5,
        f"{result['path']:.2f} s / {single:.2f} s at C = {CS[dearest]:.3g}, "
        f"objectives differ by {result['difference']:.0e}, peak {result['peak'] / 1e6:.0f} MB",
        **figure("path", result["path"], {"the dearest of the fits": single}),
    )
    yield {**found, "held": found["held"] and result["difference"] < SAME}


def cross_validation(rows: int) -> Iterator[Row]:
    """Five folds over shared rows, against one fit of all rows."""
    what = f"{FOLDS}-fold cross-validation, {OPTIONS.size(rows):,} rows / one fit"
    result = shared("cross-validation", rows)
    if "missing" in result:
        yield failed(what, result["missing"], "<= 3")
        return
    found = row(
        what,
        result["folds"] / result["fit"],
        3.0,
        f"{result['folds']:.2f} s / {result['fit']:.2f} s, error {100 * result['error']:.2f} %, "
        f"first fold {100 * result['first']:.2f} / alone {100 * result['alone']:.2f} %, "
        f"peak {result['peak'] / 1e6:.0f} MB",
        **figure("folds", result["folds"], {"one fit": result["fit"]}),
    )
    same = abs(result["first"] - result["alone"]) <= ERROR_CLOSE
    yield {**found, "held": found["held"] and same}


def growth() -> Iterator[Row]:
    """Fit time as a power of the number of rows, from 5,000 to 60,000."""
    sizes = sorted({OPTIONS.size(n) for n in GROWTH})
    times: dict[str, dict[int, float]] = {}
    for n in sizes:
        for name, result in race("gaussian", n, "ovo").items():
            times.setdefault(name, {})
            if "missing" not in result:
                times[name][n] = result["fit"]
    for name, found in times.items():
        listed = ", ".join(f"{n:,}: {t:.2f} s" for n, t in found.items())
        if len(found) < 2:
            yield note(f"growth, {name}", f"too few sizes ({listed})")
            continue
        exponent = np.polyfit(np.log(list(found)), np.log(list(found.values())), 1)[0]
        yield note(
            f"growth, {name}",
            f"n^{exponent:.2f} ({listed})",
            exponent=float(exponent),
            seconds={str(n): t for n, t in found.items()},
        )


def memory() -> Iterator[Row]:
    """The gaussian fit within 1 GB of kernel values: the same solution, the time that it takes,
    and the resident size of the process.
    """
    n = OPTIONS.size(FULL)
    job = {
        "kind": "fit",
        "machine": OURS,
        "kernel": KERNELS["gaussian"],
        "multiclass": "ovo",
        "data": mnist(n),
    }
    files = {size: str(folder() / f"{size}.npz") for size in ("auto", ALLOWED_MEMORY)}
    results = take_turns(
        {size: {**job, "memory": size, "save": file} for size, file in files.items()}, "fit"
    )
    free, tight = results.values()
    title = f"memory={ALLOWED_MEMORY!r}, {n:,} rows:"
    for result in (free, tight):
        if "missing" in result:
            yield failed(title, result["missing"], "a model")
            return
    yield same_solution(title, [dict(np.load(file)) for file in files.values()], free, tight)
    yield row(
        f"{title} fit / with memory='auto'",
        tight["fit"] / free["fit"],
        3.0,
        f"{tight['fit']:.2f} s / {free['fit']:.2f} s",
        **figure("fit", tight["fit"], {"with all the memory": free["fit"]}),
    )
    allowed = tight["data_bytes"] + ALLOWED_BYTES
    yield row(
        f"{title} peak / (data + 1 GB + 300 MB)",
        tight["peak"] / allowed,
        1.0,
        f"{tight['peak'] / 1e6:.0f} MB / {allowed / 1e6:.0f} MB; "
        f"with 'auto' {free['peak'] / 1e6:.0f} MB",
        **figure("peak", tight["peak"] / 1e6, {"bound": allowed / 1e6}, "MB"),
    )


def same_solution(title: str, models: list[dict[str, Any]], free: Result, tight: Result) -> Row:
    """Equal bits, or else how far apart, and the objectives."""
    one, other = models
    equal = all(np.array_equal(one[key], other[key]) for key in one)
    off = abs(free["objective"] - tight["objective"]) / abs(free["objective"])
    if equal:
        measured = "equal bits"
    else:
        size = 1 + max(one["support"].max(), other["support"].max())
        full = np.zeros((2, len(one["coefs"]), size))
        for values, model in zip(full, models, strict=True):
            values[:, model["support"]] = model["coefs"]
        measured = f"coefficients differ by {np.abs(full[0] - full[1]).max():.1e} at most"
    return {
        "what": f"{title} same solution as with 'auto'",
        "ratio": off,
        "measured": f"{measured}, objectives by {off:.1e}",
        "wanted": f"equal, or objectives within {SAME:g}",
        "held": bool(equal or off < SAME),
    }


PARTS: list[dict[str, Measure]] = [
    {
        "gaussian-5000": partial(pairs, "gaussian", 5_000, 1.0, None),
        "gaussian-10000": partial(pairs, "gaussian", TENTH, 1.0, None),
        "gaussian-20000": partial(pairs, "gaussian", 20_000, 1.5, None),
        "gaussian-60000": partial(pairs, "gaussian", FULL, 1.5, 12.0),
    },
    {"polynomial": partial(pairs, "polynomial", FULL, 1.5, None), "polynomial-rest": rest},
    {"small": small},
    {"predict": prediction},
    {
        "path-10000": partial(path, TENTH),
        "path-60000": partial(path, FULL),
        "cross-validation-10000": partial(cross_validation, TENTH),
        "cross-validation-60000": partial(cross_validation, FULL),
    },
    {"growth": growth},
    {"memory": memory},
    {"noise-1": partial(noise, 1.0), "noise-10": partial(noise, 10.0)},
]
ONLY_IF_ASKED = ("gaussian-5000", "gaussian-20000")  # two more points of a curve
