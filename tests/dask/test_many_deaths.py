"""Workers that die at very many moments of a fit, one by one and two at once."""

import random

import pytest

from .test_deaths import data, fit_while_dying, two_workers, undisturbed, workers  # noqa: F401

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("deaths", "at_once"), [(20, 1), (200, 1), (20, 2)])
def test_many_deaths(workers, data, undisturbed, deaths, at_once):  # noqa: F811
    choice = random.Random(deaths + at_once)
    moments = [choice.random() * undisturbed[1] for _ in range(deaths)]
    fit_while_dying(workers, data, undisturbed, moments, at_once)
