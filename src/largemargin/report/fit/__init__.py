"""The report of a fit: what was trained on what, how good it is, what the theory says of it.

`describing` measures, with `outcome`, `curves`, `examples` and `galleries`; `content` holds what
was found; `page` shows it.
"""

from largemargin.report.fit.content import FitReport
from largemargin.report.fit.describing import describe_fit
from largemargin.report.fit.outcome import Rows
from largemargin.report.fit.page import render

__all__ = ["FitReport", "Rows", "describe_fit", "render"]
