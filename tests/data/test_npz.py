import numpy as np
import pytest
import scipy.sparse as sp

from largemargin.data import DataError, read

from .writers import npz_bytes, put, sparse_npz_bytes

X = np.array([[1.0, 0.0], [0.0, 2.0]])
Y = np.array([0, 1])


@pytest.mark.parametrize("names", [("X", "y"), ("data", "target")])
def test_names_of_the_arrays(tmp_path, names):
    path = put(tmp_path / "a.npz", npz_bytes(**dict(zip(names, (X, Y), strict=True))))
    data = read(path)
    assert data.X.tolist() == X.tolist()
    assert data.y.tolist() == [0, 1]


def test_matrix_of_save_npz(tmp_path):
    sp.save_npz(tmp_path / "a.npz", sp.csr_matrix(X))
    data = read(tmp_path / "a.npz")
    assert data.X.toarray().tolist() == X.tolist()
    assert data.y is None


def test_sparse_with_labels(tmp_path):
    data = read(put(tmp_path / "a.npz", sparse_npz_bytes(X, y=np.array(["a", "b"]))))
    assert data.y.tolist() == ["a", "b"]


def test_images_are_flattened(tmp_path):
    images = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    data = read(put(tmp_path / "a.npz", npz_bytes(X=images, y=Y[:, None])))
    assert data.X.tolist() == images.reshape(2, 12).tolist()
    assert data.X.dtype == np.float32
    assert data.y.tolist() == [0, 1]


def test_label_is_the_name_of_an_array(tmp_path):
    path = put(tmp_path / "a.npz", npz_bytes(X=X, y=Y, kind=Y + 5))
    assert read(path, label="kind").y.tolist() == [5, 6]
    assert read(path, label=False).y is None


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": X}, "expected an array X or data, .*; saw a"),
        ({"X": X[0], "y": Y}, r"expected X to be numbers .* saw shape \(2,\)"),
        ({"X": X[:0], "y": Y[:0]}, r"expected X to be numbers .* saw shape \(0, 2\)"),
        ({"X": X.astype(str), "y": Y}, "expected X to be numbers .* of <U"),
        ({"X": X, "y": Y[:1]}, r"expected 2 labels in y, .* saw shape \(1,\)"),
        ({"X": X, "y": X}, r"expected 2 labels in y, .* saw shape \(2, 2\)"),
        ({"X": X * np.nan, "y": Y}, "row 1, column 1: expected a finite number, saw nan"),
        ({"X": X, "y": np.array([0, np.nan])}, "row 2, column y: expected a label, saw nan"),
    ],
)
def test_wrong_arrays(tmp_path, arrays, message):
    path = put(tmp_path / "a.npz", npz_bytes(**arrays))
    with pytest.raises(DataError, match=rf"a\.npz[:,] ?{message}"):
        read(path)


def test_scalar_label_is_refused(tmp_path):
    path = put(tmp_path / "a.npz", npz_bytes(X=X, y=np.array(3)))
    with pytest.raises(DataError, match=r"a\.npz: expected 2 labels in y"):
        read(path)


def test_sparse_in_another_format(tmp_path):
    sp.save_npz(tmp_path / "a.npz", sp.csc_matrix(X))
    with pytest.raises(DataError, match=r"a\.npz: expected a sparse matrix in CSR .* saw csc"):
        read(tmp_path / "a.npz")


def test_sparse_indices_out_of_range(tmp_path):
    content = npz_bytes(
        format=np.array(b"csr"),
        shape=np.array([1, 2]),
        data=np.ones(1),
        indices=np.array([7]),
        indptr=np.array([0, 1]),
    )
    with pytest.raises(DataError, match=r"a\.npz: expected a complete NPZ file"):
        read(put(tmp_path / "a.npz", content))


def test_pickled_objects_are_refused(tmp_path):
    path = put(tmp_path / "a.npz", npz_bytes(X=np.array([{"a": 1}, None]), y=Y))
    with pytest.raises(DataError, match=r"a\.npz: holds pickled objects, which are refused"):
        read(path)


@pytest.mark.parametrize("keep", [10, 200, -30])
def test_cut_off(tmp_path, keep):
    path = put(tmp_path / "a.npz", npz_bytes(X=X, y=Y)[:keep])
    size = path.stat().st_size
    with pytest.raises(DataError, match=rf"a\.npz: .* saw {size} bytes that are damaged"):
        read(path)


def test_a_header_that_promises_too_much(tmp_path):
    content = npz_bytes(X=X, y=Y).replace(b"(2, 2), }      ", b"(9999999999,2)}")
    with pytest.raises(DataError, match=r"a\.npz: .*damaged"):
        read(put(tmp_path / "a.npz", content))


def test_damaged_inside(tmp_path):
    content = bytearray(npz_bytes(X=np.ones((100, 100)), y=np.arange(100)))
    content[5000:5010] = b"x" * 10
    with pytest.raises(DataError, match=r"a\.npz: .* damaged or cut off \(.*CRC"):
        read(put(tmp_path / "a.npz", bytes(content)))
