"""Putting the classes of this package in the place of those of `sklearn.svm`, and back."""

from __future__ import annotations

from typing import Any

from sklearn import svm

from largemargin.dropin.linear_svc import LinearSVC
from largemargin.dropin.machines import SVC, NuSVC, OneClassSVM

CLASSES = {cls.__name__: cls for cls in (SVC, NuSVC, OneClassSVM, LinearSVC)}
_replaced: dict[str, Any] = {}  # what sklearn.svm had under these names


def patch_sklearn() -> None:
    """Let `sklearn.svm` have the classes of `largemargin.dropin`, for whoever imports them from now
    on. Names that were imported from there before keep their meaning, and so do models that were
    fitted or saved before.

    Examples
    --------
    >>> import sklearn.svm
    >>> patch_sklearn()
    >>> sklearn.svm.SVC.__module__.startswith("largemargin")
    True
    >>> unpatch_sklearn()
    >>> sklearn.svm.SVC.__module__.startswith("largemargin")
    False
    """
    for name, cls in CLASSES.items():
        _replaced.setdefault(name, getattr(svm, name))
        setattr(svm, name, cls)


def unpatch_sklearn() -> None:
    """Let `sklearn.svm` have its own classes again; without a patch, do nothing."""
    while _replaced:
        setattr(svm, *_replaced.popitem())
