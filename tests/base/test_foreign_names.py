"""Parameters of scikit-learn that our machines do not have."""

import inspect

import pytest

import largemargin
from largemargin.base.foreign_names import INSTEAD
from largemargin.machines import CARDS


@pytest.mark.parametrize("name", INSTEAD)
def test_the_error_says_what_to_use(name):
    with pytest.raises(TypeError, match=rf"^SVC has no parameter '{name}': (give|leave|take) .*"):
        largemargin.SVC(**{name: True})


def test_what_is_known_is_not_refused():
    assert largemargin.MIRA(random_state=3).random_state == 3
    with pytest.raises(TypeError, match="unexpected keyword argument 'gama'"):
        largemargin.SVC(gama=2.0)


def test_only_drop_ins_are_named():
    with pytest.raises(TypeError, match=r"largemargin\.dropin\.OneClassSVM has all parameters"):
        largemargin.OneClassSVM(cache_size=200)
    with pytest.raises(
        TypeError, match=r"^AdaBoost has no parameter 'n_estimators': give n_rounds$"
    ):
        largemargin.AdaBoost(n_estimators=5)


def test_signatures_stay_what_they_are():
    for card in CARDS:
        parameters = inspect.signature(getattr(largemargin, card.name)).parameters
        assert all(one.kind is not one.VAR_KEYWORD for one in parameters.values())
