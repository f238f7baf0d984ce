import pickle

from largemargin.data import DataError
from largemargin.data.errors import broken


def test_says_where():
    error = broken("a.csv", "expected x, saw y", line=3, column="2 (height)")
    assert str(error) == "a.csv, line 3, column 2 (height): expected x, saw y"
    assert isinstance(error, ValueError)


def test_survives_a_worker_process():
    error = pickle.loads(pickle.dumps(broken("a.csv", "bad", byte=0)))
    assert isinstance(error, DataError)
    assert str(error) == "a.csv, byte 0: bad"
