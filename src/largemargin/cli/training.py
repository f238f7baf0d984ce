"""What `largemargin train` does with rows: divide, choose, fit, measure, fit again, write, show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from largemargin.base.pipelines import final_step
from largemargin.cli.clusters import (
    cluster,
    for_cluster,
    in_parts,
    scaled_parts,
    summary,
    to_local,
)
from largemargin.cli.fitting import Fit, fit
from largemargin.cli.holdout import FRACTION, divided
from largemargin.cli.measuring import measured
from largemargin.cli.model_options import make_estimator
from largemargin.cli.options import Reading, in_options
from largemargin.cli.output import note, watched
from largemargin.cli.resuming import earlier
from largemargin.cli.scaling import resolved, scaler_for
from largemargin.cli.tables import (
    TableOptions,
    decisions_of,
    is_table,
    prepared,
    preprocessor,
    rows_of_the_file,
)
from largemargin.report.fit.words import learned

if TYPE_CHECKING:
    from largemargin.data import Dataset
    from largemargin.report.measures import Measures


@dataclass(frozen=True)
class Order:
    """What was asked for."""

    data: str
    model: str
    given: dict[str, Any]
    file: str
    reading: Reading = field(default_factory=Reading)
    seed: int = 0
    scale: str = "auto"
    cv: tuple[str, ...] = ()
    scoring: str = "error"
    test: str | None = None
    test_size: float = FRACTION
    refit: bool = True
    table: TableOptions = field(default_factory=TableOptions)
    dask: str | None = None
    report: str | None = None
    json: bool = False
    quiet: bool = False
    labelled: bool = True
    resume: bool = False
    checkpoint: str | None = None

    def machine(self) -> Any:
        """Not yet fitted."""
        machine = make_estimator(self.model, self.given)
        if "random_state" in machine.get_params():
            machine.set_params(random_state=self.seed)
        return machine


class Run:
    """One training, from the data to the model to keep.

    Attributes
    ----------
    order : Order
        With the scale that is meant.
    why_scaled : str
        Why the data are scaled, or not, if it was not said.
    parts : Parts
    found : dict
        What the search found; empty without one.
    first, kept : Fit
        The model that was measured, and the one to write.
    earlier : Earlier or None
        The model that is gone on with.
    measures : Measures or None
        Of the answers on rows that were not trained on, if there were some.
    words : str
        Which model the file has, and why, where rows were held out.
    interrupted : bool
        Whether Ctrl-C ended a part of it.
    """

    def __init__(self, order: Order, client: Any = None) -> None:
        self._client = client
        self.earlier = earlier(order) if order.resume else None
        self.in_shards = client is not None and in_parts(order.data)
        self.cluster: dict[str, Any] | None = None
        self.interrupted, self.words = False, ""
        self.found: dict[str, Any] = {}
        self.measures: Measures | None = None
        data = self._read(order)
        for sentence in data.notes:
            note(f"note: {in_options(sentence)}")
        machine = order.machine()
        scale, self.why_scaled = resolved(order.scale, data, machine)
        if self.earlier is not None:
            noted = self.earlier.held_out
            order = replace(
                order, test_size=self.earlier.test_size(), seed=noted.get("seed", order.seed)
            )
        if is_table(data.X):
            order = replace(order, table=order.table.named(data))
        self.order = replace(order, scale=scale)
        self.pairwise = machine.get_params(deep=False).get("kernel") == "precomputed"
        fraction = 0.0 if self.in_shards else order.test_size
        self.parts = divided(data, fraction, order.seed, self.pairwise)
        if self.earlier is not None:
            self.earlier.check_rows(self.parts.training, order.data)

    def _read(self, order: Order) -> Dataset:
        """The data, with the rows to test on if some were named."""
        from largemargin.cli import inputs

        if self.in_shards:
            data = inputs.read_parts(order.data, order.reading, self._client)
        elif order.labelled:
            data = inputs.read_training_data(order.data, order.reading)
        else:
            return prepared(inputs.read_unlabelled_data(order.data, order.reading), order.table)
        if not self.in_shards:
            data = prepared(data, order.table)
        if order.test is None:
            return data
        X, y = inputs.read_test_data(order.test, data, order.reading)
        return replace(data, X_test=X, y_test=y)

    def choose(self, grid: dict[str, list[Any]]) -> None:
        """Search the grid on the rows that are not held out."""
        from largemargin.cli.search import search

        part, order = self.parts.training, self.order
        self.found, self.interrupted = search(
            self._estimator(part), part.X, part.y, grid,
            seed=order.seed, scoring=order.scoring, verbose=watched(order.quiet),
        )  # fmt: skip

    def _estimator(self, part: Dataset, going_on: bool = False) -> Any:
        """Not yet fitted, with what was chosen; or `going_on` with an earlier one, if there is."""
        from sklearn.pipeline import Pipeline

        machine = self.order.machine().set_params(**self.found.get("chosen", {}))
        if going_on and self.earlier is not None:
            machine = self.earlier.machine(machine)
        if self._client is not None:
            machine = for_cluster(machine, self.order.model, self._client)
        if is_table(part.X):
            first = preprocessor(part.X, self.order.table, self.order.scale)
            return Pipeline([("table", first), ("model", machine)])
        scaler = scaler_for(self.order.scale, part)
        return machine if scaler is None else Pipeline([("scale", scaler), ("model", machine)])

    def _fit(
        self,
        part: Dataset,
        seconds_left: float | None = None,
        known: tuple[str, ...] = (),
        going_on: bool = False,
    ) -> Fit:
        estimator, quiet = self._estimator(part, going_on), self.order.quiet
        if self.in_shards:
            rows = scaled_parts(estimator, part, self._client)
            done = replace(fit(final_step(estimator), rows, quiet), estimator=estimator)
        else:
            done = fit(estimator, part, quiet, seconds_left, known, self._keeping(part, estimator))
        if going_on and self.earlier is not None:
            final_step(estimator).set_params(warm_start=False)
        self.interrupted |= done.interrupted
        if self._client is None:
            return done
        self.cluster = summary(final_step(estimator))
        return replace(done, estimator=to_local(estimator))

    def _keeping(self, part: Dataset, estimator: Any) -> Callable[[float], None] | None:
        """What writes the checkpoint in the course of a fit; None if none was asked for."""
        if self.order.checkpoint is None:
            return None
        from largemargin.cli.trained import write

        def keep(seconds: float) -> None:
            self.kept = Fit(estimator, seconds, (), True, False)
            if part is self.parts.training:
                self.first = self.kept
                self.measures = self._measured()
            write(estimator, replace(self.order, file=checkpoint), self.parts.whole, self.notes())

        checkpoint = self.order.checkpoint
        return keep

    def foretell(self) -> None:
        """Say what a long training will take, before it begins."""
        from largemargin.cli import forecast

        part, order = self.parts.training, self.order
        limited = order.given.get("max_seconds") is not None
        if limited or order.quiet or self._client is not None or self.pairwise:
            return
        seconds = forecast.seconds_for(lambda: self._estimator(part), part, order.seed)
        again = self.parts.held_out and order.refit
        # a fit on all rows takes longer than that on three quarters of them
        forecast.tell(seconds, self._estimator(part), 2.5 if again else 1)

    def train(self) -> None:
        """Fit and measure; where rows were held out, fit again on all."""
        self.first = self.kept = self._fit(self.parts.training, going_on=True)
        self.measures = self._measured()
        if self.parts.held_out:
            self.words = self._fit_again()

    def _measured(self) -> Measures | None:
        """Ctrl-C here gives up the test, not the model."""
        part = self.parts.training
        if part.X_test is None:
            return None
        source = self.order.test or "the test data"
        try:
            return measured(self.first.estimator, part.X_test, part.y_test, source)
        except KeyboardInterrupt:
            note("warning: the test was interrupted; the model is written without it")
            self.interrupted = True
            return None

    def _fit_again(self) -> str:
        """Fit on all rows, if there is time; returns which model is kept."""
        first, n_first = self.first, self.parts.training.X.shape[0]
        kept = f"the one that was measured, of the {n_first} rows that were not held out"
        limit = final_step(first.estimator).get_params(deep=False).get("max_seconds")
        left = None if limit is None else limit - first.seconds
        if not self.order.refit:
            return f"{kept} (--no-refit)"
        if self.interrupted:
            return f"{kept}, since it was interrupted"
        if first.stopped or (left is not None and left < first.seconds):
            return f"{kept}: --max-seconds leaves no time to fit again on all"
        try:
            again = self._fit(self.parts.whole, left, first.warnings)
        except KeyboardInterrupt:
            self.interrupted = True
            return f"{kept}, since fitting again was interrupted"
        if again.stopped:
            return f"{kept}, since fitting again on all was stopped"
        self.kept = again
        return f"fitted again on all {self.parts.whole.X.shape[0]} rows with the same settings"

    def notes(self) -> dict[str, Any]:
        """What the model file notes of the training."""
        from largemargin.data import Table

        final, order, kept = final_step(self.kept.estimator), self.order, self.kept
        part = self.parts.whole if self.refitted else self.parts.training
        found: dict[str, Any] = {
            "data": order.data, "rows": part.X.shape[0], "features": part.X.shape[1],
            **({"label": part.label_name} if part.label_name else {}),
            **({"column_kinds": part.X.kinds} if isinstance(part.X, Table) else {}),
            **({"decisions": told} if (told := decisions_of(kept.estimator)) else {}),
            **({"cv": self.found} if self.found else {}), **learned(final),
            "seconds": kept.seconds,
        }  # fmt: skip
        if part.y is None:
            found["outliers"] = float((kept.estimator.predict(part.X) == -1).mean())
        if kept.warnings:
            found["warnings"] = list(kept.warnings)
        if self._client is not None:
            found["cluster"] = self.cluster
        tested, X_test = self.measures, self.parts.training.X_test
        found["test_rows"] = None if X_test is None else X_test.shape[0]
        found["test_error"] = tested.error if tested else None
        found |= tested.as_json() if tested else {}
        if self.parts.held_out:
            found["held_out"] = self._held_out()
        elif self.earlier is not None and self.earlier.held_out:
            found["held_out"] = self.earlier.held_out
        return found

    @property
    def reasons(self) -> dict[str, str]:
        """What was decided unasked, with the reason."""
        label, why = self.parts.whole.label_name, self.parts.whole.label_reason
        found = {"label": f"{label} ({why})"} if label and why else {}
        if self.why_scaled:
            found["scale"] = f"{self.order.scale} ({self.why_scaled})"
        return found

    @property
    def refitted(self) -> bool:
        return self.kept is not self.first

    def _held_out(self) -> dict[str, Any]:
        from largemargin.report.fit.training_rows import fingerprint_of

        whole, tested = self.parts.whole, self.measures
        n_features = self.kept.estimator.n_features_in_
        # kernel values of a part of the rows have other columns than those of all
        whole_seen = whole.X.shape[1] == n_features
        return {
            "fraction": float(self.order.test_size), "seed": self.order.seed,
            "rows": self.parts.training.X_test.shape[0],
            "error": tested.error if tested else None,
            "guess_error": tested.guess_error if tested else None,
            "refitted": self.refitted,
            "fingerprint": fingerprint_of(self.kept.estimator, whole.X, whole.y)
            if whole_seen else None,
        }  # fmt: skip


def run(order: Order) -> Run:
    """Do what was asked for, but for writing and showing."""
    from largemargin.cli.search import parse_grid

    grid = parse_grid(order.cv)
    with cluster(order.dask) as client:
        found = Run(order, client)
        with rows_of_the_file(found.parts.whole.X, found.order.table):
            if grid:
                found.choose(grid)
                if not (order.json or order.quiet):
                    from largemargin.cli.search import emit_search

                    emit_search(found.found)
            found.foretell()
            found.train()
    return found
