"""The rules that read a trace: what a run of the perceptron says of new examples.

With prediction vectors v_1 .. v_k of a problem and their survival counts c_1 .. c_k:

    vote      sum_i c_i sign(v_i.x)
    average   sum_i c_i (v_i.x)          normalized: sum_i c_i (v_i.x)/|v_i|
    last      v_k.x                      normalized: over |v_k|
    random    the vector alive after r steps, r drawn uniformly from {0..t} once per example;
              normalized: over its norm
    longest   the vector that survived longest
    pocket    of vectors with ever longer runs of correct answers, each that also gets more of the
              training set right replaces the one in the pocket (Gallant's pocket with ratchet)
    holdout   the vector that gets most of a held-out part right (Littlestone's two-phase rule)

The score of the zero vector is 0, normalized or not. Of equals, the oldest.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from largemargin.base.expansion import strip_of
from largemargin.kernels.basis import SLOTS, Basis
from largemargin.kernels.tiles import Gram
from largemargin.perceptron.trace import Trace
from largemargin.runtime.arrays import Matrix
from largemargin.runtime.memory import memory_bytes
from largemargin.runtime.threads import for_each, workers

METHODS = ("vote", "average", "last", "random", "longest", "pocket", "holdout")
PICKS = ("last", "longest", "pocket", "holdout")  # rules that use one vector per problem
PANEL = 256  # examples whose kernel values with the whole basis a thread holds at a time
FEW_ROWS = 32  # rows up to which they are multiplied as they are, not padded to a panel

Rule = tuple[str, bool]


def pick(trace: Trace, method: str, until: int, correct: np.ndarray | None) -> np.ndarray:
    """The number of the mistake that made the chosen vector of each problem; -1 is the zero vector.

    `correct` counts, for each vector, the examples it gets right: of the training set for "pocket",
    of the held-out part for "holdout".
    """
    made = trace.mistakes_by(until)
    counts = trace.survival(until)
    chosen = np.full(trace.n_problems, -1)
    for p in range(trace.n_problems):
        vectors = np.flatnonzero(trace.problem[:made] == p)
        if not len(vectors):
            continue
        if method == "last":
            chosen[p] = vectors[-1]
        elif method == "longest":
            chosen[p] = vectors[np.argmax(counts[vectors])]
        elif method == "holdout":
            assert correct is not None
            chosen[p] = vectors[np.argmax(correct[vectors])]
        else:
            assert correct is not None
            longest = right = 0  # the longest run of correct answers, and all that are right
            for v in vectors:
                if counts[v] - 1 > longest and correct[v] > right:
                    longest, right, chosen[p] = counts[v] - 1, correct[v], v
    return chosen


def rule_coefficients(
    trace: Trace, rule: Rule, correct: np.ndarray | None, n_slots: int
) -> np.ndarray:
    """Coefficients of a rule that is a sum of vectors: one row per problem, one column per slot."""
    method, normalize = rule
    _, inverse = trace.table()
    coefs = np.zeros((trace.n_problems, n_slots))
    earned = trace.survival() * (inverse if normalize else 1.0)
    chosen = None if method == "average" else pick(trace, method, trace.n_steps, correct)
    for p in range(trace.n_problems):
        vectors = np.flatnonzero(trace.problem == p)
        if chosen is None:
            # x_i is part of every vector from its mistake on, so it has what those vectors earned
            weight = np.cumsum(earned[vectors][::-1])[::-1]
        else:
            vectors = vectors[vectors <= chosen[p]]
            weight = np.full(
                len(vectors), inverse[chosen[p]] if normalize and len(vectors) else 1.0
            )
        np.add.at(coefs[p], trace.slot[vectors], trace.sign[vectors] * weight)
    return coefs


def decide(
    X: Matrix,
    basis: Basis,
    trace: Trace,
    rules: Sequence[Rule],
    stages: np.ndarray,
    *,
    correct: np.ndarray | None,
    random_state: Any,
    n_jobs: int | None,
    memory: int | str,
) -> dict[Rule, np.ndarray]:
    """The scores of the rows of X under each rule at each stage: arrays (stages, problems, rows).

    All rules and stages come from one pass over the kernel values. `stages` are ascending steps.
    """
    rules = list(dict.fromkeys(rules))
    n, n_problems, n_stages = X.shape[0], trace.n_problems, len(stages)
    scores = {rule: np.zeros((n_stages, n_problems, n)) for rule in rules}
    if not len(trace) or not n:
        return scores
    replay = _Replay(trace, rules, stages, correct, n, random_state)

    def read(values: np.ndarray, lo: int, hi: int) -> None:
        for rule, found in replay.scores(values, lo, hi).items():
            scores[rule][:, :, lo:hi] = found[:, :, : hi - lo]

    for_each_panel(X, basis, read, n_jobs=n_jobs, memory=memory)
    return scores


class _Replay:
    """The replay of a trace for a set of rules and stages, with what it must write down."""

    def __init__(
        self,
        trace: Trace,
        rules: list[Rule],
        stages: np.ndarray,
        correct: np.ndarray | None,
        n: int,
        random_state: Any,
    ) -> None:
        self.rules, self.stages, self.n_problems = rules, stages, trace.n_problems
        self.mistakes, self.inverse = trace.table()
        self.want = np.array(
            [
                any(r[0] == "vote" for r in rules),
                ("average", False) in rules,
                ("average", True) in rules,
            ]
        )
        self.picking = [method for method in PICKS if any(r[0] == method for r in rules)]
        self.chosen = np.empty((0, len(stages), self.n_problems), np.int64)
        self.picks = np.empty((2, 0), np.int64)
        if self.picking:
            self.chosen = np.array(
                [[pick(trace, m, int(t), correct) for t in stages] for m in self.picking]
            )
            rows = np.arange(len(self.picking) * len(stages)).repeat(self.n_problems)
            picks = np.stack([self.chosen.ravel(), rows])
            picks = picks[:, np.argsort(picks[0], kind="stable")]
            self.picks = np.ascontiguousarray(picks[:, picks[0] >= 0])
        self.drawing = any(method == "random" for method, _ in rules)
        self.moments = np.empty((0, n), np.int64)
        if self.drawing:
            # a seed begins anew at each stage: it draws as if training had stopped there
            self.moments = np.stack(
                [check_random_state(random_state).randint(0, t + 1, n, np.int64) for t in stages]
            )

    def _draws(self, lo: int, hi: int) -> np.ndarray:
        """(moment, example, stage) of the draws of examples lo..hi, by moment."""
        if not self.drawing:
            return np.empty((3, 0), np.int64)
        moments = self.moments[:, lo:hi]
        draws = np.stack([moments.ravel(), *np.indices(moments.shape)[::-1].reshape(2, -1)])
        return np.ascontiguousarray(draws[:, np.argsort(draws[0], kind="stable")])

    def scores(self, values: np.ndarray, lo: int, hi: int) -> dict[Rule, np.ndarray]:
        """The scores of examples lo..hi from their kernel values (one row per slot)."""
        from largemargin.perceptron import _loops

        replay: Any = _loops.replay_few if values.shape[1] <= FEW_ROWS else _loops.replay
        n_stages, shape = len(self.stages), (self.n_problems, values.shape[1])
        running = [np.zeros(shape) for _ in self.want]
        sums = [np.empty((n_stages if wanted else 0, *shape)) for wanted in self.want]
        picked = np.zeros((len(self.picking) * n_stages, *shape))
        drawn = [np.zeros((n_stages if self.drawing else 0, *shape)) for _ in range(2)]
        draws = self._draws(lo, hi)
        state = np.zeros((self.n_problems + 2, max(values.shape[1], self.n_problems)))
        e, pick, draw = 0, 0, 0
        for s, until in enumerate(self.stages):
            e, made, done = replay(
                values, self.mistakes, self.inverse, e, until, self.want, self.picks[:, pick:],
                draws[:, draw:], state, *running, picked, *drawn,
            )  # fmt: skip
            pick, draw = pick + made, draw + done
            for total, kept, wanted in zip(running, sums, self.want, strict=True):
                if wanted:
                    kept[s] = total
        vectors = picked.reshape(len(self.picking), n_stages, *shape)
        found = {}
        for method, normalize in self.rules:
            if method == "vote":
                scores = sums[0]
            elif method == "average":
                scores = sums[2 if normalize else 1]
            elif method == "random":
                scores = drawn[int(normalize)]
            else:
                m = self.picking.index(method)
                scores = vectors[m]
                if normalize:
                    scale = np.where(self.chosen[m] >= 0, self.inverse[self.chosen[m]], 0.0)
                    scores = scores * scale[:, :, None]
            found[method, normalize] = scores
        return found


def count_right(
    X: Matrix,
    truth: np.ndarray,
    basis: Basis,
    trace: Trace,
    *,
    n_jobs: int | None,
    memory: int | str,
) -> np.ndarray:
    """How many rows of X each prediction vector gets right; truth[p, i] is +1 or -1."""
    from largemargin.perceptron._loops import count_correct

    mistakes, _ = trace.table()
    counts = np.zeros(len(trace), np.int64)
    parts: list[np.ndarray] = []

    def count(values: np.ndarray, lo: int, hi: int) -> None:
        signs = np.zeros((trace.n_problems, values.shape[1]))
        signs[:, : hi - lo] = truth[:, lo:hi]
        part = np.zeros_like(counts)
        count_correct(values, mistakes, signs, part)
        parts.append(part)

    for_each_panel(X, basis, count, n_jobs=n_jobs, memory=memory)
    return np.asarray(np.sum(parts, axis=0, dtype=np.int64))


def for_each_panel(
    X: Matrix, basis: Basis, work: Any, *, n_jobs: int | None, memory: int | str
) -> None:
    """Call work(values, lo, hi) for examples lo..hi of X at a time, with their kernel values (one
    row per slot).

    Values are computed in tiles whose shapes do not depend on threads and memory. A few rows are
    one panel, with tiles so high that predicting one row is one row's work, and threads share out
    the tiles; of more rows they share out the panels, each holding the values of as many examples
    as the memory allows, and where that is not a whole panel, one tile to compute in.
    """
    n, n_slots = X.shape[0], len(basis)
    gram = Gram(basis.match(X), basis)
    gram.check_overflow()
    column = n_slots * basis.dtype.itemsize
    few = n <= FEW_ROWS
    panel, height = (n, strip_of(gram.X)) if few else (PANEL, SLOTS)
    width, allowed = panel, 0
    if not few or memory != "auto":
        allowed = memory_bytes(memory)
        if allowed < column:
            raise ValueError(
                f"memory={allowed} bytes is too little to predict with: allow at least {column}"
            )
        while column * width > allowed:
            width //= 2
    tiles = [slice(lo, min(lo + height, n_slots)) for lo in range(0, n_slots, height)]
    vectors, squares = basis.vectors, basis.squares

    def fill(values: np.ndarray, lo: int, tile: slice) -> None:
        """The values of a tile of slots against the examples from `lo` on, cut out of a panel."""
        first = lo // panel * panel
        out = values[tile]
        if width < panel:
            out = np.empty((tile.stop - tile.start, panel), basis.dtype)
        gram.fill(gram.examples(first, panel), (vectors[tile], squares[tile]), out)
        if width < panel:
            values[tile] = out[:, np.minimum(np.arange(lo, lo + width) - first, panel - 1)]

    if few:
        values = np.empty((n_slots, width), basis.dtype)
        for lo in range(0, n, width):
            for_each(partial(fill, values, lo), tiles, n_jobs)
            work(values, lo, min(lo + width, n))
        return
    with workers(n_jobs) as team:
        count = min(team.count, allowed // (column * width))

        def run(first: int) -> None:
            values = np.empty((n_slots, width), basis.dtype)
            for lo in range(first * width, n, count * width):
                for tile in tiles:
                    fill(values, lo, tile)
                work(values, lo, min(lo + width, n))

        team.map(run, range(count))
