"""The table of machines: what reads it, and what a card promises."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator, is_classifier, is_outlier_detector

import largemargin
from largemargin.cli.model_options import LEFT_OUT, options_of, parameters_of
from largemargin.kernels import Matern
from largemargin.kernels.choosing import KERNEL_NAMES
from largemargin.kernels.functions import KERNELS
from largemargin.machines import CARDS, CLASSIFIER, DETECTOR, Card, by_name, card_of, room

ROOT = Path(__file__).parents[1]
NAMES = [card.name for card in CARDS]
FAMILIES = ("boosting", "hyperplane", "lp", "online", "perceptron", "svm")


def test_public_names_are_those_of_the_table():
    exported = {name: getattr(largemargin, name) for name in largemargin.__all__}
    machines = {
        name
        for name, value in exported.items()
        if isinstance(value, type) and issubclass(value, BaseEstimator)
    }
    assert machines == set(NAMES)
    assert len(set(NAMES)) == len({card.command for card in CARDS}) == len(CARDS) >= 15


def test_type_checkers_see_the_public_names():
    tree = ast.parse((ROOT / "src" / "largemargin" / "__init__.py").read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    shown = [alias.asname for node in block.body for alias in node.names if alias.asname]
    assert sorted(shown) == sorted(largemargin.__all__)


def test_the_reference_lists_the_public_names():
    text = (ROOT / "docs" / "api.rst").read_text()
    listed = set(re.findall(r"^   (\w+)$", text, re.M))
    packages = {
        name for name in largemargin.__all__ if inspect.ismodule(getattr(largemargin, name))
    }
    assert listed == set(largemargin.__all__) - packages
    for path in re.findall(r"^   (\w+\.\w+)$", text, re.M):
        package, name = path.split(".")
        assert package in packages | {"dask"}  # what needs an extra is imported by its own name
        assert name in importlib.import_module(f"largemargin.{package}").__all__, path


@pytest.mark.parametrize("card", CARDS, ids=NAMES)
def test_a_machine_has_its_places(card):
    cls = getattr(largemargin, card.name)
    assert card.cls is cls
    assert cls.__module__ == f"largemargin.{card.module}"
    assert card_of(cls()) is card
    example = (ROOT / "examples" / f"{card.command.replace('-', '_')}.py").read_text()
    assert f"{card.name}(" in example
    for page in ("gallery.rst", "command_line.rst"):
        assert (ROOT / "docs" / page).exists()
    gallery = (ROOT / "docs" / "gallery.rst").read_text()
    assert f"   {card.command.replace('-', '_')}\n" in gallery
    assert callable(room(card.states).pack)
    assert callable(room(card.states).unpack)
    assert callable(room(card.statements).statements)
    assert hasattr(room(card.statements), "examine")


@pytest.mark.parametrize("card", CARDS, ids=NAMES)
def test_a_card_is_true(card):
    model = card.cls()
    assert card.kind in (CLASSIFIER, DETECTOR)
    assert is_classifier(model) == (card.kind == CLASSIFIER)
    assert is_outlier_detector(model) == (card.kind == DETECTOR)
    parameters = model.get_params(deep=False)
    for name in (*card.defaults, *card.fixed, *card.grid):
        assert name in parameters
    assert card.streams == (hasattr(model, "partial_fit") and hasattr(model, "budget"))
    if isinstance(card.level, str) and not card.level.endswith("_"):
        assert card.level in parameters


@pytest.mark.parametrize("card", CARDS, ids=NAMES)
def test_docstrings_say_the_parameters_and_defaults_of_constructors(card):
    """The command line reads them."""
    signature = inspect.signature(card.cls).parameters
    told = parameters_of(card.name)
    assert set(told) == set(signature)
    for name, parameter in signature.items():
        default, said = parameter.default, told[name].default
        number = isinstance(default, float)
        assert (float(said) if number else said) == (default if number else str(default)), name


def test_every_parameter_is_an_option():
    options = {option.name: option for option in options_of(CARDS)}
    wanted = {name for card in CARDS for name in inspect.signature(card.cls).parameters}
    assert set(options) == wanted - set(LEFT_OUT)
    for option in options.values():
        assert option.help.count("[default") <= 1
        assert "`" not in option.help
        assert ".." not in option.help
        kinds = {str(parameter.annotation) for parameter in option.machines.values()}
        assert len(kinds) == 1, (option.name, kinds)


def test_a_name_that_moved_is_still_found_where_it_was():
    assert largemargin.lp.MaxMarginHyperplane is largemargin.MaxMarginHyperplane
    with pytest.raises(AttributeError, match="has no attribute 'MaxMargin'"):
        _ = largemargin.lp.MaxMargin


@pytest.mark.parametrize("card", CARDS, ids=NAMES)
def test_docstrings_name_every_kernel(card):
    told = parameters_of(card.name)
    if "kernel" not in told:
        assert "matern_nu" not in told
        return
    assert set(told["kernel"].choices) == set(KERNEL_NAMES)
    wanted = {name for kernel in KERNELS.values() for name in kernel.parameters}
    assert wanted <= set(told)
    assert tuple(map(float, told["matern_nu"].choices)) == tuple(Matern.polynomials)


def test_numbers_to_choose_from_are_an_option_of_a_number():
    (option,) = (option for option in options_of(CARDS) if option.name == "matern_nu")
    assert option.help == "Smoothness of the Matern kernel. 0.5, 1.5 or 2.5. [default: 1.5]"
    for parameter in option.machines.values():
        assert parameter.annotation == float | None
        assert parameter.value(2.5) == 2.5


def test_the_help_names_every_kernel():
    (option,) = (option for option in options_of(CARDS) if option.name == "kernel")
    assert option.help.startswith("The kernel function. poly, linear, rbf, ")
    assert all(name in option.help for name in KERNEL_NAMES)
    assert "callable" not in option.help


def test_what_is_no_machine_has_no_card():
    with pytest.raises(TypeError, match="must be a machine of largemargin, got int"):
        card_of(3)

    class Own(largemargin.SVC):
        pass

    assert card_of(Own()) is by_name()["SVC"]
    assert isinstance(card_of(Own()), Card)


# Theorems about perceptrons and caches compare with support vector machines, which they train.
COMPARED_WITH = {"perceptron": {"svm"}, "online": {"svm"}, "hyperplane": {"svm", "lp"}}


@pytest.mark.parametrize(
    "family",
    [
        family if family == "svm" else pytest.param(family, marks=pytest.mark.full)
        for family in FAMILIES
    ],
)
def test_a_certificate_loads_no_other_family(family):
    card = next(card for card in CARDS if card.package == family)
    code = (
        "import sys, numpy as np, largemargin\n"
        f"model = largemargin.{card.name}()\n"
        "X, y = np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 4.0], [4.0, 3.0]]), [0, 0, 1, 1]\n"
        "model.fit(X, y).certificate(X, y)\n"
        "print(*sorted({name.split('.')[1] for name in sys.modules\n"
        "               if name.startswith('largemargin.')}))\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(found.stdout.split()) & set(FAMILIES)
    assert family in loaded
    assert loaded <= {family} | COMPARED_WITH.get(family, set())
