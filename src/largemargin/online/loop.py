"""The one loop of all additive online learners, compiled: score, compare with the margin, make
room, choose the step, scale, update, apply the cache policy.

It goes over a block of examples whose kernel values, against all that is or may come into the
cache, are at hand. An example's scores are summed anew over the cache as it is when its turn comes,
slots that the block itself has filled included, so the result is that of the one-by-one algorithm
whatever the length of the block. The scores of the stored examples are kept up to date.
"""

from __future__ import annotations

from largemargin.online.arrays import (
    DISTILL,
    EVERY,
    FORGETRON,
    FREE,
    KEEP,
    LOG_LENGTH,
    LOGGED,
    MARGIN,
    MARGIN_ERRORS,
    NEWEST,
    ONLINE_ERRORS,
    PROJECTRON,
    RANDOM,
    SEEN,
    SIZE,
    SUMS,
    TOGETHER,
    TOP,
    most_slots,
)
from largemargin.online.cache import insert, remove, scale_row, squared_norm, waits
from largemargin.online.compiled import compiled, dot, once, part
from largemargin.online.policies import (
    add_projection,
    choose_at_random,
    choose_by_margin,
    count_step,
    distill,
    forget,
)
from largemargin.online.rules import choose_step, is_margin_error, keeps_norms, lead

_most_slots = compiled()(most_slots)


@compiled()
def walk(learner, block, cache, rows, work, accuracy, average, answers):
    """Learn from the examples of the block, in order; those with the label -1 are only scored.

    The scores of each before it is learned, or those of the average, become a row of `answers`, if
    that has rows. Returns how many examples were passed: all, unless most slots have become free,
    which are to be given up at a place that does not depend on where blocks end.
    """
    tally = learner.tally
    place(block, cache.sources)
    work.stands[:] = False
    passed = len(block.labels)
    for example in range(len(block.labels)):
        if len(rows.scale):
            score(learner, block, cache, rows, work, example)
            if len(answers):
                _answer(rows, work, tally, average, answers[example])
        if block.labels[example] < 0:
            continue
        if len(rows.scale):
            _learn(learner, block, cache, rows, work, example, accuracy)
            for r in range(len(rows.scale)):
                rows.passed[r] += rows.scale[r]
        tally[SEEN] += 1
        if tally[SEEN] % tally[EVERY] == 0:
            _log(learner)
        if tally[TOP] > _most_slots(tally[SIZE]):
            passed = example + 1
            break
    find_arrived(block, cache.sources, tally[TOP], work)
    return passed


@once()
def _answer(rows, work, tally, average, answer):
    for r in range(len(rows.scale)):
        answer[r] = work.scores[r]
        if average:
            owed = dot(rows.debts[r], work.values, tally[TOP])
            answer[r] = (rows.passed[r] * work.raw[r] - owed) / max(tally[SEEN], 1)


@once()
def _learn(learner, block, cache, rows, work, example, accuracy):
    tally, policy = learner.tally, learner.policy
    label, square = block.labels[example], block.squares[example]
    ahead = lead(work.scores, label)
    if ahead <= 0.0:
        tally[ONLINE_ERRORS] += 1
    if not is_margin_error(
        learner.rule, learner.settings, rows.updates, work.scores, label, square, ahead
    ):
        return
    tally[MARGIN_ERRORS] += 1
    if policy in (MARGIN, RANDOM) and tally[SIZE] == learner.budget:
        _make_room(learner, cache, rows, work)
    if not choose_step(
        learner.rule, learner.settings, rows.norms, rows.updates, work.scores, label, square,
        work.steps, work.shrinks,
    ):  # fmt: skip
        return
    _step(learner, block, cache, rows, work, example, label, square, accuracy)
    if policy == DISTILL:
        distill(learner, cache, rows, work.slack, work.room)
    elif policy == FORGETRON and tally[SIZE] > learner.budget:
        forget(learner, cache, rows, work.slack, work.room)


@once()
def _make_room(learner, cache, rows, work):
    """Remove a stored example, and correct the scores for it."""
    if learner.policy == MARGIN:
        slot = choose_by_margin(learner, cache, rows, work)
        if slot != learner.tally[NEWEST]:
            work.stands[:] = False
    else:
        slot = choose_at_random(learner.random, learner.tally[SIZE])
    for r in range(len(rows.scale)):
        work.raw[r] -= rows.coefs[r, slot] * work.values[slot]
        work.scores[r] = rows.scale[r] * work.raw[r]
    remove(learner, cache, rows, slot, work.slack, work.room)


@once()
def _step(learner, block, cache, rows, work, example, label, square, accuracy):
    """w_r <- shrinks_r w_r + steps_r x, with x stored, or projected."""
    tally, policy = learner.tally, learner.policy
    for r in range(len(rows.scale)):
        if work.shrinks[r] != 1.0:
            scale_row(rows, r, work.shrinks[r], tally[TOP])
            work.raw[r] = work.shrinks[r] * work.scores[r] / rows.scale[r]
    if policy == FORGETRON:
        count_step(learner.tuning, work.steps, square)
    if policy != PROJECTRON or not add_projection(
        learner, cache, rows, work.steps, work.values, square, accuracy, work.slack
    ):
        # the order of a sum depends on how many slots it runs over, those of zeros included
        if tally[NEWEST] >= 0 or tally[FREE] == tally[TOP]:
            work.stands[:] = False
        source = block.against.shape[1] + block.since.shape[1] + example
        insert(learner, cache, rows, source, label, square, work.values, work.raw, work.steps)
    for r in range(len(rows.scale)):
        step, shrink = work.steps[r], work.shrinks[r]
        if step != 0.0:
            rows.updates[r] += 1
            if not keeps_norms(learner.rule):
                continue
            if policy != KEEP:
                rows.norms[r] = squared_norm(policy, cache, rows, r, tally[TOP])
            else:  # nothing is ever taken away that rounding errors could be left of
                rows.norms[r] = shrink * (
                    shrink * rows.norms[r] + 2.0 * step * work.scores[r]
                ) + step * (step * square)


@once()
def _log(learner):
    """Note the size of the cache; when the log is full, keep every other entry."""
    tally, log = learner.tally, learner.log
    if tally[LOGGED] == LOG_LENGTH:
        for i in range(LOG_LENGTH // 2):
            log[i] = log[2 * i + 1]
        tally[LOGGED] = LOG_LENGTH // 2
        tally[EVERY] *= 2
        if tally[SEEN] % tally[EVERY]:
            return
    log[tally[LOGGED]] = tally[SIZE]
    tally[LOGGED] += 1


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
    """Fill in the values of an example against the slots, and its scores.

    Scores are summed anew over the cache as it is then. Where only the newest stored example comes
    and goes, the sums over all others stand for the examples that follow, and are computed for
    several at once: what takes time is to read the coefficients. The newest is added by itself in
    any case, so that the sums are the same to the last bit wherever blocks begin.
    """
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
