"""Compiled: the one loop of all additive online learners. Score, compare with the margin, evict if
the cache is full, choose the step, scale, update, apply the eviction policy.

It goes over a block of examples whose kernel values, against all that is or may come into the
cache, are at hand. An example's scores are summed anew over the cache as it is when its turn comes,
slots that the block itself has filled included, so the result is that of the one-by-one algorithm
whatever the length of the block. Leave-one-out scores of the stored examples are kept up to date.
"""

from __future__ import annotations

from largemargin.online.arrays import (
    DISTILL,
    EVERY,
    FORGETRON,
    FREE,
    KEEP,
    LANES,
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
    TOP,
    most_slots,
)
from largemargin.online.cache import defers, insert, remove, scale_vector, squared_norm
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
def run_block(learner, block, cache, weights, work, clearance, average, answers):
    """Learn from the examples of the block, in order; those with the label -1 are only scored.

    The scores of each before it is learned, or those of the average, become a row of `answers`, if
    that has rows. Returns how many examples were processed: all, unless most slots have become
    free. The cache is to be compacted then, at a place that does not depend on where blocks end.
    """
    tally = learner.tally
    locate_sources(block, cache.sources)
    work.valid[:] = False
    n_done = len(block.labels)
    for example in range(len(block.labels)):
        if len(weights.scale):
            score(learner, block, cache, weights, work, example)
            if len(answers):
                _answer(weights, work, tally, average, answers[example])
        if block.labels[example] < 0:
            continue
        if len(weights.scale):
            _learn(learner, block, cache, weights, work, example, clearance)
            for r in range(len(weights.scale)):
                weights.scale_sum[r] += weights.scale[r]
        tally[SEEN] += 1
        if tally[SEEN] % tally[EVERY] == 0:
            _log(learner)
        if tally[TOP] > _most_slots(tally[SIZE]):
            n_done = example + 1
            break
    find_arrived(block, cache.sources, tally[TOP], work)
    return n_done


@once()
def _answer(weights, work, tally, average, answer):
    """The scores of the example at hand, or those of the average of the weight vectors."""
    for r in range(len(weights.scale)):
        answer[r] = work.scores[r]
        if average:
            offset = dot(weights.average_offset[r], work.values, tally[TOP])
            answer[r] = (weights.scale_sum[r] * work.raw[r] - offset) / max(tally[SEEN], 1)


@once()
def _learn(learner, block, cache, weights, work, example, clearance):
    tally, policy = learner.tally, learner.policy
    label, square = block.labels[example], block.squares[example]
    ahead = lead(work.scores, label)
    if ahead <= 0.0:
        tally[ONLINE_ERRORS] += 1
    if not is_margin_error(
        learner.rule, learner.settings, weights.updates, work.scores, label, square, ahead
    ):
        return
    tally[MARGIN_ERRORS] += 1
    if policy in (MARGIN, RANDOM) and tally[SIZE] == learner.budget:
        _evict(learner, cache, weights, work)
    if not choose_step(
        learner.rule, learner.settings, weights.norms, weights.updates, work.scores, label, square,
        work.steps, work.shrinks,
    ):  # fmt: skip
        return
    _step(learner, block, cache, weights, work, example, label, square, clearance)
    if policy == DISTILL:
        distill(learner, cache, weights, work.surplus, work.scratch)
    elif policy == FORGETRON and tally[SIZE] > learner.budget:
        forget(learner, cache, weights, work.surplus, work.scratch)


@once()
def _evict(learner, cache, weights, work):
    """Evict a stored example, and correct the scores of the example at hand for it."""
    if learner.policy == MARGIN:
        slot = choose_by_margin(learner, cache, weights, work)
        if slot != learner.tally[NEWEST]:  # sums without the newest outlive its eviction alone
            work.valid[:] = False
    else:
        slot = choose_at_random(learner.random, learner.tally[SIZE])
    for r in range(len(weights.scale)):
        work.raw[r] -= weights.coefs[r, slot] * work.values[slot]
        work.scores[r] = weights.scale[r] * work.raw[r]
    remove(learner, cache, weights, slot, work.surplus, work.scratch)


