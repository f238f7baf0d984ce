"""The examples in docstrings run and give what they say."""

import doctest
import importlib
import pkgutil

import pytest

import largemargin

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(largemargin.__path__, "largemargin.")
    if not module.name.endswith("__main__")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_main_classes_and_functions_have_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = {
        test.name
        for name in MODULES
        for test in finder.find(importlib.import_module(name))
        if test.examples
    }
    wanted = (
        "perceptron.voted_perceptron.VotedPerceptron",
        "kernels.choosing.make_kernel",
        "data.reading.read",
    )
    assert {f"largemargin.{name}" for name in wanted} <= found
