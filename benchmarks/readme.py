"""`python -m benchmarks readme [section ...]`: measure what the README and the page Performance
show, and write it to one file.

Sections: svm, tables, linear, lp, budget, voted-perceptron, interchange, serve, playground; all of
them by default, which takes about 25 minutes on two cores that do nothing else. Each runs as the
command that the file names. The file is written after each part of a section. The same command
goes on after an interruption: it leaves out the parts that the file has of this commit, processor
and libraries (`--again` measures them too). Sections that are named are measured again. `--all`
adds what takes long, `--render` measures nothing and writes the figures into the README and the
documentation.
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
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.readme_figures import figures_of

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "readme.json"
PEERS = "--peers scikit-learn,scikit-learn-intelex,aoclda"
# Options and parts. What takes more than `--slow` seconds is run once, by all machines.
SECTIONS: dict[str, tuple[str, str]] = {
    "svm": (
        f"{PEERS} --rounds 2 --slow 2",
        "gaussian-5000 gaussian-10000 gaussian-20000 gaussian-60000 small path-10000 "
        "cross-validation-10000",
    ),
    "tables": (
        f"{PEERS} --rounds 1 --limit 25",
        "generated-1000 generated-4000 generated-10000 generated-40000 generated-100000 "
        "generated-C100 ijcnn1 covtype-50000",
    ),
    "linear": ("--rounds 2 --slow 10", "covtype-standardised dense text"),
    "lp": ("--rounds 2", "speed-400 speed-1000 all-rows path stumps"),
    "budget": ("--rounds 2", "letter mnist rivals million"),
    "voted-perceptron": ("", "fit predict linear votedperceptron cold-start memory"),
    "interchange": ("--rounds 2", "digits letter banana mnist one-row"),
    "serve": ("--rows 10000", "loop load"),
    "playground": ("", "two-classes"),
}
LONG = {
    "svm": (
        f"{PEERS} --rounds 1",
        "polynomial polynomial-rest path-60000 cross-validation-60000 memory",
    ),
    "tables": (
        f"{PEERS} --rounds 1 --limit 900",
        "generated-2000 generated-8192 generated-20000 covtype-100000 covtype-full",
    ),
    "lp": ("", "speed-2000"),
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
    parser.add_argument("--again", action="store_true", help="also what the file has already")
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
    return 0 if measure(document, asked) else 1


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
        return {"measured": {**here, "parts": {}, "figures": {}}, "earlier": earlier["earlier"]}
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
        "measured": {**here, "parts": {}, "figures": {}},
        "earlier": measured if moved else earlier["earlier"],
    }


def measure(document: Document, asked: Any) -> bool:
    """Run what is missing, and write the file after each part. Whether all parts gave figures."""
    measured = document["measured"]
    wanted: set[str] = set()
    for name in asked.section or SECTIONS:
        if asked.again or asked.section:
            forget(measured, name)
        for options, listed in commands(name, asked.all):
            wanted |= {f"{name}/{part}" for part in listed.split()}
            missing = [part for part in listed.split() if f"{name}/{part}" not in measured["parts"]]
            command = " ".join(["python -m benchmarks", name, listed, *options.split(), "--brief"])
            for found in run(name, missing, options, asked.rows) if missing else ():
                if figures := figures_of(name, found["rows"], command):
                    note(measured, f"{name}/{found['part']}", found["seconds"], command, figures)
                    write(document, asked.output)
    return wanted <= measured["parts"].keys()


def commands(section: str, everything: bool) -> list[tuple[str, str]]:
    """Options and parts of a section, and of what takes long if that is asked for."""
    return [SECTIONS[section], *([LONG[section]] if everything and section in LONG else [])]


def note(
    measured: dict[str, Any], part: str, seconds: float, command: str, figures: dict[str, Any]
) -> None:
    """Add a part that has ended."""
    today = date.today().isoformat()
    about = {"date": today, "seconds": round(seconds, 1), "command": command}
    measured["parts"][part] = about
    measured["figures"] |= {key: {**figure, "date": today} for key, figure in figures.items()}
    dates = [done["date"] for done in measured["parts"].values()]
    measured["dates"] = [min(dates), max(dates)]


def forget(measured: dict[str, Any], section: str) -> None:
    """Take out what was measured of a section."""
    for kind in ("parts", "figures"):
        measured[kind] = {k: v for k, v in measured[kind].items() if k.split("/")[0] != section}


def write(document: Document, file: Path) -> None:
    """All that is measured so far; what stood in the file is there until the new text is."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(".new")
    new.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    new.replace(file)


def run(section: str, parts: list[str], options: str, rows: int | None) -> Iterator[dict[str, Any]]:
    """Rows and seconds of each part when it ends; the table goes to stderr as it is measured."""
    words = ["-m", "benchmarks", section, *parts, *shlex.split(options), "--brief"]
    print(f"== python {shlex.join(words)}", file=sys.stderr, flush=True)
    words += ["--rows", str(rows)] if rows else []
    command = [sys.executable, *words, "--json", "--each"]
    began = time.perf_counter()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("{"):
                yield json.loads(line)
    took = time.perf_counter() - began
    print(f"== {section}: {took:.0f} s", file=sys.stderr, flush=True)
