"""Boosting: AdaBoost and its regularized form, with their margins and base learners."""

from largemargin.boosting.adaboost import AdaBoost
from largemargin.boosting.rbf_network import RBFNetwork
from largemargin.boosting.weak_learners import Stump

__all__ = ["AdaBoost", "RBFNetwork", "Stump"]
