"""The beginning of a stream with gamma="stream": its first examples, held back until their variance
gives gamma.

A stream has no variance before it has examples. So the first hundred are kept as they came. With
the hundredth gamma is fixed, as "scale" would from these, and they are learned in their order;
then nothing is kept any more. Until then the model is what learning the ones so far would give,
made anew with each of them: it answers, but it is not what the stream goes on with. Examples are
counted and not chunks, so that not one bit depends on how a stream is cut.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from largemargin.runtime.arrays import Matrix

HELD_BACK = 100  # number of examples whose variance gives gamma


@dataclass(frozen=True)
class Beginning:
    """The examples of a stream so far, and what was settled with the first of them."""

    double: bool  # whether precision="auto" means float64
    seed: int  # for random eviction
    rows: Matrix | None = None
    labels: np.ndarray | None = None  # numbers of the classes that the model knows

    def __len__(self) -> int:
        return 0 if self.labels is None else len(self.labels)

    @property
    def examples(self) -> tuple[Matrix, np.ndarray]:
        """The rows and the labels, once there are some."""
        assert self.rows is not None
        assert self.labels is not None
        return self.rows, self.labels

    def then(self, rows: Matrix, labels: np.ndarray, places: np.ndarray) -> Beginning:
        """With more examples, in the form of the first: sparse or dense.

        `places` are the numbers that the classes known so far have from now on.
        """
        if self.rows is None or self.labels is None:
            return replace(self, rows=rows, labels=labels)
        together: Matrix
        if sp.issparse(self.rows):
            together = sp.csr_array(sp.vstack([self.rows, sp.csr_array(rows)]))
        else:
            dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
            together = np.vstack([self.rows, dense])
        return replace(self, rows=together, labels=np.concatenate([places[self.labels], labels]))

    def kept(self) -> Beginning:
        """The same, with rows that are not part of an array of the caller."""
        return replace(self, rows=None if self.rows is None else self.rows.copy())
