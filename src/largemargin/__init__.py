"""Large-margin classification behind the scikit-learn API.

Names are imported when they are first used, so that the command line can answer at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from largemargin import boosting, certificates, data, kernels, lp, online, svm
    from largemargin.boosting import AdaBoost, RBFNetwork
    from largemargin.hyperplane import MaxMarginHyperplane
    from largemargin.lp import (
        LPSVC,
        AdaptiveMarginSVC,
        LeaveOneOutSVC,
        NuLPSVC,
    )
    from largemargin.model_file import ModelFileError, describe, load, save
    from largemargin.online import ALMA, MIRA, ROMMA, AggressivePerceptron
    from largemargin.perceptron import VotedPerceptron
    from largemargin.svm import SVC, KernelAdatron, NuSVC

__version__ = "0.1.0"

__all__ = [
    "ALMA",
    "LPSVC",
    "MIRA",
    "ROMMA",
    "SVC",
    "AdaBoost",
    "AdaptiveMarginSVC",
    "AggressivePerceptron",
    "KernelAdatron",
    "LeaveOneOutSVC",
    "MaxMarginHyperplane",
    "ModelFileError",
    "NuLPSVC",
    "NuSVC",
    "RBFNetwork",
    "VotedPerceptron",
    "boosting",
    "certificates",
    "data",
    "describe",
    "kernels",
    "load",
    "lp",
    "online",
    "save",
    "svm",
]

_HOMES = {
    "ALMA": "largemargin.online",
    "AdaBoost": "largemargin.boosting",
    "AggressivePerceptron": "largemargin.online",
    "MIRA": "largemargin.online",
    "ROMMA": "largemargin.online",
    "AdaptiveMarginSVC": "largemargin.lp",
    "LPSVC": "largemargin.lp",
    "LeaveOneOutSVC": "largemargin.lp",
    "NuLPSVC": "largemargin.lp",
    "MaxMarginHyperplane": "largemargin.hyperplane",
    "KernelAdatron": "largemargin.svm",
    "NuSVC": "largemargin.svm",
    "SVC": "largemargin.svm",
    "RBFNetwork": "largemargin.boosting",
    "ModelFileError": "largemargin.model_file",
    "VotedPerceptron": "largemargin.perceptron",
    "describe": "largemargin.model_file",
    "load": "largemargin.model_file",
    "save": "largemargin.model_file",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in __all__:
        value = import_module(f"largemargin.{name}")
    else:
        raise AttributeError(f"module 'largemargin' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
