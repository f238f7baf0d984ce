"""What is deprecated works as before, and warns whoever uses it, at their line."""

import inspect
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import largemargin
from largemargin.runtime.deprecation import deprecated, deprecated_parameter

PACKAGE = Path(largemargin.__file__).parent


@deprecated(since="0.3", removed_in="0.5", instead="twice")
def double(x):
    """Two times x."""
    return 2 * x


@deprecated(since="0.3", removed_in="0.5", instead="SVC(slack='squared')")
class OldMachine(BaseEstimator):
    def __init__(self, C=1.0):
        self.C = C


class Child(OldMachine):
    pass


@deprecated_parameter("cache", since="0.3", removed_in="0.5", instead="memory")
class Machine(BaseEstimator):
    def __init__(self, C=1.0, *, memory="auto", cache=None):
        self.C = C
        self.memory = memory
        self.cache = cache

    @deprecated_parameter("weights", since="0.3", removed_in="0.5")
    def fit(self, X, weights=None):
        return weights

    @deprecated(since="0.3", removed_in="0.5", instead="fit")
    def train(self, X):
        return self.fit(X)


@pytest.fixture
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def message(call):
    """Of the one warning, which points at this file."""
    with pytest.warns(FutureWarning) as caught:
        call()
    (warned,) = caught
    assert warned.filename == __file__
    return str(warned.message)


def test_a_function():
    assert message(lambda: double(2)) == (
        "double is deprecated since version 0.3 and will be removed in version 0.5: use twice"
    )
    with pytest.warns(FutureWarning):
        assert double(21) == 42
    assert (double.__name__, double.__doc__) == ("double", "Two times x.")
    assert list(inspect.signature(double).parameters) == ["x"]


def test_a_class():
    assert message(OldMachine).startswith("OldMachine is deprecated since version 0.3")
    assert message(OldMachine).endswith("use SVC(slack='squared')")
    assert message(Child).startswith("OldMachine is")
    with pytest.warns(FutureWarning):
        model = OldMachine(C=2.0)
    assert isinstance(model, OldMachine)
    assert model.get_params() == {"C": 2.0}


def test_a_method():
    assert message(lambda: Machine().train([[0.0]])).startswith("Machine.train is deprecated")


def test_a_parameter():
    assert message(lambda: Machine(cache=5)) == (
        "cache of Machine is deprecated since version 0.3 and will be removed in version 0.5: "
        "use memory"
    )
    assert message(lambda: Machine().fit([[0.0]], [1.0])).endswith(": leave it out")
    with pytest.warns(FutureWarning):
        model = Machine(cache=5)
    assert model.cache == 5
    with pytest.warns(FutureWarning):
        assert Machine().fit(None, weights=3) == 3


def test_an_array_is_a_value():
    weights = np.zeros(3)
    with pytest.warns(FutureWarning):
        assert Machine().fit(None, weights) is weights


@pytest.mark.usefixtures("quiet")
def test_who_does_not_use_it_is_not_warned():
    model = clone(Machine(2.0, memory="1GB"))
    assert model.get_params() == {"C": 2.0, "cache": None, "memory": "1GB"}
    assert model.fit([[0.0]]) is None
    assert model.fit([[0.0]], weights=None) is None


@pytest.mark.usefixtures("quiet")
def test_a_wrong_call_fails_as_before():
    with pytest.raises(TypeError, match="unexpected keyword argument 'size'"):
        Machine(size=3)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'X'"):
        Machine().fit()


def test_a_parameter_that_is_not_there():
    with pytest.raises(TypeError, match="double has no parameter 'y' to be deprecated"):
        deprecated_parameter("y", since="0.3", removed_in="0.5")(double)


def numbers(version):
    return tuple(int(part) for part in version.split(".")[:2])


def test_nothing_has_outlived_its_time():
    """What says that this version removes it has been removed."""
    marks = {
        (path.name, version)
        for path in PACKAGE.rglob("*.py")
        if path.name != "deprecation.py"
        for version in re.findall(r'removed_in="([^"]*)"', path.read_text())
    }
    now = numbers(largemargin.__version__)
    assert {mark for mark in marks if numbers(mark[1]) <= now} == set()
