"""The arrays of an online learner, in the groups in which they travel.

Everything that a learner knows of its stream is here, and nothing here grows with the stream but by
what is stored. Named tuples of plain arrays, so that compiled code reads them by name.

The cache has slots, numbered from 0. An example that is stored takes the lowest free slot, and its
eviction makes the slot free again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Values of `Learner.rule`
PERCEPTRON, MIRA, ROMMA, ALMA = range(4)
RULES = {"AggressivePerceptron": PERCEPTRON, "MIRA": MIRA, "ROMMA": ROMMA, "ALMA": ALMA}

# Values of `Learner.policy`: without a budget, and with one
KEEP, DISTILL, MARGIN, RANDOM, FORGETRON, PROJECTRON = range(6)
UNBOUNDED = {"distill": DISTILL, "keep": KEEP}
BOUNDED = {"margin": MARGIN, "forgetron": FORGETRON, "random": RANDOM, "projectron": PROJECTRON}
# What "auto" is, by `python -m benchmarks budgets`; and what it was before model files said so
AUTO_UNBOUNDED, AUTO_BOUNDED = "distill", "projectron"
OLD_UNBOUNDED, OLD_BOUNDED = "distill", "margin"

# Places in `Learner.tuning`, see `policies.forget`
HARM, STEPS, LONGEST_SQUARE = range(3)
N_TUNING = 3

# Places in `Learner.tally`
SEEN, INSERTIONS, REMOVALS, ONLINE_ERRORS, MARGIN_ERRORS = range(5)  # counts
SIZE = 5  # number of stored examples
TOP = 6  # number of slots ever used: all that is stored lies below
FREE = 7  # lowest free slot
EVERY = 8  # distance of two entries of the log, in examples
LOGGED = 9  # number of entries of the log
NEWEST = 10  # slot of an example whose part of `Weights.loo_scores` is deferred, or -1
N_TALLIES = 11

# Places in `Work.valid`
RIVALS, SUMS = range(2)
LANES = 4  # number of examples whose scores are summed together

LOG_LENGTH = 1024  # capacity of the log, even: when it is full, every other entry goes


def removes(policy: int) -> bool:
    """Whether a policy evicts examples from the cache."""
    return policy != KEEP and policy != PROJECTRON


def most_slots(size: int) -> int:
    """Number of slots ever used, for `size` stored examples, past which the cache is compacted."""
    return 2 * size + 1024


class Block(NamedTuple):
    """Consecutive examples of the stream and their kernel values, one row per example."""

    labels: np.ndarray  # class numbers
    squares: np.ndarray  # k(x, x)
    against: np.ndarray  # one column per slot, as the slots were when this was computed
    since: np.ndarray  # one column per example that has come into the cache since then
    within: np.ndarray  # one column per example of the block
    arrivals: np.ndarray  # for the first slots, which column of `since` has come there, or -1


class Cache(NamedTuple):
    """The stored examples by slot. What of it a policy does not need is of size 0."""

    positions: np.ndarray  # in the stream; -1 where a slot is free
    labels: np.ndarray
    squares: np.ndarray  # k(x, x)
    sources: np.ndarray  # column of the block with the slot's values, its three parts in a row
    # kernel values among the stored examples, for policies that evict: lower triangular in order of
    # arrival, so that a row has the values against all that were stored before it
    gram: np.ndarray
    inverse: np.ndarray  # inverse of the Gram matrix, for the projectron


class Weights(NamedTuple):
    """The weight vectors, one for two classes and otherwise one per class:

        w_r = scale_r sum_j coefs_rj x_j

    The factor `scale` makes a scaling of w_r one multiplication. The sum over the stream, of which
    the average is made, is kept in the same way: sum_t w_r(t) has the coefficients
    coefs * scale_sum - average_offset, where `scale_sum` is the sum of the factors so far. When a
    coefficient changes by c, its offset changes by c * scale_sum, so that the change counts from
    then on only.
    """

    coefs: np.ndarray  # one row per weight vector, one column per slot
    # Leave-one-out scores: sum of coefs_rj k(x_j, x_i) over the stored j != i, but for the deferred
    # part of the newest, see `cache`. For the projectron the sum is over all j; for "keep" there is
    # none
    loo_scores: np.ndarray
    average_offset: np.ndarray
    scale: np.ndarray
    scale_sum: np.ndarray
    norms: np.ndarray  # |w_r|^2, for the rules that need it
    updates: np.ndarray  # one more than the number of steps that the vector has made


class Learner(NamedTuple):
    """The rest: the rule and the policy, what they remember, and what is counted."""

    rule: int
    policy: int
    budget: int
    averages: bool
    settings: np.ndarray  # numbers of the rule, see `rules`
    tally: np.ndarray
    log: np.ndarray  # size of the cache, every so many examples
    tuning: np.ndarray  # numbers of the forgetron
    random: np.ndarray  # state of the random generator


class Work(NamedTuple):
    """Scratch memory of the compiled loop, and what it returns beside the arrays above."""

    arrived: (
        np.ndarray
    )  # two rows: slots into which examples of the block came, and which these are
    n_arrived: np.ndarray  # one entry: the number of these
    row: np.ndarray  # one example's row of the block
    lanes: np.ndarray  # kernel values against the slots, one row per example of some
    sums: np.ndarray  # their sums over all stored but the newest, one row per weight vector
    first: np.ndarray  # one entry: the first of these examples
    values: np.ndarray  # kernel values of the example against the slots
    raw: np.ndarray  # its scores before the factors `scale`
    scores: np.ndarray
    steps: np.ndarray  # coefficients of the example in each weight vector
    shrinks: np.ndarray  # factors of the weight vectors
    scratch: np.ndarray  # one number per slot
    surplus: np.ndarray  # by how much each stored example clears its margin without itself
    # for the stored examples, by all but themselves and the newest, see `policies`:
    own: np.ndarray  # score of the true class
    best: np.ndarray  # score of the best other class
    without: np.ndarray  # surplus
    rivals: np.ndarray  # which class the best other is
    valid: np.ndarray  # whether these four, and `sums`, are those of the cache without the newest


def zero_weights(n: int, n_slots: int) -> Weights:
    """So many weight vectors over so many slots, all zero."""
    shape = (n, n_slots)
    return Weights(
        np.zeros(shape), np.zeros(shape), np.zeros(shape), np.ones(n), np.zeros(n), np.zeros(n),
        np.ones(n, np.int64),
    )  # fmt: skip


def make_work(width: int, n_slots: int, n_vectors: int, dtype: np.dtype) -> Work:
    """Scratch memory for so many kernel values of an example, slots and weight vectors."""

    def by_vector() -> np.ndarray:
        return np.zeros(n_vectors)

    def by_slot() -> np.ndarray:
        return np.zeros(n_slots)

    return Work(
        arrived=np.zeros((2, n_slots), np.int64), n_arrived=np.zeros(1, np.int64),
        row=np.zeros(width, dtype), lanes=np.zeros((LANES, n_slots)),
        sums=np.zeros((n_vectors, LANES)), first=np.zeros(1, np.int64), values=by_slot(),
        raw=by_vector(), scores=by_vector(), steps=by_vector(), shrinks=by_vector(),
        scratch=by_slot(), surplus=by_slot(), own=by_slot(), best=by_slot(), without=by_slot(),
        rivals=np.zeros(n_slots, np.int64), valid=np.zeros(2, np.bool_),
    )  # fmt: skip
