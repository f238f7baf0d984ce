import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from largemargin.data import DataError, read
from largemargin.data.files import Source
from largemargin.data.formats import FORMATS, Reader, detect_format, reader_of

from .writers import idx_bytes, npz_bytes, parquet_bytes, put


@pytest.mark.parametrize(
    ("content", "format"),
    [
        ("1 1:2 3:4\n", "svmlight"),
        ("1 qid:3 1:2\n", "svmlight"),
        ("-1\n+1 2:0.5 # note\n", "svmlight"),
        ("# made by hand\n1 1:2\n", "svmlight"),
        ("1:2 3:4\n", "svmlight"),
        ("1 " + " ".join(f"{i}:1" for i in range(1, 20000)), "svmlight"),
        ("1 2 3\n", "csv"),
        ("1,2,3\n", "csv"),
        ("12:30 5 1\n", "csv"),
        (npz_bytes(X=np.eye(2)), "npz"),
        (parquet_bytes({"a": [1]}), "parquet"),
        (idx_bytes(np.zeros((2, 2), dtype=np.uint8)), "idx"),
    ],
)
@pytest.mark.parametrize("name", ["a.txt", "a.t", "a", "a.txt.gz"])
def test_by_content(tmp_path, content, format, name):
    assert detect_format(Source(put(tmp_path / name, content))) == format


@pytest.mark.parametrize(
    ("name", "format"),
    [("a.svm", "svmlight"), ("a.libsvm.gz", "svmlight"), ("a.csv", "csv"), ("a.TSV", "csv")],
)
def test_name_decides_between_texts(tmp_path, name, format):
    assert detect_format(Source(put(tmp_path / name, "1 2 3\n"))) == format


def test_format_is_forced(tmp_path):
    path = put(tmp_path / "a.csv", "1 1:5\n-1 2:3\n")
    assert read(path, format="libsvm").X.shape == (2, 2)


def test_unknown_format_is_refused(tmp_path):
    path = put(tmp_path / "a.csv", "1,2\n")
    with pytest.raises(ValueError, match=r"format must be one of svmlight, csv, .* got 'excel'"):
        read(path, format="excel")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.parquet", "PAR1"),
        ("a.npz", "PK"),
        ("a-images-idx3-ubyte", "two zero bytes"),
        ("a.idx", "two zero bytes"),
    ],
)
def test_bad_magic(tmp_path, name, expected):
    path = put(tmp_path / name, b"\x01\x02\x03\x04 not what the name says")
    with pytest.raises(DataError, match=rf"{name}, byte 0: expected .*{expected}.*saw b'\\x01"):
        read(path)


def test_unknown_binary(tmp_path):
    path = put(tmp_path / "a.dat", b"\x7fELF\x00\x00")
    with pytest.raises(DataError, match=r"a\.dat, byte 4: is neither text nor a format"):
        read(path)


def test_npy_says_how_to_save(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(2))
    with pytest.raises(DataError, match=r"a\.npy: is an NPY file .*numpy\.savez"):
        read(tmp_path / "a.npy")


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_every_format_has_a_reader_and_is_in_the_documents(format):
    assert issubclass(reader_of(format.name), Reader)
    assert bool(format.magic) == bool(format.magic_words)
    assert f'"{format.name}"' in read.__doc__
    root = Path(__file__).parents[2]
    for document in ("README.md", "CHANGELOG.md", "docs/command_line.rst"):
        assert re.search(rf"\b{format.title}\b", (root / document).read_text()), document


def test_endings_and_names_tell_one_format_each():
    endings = [ending for format in FORMATS for ending in format.endings]
    names = [name for format in FORMATS for name in (format.name, *format.aliases)]
    assert len(set(endings)) == len(endings)
    assert len(set(names)) == len(names)


def test_readers_are_loaded_when_they_are_used():
    code = (
        "import sys, largemargin.data.formats as f; "
        "print([r for r in f.FORMATS if f'largemargin.data.{r.reader.split(chr(46))[0]}' "
        "in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
