"""Probabilities from scores: sigmoids fitted to the scores of rows that were not trained on."""

from largemargin.calibration.calibration import Calibration, probabilities
from largemargin.calibration.cross_fitting import cross_fitted
from largemargin.calibration.held_out import calibrated
from largemargin.calibration.pairwise import PairwiseCoupling, couple
from largemargin.calibration.platt import PlattScaling

__all__ = [
    "Calibration",
    "PairwiseCoupling",
    "PlattScaling",
    "calibrated",
    "couple",
    "cross_fitted",
    "probabilities",
]
