"""What mistakes do to the examples of other blocks, for many of them at a time:

    f_p(x_i) += sign k(x_s, x_i)

Most examples that err do so in one epoch or two, and keeping their kernel values costs as much as
computing them again. An example that errs a fifth time is a **regular**: from then on its values
are kept, as far as the memory goes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from largemargin.kernels.basis import SLOTS, Basis, Growing
from largemargin.kernels.tiles import WIDTH_STEP, Gram
from largemargin.perceptron.trace import Trace
from largemargin.runtime.threads import Workers

REGULAR = 5  # visits with a mistake that make an example a regular
SPARSE = 4  # regulars wanted of a tile below which they are computed alone and not kept
ALONE = Workers(1)  # usually it is row tiles that threads share
FEW = 256  # slots below which dropping zero columns costs more than it saves


class Regulars:
    """The examples whose kernel values are worth keeping, a basis of their own."""

    def __init__(self, basis: Basis) -> None:
        self.all = basis
        self.basis = Basis(basis.kernel, basis.dtype)
        self.slots = Growing(np.int64)  # of the regulars, in their order
        self._visits = Growing(np.int64)  # per slot: the visits in which it erred
        self._place = Growing(np.int64)  # per slot: its place among the regulars, or -1
        self._make_room()

    def _make_room(self) -> None:
        fresh = len(self.all) - len(self._visits)
        self._visits.extend(np.zeros(fresh))
        self._place.extend(np.full(fresh, -1))

    def note_visits(self, slots: np.ndarray) -> None:
        """Count a visit for slots that erred; those that have enough of them become regulars."""
        self._make_room()
        self._visits.values[slots] += 1
        promoted = slots[self._visits.values[slots] == REGULAR]
        if len(promoted):
            self.slots.extend(promoted)
            self._place.values[promoted] = len(self.basis) + np.arange(len(promoted))
            self.basis.add(self.all.take(promoted)[0], self.all.examples[promoted])

    def places(self) -> np.ndarray:
        """The place of each slot in a full tile of regulars, or -1: a copy that stays as it is."""
        full = len(self.basis) // SLOTS * SLOTS
        return np.where(self._place.values < full, self._place.values, -1)


@dataclass(frozen=True)
class Net:
    """What some mistakes come to: pairs of slots and problems, in the order of slots, and how often
    each is added in all. Mistakes that cancel each other are left out.

    `places` are those of the slots in full tiles of regulars, or -1.
    """

    slots: np.ndarray
    problems: np.ndarray
    coefs: np.ndarray
    places: np.ndarray

    def weights(self, n_problems: int) -> tuple[np.ndarray, np.ndarray]:
        """The distinct slots, and how often each is added to each problem."""
        wanted, which = np.unique(self.slots, return_inverse=True)
        weights = np.zeros((n_problems, len(wanted)))
        weights[self.problems, which] = self.coefs
        return wanted, weights


def net_updates(trace: Trace, since: int, regulars: Regulars | None = None) -> Net:
    """The mistakes from number `since` on, as they are now."""
    pairs = trace.slot[since:] * trace.n_problems + trace.problem[since:]
    pairs, which = np.unique(pairs, return_inverse=True)
    coefs = np.bincount(which, trace.sign[since:], minlength=len(pairs))
    pairs, coefs = pairs[coefs != 0], coefs[coefs != 0]
    slots = pairs // trace.n_problems
    places = np.full(len(slots), -1) if regulars is None else regulars.places()[slots]
    return Net(slots, pairs % trace.n_problems, coefs, places)


@dataclass(frozen=True)
class Batch:
    """Updates of scores: rows of a tile of kernel values to add, to which problems, how often."""

    rows: np.ndarray
    problems: np.ndarray
    coefs: np.ndarray


class Updates:
    """Updates of scores that can be applied to any row tile, on any thread, with the vectors that
    are in the basis now.
    """

    def __init__(self, net: Net, basis: Basis) -> None:
        self.net = net
        self.vectors, self.squares = basis.vectors, basis.squares

    def apply(self, gram: Gram, r: int, scores: np.ndarray, team: Workers = ALONE) -> None:
        """Add them to the scores of row tile r; `gram` is that of the regulars."""
        from largemargin.perceptron._loops import add_updates

        if not len(self.net.slots):
            return
        first = r * gram.width
        wanted, kept, others = self._split()
        X, squares = gram.rows(r)
        columns = None
        if len(wanted) >= FEW:
            X, columns = gram.packed(r, X)

        def fill(piece: tuple[int, np.ndarray]) -> None:
            """The values of SLOTS slots, or of those that are left."""
            start, room = piece
            slots = wanted[start : start + SLOTS]
            slots = np.concatenate([slots, np.full(-len(slots) % WIDTH_STEP, slots[0])])
            in_a_row = slots[-1] - slots[0] == len(slots) - 1
            V = self.vectors[slots[0] : slots[-1] + 1] if in_a_row else self.vectors[slots]
            if columns is not None:
                V = np.take(V, columns, axis=1)
            gram.fill((X, squares), (V, self.squares[slots]), room[: len(slots)])

        count = max(1, min(team.count, len(others)))
        rooms = [np.empty_like(gram.spare(SLOTS)) for _ in range(1, count)]
        rooms.append(gram.spare(SLOTS))
        for lo in range(0, len(others), count):  # computed together, and added in their order
            wave = list(zip(others[lo : lo + count], rooms, strict=False))
            team.map(fill, [(start, room) for (start, _), room in wave])
            for (_, batch), tile in wave:
                add_updates(scores, first, tile, batch.rows, batch.problems, batch.coefs)
        for k, batch in kept:
            add_updates(scores, first, gram.tile(r, k), batch.rows, batch.problems, batch.coefs)

    def _split(
        self,
    ) -> tuple[np.ndarray, list[tuple[int, Batch]], list[tuple[int, Batch]]]:
        """Divide the updates into those from tiles that are kept, by tile, and the others, SLOTS
        slots at a time.

        Returns the distinct slots of the others, pairs (tile of regulars, batch), and pairs (start,
        batch) of the others.
        """
        net, place = self.net, self.net.places
        tile = np.where(place >= 0, place // SLOTS, -1)
        for k in np.unique(tile[tile >= 0]):
            if len(np.unique(place[tile == k])) < SPARSE:
                tile[tile == k] = -1
        kept = []
        for k in np.unique(tile[tile >= 0]):
            mine = tile == k
            batch = Batch(place[mine] - k * SLOTS, net.problems[mine], net.coefs[mine])
            kept.append((int(k), batch))
        rest = tile < 0
        problems, coefs = net.problems[rest], net.coefs[rest]
        wanted, which = np.unique(net.slots[rest], return_inverse=True)
        others = []
        for start in range(0, len(wanted), SLOTS):
            part = slice(*np.searchsorted(which, [start, start + SLOTS]))
            others.append((start, Batch(which[part] - start, problems[part], coefs[part])))
        return wanted, kept, others
