"""Files as people have them: each reads to columns of known kinds or gets one sentence."""

import re

import numpy as np
import pytest

from largemargin.data import DataError, Table, read

from .files_as_they_are import CASES, N


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.trouble)
def test_file(tmp_path, case):
    path = tmp_path / case.file
    path.write_bytes(case.content)
    if not case.reads:
        with pytest.raises(DataError) as caught:
            read(path, mixed=True, **case.options)
        message = str(caught.value)
        for word in case.words:
            assert word in message
        assert str(path) in message
        assert "\n" not in message
        return
    data = read(path, mixed=True, **case.options)
    assert data.label_name == case.label
    assert len(data.X) == len(data.y) >= N
    if case.kinds == "array":
        assert isinstance(data.X, np.ndarray)
    else:
        assert isinstance(data.X, Table)
        assert data.X.kinds == case.kinds
        assert data.feature_names == data.X.names
        assert missing(data.X) == case.missing
    assert all(any(re.search(note, told) for told in data.notes) for note in case.notes)
    assert len(data.notes) == len(case.notes)


def missing(X):
    return sum(sum(v is None or v != v for v in column) for column in X.columns.values())


def damaged(content, rng):
    at = int(rng.integers(len(content) + 1))
    return [
        content[:at],
        content[:at] + rng.bytes(3) + content[at:],
        content[:at] + content[at + int(rng.integers(1, 9)) :],
        content[:at] + b'",;|\t\n\r#[{\0'[int(rng.integers(11)) :][:1] + content[at:],
        content[:at] + content[: int(rng.integers(40))] + content[at:],
    ][rng.integers(5)]


@pytest.mark.parametrize("times", [1, pytest.param(50, marks=pytest.mark.full)])
def test_damage_is_named_or_harmless(tmp_path, times):
    rng = np.random.default_rng(0)
    for case in CASES * times:
        if not 0 < len(case.content) < 100_000:
            continue
        path = tmp_path / case.file
        path.write_bytes(damaged(case.content, rng) or b"x")
        refusal(path, case.options)


def refusal(path, options):
    """The sentence with which a file is refused, or None; any other error is one of ours."""
    try:
        data = read(path, mixed=True, **options)
    except DataError as error:
        message = str(error)
    else:
        assert data.X.shape[0] == len(data.y)
        return None
    assert str(path) in message
    assert "\n" not in message
    assert len(message) < 900
    return message
