"""The models of a server: from files that the command line names, and from nowhere else."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from largemargin.base.pipelines import before_final_step, final_step
from largemargin.data import Table
from largemargin.model_file import ModelFileError
from largemargin.model_file.saving import load_with_info
from largemargin.web.problems import Problem
from largemargin.web.serving.learning import Learner
from largemargin.web.serving.together import Together

ENDING = ".safetensors"
MOST_ROWS = 1024  # rows of a batch
BEYOND = "the values of these rows are too large to compute with: send smaller ones"


@dataclass
class Served:
    """A model that answers, and the batches in which it does."""

    name: str
    path: Path
    model: Any
    names: tuple[str, ...] | None  # of the columns
    stamp: tuple[int, int]  # time and size of the file that it came from
    version: str
    batches: Together[Any, np.ndarray]
    learner: Learner | None = None
    lessons: Together[list[str], Any] | None = None

    @property
    def n_features(self) -> int:
        return int(self.model.n_features_in_)

    @property
    def takes_table(self) -> bool:
        """Whether its columns may be other than numbers."""
        first = self.model.steps[0][1] if hasattr(self.model, "steps") else self.model
        return type(first).__name__ == "TablePreprocessor"

    @property
    def classes(self) -> np.ndarray:
        """The labels that it answers; 1 and -1 if it learned without."""
        found = getattr(self.model, "classes_", None)
        return np.array([-1, 1]) if found is None else np.asarray(found)

    def labels(self, values: np.ndarray) -> np.ndarray:
        """The labels of decision values."""
        if values.ndim == 2:
            return np.asarray(self.classes[values.argmax(axis=1)])
        learned = hasattr(self.model, "classes_")
        positive = values > 0 if learned else values >= 0
        return np.asarray(self.classes[positive.astype(int)])

    def nearest(self, rows: Any, count: int) -> list[list[dict[str, Any]]]:
        """The support vectors that are nearest to each row, as the machine sees them."""
        with nullcontext() if self.learner is None else self.learner.lock:
            return self._nearest(rows, count)

    def _nearest(self, rows: Any, count: int) -> list[list[dict[str, Any]]]:
        machine = final_step(self.model)
        if not hasattr(machine, "support_vectors_"):
            raise Problem(
                400,
                f"the model {self.name} is a {type(machine).__name__}, which has no support "
                "vectors: leave out nearest",
            )
        from sklearn.metrics.pairwise import euclidean_distances

        X = before_final_step(self.model, rows)
        distances = euclidean_distances(X, machine.support_vectors_)
        if not np.isfinite(distances).all():
            raise Problem(400, BEYOND)
        order = np.argsort(distances, axis=1, kind="stable")[:, :count]
        return [
            [
                {
                    "position": int(machine.support_[k]),
                    "distance": float(distances[i, k]),
                    "coefficients": np.asarray(machine.dual_coef_)[:, k].tolist(),
                }
                for k in nearest
            ]
            for i, nearest in enumerate(order)
        ]


def decided(decide: Callable[[Any], np.ndarray], parts: list[Any]) -> list[np.ndarray | Exception]:
    """The decision values of several requests, in one product; rows that cannot be decided are
    told to whoever sent them, and to nobody else.
    """
    found: dict[int, np.ndarray | Exception] = {}
    for group in _alike(parts):
        try:
            values = decide(joined([parts[k] for k in group]))
            ends = np.cumsum([parts[k].shape[0] for k in group])
            for k, own in zip(group, np.split(values, ends[:-1]), strict=True):
                found[k] = own if np.isfinite(own).all() else Problem(400, BEYOND)
        except Exception as error:
            if len(group) == 1:
                found[group[0]] = error
            else:
                found.update((k, decided(decide, [parts[k]])[0]) for k in group)
    return [found[k] for k in range(len(parts))]


def _alike(parts: list[Any]) -> list[list[int]]:
    """The numbers of the requests whose columns are of the same kinds."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for k, part in enumerate(parts):
        kinds: tuple[str, ...] = ()
        if isinstance(part, Table):
            kinds = tuple(part.column(name).dtype.kind for name in part.names)
        groups.setdefault(kinds, []).append(k)
    return list(groups.values())


