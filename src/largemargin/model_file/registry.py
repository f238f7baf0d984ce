"""Which classes a model file can hold, and where it is written what of each is stored.

To add an estimator: a module beside it with two functions, and a line here.

    pack(model) -> (facts, arrays)
        what `fit` left besides `classes_`, `n_features_in_` and `feature_names_in_`: a dict of what
        `values.encode` can say in JSON, and a dict of numeric arrays
    unpack(model, facts, arrays) -> None
        the reverse, on an estimator that has its parameters and these three attributes; must raise
        ValueError for anything that `pack` cannot have made

To add a parameter to an estimator: a line in `ADDED` if files of earlier versions, which do not
have it, must be read with another value than its default.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Entry:
    """Where a class is and where its state functions are."""

    name: str
    home: str
    states: str
    n_labels: int = 2  # the least there can be; a stream may have shown one class so far

    @property
    def cls(self) -> type:
        return getattr(import_module(self.home), self.name)

    def pack(self, model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return import_module(self.states).pack(model)

    def unpack(self, model: Any, facts: dict[str, Any], arrays: dict[str, Any]) -> None:
        import_module(self.states).unpack(model, facts, arrays)


def _entries(*entries: Entry) -> dict[str, Entry]:
    return {entry.name: entry for entry in entries}


ESTIMATORS = _entries(
    Entry(
        "VotedPerceptron", "largemargin.perceptron.voted_perceptron", "largemargin.perceptron.state"
    ),
    Entry("SVC", "largemargin.svm.svc", "largemargin.svm.state"),
    Entry("NuSVC", "largemargin.svm.nu_svc", "largemargin.svm.state"),
    Entry("KernelAdatron", "largemargin.svm.kernel_adatron", "largemargin.svm.state"),
    Entry("LPSVC", "largemargin.lp.lp_svc", "largemargin.lp.state"),
    Entry("NuLPSVC", "largemargin.lp.nu_lp_svc", "largemargin.lp.state"),
    Entry("LeaveOneOutSVC", "largemargin.lp.leave_one_out_svc", "largemargin.lp.state"),
    Entry("AdaptiveMarginSVC", "largemargin.lp.adaptive_margin_svc", "largemargin.lp.state"),
    Entry(
        "MaxMarginHyperplane",
        "largemargin.hyperplane.estimator",
        "largemargin.hyperplane.state",
    ),
    Entry(
        "AggressivePerceptron",
        "largemargin.online.aggressive_perceptron",
        "largemargin.online.state",
        1,
    ),
    Entry("MIRA", "largemargin.online.mira", "largemargin.online.state", 1),
    Entry("ROMMA", "largemargin.online.romma", "largemargin.online.state", 1),
    Entry("ALMA", "largemargin.online.alma", "largemargin.online.state", 1),
    Entry("AdaBoost", "largemargin.boosting.adaboost", "largemargin.boosting.state"),
    Entry("RBFNetwork", "largemargin.boosting.rbf_network", "largemargin.boosting.state"),
)
# those that can be a parameter of another
BASE_LEARNERS = {"RBFNetwork": ESTIMATORS["RBFNetwork"]}
SCALERS = _entries(
    Entry("StandardScaler", "sklearn.preprocessing", "largemargin.model_file.scalers"),
    Entry("MinMaxScaler", "sklearn.preprocessing", "largemargin.model_file.scalers"),
    Entry("MaxAbsScaler", "sklearn.preprocessing", "largemargin.model_file.scalers"),
)

# Of classes, the parameters that files of earlier versions do not have, with the values that mean
# what those versions did. One that is not here takes its default; a base learner must have it here.
ADDED: dict[str, dict[str, Any]] = {}


def find_entry(model: Any, entries: dict[str, Entry]) -> Entry | None:
    """The entry for exactly the class of a model; a subclass may hold anything and has none."""
    entry = entries.get(type(model).__name__)
    return entry if entry is not None and entry.cls is type(model) else None
