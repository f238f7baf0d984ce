"""Files as people have them: each trouble in a small file, and what is to become of it.

All files tell of the same things: `size` is a number, `colour` one of three words, and `class` is
big or small by a rule of both, so that a machine can learn it. A file either reads to columns of
known kinds, and trains to a small error, or gets one sentence that names the column and the remedy.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np

N = 160
Columns = dict[str, list[Any]]


@dataclass(frozen=True)
class Case:
    """A file, and what is expected of it.

    `kinds` are those of the features, or "array" for numbers without a gap. `words` are patterns of
    the sentence that refuses the file; with `in_training` it is read, and training refuses it.
    """

    trouble: str
    file: str
    content: bytes
    options: dict[str, Any] = field(default_factory=dict)
    kinds: dict[str, str] | str = ""
    missing: int = 0  # values of features
    label: str = "class"
    notes: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    in_training: bool = False
    most_error: float = 0.1  # of a linear or gaussian machine, on rows that it has not seen

    @property
    def reads(self) -> bool:
        return self.in_training or not self.words


def things(n: int = N) -> Columns:
    """Columns from which `class` can be told."""
    rng = np.random.default_rng(0)
    size = np.round(rng.uniform(0, 10, 4 * n), 1)
    colour = rng.choice(["red", "green", "blue"], 4 * n)
    score = size + 4 * (colour == "red") - 6
    clear = np.flatnonzero(np.abs(score) > 0.7)[:n]
    return {
        "size": [float(x) for x in size[clear]],
        "colour": colour[clear].tolist(),
        "class": np.where(score[clear] > 0, "big", "small").tolist(),
    }


def beside(**more: Any) -> Columns:
    """The same with more columns before the label: lists, or functions of the row's number."""
    columns = things()
    label = columns.pop("class")
    for name, values in more.items():
        columns[name] = [values(i) for i in range(N)] if callable(values) else values
    return {**columns, "class": label}


def changed(name: str, change: Callable[[int, Any], Any]) -> Columns:
    columns = things()
    columns[name] = [change(i, value) for i, value in enumerate(columns[name])]
    return columns


def text(columns: Columns, sep: str = ",", header: bool = True, comma: bool = False) -> str:
    file = io.StringIO()
    out = csv.writer(file, delimiter=sep, lineterminator="\n")
    if header:
        out.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        out.writerow([str(v).replace(".", ",") if comma and type(v) is float else v for v in row])
    return file.getvalue()


def table(columns: Columns, **how: Any) -> bytes:
    return text(columns, **how).encode()


def records(columns: Columns) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def json_lines(columns: Columns) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records(columns)).encode()


def parquet(columns: Columns) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def gaps(i: int, value: Any) -> Any:
    return "?" if i % 10 == 0 else value


def numbers() -> Columns:
    columns = things()
    columns["colour"] = [float(c == "red") for c in columns["colour"]]
    columns["class"] = [int(c == "big") for c in columns["class"]]
    return columns


TWO = {"size": "number", "colour": "text"}
PLAIN = table(things())
COMMENT = 'a long story, told\nover two lines; with a "quote"'
HEADLESS = {"x0": "number", "x1": "text"}

