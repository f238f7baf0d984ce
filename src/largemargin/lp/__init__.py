"""Linear-programming machines, solved by HiGHS."""

from largemargin.lp.max_margin_hyperplane import MaxMarginHyperplane

__all__ = ["MaxMarginHyperplane"]
