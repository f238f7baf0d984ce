import numpy as np
import pytest

from largemargin.data import DataError, read, stream

from .writers import idx_bytes, put

IMAGES = np.arange(24, dtype=np.uint8).reshape(4, 2, 3)
LABELS = np.array([3, 1, 2, 0], dtype=np.uint8)


def write_pair(folder, images=IMAGES, labels=LABELS, suffix=""):
    put(folder / f"train-labels-idx1-ubyte{suffix}", idx_bytes(labels))
    return put(folder / f"train-images-idx3-ubyte{suffix}", idx_bytes(images))


@pytest.mark.parametrize("code", ["u1", "i1", "i2", "i4", "f4", "f8"])
def test_every_type(tmp_path, code):
    data = read(write_pair(tmp_path, IMAGES.astype(code)))
    assert data.X.tolist() == IMAGES.reshape(4, 6).tolist()
    assert data.X.dtype == (np.float64 if code in ("i4", "f8") else np.float32)
    assert data.y.tolist() == [3, 1, 2, 0]


def test_labels_may_be_compressed_otherwise(tmp_path):
    put(tmp_path / "a-labels.idx1-ubyte.xz", idx_bytes(LABELS))
    assert read(put(tmp_path / "a-images.idx3-ubyte", idx_bytes(IMAGES))).y.tolist() == [3, 1, 2, 0]


def test_without_labels(tmp_path):
    path = put(tmp_path / "anything.idx", idx_bytes(IMAGES))
    assert read(path, label=False).y is None
    with pytest.raises(DataError, match=r"anything\.idx: expected a name with 'images'"):
        read(path)


def test_labels_not_found(tmp_path):
    path = put(tmp_path / "a-images-idx3-ubyte.gz", idx_bytes(IMAGES))
    with pytest.raises(DataError, match=r"a-labels-idx1-ubyte .*pass label=False"):
        read(path)


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_cut_off(tmp_path, suffix):
    path = write_pair(tmp_path, suffix=suffix)
    put(path, idx_bytes(IMAGES)[:-5])
    message = rf"{path.name}, byte 35: expected 40 bytes for the shape \(4, 2, 3\), saw 35"
    with pytest.raises(DataError, match=message):
        read(path)
    chunks = stream(path, 2)
    assert next(chunks).y.tolist() == [3, 1]
    with pytest.raises(DataError, match=message):
        next(chunks)


def test_cut_off_in_the_header(tmp_path):
    path = write_pair(tmp_path)
    put(path, idx_bytes(IMAGES)[:10])
    with pytest.raises(DataError, match="byte 10: expected 16 bytes for the header, saw 10"):
        read(path)


def test_a_header_that_promises_too_much(tmp_path):
    path = put(tmp_path / "a.idx", bytes([0, 0, 8, 2, *[255] * 8, 1, 2]))
    with pytest.raises(DataError, match=r"a\.idx, byte 14: expected \d+ bytes .* saw 14"):
        read(path, label=False)


def test_bytes_after_the_end(tmp_path):
    path = write_pair(tmp_path)
    put(path, idx_bytes(IMAGES) + b"x")
    with pytest.raises(DataError, match="byte 40: expected the end of the file"):
        read(path)


def test_other_number_of_labels(tmp_path):
    path = write_pair(tmp_path, labels=LABELS[:3])
    with pytest.raises(DataError, match="train-labels-idx1-ubyte, byte 4: expected 4 labels"):
        read(path)


def test_labels_given_as_images(tmp_path):
    write_pair(tmp_path)
    with pytest.raises(DataError, match="give the file of images, not that of labels"):
        read(tmp_path / "train-labels-idx1-ubyte")


def test_not_finite(tmp_path):
    images = IMAGES.astype(np.float32)
    images[2, 1, 0] = np.nan
    with pytest.raises(DataError, match="row 3, column 4: expected a finite number, saw nan"):
        list(stream(write_pair(tmp_path, images), 2))
