"""Several classes as problems of two sides: one class against the rest (one-vs-rest, "ovr") or
every pair (one-vs-one, "ovo"), and their joint answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from largemargin.kernels.functions import UNIT

SEGMENT = 8192  # columns of a segment at most
PORTION = 16  # one example in so many is in the first portion


@dataclass(frozen=True)
class Split:
    """A problem of two sides: the classes that take part, and the one that is positive."""

    classes: tuple[int, ...]
    positive: int


def splits(n_classes: int, multiclass: str) -> list[Split]:
    """The problems of one-vs-one if `multiclass` is "ovo", else of one-vs-rest. Two classes are one
    problem, positive for the second; so is a pair.
    """
    if n_classes == 2:
        return [Split((0, 1), 1)]
    if multiclass == "ovo":
        return [Split(pair, pair[1]) for pair in combinations(range(n_classes), 2)]
    return [Split(tuple(range(n_classes)), c) for c in range(n_classes)]


class Layout:
    """The examples by class and portion, in segments of columns.

    One example in PORTION of a class is in the first portion, if there are portions.
    """

    def __init__(self, labels: np.ndarray, n_classes: int, portions: bool) -> None:
        self.segments: list[np.ndarray] = []
        self._of_class: list[list[list[int]]] = []
        for c in range(n_classes):
            members = np.flatnonzero(labels == c)
            parts = [members]
            if portions:
                first = np.arange(len(members)) % PORTION == 0
                parts = [members[first], members[~first]]
            self._of_class.append([self._cut(part) for part in parts])

    def _cut(self, members: np.ndarray) -> list[int]:
        if not len(members):
            return []
        pieces = [members]
        if len(members) > SEGMENT:
            pieces = np.array_split(members, -(-len(members) // SEGMENT))
        self.segments += pieces
        return list(range(len(self.segments) - len(pieces), len(self.segments)))

    def portions(self, split: Split) -> list[list[int]]:
        """The segments of a problem's columns, portion by portion."""
        of = [self._of_class[c] for c in split.classes]
        parts = [[s for one in of for s in one[k]] for k in range(len(of[0]))]
        return [part for part in parts if part]

    def ends(self, split: Split) -> np.ndarray:
        """Where each portion of a problem's variables ends."""
        widths = [sum(len(self.segments[s]) for s in part) for part in self.portions(split)]
        return np.cumsum(widths)

    def examples(self, split: Split) -> np.ndarray:
        """The examples that a problem's variables are, in their order."""
        return np.concatenate([self.segments[s] for part in self.portions(split) for s in part])


def votes(scores: np.ndarray, n_classes: int) -> np.ndarray:
    """One score per class from one row of scores per pair: the number of pairs won, and, to break
    ties, a sum of margins squashed to less than a vote.
    """
    sides = sides_of_pairs(n_classes)
    sums = np.asarray(sides @ scores)
    won = sides @ np.where(scores > 0, 1.0, -1.0)
    return _joined(won, sums)


def ranges_of_votes(
    scores: np.ndarray, errors: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """What `votes` is between, where scores of pairs may be off by `errors`."""
    sides = sides_of_pairs(n_classes)
    certain = np.abs(scores) > errors
    won = sides @ np.where(certain, np.sign(scores), 0.0)
    either = np.abs(sides) @ ~certain
    sums, off = np.asarray(sides @ scores), (n_classes - 1) * errors
    # what is left of a sum after it was squashed may be less than the rounding of votes
    rounding = 16 * n_classes * UNIT
    low = _joined(won - either, sums - off) - rounding
    return low, _joined(won + either, sums + off) + rounding


def _joined(won: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Votes from pairs won less pairs lost and sums of margins, which are overwritten."""
    sums /= 3 * (np.abs(sums) + 1)
    # each pair adds a half or takes it away, which is a vote but for the same number to all classes
    sums += 0.5 * won
    sums += (len(won) - 1) / 2
    return sums


@lru_cache(maxsize=8)
def sides_of_pairs(n_classes: int) -> np.ndarray:
    """1 or -1 if a positive score of the pair (column) is for or against the class (row)."""
    sides = np.zeros((n_classes, n_classes * (n_classes - 1) // 2))
    for pair, (first, second) in enumerate(combinations(range(n_classes), 2)):
        sides[first, pair], sides[second, pair] = -1.0, 1.0
    return sides
