"""Gaussian machines on tables of few columns: ours against scikit-learn, scikit-learn-intelex and
aoclda (thundersvm-cpu if `--peers` names it), and against a bare loop over tiles.

1 a generated table, 2 the same with a large C, 3 covtype, 4 ijcnn1, 5 a9a, 6 letter, 7 all of
covtype, which is run only when asked for: `python -m benchmarks tables covtype-full`. A number runs
all cases of a part; each has a name as well. Every machine runs in its own process with the same
number of threads, taking turns. An answer with another objective or error than the best is marked
wrong, and its time does not count; a process that takes longer than `--limit` is stopped, and its
machine is not run on more rows of the same table.

The bound is the time of (support vectors x rows) kernel values at the best rate that the bare loop
reaches in the same run, at the same number of columns, on as many threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks import tables_data
from benchmarks.options import OPTIONS, Options
from benchmarks.svm_peers import OURS
from benchmarks.svm_peers import PEERS as ALL_PEERS
from benchmarks.svm_race import Result, fastest, judge, machines, run, table, take_turns
from benchmarks.timing import failed, faster, figure, note, row

Row = dict[str, Any]
Measure = Callable[[], Iterator[Row]]

PEERS = ("scikit-learn", "scikit-learn-intelex", "aoclda")
GENERATED = (1_000, 2_000, 4_000, 6_000, 8_192, 10_000, 20_000, 40_000, 100_000, 200_000)
COVTYPE = (5_000, 50_000, 100_000)
SMALL = 8_192  # rows up to which equal speed is enough
BOUNDED = 100_000  # rows up to which the bound is a bar
SLIM_ROWS, SLIM_BYTES = 100_000, 1.5e9  # rows of the generated table, and memory that is enough
FITS = 5  # repetitions of a short fit in one process
RATE_SECONDS = 2.0
FULL_ROWS, FULL_TESTS, GROWTH_ROWS = 464_809, 116_203, 50_000
FULL_SECONDS, FULL_ERROR, FULL_BYTES = 20 * 60.0, 0.041, 8e9
FULL_LIMIT = 3 * 3600.0  # seconds, unless --limit says otherwise

_rates: dict[int, Result] = {}
_too_slow: dict[tuple[str, str], int] = {}


@dataclass(frozen=True)
class Case:
    """A table, how its machine is set, and what is wanted of ours."""

    series: str  # cases of the same data and settings that differ in their rows
    rows: int
    data: Callable[[int], dict[str, Any]]
    gamma: float
    C: float
    bounded: bool = False  # whether the bound is a bar

    @property
    def least(self) -> float:
        """How many times as fast as the fastest peer the fit is to be."""
        return 1.0 if self.rows <= SMALL else 1.5

    def job(self, **changes: Any) -> dict[str, Any]:
        return {
            "kind": "fit",
            "kernel": {"C": self.C, "kernel": "rbf", "gamma": self.gamma},
            "multiclass": "ovo",
            "data": self.data(self.rows),
            "products": False,
            "fits": FITS,
            **changes,
        }


def compare(case: Case) -> Iterator[Row]:
    """All machines on one table."""
    job = case.job()
    spec = job["data"]
    results = race(case, job)
    title = f"{spec['rows']:,} rows:"
    yield from table(results, spec["rows"])
    yield speed(f"{title} fit, fastest correct peer / ours", results, "fit", case.least)
    what = f"{title} predict {spec['test_rows']:,}, fastest correct peer / ours"
    yield speed(what, results, "predict", 1.0)
    ours = results[OURS]
    # The values that several problems share are counted in benchmarks.svm.
    one_problem = "vectors" in ours and ours["vectors"] == ours["vectors_summed"]
    if one_problem and not spec["sparse"] and not OPTIONS.brief:
        yield from bounds(case, spec, results)
    if case.bounded and case.rows == SLIM_ROWS and "peak" in ours:
        peak = ours["peak"]
        told = figure("peak", peak / 1e6, _peaks(results), "MB")
        detail = f"{peak / 1e6:.0f} MB"
        yield row(f"{title} peak / 1.5 GB", peak / SLIM_BYTES, 1.0, detail, **told)


def _peaks(results: dict[str, Result]) -> dict[str, float]:
    """The largest resident sizes of the peers, in megabytes."""
    return {
        name: result["peak"] / 1e6
        for name, result in results.items()
        if name != OURS and "peak" in result
    }


def race(case: Case, job: dict[str, Any]) -> dict[str, Result]:
    """Every machine that was not too slow on fewer rows."""
    jobs, results = {}, {}
    for name in machines(PEERS if OPTIONS.peers is None else ALL_PEERS):
        if _too_slow.get((name, case.series), case.rows) < case.rows:
            results[name] = {"missing": "over the limit on fewer rows", "late": True}
        else:
            jobs[name] = {**job, "machine": name}
    results |= take_turns(jobs, "fit")
    for name, result in results.items():
        if result.get("late"):
            _too_slow.setdefault((name, case.series), case.rows)
    judge(results, job["data"]["test_rows"])
    return results


def speed(what: str, results: dict[str, Result], clock: str, least: float) -> Row:
    """Our time against that of the fastest peer with a right answer, or against the limit where
    peers did not come to an answer."""
    ours, wanted, name = results[OURS], f">= {least:g}", fastest(results, clock)
    if reason := ours.get("missing") or ours["wrong"]:
        return failed(what, f"ours: {reason}", wanted)
    late = [peer for peer, result in results.items() if result.get("late")]
    if name is not None:
        theirs = results[name][clock]
        detail = f"{name} {theirs:.3f} s / {ours[clock]:.3f} s"
    elif late and clock == "fit":
        theirs = OPTIONS.limit
        detail = f"{', '.join(late)} over {theirs:.0f} s / {ours[clock]:.3f} s"
    else:
        return note(what, "no peer gave a right answer")
    return faster(what, theirs / ours[clock], least, detail)


def rate(columns: int) -> Result:
    """The best rate of the bare loop so far, with a look at it now."""
    found = run({"kind": "rate", "columns": columns, "seconds": RATE_SECONDS})
    if "rate" in found:
        _rates[columns] = max(_rates.get(columns, found), found, key=lambda r: r["rate"])
    return _rates.get(columns, found)


def bounds(case: Case, spec: dict[str, Any], results: dict[str, Result]) -> Iterator[Row]:
    """Our times against the bare loop's, and its rate against the fastest peer's."""
    ours, loop = results[OURS], rate(spec["features"])
    if "rate" not in loop:
        yield failed("  bound", loop["missing"], "a rate")
        return
    yield note(
        f"  bare loop, {spec['features']} columns",
        f"{loop['rate'] / 1e9:.2f} billion values per second ({loop['loop']})",
        **loop,
    )
    peers = {
        name: result["vectors"] * spec["test_rows"] / result["predict"]
        for name, result in results.items()
        if name != OURS and result.get("vectors") and not result["wrong"]
    }
    for name, bar, rows in (
        ("fit", 4.0, spec["rows"]), ("predict", 1.3, spec["test_rows"])
    ):  # fmt: skip
        least = ours["vectors"] * rows / loop["rate"]
        what = f"  {name} / bound of {ours['vectors']:,} vectors x {rows:,} rows"
        found = row(what, ours[name] / least, bar, f"{ours[name]:.3f} s / {least:.3f} s")
        barred = case.bounded and case.rows <= BOUNDED
        yield found if barred else {**found, "wanted": "", "held": None}
    if peers:
        name = max(peers, key=lambda peer: peers[peer])
        detail = f"{name} {peers[name] / 1e9:.2f} billion per second"
        yield faster(
            "  bare loop / fastest peer's predictions", loop["rate"] / peers[name], 1.0, detail
        )


def everything() -> Iterator[Row]:
    """Four fifths of covtype, ours alone, and how the fit grows from 50,000 rows."""
    limit = FULL_LIMIT if OPTIONS.limit == Options.limit else OPTIONS.limit
    found: list[tuple[int, Result]] = []
    for rows in (GROWTH_ROWS, FULL_ROWS):
        case = Case("covtype", rows, partial(tables_data.covtype, tests=FULL_TESTS), 32.0, 32.0)
        job = case.job(machine=OURS, limit=limit, fits=1)
        result = run(job)
        found.append((job["data"]["rows"], result))
        what = f"  {job['data']['rows']:,} rows"
        if "missing" in result:
            yield failed(what, result["missing"], "a model")
            return
        yield note(
            what,
            f"fit {result['fit']:.1f} s  predict {job['data']['test_rows']:,} rows "
            f"{result['predict']:.2f} s  error {100 * result['error']:.2f} %  "
            f"gap {result['gap']:.1e}  {'' if result['converged'] else 'not '}converged  "
            f"vectors {result['vectors']:,}  peak {result['peak'] / 1e6:.0f} MB",
            **figure(f"fit-{rows}", result["fit"], {}, told=_told(result)),
            **result,
        )
    (few, small), (n, full) = found
    exponent = np.log(full["fit"] / small["fit"]) / np.log(n / few) if n > few else np.nan
    title = f"covtype, {n:,} rows:"
    yield note(f"{title} growth from {few:,}", f"n^{exponent:.2f}", exponent=float(exponent))
    minutes = f"{full['fit'] / 60:.1f} minutes"
    found_time = row(f"{title} fit / 20 minutes", full["fit"] / FULL_SECONDS, 1.0, minutes)
    yield {**found_time, "held": found_time["held"] and full["converged"]}
    error = f"{100 * full['error']:.2f} %"
    yield row(f"{title} test error / 4.1 %", full["error"] / FULL_ERROR, 1.0, error)
    peak = f"{full['peak'] / 1e9:.1f} GB"
    yield row(f"{title} peak / 8 GB", full["peak"] / FULL_BYTES, 1.0, peak)


def _told(result: Result) -> str:
    return (
        f"{100 * result['error']:.2f} % test error, gap {result['gap']:.0e}, "
        f"{result['peak'] / 1e9:.2f} GB at most"
    )


def case(*arguments: Any, **settings: Any) -> Measure:
    return partial(compare, Case(*arguments, **settings))


_table = partial(tables_data.generated, most=max(GENERATED))
PARTS: list[dict[str, Measure]] = [
    {
        f"generated-{n}": case("generated, C 1", n, _table, 0.02, 1.0, bounded=True)
        for n in GENERATED
    },
    {"generated-C100": case("generated, C 100", 20_000, _table, 0.02, 100.0)},
    {f"covtype-{n}": case("covtype", n, tables_data.covtype, 32.0, 32.0) for n in COVTYPE},
    {"ijcnn1": case("ijcnn1", 49_990, tables_data.ijcnn1, 2.0, 32.0)},
    {
        "a9a-dense": case("a9a dense", 32_561, partial(tables_data.a9a, sparse=False), 0.05, 1.0),
        "a9a-sparse": case("a9a sparse", 32_561, partial(tables_data.a9a, sparse=True), 0.05, 1.0),
    },
    {"letter": case("letter", 16_000, tables_data.letter, 1 / 16, 10.0)},
    {"covtype-full": everything},
]
ONLY_IF_ASKED = ("covtype-full",)
