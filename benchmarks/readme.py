"""`python -m benchmarks readme [section ...]`: measure what the README and the page Performance
show, in one go, and write it to one file.

Sections: svm, tables, linear, lp, budget, voted-perceptron, interchange, serve, playground; all of
them by default, which takes about 25 minutes on two cores that do nothing else. Each runs as the
command that the file names. Sections alone are merged with those in the file if commit, processor,
cores and libraries are the same. `--all` adds what takes long, `--render` measures nothing and
writes the figures into the README and the documentation.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "readme.json"
PEERS = "--peers scikit-learn,scikit-learn-intelex,aoclda"
# What takes more than `--slow` seconds is run once, by all machines.
SECTIONS = {
    "svm": f"svm gaussian-5000 gaussian-10000 gaussian-20000 gaussian-60000 small path-10000 "
    f"cross-validation-10000 {PEERS} --rounds 2 --slow 2",
    "tables": "tables generated-1000 generated-4000 generated-10000 generated-40000 "
    f"generated-100000 generated-C100 ijcnn1 covtype-50000 {PEERS} --rounds 1 --limit 40",
    "linear": "linear covtype-standardised dense text --rounds 2 --slow 10",
    "lp": "lp speed-400 speed-1000 all-rows path stumps --rounds 2",
    "budget": "budget letter mnist rivals million --rounds 2",
    "voted-perceptron": "voted-perceptron",
    "interchange": "interchange --rounds 2",
    "serve": "serve --rows 10000",
    "playground": "playground two-classes",
}
LONG = {
    "svm": "svm polynomial polynomial-rest path-60000 cross-validation-60000 memory "
    f"{PEERS} --rounds 1",
    "tables": "tables generated-2000 generated-8192 generated-20000 covtype-100000 covtype-full "
    f"{PEERS} --rounds 1 --limit 900",
    "lp": "lp speed-2000",
}
LIBRARIES = (
    "largemargin", "numpy", "scipy", "numba", "scikit-learn", "scikit-learn-intelex", "aoclda",
    "votedperceptron", "river", "vowpalwabbit", "fastapi",
)  # fmt: skip
SAME = ("commit", "processor", "cores", "threads", "versions", "trial_rows")

Document = dict[str, Any]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks readme",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("section", nargs="*", help="those to measure; all of them by default")
    parser.add_argument("--all", action="store_true", help="also what takes many minutes")
    parser.add_argument("--rows", type=int, help="what stands for 60,000 rows, to try the command")
    parser.add_argument("--output", type=Path, default=RESULTS, help="the file")
    parser.add_argument("--render", action="store_true", help="write the pages, measure nothing")
    asked = parser.parse_args(arguments)
    unknown = [name for name in asked.section if name not in SECTIONS]
    if unknown:
        parser.error(f"there is no section {unknown[0]!r}: there are {', '.join(SECTIONS)}")
    if asked.render:
        from benchmarks.readme_pages import write_pages

        return write_pages(read(asked.output))
    if asked.rows is not None and asked.output == RESULTS:
        parser.error("--rows is a trial: give --output another file than that of the README")
    here = machine(asked.rows)
    document = opened(asked.output, here, alone=bool(asked.section))
    if isinstance(document, str):
        parser.error(document)
    measured = measure(document, asked, here)
    return 0 if measured else 1


def read(file: Path) -> Document:
    return json.loads(file.read_text(encoding="utf-8"))


def machine(rows: int | None) -> dict[str, Any]:
    """Where and of what the figures are."""
    return {
        "commit": commit(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads": len(os.sched_getaffinity(0)),
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "versions": versions(),
        "trial_rows": rows,
    }


def commit() -> str:
    """The commit, with a word if the code is not what was committed."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--", "src", "benchmarks/*.py")
    return (git("rev-parse", "--short=10", "HEAD") or "unknown") + (" with changes" * bool(changed))


def processor() -> str:
    """The processor's name with the numbers that tell it from its relatives."""
    about = Path("/proc/cpuinfo")
    if not about.exists():
        return platform.processor() or platform.machine()
    told = dict(re.findall(r"^([\w ]+?)\s*: (.*)$", about.read_text(), re.M))
    numbers = [f"{name} {told[name]}" for name in ("cpu family", "model") if name in told]
    wide = "AVX-512" if "avx512f" in told.get("flags", "") else "no AVX-512"
    return f"{told.get('model name', platform.machine())} ({', '.join([*numbers, wide])})"


def versions() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def opened(file: Path, here: dict[str, Any], alone: bool) -> Document | str:
    """What the file holds that stays, or a sentence on why sections cannot be merged with it."""
    earlier = read(file) if file.exists() else {"measured": None, "earlier": None}
    measured = earlier["measured"]
    if measured is None:
        return {"measured": {**here, "sections": {}, "figures": {}}, "earlier": earlier["earlier"]}
    other = [name for name in SAME if measured[name] != here[name]]
    if not other:
        return earlier
    if alone:
        name = other[0]
        return (
            f"{file} has figures of another {name.replace('_', ' ')} ({measured[name]}, now "
            f"{here[name]}): measure all sections, or give --output another file"
        )
    moved = measured["processor"] != here["processor"]  # both processors are shown from now on
    return {
        "measured": {**here, "sections": {}, "figures": {}},
        "earlier": measured if moved else earlier["earlier"],
    }


def measure(document: Document, asked: Any, here: dict[str, Any]) -> bool:
    """Run the sections, and write the file after each. Whether all of them gave figures."""
    measured, whole = document["measured"], True
    for name in asked.section or SECTIONS:
        commands = [SECTIONS[name], *([LONG[name]] if asked.all and name in LONG else [])]
        began, figures = time.perf_counter(), {}
        for command in commands:
            figures |= run(name, command, asked.rows)
        today = date.today().isoformat()
        took = time.perf_counter() - began
        whole &= bool(figures)
        measured["sections"][name] = {
            "date": today, "seconds": round(took, 1),
            "commands": [f"python -m benchmarks {command}" for command in commands],
        }  # fmt: skip
        measured["figures"] = {
            key: figure
            for key, figure in measured["figures"].items()
            if not key.startswith(f"{name}/")
        } | {key: {**figure, "date": today} for key, figure in figures.items()}
        dates = [section["date"] for section in measured["sections"].values()]
        measured["dates"] = [min(dates), max(dates)]
        asked.output.parent.mkdir(parents=True, exist_ok=True)
        asked.output.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        print(f"== {name}: {len(figures)} figures in {took:.0f} s", file=sys.stderr, flush=True)
    return whole


def run(section: str, command: str, rows: int | None) -> dict[str, Any]:
    """The figures of one command; its table goes to stderr as it is measured."""
    from benchmarks.readme_figures import figures_of

    words = [sys.executable, "-m", "benchmarks", *shlex.split(command), "--json"]
    words += ["--rows", str(rows)] if rows else []
    print(f"== python -m benchmarks {command}", file=sys.stderr, flush=True)
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        found = json.loads(done.stdout)["rows"]
    except ValueError:
        print(f"== {section}: no answer, code {done.returncode}", file=sys.stderr, flush=True)
        return {}
    return figures_of(section, found, f"python -m benchmarks {command}")
