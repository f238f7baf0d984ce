"""`python -m benchmarks NAME [part ...]`: print a table of ratios.

Run it with nothing else on the machine.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import sys
from datetime import date

NAMES = {"voted-perceptron": "benchmarks.voted_perceptron"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", choices=sorted(NAMES))
    parser.add_argument(
        "part", nargs="*", help="numbers of the parts to run; all of them by default"
    )
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    arguments = parser.parse_args()
    module = importlib.import_module(NAMES[arguments.name])
    parts = {str(number): part for number, part in enumerate(module.PARTS, start=1)}
    unknown = [part for part in arguments.part if part not in parts]
    if unknown:
        parser.error(f"no part {unknown[0]!r}: there are {', '.join(parts)}")
    rows = []
    for number in arguments.part or parts:
        for row in parts[number]():
            rows.append({"part": number, **row})
            if not arguments.json:
                print(_line(rows[-1]), flush=True)
    if arguments.json:
        json.dump({"date": date.today().isoformat(), "rows": rows}, sys.stdout, indent=2)
        print()
    else:
        print(f"\n{date.today()}, {platform.machine()}, Python {platform.python_version()}")
    return 0 if all(row["held"] for row in rows) else 1


def _line(row: dict) -> str:
    verdict = "ok  " if row["held"] else "MISS"
    return (
        f"{row['part']}  {verdict}  {row['what']:<58} {row['measured']:<28} wanted {row['wanted']}"
    )


if __name__ == "__main__":
    sys.exit(main())
