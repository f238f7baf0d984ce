"""Linear-programming machines, solved by HiGHS."""

from largemargin.lp.adaptive_margin_svc import AdaptiveMarginSVC
from largemargin.lp.leave_one_out_svc import LeaveOneOutSVC
from largemargin.lp.lp_svc import LPSVC
from largemargin.lp.nu_lp_svc import NuLPSVC

__all__ = ["LPSVC", "AdaptiveMarginSVC", "LeaveOneOutSVC", "NuLPSVC"]
