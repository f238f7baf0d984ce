"""How much memory a user allows, and arrays whose memory comes as it is written to."""

import gc
import os
import subprocess
import sys

import numpy as np
import pytest

from largemargin import SVC
from largemargin.runtime import memory
from largemargin.runtime.memory import lazily_paged, memory_bytes
from largemargin.svm import session


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        (1000, 1000), (1e6, 10**6), (np.int64(5), 5), ("123", 123), ("500MB", 500 * 10**6),
        ("1.5 GB", 1.5e9), ("2kb", 2000), ("1GiB", 2**30), (" 3 MiB ", 3 * 2**20), ("7B", 7),
    ],
)  # fmt: skip
def test_sizes(memory, expected):
    assert memory_bytes(memory) == expected


def test_auto_is_a_part_of_what_is_free():
    assert 2**24 <= memory_bytes("auto") < 2**50


@pytest.mark.parametrize(
    "wrong",
    [0, -5, np.nan, np.inf, True, None, "much", "5 apples", "MB", "1.2.3MB", "-5MB", "", []],
)
def test_wrong_sizes(wrong):
    with pytest.raises(ValueError, match="memory must be 'auto', a positive number of bytes") as e:
        memory_bytes(wrong)
    assert f"got {wrong!r}" in str(e.value)


def resident_bytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (4, 7), (2, 3, 5), (1100, 1000), (2, 1000, 700)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_untouched_arrays_are_arrays(shape, dtype):
    array = lazily_paged(shape, np.dtype(dtype))
    assert array.shape == shape
    assert array.dtype == dtype
    array[...] = 1.5
    assert (array == 1.5).all()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_untouched_memory_comes_when_it_is_written_to_and_goes_with_the_array():
    before = resident_bytes()
    array = lazily_paged((64, 1 << 20), np.dtype(np.float32))  # 256 MB
    assert resident_bytes() - before < 2**24
    array[:16] = 1
    assert 2**26 <= resident_bytes() - before < 2**26 + 2**24
    del array
    gc.collect()
    assert resident_bytes() - before < 2**24


FAULTS = """
import gc, resource
import numpy as np
from largemargin.runtime.memory import keep_freed_memory_while_alive

class Owner:
    pass

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        np.ones(2**20)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

owners = [Owner(), Owner()]
told = [faults()]
for owner in owners:
    keep_freed_memory_while_alive(owner)
faults()
told.append(faults())
del owner, owners[0]
told.append(faults())
owners.clear()
gc.collect()
told.append(faults())
print(*told)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks the GNU C library")
def test_freed_memory_is_kept_as_long_as_somebody_wants_it():
    """Also in a process whose memory goes back at once, as that of a Dask worker."""
    environment = os.environ | {"MALLOC_TRIM_THRESHOLD_": "65536"}
    done = subprocess.run(
        [sys.executable, "-c", FAULTS], env=environment, capture_output=True, text=True, check=True
    )
    before, both, one, after = map(int, done.stdout.split())
    assert both < before / 10
    assert one < before / 10
    assert after > before / 2


def test_memory_that_is_given_back_is_lent_again():
    lend, give_back = memory.lend, memory.give_back
    array = lend(3000**2, np.dtype(np.float32))
    at = array.ctypes.data
    give_back(array)
    again = lend(2950**2, np.dtype(np.float32))
    assert again.ctypes.data == at
    assert len(again) >= 2950**2
    assert again.dtype == np.float32
    other = lend(2950**2, np.dtype(np.float32))  # the first one is in use
    assert not np.shares_memory(again, other)
    give_back(again)
    give_back(other)  # more than may wait
    assert sum(one.nbytes for one in memory._lent._free) <= memory.MOST_LENT
    assert lend(10, np.dtype(np.float64)).base is None  # the C library keeps that
    larger = lend(3100**2, np.dtype(np.float64))
    assert len(larger) >= 3100**2
    assert not memory._lent._free
    give_back(larger)
    assert not memory._lent._free  # too large


def test_fits_of_one_size_use_the_same_memory(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 30)).astype(np.float32)
    y = X[:, 0] + rng.normal(size=3000) > 0
    places, original = [], memory.lend

    def lend(*given):
        array = original(*given)
        places.append(array.ctypes.data)
        return array

    monkeypatch.setattr(session, "lend", lend)
    for _ in range(3):
        SVC(gamma=0.02).fit(X, y)
    assert len(places) == 3
    assert len(set(places)) == 1
