"""Compiled: the kernel values and the scores of an example of the block when its turn comes.

Scores are summed anew over the cache as it is then. Where only the newest stored example comes and
goes, the sums over all others stand for the examples that follow, and are computed for several at
once: what takes time is to read the coefficients. The newest is added by itself in any case, so
that the sums are the same to the last bit wherever blocks begin.
"""

from __future__ import annotations

from largemargin.online.arrays import NEWEST, SUMS, TOGETHER, TOP
from largemargin.online.cache import dot, waits
from largemargin.online.compiled import compiled, once, part


@once()
def place(block, sources):
    """Say where the values of each slot are, the three parts of the block being one row."""
    for j in range(len(sources)):
        sources[j] = j
    for j in range(len(block.arrivals)):
        if block.arrivals[j] >= 0:
            sources[j] = block.against.shape[1] + block.arrivals[j]


@once()
def find_arrived(block, sources, top, work):
    """Which slots examples of the block have come into, and which examples."""
    first = block.against.shape[1] + block.since.shape[1]
    count = 0
    for j in range(top):
        if sources[j] >= first:
            work.arrived[0, count], work.arrived[1, count] = j, sources[j] - first
            count += 1
    work.n_arrived[0] = count


@once()
def score(learner, block, cache, rows, work, example):
    """Fill in the values of an example against the slots, and its scores."""
    top, newest, n_rows = learner.tally[TOP], learner.tally[NEWEST], len(rows.scale)
    values, raw = work.values, work.raw
    if waits(learner, n_rows):
        lane = example - work.first[0]
        if not work.stands[SUMS] or lane >= TOGETHER:
            _sum_together(block, cache.sources, rows.coefs, work, example, top, newest)
            lane = 0
        for j in range(top):
            values[j] = work.lanes[lane, j]
        for r in range(n_rows):
            raw[r] = work.sums[r, lane]
        if newest >= 0:
            values[newest] = _value(block, example, cache.sources[newest])
            for r in range(n_rows):
                raw[r] += rows.coefs[r, newest] * values[newest]
    else:
        _read_values(block, example, cache.sources, top, work.row, values)
        for r in range(n_rows):
            raw[r] = dot(rows.coefs[r], values, top)
    for r in range(n_rows):
        work.scores[r] = rows.scale[r] * raw[r]


@part()
def _sum_together(block, sources, coefs, work, example, top, newest):
    """The values of this example and the next ones, and their sums over all slots but one."""
    lanes, sums, n_rows = work.lanes, work.sums, len(coefs)
    for lane in range(min(TOGETHER, len(block.labels) - example)):
        _read_values(block, example + lane, sources, top, work.row, lanes[lane])
        if newest >= 0:
            lanes[lane, newest] = 0.0
    for r in range(0, n_rows, 2):
        other = min(r + 1, n_rows - 1)
        _two_by_four(coefs[r], coefs[other], lanes, top, sums[r], sums[other])
    work.first[0], work.stands[SUMS] = example, True


@compiled(fastmath={"reassoc", "contract", "nsz"})
def _two_by_four(a, b, lanes, size, a_sums, b_sums):
    """The inner products of two vectors with four, for which registers just suffice."""
    u, v, w, x = lanes[0], lanes[1], lanes[2], lanes[3]
    au = av = aw = ax = bu = bv = bw = bx = 0.0
    for j in range(size):
        au += a[j] * u[j]
        av += a[j] * v[j]
        aw += a[j] * w[j]
        ax += a[j] * x[j]
        bu += b[j] * u[j]
        bv += b[j] * v[j]
        bw += b[j] * w[j]
        bx += b[j] * x[j]
    a_sums[0], a_sums[1], a_sums[2], a_sums[3] = au, av, aw, ax
    b_sums[0], b_sums[1], b_sums[2], b_sums[3] = bu, bv, bw, bx


@part()
def _read_values(block, example, sources, top, row, values):
    """The values of an example against the slots as they are now; `row` is room."""
    known, newer = block.against.shape[1], block.since.shape[1]
    for j in range(known):
        row[j] = block.against[example, j]
    for j in range(newer):
        row[known + j] = block.since[example, j]
    for j in range(example):
        row[known + newer + j] = block.within[example, j]
    for j in range(top):
        values[j] = row[sources[j]]


@part()
def _value(block, example, source):
    known, newer = block.against.shape[1], block.since.shape[1]
    if source < known:
        return block.against[example, source]
    if source < known + newer:
        return block.since[example, source - known]
    return block.within[example, source - known - newer]
