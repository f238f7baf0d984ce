"""Files that are damaged or made to harm: a sentence, in little memory."""

import os
import threading
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from largemargin.data import DataError, files, read, stream
from largemargin.data.errors import MAX_LABEL, MAX_LINE, MAX_NAME

from .writers import put

LONG = "x" * (MAX_LABEL + 1)


@pytest.mark.parametrize("most", [1 << 18, pytest.param(MAX_LINE, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", ["a.csv", "a.svm", "a"])
def test_a_file_without_an_end_of_line(tmp_path, monkeypatch, name, most):
    monkeypatch.setattr(files, "MAX_LINE", most)
    path = tmp_path / name
    if name == "a":
        put(path, b"1" * (most + 10))
    else:
        with path.open("wb") as file:
            file.write(b"1 ")
            file.truncate(1 << 36)  # 64 GB that take no room
    tracemalloc.start()
    with pytest.raises(DataError, match=rf"line 1: expected a line of at most {most} characters"):
        read(path)
    assert tracemalloc.get_traced_memory()[1] < 8 * most + (1 << 23)
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.csv", "1,2,a\n3,4,b\n5,6,{}\n", 3),
        ("a.csv", "{},2,a\n3,4,b\n", 1),
        ("a.csv", "x,w,{}\n3,4,b\n", 1),
        ("a.csv", '1,2,a\n3,4,"{}\n{}"\n', 2),
        ("a.svm", "1 1:2\n\n# {}\n", 3),
        ("a.svm", "1 1:2\n{} 1:3\n", 2),
    ],
)
@pytest.mark.parametrize("read", [read, lambda path: list(stream(path, 1))])
def test_long_lines(tmp_path, monkeypatch, name, text, line, read):
    monkeypatch.setattr(files, "MAX_LINE", 100)
    long = 60 if text.count("{}") == 2 else 100
    path = put(tmp_path / name, text.format("9" * long, "9" * long))
    with pytest.raises(DataError, match=rf"{name}, line {line}: expected a line of at most 100 "):
        read(path)
    put(path, text.format("9" * 60, "9" * 60))
    monkeypatch.setattr(files, "MAX_LINE", 10_000)
    assert read(path)


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("a.csv", "1,2,a\n3,4,{}\n", "line 2, column 3"),
        ("a.csv", '1,2,a\n3,4,"{}"\n', "line 2, column 3"),
        ("a.svm", "a 1:1\n{} 1:2\n", "line 2"),
    ],
)
def test_long_labels(tmp_path, name, text, place):
    path = put(tmp_path / name, text.format(LONG))
    message = rf"{place}: expected a label of at most {MAX_LABEL} characters, saw 'xxx.*\(4097 "
    for attempt in (read, lambda path: list(stream(path, 1))):
        with pytest.raises(DataError, match=message) as caught:
            attempt(path)
        assert len(str(caught.value)) < 500
    assert read(put(path, text.format(LONG[1:]))).y.tolist()[1] == LONG[1:]


def test_long_labels_in_arrays(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(2), y=np.array(["a", LONG]))
    with pytest.raises(DataError, match=r"row 2, column y: expected a label of at most 4096"):
        read(tmp_path / "a.npz")
    write_parquet(tmp_path / "a.parquet", {"x": [1.0, 2.0], "y": ["a", LONG]})
    with pytest.raises(DataError, match=r"row 2, column y: expected a label of at most 4096"):
        read(tmp_path / "a.parquet")


def test_long_names(tmp_path):
    name = "n" * (MAX_NAME + 1)
    path = put(tmp_path / "a.csv", f"a,{name},y\n1,2,3\n4,5,6\n")
    with pytest.raises(DataError, match=r"line 1, column 2: expected names of at most 65536"):
        read(path)
    write_parquet(tmp_path / "a.parquet", {name: [1.0, 2.0], "y": ["a", "b"]})
    with pytest.raises(DataError, match=r"expected names of at most 65536"):
        read(tmp_path / "a.parquet")


def test_one_long_label_does_not_make_all_rows_long(tmp_path):
    path = put(tmp_path / "a.csv", "1,a\n" * 5_000 + f"2,{LONG[1:]}\n")
    tracemalloc.start()
    assert read(path).y.dtype == object
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()


def test_messages_are_short(tmp_path):
    huge = "q" * 200_000
    for name, text in {
        "a.csv": f"1,2,0\n3,{huge},1\n",
        "b.csv": f'1,2,0\n3,"{huge}",1\n',
        "c.csv": f"{huge},b,y\n1,2,0\n",
        "a.svm": f"1 1:1\n1 1:{huge}\n",
        "b.svm": f"1 1:1\n1 {huge}:1\n",
        "c.svm": f"1 1:1\n1 {'9' * 5000}:1\n",
        "d.svm": f"1 1:1\n{huge},1 1:1\n",
    }.items():
        with pytest.raises(DataError) as caught:
            read(put(tmp_path / name, text))
        assert len(str(caught.value)) < 600
    with pytest.raises(ValueError, match="characters") as caught:
        read(put(tmp_path / "a.csv", "x,y\n1,2\n3,4\n"), label=huge)
    assert len(str(caught.value)) < 600


