"""Drop-in replacements of `sklearn.svm`: its names, signatures, defaults and attributes, and the
solvers and the prediction of this package.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from largemargin.dropin.linear_svc import LinearSVC
    from largemargin.dropin.machines import SVC, NuSVC, OneClassSVM
    from largemargin.dropin.patching import patch_sklearn, unpatch_sklearn

__all__ = ["SVC", "LinearSVC", "NuSVC", "OneClassSVM", "patch_sklearn", "unpatch_sklearn"]

_FILES = {
    "LinearSVC": "linear_svc", "SVC": "machines", "NuSVC": "machines", "OneClassSVM": "machines",
    "patch_sklearn": "patching", "unpatch_sklearn": "patching",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a name at its first use, so that `python -m largemargin.dropin` answers at once."""
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_FILES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
