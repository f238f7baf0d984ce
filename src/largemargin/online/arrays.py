"""The arrays of an online learner, in the groups in which they travel.

Everything that a learner knows of its stream is here, and nothing here grows with the stream but by
what is stored. Named tuples of plain arrays, so that compiled code reads them by name.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# What `Learner.rule` may be
PERCEPTRON, MIRA, ROMMA, ALMA = range(4)
RULES = {"AggressivePerceptron": PERCEPTRON, "MIRA": MIRA, "ROMMA": ROMMA, "ALMA": ALMA}

# What `Learner.policy` may be, without a budget and with one
KEEP, DISTILL, MARGIN, RANDOM, FORGETRON, PROJECTRON = range(6)
UNBOUNDED = {"distill": DISTILL, "keep": KEEP}
BOUNDED = {"margin": MARGIN, "forgetron": FORGETRON, "random": RANDOM, "projectron": PROJECTRON}

# Places in `Learner.tuning`
HARM, STEPS, LONGEST = range(3)
N_TUNING = 3

# Places in `Learner.tally`, what is counted
SEEN, INSERTIONS, REMOVALS, ONLINE_ERRORS, MARGIN_ERRORS = range(5)
SIZE = 5  # examples stored
TOP = 6  # slots ever used: all that is stored lies below
FREE = 7  # the lowest free slot
EVERY = 8  # examples between two entries of the log
LOGGED = 9  # entries of the log
NEWEST = 10  # the slot of an example whose part of `Rows.others` has not been added yet, or -1
N_TALLIES = 11

# Places in `Work.stands`
RIVALS, SUMS = range(2)
TOGETHER = 4  # examples whose sums are computed together

LOG_LENGTH = 1024  # even: when it is full, every other entry goes


def removes(policy: int) -> bool:
    """Whether a policy takes examples out of the cache."""
    return policy != KEEP and policy != PROJECTRON


def most_slots(size: int) -> int:
    """How many slots may have been used before those in use, so many, are moved together."""
    return 2 * size + 1024


class Block(NamedTuple):
    """Examples of the stream that are looked at together, and their kernel values."""

    labels: np.ndarray  # class numbers
    squares: np.ndarray  # k(x, x)
    against: np.ndarray  # a row an example, a column a slot as it was when this was computed
    since: np.ndarray  # a column an example that has come into the cache since
    within: np.ndarray  # a column an example of the block
    arrivals: np.ndarray  # for the first slots, which column of `since` has come there, or -1


class Cache(NamedTuple):
    """The stored examples by slot. What of it a policy does not need is of size 0."""

    positions: np.ndarray  # in the stream; -1 where a slot is free
    labels: np.ndarray
    squares: np.ndarray
    sources: np.ndarray  # where the block has the values of the slot, its three parts in a row
    # kernel values among the stored, for policies that remove: a row has them against all that were
    # stored before it
    gram: np.ndarray
    inverse: np.ndarray  # of the Gram matrix, for the projectron


class Rows(NamedTuple):
    """The vectors, one for two classes and otherwise one a class: w_r = scale_r sum_j coefs_rj x_j.

    The factor makes a scaling of w_r one multiplication. The sum over the stream is kept in the
    same way: sum_t w_r(t) has the coefficients coefs * passed - debts, where `passed` is the sum of
    the factors so far and a coefficient owes, from the moment it changes, what passed before.
    """

    coefs: np.ndarray  # a row a vector, a column a slot
    # sum of coefs_rj k(x_j, x_i) over the stored j != i, but for the part of the newest, see
    # `slots`; for the projectron, over all j; not kept if nothing is removed
    others: np.ndarray
    debts: np.ndarray
    scale: np.ndarray
    passed: np.ndarray
    norms: np.ndarray  # |w_r|^2, for the rules that need it
    updates: np.ndarray  # one more than the steps that the vector has made


class Learner(NamedTuple):
    """The rest: what the rule and the policy are and remember, and what is counted."""

    rule: int
    policy: int
    budget: int
    averages: bool
    settings: np.ndarray  # numbers of the rule, see the rules
    tally: np.ndarray
    log: np.ndarray  # the number stored, every so many examples
    tuning: np.ndarray  # of the forgetron
    random: np.ndarray  # state of the generator


class Work(NamedTuple):
    """Room for the walk."""

    # when all is done: the slots that examples of the block have come into, and which these are
    arrived: np.ndarray
    n_arrived: np.ndarray  # one entry: how many
    row: np.ndarray  # the example's row of the block
    lanes: np.ndarray  # kernel values of some examples against the slots, a row each
    sums: np.ndarray  # their sums over all stored but the newest, a row a vector
    first: np.ndarray  # one entry: the first of these examples
    values: np.ndarray  # kernel values of the example against the slots
    raw: np.ndarray  # its scores before the factors
    scores: np.ndarray
    steps: np.ndarray  # coefficients of the example in each vector
    shrinks: np.ndarray  # factors of the vectors
    room: np.ndarray  # a number a slot
    slack: np.ndarray  # of the stored: by how much each clears its margin without itself
    # of the stored, by all but itself and the newest: see `policies.margin`
    own: np.ndarray  # the score of the true class
    best: np.ndarray  # that of the best other
    without: np.ndarray  # the slack
    rivals: np.ndarray  # which class the best other is
    stands: np.ndarray  # whether these four, and the sums, are as the cache is but the newest


def zero_rows(n: int, room: int) -> Rows:
    """So many vectors over so many slots, all zero."""
    shape = (n, room)
    return Rows(
        np.zeros(shape), np.zeros(shape), np.zeros(shape), np.ones(n), np.zeros(n), np.zeros(n),
        np.ones(n, np.int64),
    )  # fmt: skip


def make_work(width: int, room: int, n_rows: int, dtype: np.dtype) -> Work:
    """Room for so many kernel values of an example, slots and vectors."""

    def by_row() -> np.ndarray:
        return np.zeros(n_rows)

    def by_slot() -> np.ndarray:
        return np.zeros(room)

    return Work(
        arrived=np.zeros((2, room), np.int64), n_arrived=np.zeros(1, np.int64),
        row=np.zeros(width, dtype), lanes=np.zeros((TOGETHER, room)),
        sums=np.zeros((n_rows, TOGETHER)), first=np.zeros(1, np.int64), values=by_slot(),
        raw=by_row(), scores=by_row(), steps=by_row(), shrinks=by_row(), room=by_slot(),
        slack=by_slot(), own=by_slot(), best=by_slot(), without=by_slot(),
        rivals=np.zeros(room, np.int64), stands=np.zeros(2, np.bool_),
    )  # fmt: skip