def test_escape_sequences_do_not_reach_messages(tmp_path):
    path = put(tmp_path / "a\x1b[31m\nb.csv", "1,2,0\n3,\x1b[2J,1\n")
    with pytest.raises(DataError) as caught:
        read(path)
    assert "\x1b" not in str(caught.value)
    assert "\n" not in str(caught.value)


class TestQuotedNewlines:
    """A quoted cell may go on in the next line."""

    def test_in_labels_and_numbers(self, tmp_path):
        path = put(tmp_path / "a.csv", 'x,"the\nlabel"\n1,"a\nb"\n"\n2",c\n\n3,"d ""e\n\n"\n')
        for chunk in (1, 2, 100):
            parts = list(stream(path, chunk, label=1))
            assert [label for part in parts for label in part.y] == ["a\nb", "c", 'd "e']
            assert [value for part in parts for value in part.X.ravel()] == [1, 2, 3]

    def test_lines_are_still_counted(self, tmp_path):
        path = put(tmp_path / "a.csv", '1,"a\nb"\n2,"c\n\nd"\nx,e\n')
        for chunk in (1, 2, 100):
            with pytest.raises(DataError, match=r"line 6, column 1: expected a number, saw 'x'"):
                list(stream(path, chunk))

    @pytest.mark.parametrize(
        "text",
        [
            '1,2,"a\n3,4,"b"\n5,6,c\n',  # read on, the first label would be 'a\n3,4,b"'
            '1,2,"a\n3,4,b\n',
            'x,y,"z\n3,4,b\n',
        ],
    )
    def test_a_forgotten_quote_loses_no_row(self, tmp_path, text):
        with pytest.raises(DataError, match=r"line 1.*a quote is not closed"):
            read(put(tmp_path / "a.csv", text), label=2)

    def test_a_quote_inside_a_cell_is_a_letter(self, tmp_path):
        path = put(tmp_path / "a.csv", '1,5" pipe\n2,6" pipe\n3,"x"\n')
        assert read(path).y.tolist() == ['5" pipe', '6" pipe', "x"]

    @settings(max_examples=25, deadline=None)
    @given(
        st.lists(st.text('ab"\n, ;', max_size=6).filter(str.strip), min_size=2, max_size=5),
        st.integers(1, 4),
    )
    def test_what_was_written_is_read(self, tmp_path_factory, labels, chunk):
        import csv

        path = tmp_path_factory.mktemp("csv") / "a.csv"
        with path.open("w", newline="") as file:
            table = csv.writer(file, quoting=csv.QUOTE_ALL)
            table.writerows([i, label] for i, label in enumerate(labels))
        found = [label for part in stream(path, chunk, label=1, labels="str") for label in part.y]
        assert found == [label.strip() for label in labels]


def test_a_mark_of_byte_order_is_no_label(tmp_path):
    for text in ("\ufeff1 1:2\n-1 1:3\n", "\ufeff# made by hand\n1 1:2\n-1 1:3\n"):
        for name in ("a.svm", "a"):
            path = put(tmp_path / name, text)
            assert read(path).y.tolist() == [1, -1]
            assert [part.y.tolist() for part in stream(path, 1)] == [[1], [-1]]
    assert read(put(tmp_path / "b", "\ufeff1:2\n1:3\n"), label=False).X.toarray().tolist() == [
        [2], [3],
    ]  # fmt: skip
    assert read(put(tmp_path / "a.csv", "\ufeff1,2\n3,4\n")).X.tolist() == [[1], [3]]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("name", ["a.csv", "a.svm", "a"])
def test_other_encodings(tmp_path, name, encoding):
    text = "\ufeff1 1:2\n-1 1:3\n" if encoding.endswith("be") else "1 1:2\n-1 1:3\n"
    with pytest.raises(DataError, match="is text in UTF-16 or UTF-32; save it as UTF-8"):
        read(put(tmp_path / name, text.encode(encoding)))


@pytest.mark.parametrize("name", ["a.csv", "a.svm"])
def test_numbers_of_thousands_of_digits_are_text(tmp_path, name):
    text = "{} 1:1\n1 1:2\n" if name == "a.svm" else "1,{}\n2,1\n"
    digits = "9" * 4096
    assert read(put(tmp_path / name, text.format(digits))).y.tolist() == [digits, "1"]
    assert read(put(tmp_path / name, text.format("0" * 4000 + "7"))).y.tolist() == [7, 1]


