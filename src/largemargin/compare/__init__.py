"""Every machine on the same data: same splits, same search for parameters, a time limit each.

`candidates` says what is compared and what is searched, `measuring` measures one of them, `running`
has each do so in a process of its own, and `results` holds what was found. `page` shows it as HTML,
with the `picture` of error against time, and `watching` shows it in a terminal while it runs.
"""

from largemargin.compare.candidates import candidates
from largemargin.compare.results import Comparison, Result
from largemargin.compare.running import compare
from largemargin.compare.task import Task

__all__ = ["Comparison", "Result", "Task", "candidates", "compare"]
