"""Large-margin classification behind the scikit-learn API.

Names are imported when they are first used, so that the command line can answer at once. The
machines are those of the table in `machines`.
"""

from __future__ import annotations

from importlib import import_module

from largemargin._version import __version__ as __version__
from largemargin.machines import CARDS

TYPE_CHECKING = False  # to import `typing` takes longer than all the rest
if TYPE_CHECKING:  # what type checkers and editors read; a test holds it to the table
    from typing import Any

    from largemargin import boosting as boosting
    from largemargin import calibration as calibration
    from largemargin import certificates as certificates
    from largemargin import data as data
    from largemargin import dropin as dropin
    from largemargin import interchange as interchange
    from largemargin import kernels as kernels
    from largemargin import lp as lp
    from largemargin import online as online
    from largemargin import report as report
    from largemargin import svm as svm
    from largemargin import tables as tables
    from largemargin.boosting import AdaBoost as AdaBoost
    from largemargin.boosting import RBFNetwork as RBFNetwork
    from largemargin.calibration import calibrated as calibrated
    from largemargin.hyperplane import MaxMarginHyperplane as MaxMarginHyperplane
    from largemargin.lp import LPSVC as LPSVC
    from largemargin.lp import AdaptiveMarginSVC as AdaptiveMarginSVC
    from largemargin.lp import LeaveOneOutSVC as LeaveOneOutSVC
    from largemargin.lp import NuLPSVC as NuLPSVC
    from largemargin.model_file import ModelFileError as ModelFileError
    from largemargin.model_file import describe as describe
    from largemargin.model_file import load as load
    from largemargin.model_file import save as save
    from largemargin.online import ALMA as ALMA
    from largemargin.online import MIRA as MIRA
    from largemargin.online import ROMMA as ROMMA
    from largemargin.online import AggressivePerceptron as AggressivePerceptron
    from largemargin.perceptron import VotedPerceptron as VotedPerceptron
    from largemargin.svm import SVC as SVC
    from largemargin.svm import KernelAdatron as KernelAdatron
    from largemargin.svm import NuSVC as NuSVC
    from largemargin.svm import OneClassSVM as OneClassSVM


_PACKAGES = (
    "boosting", "calibration", "certificates", "data", "dropin", "interchange", "kernels", "lp",
    "online", "report", "svm", "tables",
)  # fmt: skip
_HOMES = (
    {card.name: card.package for card in CARDS}
    | dict.fromkeys(("ModelFileError", "describe", "load", "save"), "model_file")
    | {"calibrated": "calibration"}
)

__all__ = sorted([*_HOMES, *_PACKAGES])


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"largemargin.{_HOMES[name]}"), name)
    elif name in _PACKAGES:
        value = import_module(f"largemargin.{name}")
    else:
        raise AttributeError(f"module 'largemargin' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