@once()
def _step(learner, block, cache, weights, work, example, label, square, clearance):
    """w_r <- shrinks_r w_r + steps_r x, with x stored, or projected."""
    tally, policy = learner.tally, learner.policy
    for r in range(len(weights.scale)):
        if work.shrinks[r] != 1.0:
            scale_vector(weights, r, work.shrinks[r], tally[TOP])
            work.raw[r] = work.shrinks[r] * work.scores[r] / weights.scale[r]
    if policy == FORGETRON:
        count_step(learner.tuning, work.steps, square)
    if policy != PROJECTRON or not add_projection(
        learner, cache, weights, work.steps, work.values, square, clearance, work.surplus
    ):
        # A newest that is there already joins the sums now. And if the cache grows by a slot, sums
        # run over one more: their order, and so their bits, depend on how many slots there are.
        if tally[NEWEST] >= 0 or tally[FREE] == tally[TOP]:
            work.valid[:] = False
        source = block.against.shape[1] + block.since.shape[1] + example
        insert(learner, cache, weights, source, label, square, work.values, work.raw, work.steps)
    for r in range(len(weights.scale)):
        step, shrink = work.steps[r], work.shrinks[r]
        if step != 0.0:
            weights.updates[r] += 1
            if not keeps_norms(learner.rule):
                continue
            if policy != KEEP:
                weights.norms[r] = squared_norm(policy, cache, weights, r, tally[TOP])
            else:  # nothing is ever taken away that rounding errors could be left of
                weights.norms[r] = shrink * (
                    shrink * weights.norms[r] + 2.0 * step * work.scores[r]
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
def locate_sources(block, sources):
    """Fill in the column of the block that has each slot's values; its three parts are one row."""
    for j in range(len(sources)):
        sources[j] = j
    for j in range(len(block.arrivals)):
        if block.arrivals[j] >= 0:
            sources[j] = block.against.shape[1] + block.arrivals[j]


@once()
def find_arrived(block, sources, top, work):
    """Find out into which slots examples of the block have come, and which examples."""
    first = block.against.shape[1] + block.since.shape[1]
    count = 0
    for j in range(top):
        if sources[j] >= first:
            work.arrived[0, count], work.arrived[1, count] = j, sources[j] - first
            count += 1
    work.n_arrived[0] = count


@once()
def score(learner, block, cache, weights, work, example):
    """Fill in the kernel values of an example against the slots, and its scores.

    Where only the newest stored example comes and goes, the sums over all others stay valid for the
    examples that follow, and are computed for several at once: what takes time is to read the
    coefficients. The newest is added by itself in any case, so that the sums are the same to the
    last bit wherever blocks begin.
    """
    top, newest, n_vectors = learner.tally[TOP], learner.tally[NEWEST], len(weights.scale)
    values, raw = work.values, work.raw
    if defers(learner, n_vectors):
        lane = example - work.first[0]
        if not work.valid[SUMS] or lane >= LANES:
            _sum_together(block, cache.sources, weights.coefs, work, example, top, newest)
            lane = 0
        for j in range(top):
            values[j] = work.lanes[lane, j]
        for r in range(n_vectors):
            raw[r] = work.sums[r, lane]
        if newest >= 0:
            values[newest] = _value(block, example, cache.sources[newest])
            for r in range(n_vectors):
                raw[r] += weights.coefs[r, newest] * values[newest]
    else:
        _read_values(block, example, cache.sources, top, work.row, values)
        for r in range(n_vectors):
            raw[r] = dot(weights.coefs[r], values, top)
    for r in range(n_vectors):
        work.scores[r] = weights.scale[r] * raw[r]


@part()
def _sum_together(block, sources, coefs, work, example, top, newest):
    """Kernel values of this example and the next ones, and sums over all slots but the newest."""
    lanes, sums, n_vectors = work.lanes, work.sums, len(coefs)
    for lane in range(min(LANES, len(block.labels) - example)):
        _read_values(block, example + lane, sources, top, work.row, lanes[lane])
        if newest >= 0:
            lanes[lane, newest] = 0.0
    # an odd last vector is paired with itself: each sum has the same bits whatever its partner is
    for r in range(0, n_vectors, 2):
        other = min(r + 1, n_vectors - 1)
        _two_by_four(coefs[r], coefs[other], lanes, top, sums[r], sums[other])
    work.first[0], work.valid[SUMS] = example, True


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
    """Kernel values of an example against the slots as they are now; `row` is scratch."""
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
    """One kernel value of an example, from the part of the block that has it."""
    known, newer = block.against.shape[1], block.since.shape[1]
    if source < known:
        return block.against[example, source]
    if source < known + newer:
        return block.since[example, source - known]
    return block.within[example, source - known - newer]