CASES = [
    Case("commas", "a.csv", PLAIN, kinds=TWO),
    Case("semicolons", "a.csv", table(things(), sep=";"), kinds=TWO),
    Case("tabs", "a.txt", table(things(), sep="\t"), kinds=TWO),
    Case("bars", "a.data", table(things(), sep="|"), kinds=TWO),
    Case("colons, given", "a.csv", table(things(), sep=":"), {"sep": ":"}, kinds=TWO),
    Case("commas and blanks, no header", "a.data",
         PLAIN.split(b"\n", 1)[1].replace(b",", b", "), kinds=HEADLESS, label="x2"),
    Case("blanks", "a.txt", table(things(), sep=" "), kinds=TWO),
    Case("Windows' ends of lines", "a.csv", PLAIN.replace(b"\n", b"\r\n"), kinds=TWO),
    Case("UTF-8 with a mark", "a.csv", b"\xef\xbb\xbf" + PLAIN, kinds=TWO),
    Case("UTF-16", "a.csv", text(things(), sep="\t").encode("utf-16"), kinds=TWO),
    Case("UTF-16 without a mark", "a.csv", text(things()).encode("utf-16-le"),
         words=("line 1", "zero byte", "encoding='utf-16-le'")),
    Case("UTF-16, given", "a.csv", text(things()).encode("utf-16-le"),
         {"encoding": "utf-16-le"}, kinds=TWO),
    Case("Latin-1", "a.csv", text(changed("colour", lambda i, v: v.replace("green", "grün")))
         .encode("latin-1"), kinds=TWO, notes=("Latin-1",)),
    Case("quoted ends of lines", "a.csv", table(beside(story=lambda i: COMMENT)),
         kinds={**TWO, "story": "text"}),
    Case("a decimal comma", "a.csv", table(things(), sep=";", comma=True), kinds=TWO,
         notes=("decimal comma",)),
    Case("a decimal comma between tabs, given", "a.tsv", table(things(), sep="\t", comma=True),
         {"decimal": ","}, kinds=TWO),
    Case("JSON lines", "a.jsonl", json_lines(things()), kinds=TWO),
    Case("JSON lines that lack names", "a.ndjson", json_lines(things()) +
         b'{"colour": "red", "class": "big"}\n', kinds=TWO, missing=1),
    Case("an array of JSON objects", "a.json", json.dumps(records(things()), indent=1).encode(),
         kinds=TWO),
    Case("JSON within JSON", "a.jsonl", json_lines(beside(place=lambda i: {"x": i})),
         words=("column place", "leave it out")),
    Case("Parquet", "a.parquet", parquet(beside(
        old=lambda i: bool(i % 2), gap=lambda i: None if i % 4 == 0 else 1.5 * i,
        day=lambda i: date(2024, 1, 1 + i % 28))),
        kinds={**TWO, "old": "bool", "gap": "number", "day": "text"}, missing=40),
    Case("gzip", "a.csv.gz", gzip.compress(PLAIN), kinds=TWO),
    Case("bzip2", "a.csv.bz2", bz2.compress(PLAIN), kinds=TWO),
    Case("xz", "a.jsonl.xz", lzma.compress(json_lines(things())), kinds=TWO),
    Case("missing values", "a.csv", table(changed("size", gaps)), kinds=TWO, missing=16,
         most_error=0.2),
    Case("missing words", "a.csv", table(changed("colour", gaps)), kinds=TWO, missing=16,
         most_error=0.2),
    Case("numbers alone", "a.csv", table(numbers()), kinds="array"),
    Case("numbers with missing values", "a.csv",
         table({**numbers(), "size": [gaps(i, v) for i, v in enumerate(numbers()["size"])]}),
         kinds={"size": "number", "colour": "number"}, missing=16, most_error=0.2),
    Case("a date", "a.csv", table(beside(day=lambda i: f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}")),
         kinds={**TWO, "day": "text"}),
    Case("a constant", "a.csv", table(beside(always=lambda i: 7)),
         kinds={**TWO, "always": "number"}),
    Case("an ID", "a.csv", table(beside(id=lambda i: f"user-{i:05d}")),
         kinds={**TWO, "id": "text"}),
    Case("ten thousand categories", "a.csv", table(
        {k: v * 63 for k, v in things().items()} | {"town": [f"town {i % 10_000}" for i in
                                                           range(63 * N)]}),
         {"label": "class"}, kinds={**TWO, "town": "text"}),
    Case("a column without any value", "a.csv", table(beside(nothing=lambda i: "NA")),
         kinds={**TWO, "nothing": "number"}, missing=N),
    Case("the same name twice", "a.csv", PLAIN.replace(b"colour", b"size", 1),
         words=("'size'", "columns 1, 2", "give each column a name of its own")),
    Case("percent signs", "a.csv", table(changed("size", lambda i, v: f"{v}%")),
         kinds={"size": "text", "colour": "text"}),
    Case("thousands", "a.csv", table(changed("size", lambda i, v: f"{1000 * v + 1000:,.0f}")),
         kinds={"size": "text", "colour": "text"}),
    Case("truth values", "a.csv", table(beside(new=lambda i: ["TRUE", "False"][i % 2])),
         kinds={**TWO, "new": "bool"}),
    Case("numbers and words in a column", "a.csv",
         table(beside(grade=lambda i: "none yet" if i == 90 else i % 7)),
         kinds={**TWO, "grade": "text"}, notes=("'grade' is read as text.*'none yet'",)),
    Case("a title above the table", "a.csv", b"Things of May 2024\n\n" + PLAIN, kinds=TWO,
         notes=("line 1, 'Things of May 2024', stands above the table",)),
    Case("Excel's line with the separator", "a.csv", b"sep=;\n" + table(things(), sep=";"),
         kinds=TWO),
    Case("an Excel workbook", "a.xlsx", b"PK\3\4" + bytes(20) + b"[Content_Types].xml" + bytes(99),
         words=("is an Excel workbook", "save the sheet with the examples as CSV")),
    Case("a separator at the end of each line", "a.csv",
         b"\n".join(line + b"," for line in PLAIN.replace(b"class", b"kind").splitlines()),
         kinds={**TWO, "x3": "number"}, missing=N, label="kind"),
    Case("a column without a name", "a.csv",
         table({"": list(range(N)), **things()}), kinds={"x0": "number", **TWO}),
    Case("words alone", "a.csv", table({**things(), "size": [
        "large" if v > 5.5 else "little" for v in things()["size"]]}),
         kinds={"size": "text", "colour": "text"}, most_error=0.35),
    Case("very long cells", "a.csv", table(beside(story=lambda i: "tell, " * (30_000 * (i == 5)))),
         kinds={**TWO, "story": "text"}, missing=N - 1),
    Case("a label that is named", "a.csv", table(beside(note=lambda i: i)), {"label": "class"},
         kinds={**TWO, "note": "number"}),
    Case("a label called Target", "a.csv",
         table({"Target": things()["class"], **{k: things()[k] for k in ("size", "colour")}}),
         kinds=TWO, label="Target"),
    Case("rows without a label", "a.csv", table(changed("class", gaps)),
         words=("column class", "16 of 160 rows have no label", "remove these rows")),
    Case("a label that is a measurement", "a.csv",
         table({**things(), "class": [round(0.37 * i, 2) for i in range(N)]}),
         words=("column class", "160 different numbers", "label=NAME")),
    Case("no label told", "a.csv", table({k: things()[k] for k in ("class", "colour", "size")})
         .replace(b"class", b"kind"),
         words=("which column holds the labels", "'size'", "'kind', 'colour'", "label=NAME")),
    Case("one class only", "a.csv", table(changed("class", lambda i, v: "big")), kinds=TWO,
         words=("only one class", "big"), in_training=True),
    Case("an empty file", "a.csv", b"", words=("the file is empty",)),
    Case("a header only", "a.csv", b"size,colour,class\n",
         words=("line 2", "expected an example below the header")),
    Case("rows of different length", "a.csv", PLAIN + b"1,red\n",
         words=("line 162", "expected 3 columns", "saw 2")),
    Case("one column", "a.csv", b"class\nbig\nsmall\n", words=("saw a single column", "sep=")),
    Case("zero bytes", "a.csv", PLAIN[:200] + b"\0" + PLAIN[200:],
         words=("zero byte", "save the file as UTF-8")),
    Case("a quote that is not closed", "a.csv", PLAIN.replace(b"red", b'"red', 1),
         words=("a quote is not closed",)),
    Case("an infinite number", "a.csv", PLAIN + b"inf,red,big\n",
         words=("line 162", "column size", "saw 'inf'", "leave the cell empty")),
]  # fmt: skip