def joined(parts: list[Any]) -> Any:
    """The rows of several requests, below each other."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], Table):
        return Table(
            {name: np.concatenate([part.column(name) for part in parts]) for name in parts[0].names}
        )
    return np.concatenate(parts)


def _taught(learner: Learner) -> Callable[[list[list[str]]], list[Any]]:
    """Lessons of several requests, taken together."""

    def work(lessons: list[list[str]]) -> list[Any]:
        answers = iter(learner.learn([event for events in lessons for event in events]))
        return [[next(answers) for _ in events] for events in lessons]

    return work


def _names(model: Any, info: dict[str, Any]) -> tuple[str, ...] | None:
    """The names of the columns. The model is told rows without them, in their order, of which
    scikit-learn would warn each time.
    """
    names = getattr(model, "feature_names_in_", None)
    for _, step in getattr(model, "steps", [("", model)]):
        if type(step).__name__ != "TablePreprocessor" and "feature_names_in_" in vars(step):
            del step.feature_names_in_
    if names is None:
        names = info.get("feature_names")
    return None if names is None else tuple(map(str, names))


def model_files(paths: Iterable[str]) -> dict[str, Path]:
    """The files by the names that their models have: those of the files without their ending."""
    found: dict[str, Path] = {}
    for given in paths:
        path = Path(given)
        files = sorted(path.glob(f"*{ENDING}")) if path.is_dir() else [path]
        if not files:
            raise ValueError(f"the folder {given} has no file *{ENDING}: put models there first")
        for file in files:
            name = file.name.removesuffix(ENDING)
            if name in found:
                raise ValueError(
                    f"{found[name]} and {file} would both be the model {name}: rename one of them"
                )
            found[name] = file
    return found


def _stamp(path: Path) -> tuple[int, int]:
    """By what a change is noticed; whoever loads a file that is not there says so."""
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


class Models:
    """The models by their names.

    Parameters
    ----------
    files : dict of str to path
    batch_seen : callable
        Is told the name of a model and the rows of a batch.
    learn : str or None
        The name of the model that learns.
    """

    def __init__(
        self,
        files: dict[str, Path],
        batch_seen: Callable[[str, int], None],
        learn: str | None = None,
    ) -> None:
        if learn is not None and learn not in files:
            raise ValueError(f"there is no model {learn} to learn: use one of {', '.join(files)}")
        self._batch_seen, self._learn = batch_seen, learn
        self._served = {name: self._loaded(name, path) for name, path in files.items()}

    def __iter__(self) -> Any:
        return iter(self._served.values())

    def __getitem__(self, name: str) -> Served:
        found = self._served.get(name)
        if found is None:
            known = ", ".join(list(self._served)[:20])
            raise Problem(404, f"there is no model of that name: the models are {known}")
        return found

    def _loaded(self, name: str, path: Path) -> Served:
        stamp = _stamp(path)
        model, info = load_with_info(path)
        if not hasattr(model, "decision_function"):
            raise ValueError(f"{path} holds no model that decides: serve a classifier")
        learner = None
        if name == self._learn:
            learner = Learner(path, model, info)
            model = learner.model
        names = _names(model, info)

        def decide(rows: Any) -> np.ndarray:
            self._batch_seen(name, rows.shape[0])
            return np.asarray((learner or model).decision_function(rows))

        return Served(
            name, path, model, names, stamp,
            version=str(stamp[0]),
            batches=Together(partial(decided, decide), lambda rows: int(rows.shape[0]), MOST_ROWS),
            learner=learner,
            lessons=None if learner is None else Together(_taught(learner), len, MOST_ROWS),
        )  # fmt: skip

    def close(self) -> None:
        """Let what was learned be on the disk."""
        for served in self:
            if served.learner is not None:
                served.learner.close()

    def load_changed(self) -> list[str]:
        """Load files that changed; the old model answers until the new one is whole.

        Returns sentences about files that cannot be used.
        """
        troubles = []
        for name, served in list(self._served.items()):
            try:
                if served.learner is None and _stamp(served.path) != served.stamp:
                    self._served[name] = self._loaded(name, served.path)
            except (OSError, ModelFileError, ValueError) as error:
                troubles.append(f"the model {name} stays as it was: {error}")
        return troubles
