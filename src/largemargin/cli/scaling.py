"""What stands before a machine: a scaler, by default for tables and not for pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from largemargin.runtime.showing import shown

if TYPE_CHECKING:
    from largemargin.data import Dataset

SCALES = ("auto", "standard", "minmax", "none")


def check_scale(scale: str) -> None:
    """Refuse what is no way to scale."""
    if scale not in SCALES:
        raise ValueError(f"--scale must be one of {', '.join(SCALES)}, got {shown(scale)}")


def resolved(scale: str, data: Dataset, machine: Any) -> tuple[str, str]:
    """The scale that is meant, and why in words if it was not said."""
    import scipy.sparse as sp

    if scale != "auto":
        return scale, ""
    if machine.get_params(deep=False).get("kernel") == "precomputed":
        return "none", "kernel values are left as they are"
    if sp.issparse(data.X):
        return "none", "the default for sparse data"
    if _are_pictures(data):
        return "none", "the default for pictures"
    return "standard", "the default for tables"


def _are_pictures(data: Dataset) -> bool:
    import numpy as np

    from largemargin.report.fit.examples import album_of

    return "-idx" in data.name or (isinstance(data.X, np.ndarray) and album_of(data.X, ()).pictures)


def scaler_for(scale: str, data: Dataset) -> Any:
    """Not yet fitted; None for no scaling. Sparse data are only divided."""
    import scipy.sparse as sp
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

    if scale == "none":
        return None
    sparse = sp.issparse(data.X)
    if scale == "standard":
        return StandardScaler(with_mean=not sparse)
    return MaxAbsScaler() if sparse else MinMaxScaler()
