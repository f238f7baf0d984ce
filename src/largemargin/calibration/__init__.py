"""Probabilities from scores: sigmoids fitted to the scores of rows that were not trained on."""

from largemargin.calibration.calibration import Calibration, probabilities
from largemargin.calibration.cross_fitting import CrossFitting
from largemargin.calibration.held_out import calibrated
from largemargin.calibration.pairwise import PairwiseCoupling, couple
from largemargin.calibration.platt import PlattScaling

__all__ = [
    "Calibration",
    "CrossFitting",
    "PairwiseCoupling",
    "PlattScaling",
    "calibrated",
    "couple",
    "probabilities",
]
