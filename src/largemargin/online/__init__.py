"""Online learners on a budget: aggressive perceptron, MIRA, ROMMA, ALMA; eviction policies."""

from largemargin.online.aggressive_perceptron import AggressivePerceptron
from largemargin.online.alma import ALMA
from largemargin.online.mira import MIRA
from largemargin.online.romma import ROMMA

__all__ = ["ALMA", "MIRA", "ROMMA", "AggressivePerceptron"]
