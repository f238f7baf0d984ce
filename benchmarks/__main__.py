"""`python -m benchmarks NAME [part ...]`: print a table of ratios.

Run it with nothing else on the machine. `python -m benchmarks readme` measures all figures that the
README and the page Performance show, and has options of its own.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

from benchmarks.options import OPTIONS
from benchmarks.timing import failed

NAMES = {
    "budget": "benchmarks.budget",
    "budgets": "benchmarks.budgets",
    "dask": "benchmarks.dask",
    "interchange": "benchmarks.interchange",
    "limits": "benchmarks.limits",
    "linear": "benchmarks.linear",
    "lp": "benchmarks.lp",
    "playground": "benchmarks.playground",
    "serve": "benchmarks.serve",
    "svm": "benchmarks.svm",
    "tables": "benchmarks.tables",
    "voted-perceptron": "benchmarks.voted_perceptron",
}
Part = Callable[[], Iterator[dict[str, Any]]]


def main() -> int:
    if sys.argv[1:2] == ["readme"]:
        return importlib.import_module("benchmarks.readme").main(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", choices=sorted(NAMES))
    parser.add_argument(
        "part", nargs="*", help="numbers or names of the parts to run; all of them by default"
    )
    parser.add_argument(
        "--json", action="store_true", help="print the rows as JSON, and as a table on stderr"
    )
    parser.add_argument(
        "--each", action="store_true", help="with --json: a line of JSON after each part"
    )
    parser.add_argument(
        "--brief", action="store_true", help="only what the README and the page Performance show"
    )
    svm = parser.add_argument_group("for svm, tables and linear")
    svm.add_argument("--threads", type=int, default=OPTIONS.threads, help="of every process")
    svm.add_argument("--rounds", type=int, default=OPTIONS.rounds, help="the best of so many")
    svm.add_argument("--rows", type=int, help="what stands for 60,000 rows, to try the commands")
    svm.add_argument(
        "--limit", type=float, default=OPTIONS.limit, help="seconds until a peer is stopped"
    )
    svm.add_argument(
        "--slow", type=float, default=OPTIONS.slow, help="seconds; what takes more is not repeated"
    )
    svm.add_argument("--peers", help="only these, separated by commas")
    svm.add_argument(
        "--dtype",
        choices=["float32", "float64"],
        default=OPTIONS.dtype,
        help="of the tables, for all machines",
    )
    arguments = parser.parse_args()
    for option in ("threads", "rounds", "rows", "limit", "slow", "brief", "dtype"):
        setattr(OPTIONS, option, getattr(arguments, option))
    if arguments.peers is not None:
        OPTIONS.peers = tuple(filter(None, arguments.peers.split(",")))
    module = importlib.import_module(NAMES[arguments.name])
    groups = _groups(module.PARTS)
    names = {name: {name: part} for group in groups.values() for name, part in group.items()}
    unknown = [part for part in arguments.part if part not in groups | names]
    if unknown:
        parser.error(f"no part {unknown[0]!r}: there are {', '.join(groups | names)}")
    chosen: dict[str, Part] = {}
    # Parts that take too long for a run of everything.
    asked = set(getattr(module, "ONLY_IF_ASKED", ()))
    for wanted in arguments.part or [name for name in names if name not in asked]:
        chosen |= (groups | names)[wanted]
    rows = []
    width = max(map(len, chosen))
    for name, part in chosen.items():
        began, so_far = time.perf_counter(), len(rows)
        for row in _measured(name, part):
            rows.append({"part": name, **row})
            table = sys.stderr if arguments.json else sys.stdout
            print(_line(rows[-1], width), file=table, flush=True)
        if arguments.each:
            took = time.perf_counter() - began
            print(json.dumps({"part": name, "seconds": took, "rows": rows[so_far:]}), flush=True)
    if not arguments.json:
        print(f"\n{date.today()}, {platform.machine()}, Python {platform.python_version()}")
    elif not arguments.each:
        json.dump({"date": date.today().isoformat(), "rows": rows}, sys.stdout, indent=2)
        print()
    return 1 if any(row["held"] is False for row in rows) else 0


def _measured(name: str, part: Part) -> Iterator[dict[str, Any]]:
    """The rows of a part. One that fails does not take the others with it."""
    try:
        yield from part()
    except Exception as error:
        traceback.print_exc()
        yield failed(name, f"{type(error).__name__}: {error}", "an answer")


def _groups(parts: list[Part | dict[str, Part]]) -> dict[str, dict[str, Part]]:
    """What each number stands for: one part, which has that number for a name, or several."""
    return {
        str(number): part if isinstance(part, dict) else {str(number): part}
        for number, part in enumerate(parts, start=1)
    }


def _line(row: dict[str, Any], width: int) -> str:
    verdict = {True: "PASS ", False: "short", None: "     "}[row["held"]]
    line = f"{row['part']:<{width}}  {verdict}  {row['what']:<58} {row['measured']:<28}"
    return f"{line} wanted {row['wanted']}" if row["wanted"] else line


if __name__ == "__main__":
    sys.exit(main())