def test_labels_of_fields(tmp_path):
    y = np.array([(1, 2), (3, 4)], [("a", int), ("b", int)])
    np.savez(tmp_path / "a.npz", X=np.eye(2), y=y)
    with pytest.raises(DataError, match="expected y to be labels of one type"):
        read(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", X=np.eye(2), y=np.array([b"\xff", b"a"]))
    with pytest.raises(DataError, match="expected labels in UTF-8"):
        read(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", X=np.eye(2), y=np.array(["NaT", "2020-01-01"], "M8[D]"))
    with pytest.raises(DataError, match="expected a label, saw NaT"):
        read(tmp_path / "a.npz")


def test_sparse_parts_that_do_not_fit(tmp_path):
    X = sp.csr_array(np.eye(3))
    X.indices[1] = 99
    sp.save_npz(tmp_path / "a.npz", X)
    with pytest.raises(DataError, match="column index 99"):
        read(tmp_path / "a.npz")


def write_parquet(path, columns):
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = list(columns)
    pq.write_table(pa.table([pa.array(columns[name]) for name in names], names=names), path)


def test_parquet_names_and_types(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "a.parquet"
    pq.write_table(pa.table([[1.0], [2.0], ["a"]], names=["x", "x", "y"]), path)
    with pytest.raises(DataError, match="two columns are called 'x'; give each a name"):
        read(path)
    write_parquet(path, {"x": [1.0, 2.0], "y": [b"a", b"b"]})
    assert read(path).y.tolist() == ["a", "b"]
    write_parquet(path, {"x": [1.0, 2.0], "y": [b"a", b"\xff"]})
    with pytest.raises(DataError, match="expected labels in UTF-8"):
        read(path)
    write_parquet(path, {"x": [1.0, 2.0], "y": [[1], [2, 3]]})
    with pytest.raises(DataError, match="expected labels that are numbers or text"):
        read(path)


@pytest.mark.parametrize("name", ["a.csv", "a.svm", "a.parquet", "train-images-idx3-ubyte"])
def test_files_that_change_while_they_are_read(tmp_path, name):
    before = {
        "a.csv": b"x,y\n" + b"1,0\n2,1\n" * 500,
        "a.svm": b"0 1:1\n1 2:1\n" * 500,
        "train-images-idx3-ubyte": b"\0\0\x08\x03\0\0\x10\0\0\0\0\x01\0\0\0\x02" + bytes(8192),
    }
    path = tmp_path / name
    if name == "a.parquet":
        write_parquet(path, {"x": np.arange(6000.0), "y": [0, 1] * 3000})
    else:
        put(path, before[name])
    whole = path.read_bytes()
    label = False if "idx" in name else None
    later = [b"", whole[: len(whole) // 2 + 1], b"x,y,z\n1,2,3\n", b"PAR1" + bytes(50), bytes(9)]
    for change in later:
        put(path, whole)
        chunks = stream(path, 100, label=label)
        put(path, change)
        with pytest.raises(DataError):
            list(chunks)
        put(path, whole)
        chunks = stream(path, 100, label=label)
        next(chunks)
        os.truncate(path, len(whole) // 2 + 1)
        with pytest.raises(DataError):
            list(chunks)
    put(path, whole)
    chunks = stream(path, 100, label=label)
    path.unlink()
    with pytest.raises(DataError, match="cannot be opened"):
        list(chunks)


def test_parquet_columns_that_vanish(tmp_path):
    path = tmp_path / "a.parquet"
    write_parquet(path, {"x": [1.0, 2.0], "z": [1.0, 2.0], "y": ["a", "b"]})
    chunks = stream(path, 1)
    write_parquet(path, {"x": [1.0, 2.0], "y": ["a", "b"]})
    with pytest.raises(DataError, match="changed while it was read"):
        list(chunks)


def test_pipes_are_refused(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: os.close(os.open(path, os.O_WRONLY)))
    writer.start()
    with pytest.raises(DataError, match="cannot be read twice"):
        read(path)
    writer.join()


def test_many_columns_take_linear_time(tmp_path):
    """Steps are counted in memory here: nothing is made for pairs of columns."""
    width = 10_000
    names = ",".join(f"f{j}" for j in range(width))
    text = f"{names},y\n" + (f"{'1,' * width}0\n{'2,' * width}1\n")
    path = put(tmp_path / "a.csv", text)
    tracemalloc.start()
    data = read(path)
    assert tracemalloc.get_traced_memory()[1] < 60 * len(text)
    tracemalloc.stop()
    assert data.X.shape == (2, width)
    assert len(data.feature_names) == width
