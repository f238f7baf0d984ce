"""What the readers of the formats have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from largemargin.data.labels import LabelKind, RawLabels


@dataclass(frozen=True)
class Block:
    """Consecutive examples of a file, with their labels as the file has them."""

    X: Any
    labels: RawLabels | None


class Reader(Protocol):
    """A file in one of the formats."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the features, where the file gives them."""
        ...

    def survey(self) -> LabelKind | None:
        """Pass over the file once to learn what all blocks must agree on: the kind of the labels
        (returned; None if there are none) and, where a line does not tell it, the width."""
        ...

    def blocks(self, rows: int) -> Iterator[Block]:
        """The examples in order, `rows` at a time; the last block may be shorter."""
        ...
