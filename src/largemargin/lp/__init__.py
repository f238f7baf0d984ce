"""Linear-programming machines, solved by HiGHS."""

from typing import Any

from largemargin.lp.adaptive_margin_svc import AdaptiveMarginSVC
from largemargin.lp.leave_one_out_svc import LeaveOneOutSVC
from largemargin.lp.lp_svc import LPSVC
from largemargin.lp.nu_lp_svc import NuLPSVC
from largemargin.machines import room

__all__ = ["LPSVC", "AdaptiveMarginSVC", "LeaveOneOutSVC", "NuLPSVC"]


def __getattr__(name: str) -> Any:
    if name == "MaxMarginHyperplane":  # it stood here before it had a room of its own
        return room("hyperplane").MaxMarginHyperplane
    raise AttributeError(f"module 'largemargin.lp' has no attribute {name!r}")
