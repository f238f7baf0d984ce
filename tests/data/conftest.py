from functools import cache

import pytest

from largemargin.data import load


@pytest.fixture(scope="session")
def load_once():
    """`load`, with the large data sets read a single time for all tests."""
    return cache(load)
