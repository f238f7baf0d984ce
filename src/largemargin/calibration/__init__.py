"""Probabilities from scores: sigmoids that are fitted to scores of rows that were not trained on."""

from largemargin.calibration.pairwise import PairwiseCoupling, couple
from largemargin.calibration.platt import PlattScaling

__all__ = ["PairwiseCoupling", "PlattScaling", "couple"]
