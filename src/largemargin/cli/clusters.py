"""The option --dask of several commands: a cluster for the time of a command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from largemargin.base.pipelines import final_step

if TYPE_CHECKING:
    from largemargin.data import Dataset

# machines that have a form for a cluster, and its name in largemargin.dask
FORMS = {
    "svc": "DaskSVC",
    "nu-svc": "DaskNuSVC",
    "voted-perceptron": "DaskVotedPerceptron",
}
MISSING = '--dask needs Dask, which is not installed: pip install "largemargin[dask]"'


@contextmanager
def cluster(address: str | None) -> Iterator[Any]:
    """A client of the cluster, if one is wanted, else None. What is wrong with it is bad input."""
    if address is None:
        yield None
        return
    try:
        from largemargin.dask import ClusterError
        from largemargin.dask.starting import connected
    except ModuleNotFoundError as error:
        raise ValueError(MISSING) from error
    try:
        with connected(address) as client:
            yield client
    except ClusterError as error:
        raise ValueError(str(error)) from error


def check_dask(model: str, data: str, stream: bool, cv: Any, unseen: bool) -> None:
    """Refuse what no cluster trains, before one is started; `unseen` is a report without a test."""
    if stream:
        raise ValueError(
            "--stream reads a file on this computer, row by row: leave out --stream or --dask"
        )
    _check_form(model)
    if not in_parts(data):
        return
    if cv:
        raise ValueError(
            "--cv divides the rows several times, and the rows of parts stay on the workers: "
            "choose parameters on one file first"
        )
    if unseen:
        raise ValueError(
            "--report needs rows to measure, and the rows of parts stay on the workers: give some "
            "with --test"
        )


def _check_form(model: str) -> None:
    if model not in FORMS:
        raise ValueError(f"--dask is for --model {_listed(list(FORMS))}; got {model}")
    try:
        from largemargin import dask
    except ModuleNotFoundError as error:
        raise ValueError(MISSING) from error
    there = [command for command, name in FORMS.items() if hasattr(dask, name)]
    if model not in there:
        raise ValueError(f"--dask is for --model {_listed(there)}; got {model}")


def for_cluster(machine: Any, model: str, client: Any) -> Any:
    """The form of a machine that a cluster trains, with the same parameters."""
    from largemargin import dask

    return getattr(dask, FORMS[model])(**machine.get_params(deep=False), client=client)


def to_local(estimator: Any) -> Any:
    """The plain fitted estimator, after the scaler if there is one."""
    final = final_step(estimator)
    if final is estimator:
        return estimator.to_local()
    from sklearn.pipeline import Pipeline

    return Pipeline([*estimator.steps[:-1], (estimator.steps[-1][0], final.to_local())])


def in_parts(source: str) -> bool:
    """Whether data are a folder, a pattern of names or an address: files for workers to read."""
    from pathlib import Path

    place = Path(source)
    pattern = any(sign in source for sign in "*?[") and not place.exists()
    return "://" in source or place.is_dir() or pattern


def scaled_parts(estimator: Any, training: Dataset, client: Any) -> Dataset:
    """Parts as the last step of a pipeline sees them, once the scaler has learned from all."""
    if final_step(estimator) is estimator:
        return training
    from dataclasses import replace

    from largemargin.dask.reading import scaled

    name, scaler = estimator.steps[0]
    X, fitted = scaled(training.X, scaler, client)
    estimator.steps[0] = (name, fitted)
    return replace(training, X=X)


def summary(model: Any) -> dict[str, Any] | None:
    """What the fit took of the cluster, in short."""
    stats = getattr(model, "cluster_stats_", None)
    if not stats:
        return None
    return {
        "shards": len(stats),
        "rounds": max(one["rounds"] for one in stats),
        "bytes_sent": sum(one["bytes_sent"] for one in stats),
        "deaths": sum(one["deaths"] for one in stats),
    }


def cluster_words(found: dict[str, Any]) -> str:
    """The same for a reader."""
    lost = f", {found['deaths']} lost" if found["deaths"] else ""
    megabytes = found["bytes_sent"] / 1e6
    shards = f"{found['shards']} shard{'s' * (found['shards'] != 1)}"
    return f"{shards}{lost}, {found['rounds']} rounds, {megabytes:.1f} MB sent"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
