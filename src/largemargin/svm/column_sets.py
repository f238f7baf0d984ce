"""Sets of columns: some of the variables of a dual problem, with their gradient.

What `chunking` asks of a set is who violates the KKT conditions most, and that changes of some
variables are added to the gradient of all others.

A set on a cluster has its gradient on the workers, each of which has that of its own rows. Only the
columns that may be selected next are told: the worst of each worker, among which are the worst of
all. The gradient of a pool is here, where it is solved, and goes back to the workers afterwards.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from largemargin.kernels.fused import Columns, FusedRows
from largemargin.svm.problem import Optimality, Problem, smo_loops

# Variables of a working set; up to twice as many if many are free, or if the set is large
WORKING_SET = 1024
POOL = 16384  # variables of a pool at least; up to twice as many columns have none
POOL_SHARE = 0.15  # the share of the columns that a pool has, if that is more


def has_pools(kernel: FusedRows, n: int) -> bool:
    """Whether a part of n columns is solved by itself first."""
    return kernel.has_pools and n > 2 * POOL


def pool_size(n: int) -> int:
    """How many of n columns a pool has."""
    return max(POOL, int(POOL_SHARE * n))


class ColumnSet:
    """Some of the variables of a problem, with their gradient, and with `sizes`, the sums of
    |b_j| k_ij with weights that `Chunking` has.
    """

    def __init__(
        self,
        kernel: FusedRows,
        problem: Problem,
        examples: np.ndarray,
        beta: np.ndarray,
        grad: np.ndarray,
        sizes: np.ndarray,
        entered: np.ndarray,
        *,
        is_whole: bool = False,
        often: bool = True,
    ) -> None:
        self.kernel, self.problem, self.examples = kernel, problem, examples
        self.is_whole = is_whole  # no part of another set
        self._often = often  # whether sums over a small part of all columns are wanted often
        self.beta, self.grad, self.sizes, self.entered = beta, grad, sizes, entered
        self._columns: Columns | None = None

    def __len__(self) -> int:
        return len(self.beta)

    def taken(self, which: np.ndarray | slice, often: bool = True) -> ColumnSet:
        """A set of some of them, by itself."""
        problem = _taken(self.problem, which)
        parts = (self.examples, self.beta, self.grad, self.sizes, self.entered)
        copies = (part[which].copy() for part in parts)
        return ColumnSet(self.kernel, problem, *copies, often=often)

    def put(self, which: np.ndarray | slice, part: ColumnSet) -> None:
        """Take over what a set of some of them has become."""
        self.beta[which], self.grad[which] = part.beta, part.grad
        self.sizes[which], self.entered[which] = part.sizes, part.entered

    def objective(self) -> float:
        return float(self.beta @ (self.grad + self.problem.p)) / 2

    def optimality(self) -> Optimality:
        return Optimality.of(self.problem, self.beta, self.grad, len(self))

    def add(self, examples: np.ndarray, changes: np.ndarray) -> None:
        """Add changes times the kernel values of some examples: the first row to the gradient, the
        second, if there is one, to the sizes.
        """
        sums = self.sums(examples, changes)
        self.grad += sums[0]
        if len(sums) > 1:
            self.sizes += sums[1]

    def take_over(
        self, which: np.ndarray, part: ColumnSet, examples: np.ndarray, changes: np.ndarray
    ) -> None:
        """Take over what a part has become, and add what it changed to all the others."""
        self.put(which, part)
        others = self.outside(which)
        rest = self.taken(others, often=False)
        rest.add(examples, changes)
        self.put(others, rest)

    def outside(self, which: np.ndarray) -> np.ndarray:
        """All variables but some."""
        left = np.ones(len(self), bool)
        left[which] = False
        return np.flatnonzero(left)

    def largest(self) -> float:
        """The largest number, in absolute value, of the gradient and of the sizes."""
        return max(float(np.abs(one).max(initial=0.0)) for one in (self.grad, self.sizes))

    def settle(self) -> None:
        """Have the whole gradient here: there is nothing more to do."""

    def refresh(self) -> None:
        """Have the whole gradient here for a moment."""

    def sums(self, examples: np.ndarray, coefs: np.ndarray) -> np.ndarray:
        """coefs @ K between some examples and these columns."""
        return self.columns.sums(self.kernel.vectors(examples), coefs)

    @property
    def columns(self) -> Columns:
        if self._columns is None:
            packed = self.kernel.pool if self._often else self.kernel.columns
            self._columns = packed(self.examples)
        return self._columns

    @property
    def working_set(self) -> int:
        """How many variables to solve for together."""
        free = (self.problem.lo < self.beta) & (self.beta < self.problem.hi)
        usual = min(WORKING_SET, max(WORKING_SET // 4, len(self) // 4))
        most = max(usual, len(self) // 16, int(np.count_nonzero(free)))
        return min(2 * WORKING_SET, most)

    def select(
        self, size: int, last: np.ndarray, optimality: Optimality, number: int
    ) -> np.ndarray:
        """The variables that violate optimality most, and half of the set from the last one: the
        free ones first, then those that entered it last.

        With violators alone, two working sets would take turns to undo each other.
        """
        if len(self) <= size:
            return np.arange(len(self))
        new = self._violators(max(1, size // 4), optimality)
        chosen = np.zeros(len(self), bool)
        chosen[new] = True
        problem = self.problem
        old = last[~chosen[last]]
        free = (problem.lo[old] < self.beta[old]) & (self.beta[old] < problem.hi[old])
        old = old[np.lexsort((-self.entered[old], ~free))]
        self.entered[new] = number
        return np.sort(np.concatenate([new, old[: size - len(new)]]))

    def _violators(self, most: int, optimality: Optimality) -> np.ndarray:
        """Those that violate optimality most, so many at most of I_up and of I_low."""
        problem, n = self.problem, len(self)
        up, down = np.empty((2, most), np.int64)
        none = np.empty(0, np.int64)
        counts = smo_loops().violators(
            self.grad, self.beta, problem.lo, problem.hi, problem.a, problem.group, n,
            optimality.up_max, optimality.low_min, np.ones(n, bool), up, down, none, none,
        )  # fmt: skip
        chosen = np.zeros(n, bool)
        chosen[up[: counts[2]]] = chosen[down[: counts[3]]] = True
        return np.flatnonzero(chosen)


class DistantColumnSet(ColumnSet):
    """All variables of a problem, the gradient of which is on workers; here it is known of those
    that may be selected, and of the last pool.
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        kernel: Any = self.kernel
        self._far = kernel.gradient(self.examples, self.grad)
        self._objective, self._largest = super().objective(), super().largest()
        self._known, self._near = np.arange(len(self)), self.taken(slice(None))
        self._is_known = True  # of all

    @staticmethod
    def fits(kernel: FusedRows, problem: Problem) -> bool:
        """Whether workers can tell who violates most: they know what may rise or fall, and no
        more of the problem.
        """
        plain = problem.n_groups == 1 and not problem.relative and bool((problem.a == 1).all())
        return kernel.keeps_gradients and has_pools(kernel, len(problem)) and plain

    def objective(self) -> float:
        return self._objective

    def largest(self) -> float:
        return self._largest

    def optimality(self) -> Optimality:
        return self._near.optimality()

    def _violators(self, most: int, optimality: Optimality) -> np.ndarray:
        return np.asarray(self._known[self._near._violators(most, optimality)])

    def take_over(
        self, which: np.ndarray, part: ColumnSet, examples: np.ndarray, changes: np.ndarray
    ) -> None:
        step = part.beta - self.beta[which]
        self._objective += float(step @ (self.grad[which] + part.grad)) / 2
        self.put(which, part)
        problem = self.problem
        places, found, self._largest = self._far.advance(
            examples, changes, which, part.grad,
            self.beta < problem.hi, self.beta > problem.lo, pool_size(len(self)) // 4,
        )  # fmt: skip
        self.grad[places] = found
        known = np.zeros(len(self), bool)
        known[which] = known[places] = True
        self._known, self._is_known = np.flatnonzero(known), False
        self._near = self.taken(self._known)

    def refresh(self) -> None:
        self._fetch(last=False)

    def settle(self) -> None:
        self._fetch(last=True)

    def _fetch(self, last: bool) -> None:
        if not self._is_known:
            self.grad[:] = self._far.whole(last)
            self._is_known = True


def _taken(problem: Problem, which: np.ndarray | slice) -> Problem:
    """The problem of some variables; what is shown of all of them is not shown of some."""
    return replace(problem.taken(which), least_norm=0.0)
