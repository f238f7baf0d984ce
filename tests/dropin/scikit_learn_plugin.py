"""A pytest plugin that runs scikit-learn's installed tests on the classes of `largemargin.dropin`.

`exceptions.toml` lists tests that may fail, by version of scikit-learn, each with its reason; one
that is listed and passes is a failure.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import sklearn

from largemargin.dropin import patch_sklearn

LISTED = Path(__file__).with_name("exceptions.toml")


def pytest_configure(config: pytest.Config) -> None:
    patch_sklearn()


def pytest_report_header() -> str:
    return f"scikit-learn {sklearn.__version__}, sklearn.svm by largemargin.dropin"


def exceptions(version: str) -> dict[str, str]:
    """The listed tests of a version such as "1.9.1", with their reasons."""
    listed = tomllib.loads(LISTED.read_text(encoding="utf-8"))
    found: dict[str, str] = listed.get(".".join(version.split(".")[:2]), {})
    return found


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    listed = exceptions(sklearn.__version__)
    for item in items:
        reason = listed.get(f"{item.path.name}::{item.name}")
        if reason:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
