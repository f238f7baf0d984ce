"""The one loop of all additive online learners, compiled: score, compare with the margin, make
room, choose the step, scale, update, apply the cache policy.

It goes over a block of examples whose kernel values, against all that is or may come into the
cache, are at hand. An example's scores are summed anew over the cache as it is when its turn comes,
slots that the block itself has filled included, so the result is that of the one-by-one algorithm
whatever the length of the block. The scores of the stored examples are kept up to date.
"""

from __future__ import annotations

from largemargin.online.arrays import (
    EVERY,
    FREE,
    LOG_LENGTH,
    LOGGED,
    MARGIN_ERRORS,
    NEWEST,
    ONLINE_ERRORS,
    SEEN,
    SIZE,
    TOP,
    most_slots,
)
from largemargin.online.cache import dot, insert, remove, scale_row, squared_norm
from largemargin.online.compiled import compiled, once
from largemargin.online.policies import (
    DISTILL,
    FORGETRON,
    KEEP,
    MARGIN,
    PROJECTRON,
    RANDOM,
    distill,
    forgetron,
    margin,
    projectron,
    random,
)
from largemargin.online.rules import choose_step, is_margin_error, keeps_norms, lead
from largemargin.online.scores import find_arrived, place, score

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
        distill.distill(learner, cache, rows, work.slack, work.room)
    elif policy == FORGETRON and tally[SIZE] > learner.budget:
        forgetron.forget(learner, cache, rows, work.slack, work.room)


@once()
def _make_room(learner, cache, rows, work):
    """Remove a stored example, and correct the scores for it."""
    if learner.policy == MARGIN:
        slot = margin.choose(learner, cache, rows, work)
        if slot != learner.tally[NEWEST]:
            work.stands[:] = False
    else:
        slot = random.choose(learner.random, learner.tally[SIZE])
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
        forgetron.count_step(learner.tuning, work.steps, square)
    if policy != PROJECTRON or not projectron.add_projection(
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
