"""The hyperplane of largest margin in any p-norm, among the features themselves."""

from largemargin.hyperplane.estimator import MaxMarginHyperplane

__all__ = ["MaxMarginHyperplane"]
