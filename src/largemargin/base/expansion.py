"""A kernel expansion: f_p(x) = sum_i c_pi k(x_i, x) + b_p for a few problems p, evaluated in tiles.

The kernel values of a tile are used while they are in cache and dropped. The shapes of tiles follow
from the data alone, each is one single-threaded product, and sums are in float64, over tiles in
their order, so scores do not depend on the number of threads. `ExpansionEstimator` is what an
estimator with one expansion per problem knows of itself, and `ExpansionClassifier` what it answers
if it is a classifier: scores and classes.

`predict` needs less exact scores than `decision_function` gives, and has the same classes
(`first_look`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from largemargin.base.classifier import KernelClassifier, KernelEstimator
from largemargin.base.first_look import (
    InSingle,
    Told,
    look,
    packed_vectors,
    rows_at_once,
    signs_told,
)
from largemargin.base.training_set import TrainingSet
from largemargin.kernels.basis import Basis
from largemargin.kernels.engine import check_overflow, largest_square, prepare
from largemargin.kernels.functions import Linear
from largemargin.kernels.fused import FusedRows, is_used_once
from largemargin.kernels.tiles import Gram
from largemargin.runtime.arrays import Matrix, MatrixLike
from largemargin.runtime.threads import Workers, for_each, single_thread, workers

PANEL = 256  # rows of X per tile
STRIP = 512  # expansion vectors per tile
FEW_ROWS = 64  # rows of X up to which no way but tiles is worth it
TILE_WORK = 1 << 23  # multiplications that are worth a tile where there are few rows
TRANSFORM_WORK = 64  # multiplications that take as long as turning a product into a kernel value
LINEAR_ROWS = 1 << 13  # rows of X per product with the weights of a linear model
FEW_NUMBERS = 1 << 22  # numbers of all vectors up to which they are kept as they are packed


def strip_of(X: Any) -> int:
    """How many vectors a tile takes where X has few rows: one row stays one row's work."""
    width = X.nnz / X.shape[0] if sp.issparse(X) else X.shape[1]
    return max(STRIP, int(TILE_WORK / (X.shape[0] * (width + TRANSFORM_WORK))))


def linear_scores(X: Matrix, weights: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Inner products of the rows of X with the few rows of `weights`: one row per row of X."""
    n = X.shape[0]
    if n <= LINEAR_ROWS or sp.issparse(X):
        with single_thread():
            return np.asarray(X @ weights.T, np.float64)
    scores = np.empty((n, len(weights)))

    def run(first: int) -> None:
        part = slice(first, first + LINEAR_ROWS)
        scores[part] = X[part] @ weights.T

    for_each(run, range(0, n, LINEAR_ROWS), n_jobs)
    return scores


class Expansion:
    """Vectors in a basis, with one row of coefficients per problem."""

    def __init__(self, basis: Basis, coefs: np.ndarray, intercepts: np.ndarray) -> None:
        self.basis = basis
        self.coefs = np.ascontiguousarray(coefs)  # a product of one row depends on it
        self.intercepts = intercepts
        self._weights: np.ndarray | None = None
        self._packed: dict[str, Any] = {}  # by precision, what a prediction makes of the vectors

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_packed": {}}  # can be had again

    def _ready(self, precision: str) -> Any:
        """The vectors as the compiled loops take them; those of small models are kept."""
        if precision in self._packed:
            return self._packed[precision]
        if precision == "single":
            found: Any = InSingle(self.basis, self.coefs, self.intercepts)
        else:
            found = packed_vectors(self.basis, self.basis.dtype)
        if self.basis.vectors.shape[0] * self.basis.vectors.shape[1] <= FEW_NUMBERS:
            self._packed[precision] = found
        return found

    def __call__(
        self, X: Matrix, n_jobs: int | None = None, told: Told | None = None
    ) -> np.ndarray:
        """f of the rows of X: one row per problem, one column per row of X. Where `told` is given,
        f may be less exact in rows that it says yes to.
        """
        n, n_slots = X.shape[0], len(self.basis)
        kernel, dtype = self.basis.kernel, self.basis.dtype
        scores = np.empty((len(self.coefs), n))
        scores[:] = self.intercepts[:, None]
        if not n_slots:
            return scores
        few = n <= FEW_ROWS or n * n_slots <= 1 << 18
        if not few and is_used_once(kernel, X.shape[1]):
            return self._fused(X, scores, n_jobs, told)
        gram = Gram(self.basis.match(prepare(X, kernel, dtype)), self.basis)
        gram.check_overflow()
        if few or n <= PANEL:
            return self._few(gram, scores, n_jobs)
        vectors, squares = self.basis.vectors, self.basis.squares
        strips = []
        for lo in range(0, n_slots, STRIP):
            part = slice(lo, lo + STRIP)
            used = np.flatnonzero(self.coefs[:, part].any(axis=1))
            strips.append((vectors[part], squares[part], used, self.coefs[used, part]))

        def run(first: int) -> None:
            rows = gram.examples(first, PANEL)
            until = min(PANEL, n - first)
            for V, V_squares, used, coefs in strips:
                values = np.empty((V.shape[0], PANEL), self.basis.dtype)
                gram.fill(rows, (V, V_squares), values)
                scores[used, first : first + until] += (coefs @ values)[:, :until]

        for_each(run, range(0, n, PANEL), n_jobs)
        return scores

    def _fused(
        self, X: Any, scores: np.ndarray, n_jobs: int | None, told: Told | None
    ) -> np.ndarray:
        """Add the sums over the vectors to scores, from values that never leave the registers."""
        basis = self.basis
        if sp.issparse(X):
            X = prepare(X, basis.kernel, basis.dtype)
        with workers(n_jobs) as team:
            if told is None or basis.dtype != np.float64:
                scores += self._sums(X, team)
                return scores
            left = look(self._ready("single"), X, scores, team, told)
            if len(left):
                scores[:, left] = self.intercepts[:, None] + self._sums(X[left], team)
        return scores

    def _sums(self, X: Any, team: Workers) -> np.ndarray:
        kernel, dtype = self.basis.kernel, self.basis.dtype
        if kernel.on_products:
            check_overflow(kernel, dtype, largest_square(X))
        vectors = self._ready("own")
        sums = np.empty((len(self.coefs), X.shape[0]))
        step = rows_at_once(X)
        for first in range(0, X.shape[0], step):
            part = slice(first, first + step)
            rows = FusedRows(kernel, X[part], team, dtype)
            sums[:, part] = rows.columns(np.arange(len(rows.X))).sums(vectors, self.coefs)
        return sums

    def _few(self, gram: Gram, scores: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Add the sums over the vectors to scores of a few rows."""
        n_slots, strip = len(self.basis), strip_of(gram.X)
        vectors, squares = self.basis.vectors, self.basis.squares
        rows = gram.examples(0, gram.n_rows)

        firsts = range(0, n_slots, strip)
        parts = np.empty((len(firsts), *scores.shape))

        def add_up(k: int) -> None:
            part = slice(firsts[k], min(firsts[k] + strip, n_slots))
            values = np.empty((part.stop - part.start, gram.n_rows), self.basis.dtype)
            gram.fill(rows, (vectors[part], squares[part]), values)
            parts[k] = self.coefs[:, part] @ values

        for_each(add_up, range(len(firsts)), n_jobs)
        for part in parts:
            scores += part
        return scores

    def weights(self, n_features: int) -> np.ndarray:
        """With the linear kernel, the weight vectors themselves: one row per problem."""
        if self._weights is None:
            weights = np.zeros((len(self.coefs), n_features))
            if len(self.basis):
                with single_thread():
                    weights += self.coefs @ self.basis.vectors
            self._weights = weights  # whole, for whoever reads it on another thread
        return self._weights


class ExpansionEstimator(KernelEstimator):
    """The reading half of an estimator; the other half makes the expansion read here."""

    n_jobs: int | None
    _expansion: Expansion
    _positions: np.ndarray  # of the expansion's vectors in the training data
    _n_given: int  # examples that the training data had

    def set_expansion(self, data: TrainingSet, coefs: np.ndarray, intercepts: np.ndarray) -> None:
        """Keep what was trained, from the coefficients of all examples, one row per problem."""
        order = np.flatnonzero(coefs.any(axis=0))
        # vectors of a class together, so that few problems use a strip of them
        order = order[np.argsort(data.labels[order], kind="stable")]
        basis = Basis(data.kernel, data.dtype)
        basis.add(data.X[order], data.positions[order])
        self.remember(data.fingerprint)
        expansion = Expansion(basis, coefs[:, order], intercepts)
        self.restore_expansion(expansion, data.positions[order], data.n_given)

    def restore_expansion(self, expansion: Expansion, positions: np.ndarray, n_given: int) -> None:
        """Have an expansion whose vectors are at these positions of so many examples."""
        self._expansion, self._positions, self._n_given = expansion, positions, n_given

    @property
    def expansion(self) -> Expansion:
        """What the scores are read off; the other families and certificates look at it too."""
        return self._expansion

    @property
    def positions(self) -> np.ndarray:
        """Where in the training data the vectors of the expansion are, in their order."""
        return self._positions

    def problem_scores(self, X: MatrixLike, told: Told | None = None) -> np.ndarray:
        """Scores of the rows of X, one row per problem; see `Expansion` for `told`."""
        if self._expansion.basis.kernel.by_column:
            return self._from_values(X)
        if not self.is_valid(X):
            X = self.validate(X, reset=False)
        expansion = self._expansion
        if self._linear:
            product = linear_scores(X, self.coef_, self.n_jobs)
            return np.asarray(product.T + expansion.intercepts[:, None])
        return expansion(X, self.n_jobs, told)

    def _from_values(self, X: MatrixLike) -> np.ndarray:
        """Scores from kernel values that the user computed."""
        X = np.asarray(X)
        known = len(self._positions)
        if X.ndim != 2 or X.shape[1] not in (self.n_features_in_, known):
            raise ValueError(
                f"X has shape {X.shape}, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input: kernel values against all training "
                f"examples, or against the {known} of support_"
            )
        columns = self._positions
        if X.shape[1] != self.n_features_in_:
            columns = np.searchsorted(self.support_, columns)
        values = np.asarray(X[:, columns], np.float64)
        if not np.isfinite(values).all():
            raise ValueError(
                "the kernel values of the support vectors must be finite, got NaN or inf"
            )
        scores = linear_scores(values, self._expansion.coefs).T
        return np.asarray(scores + self._expansion.intercepts[:, None])

    @property
    def n_trained(self) -> int:  # type: ignore[override]
        return self._n_given

    @property
    def _linear(self) -> bool:
        return isinstance(self._expansion.basis.kernel, Linear)

    @property
    def support_(self) -> np.ndarray:
        check_is_fitted(self)
        return np.sort(self._positions)

    @property
    def support_vectors_(self) -> Any:
        check_is_fitted(self)
        basis = self._expansion.basis
        if basis.kernel.by_column:
            raise AttributeError(
                "a precomputed kernel has no support vectors, only positions: support_"
            )
        if basis.vectors is None:
            return np.empty((0, self.n_features_in_))
        return basis.vectors[np.argsort(self._positions)]

    @property
    def n_support_(self) -> int:
        check_is_fitted(self)
        return len(self._positions)

    @property
    def dual_coef_(self) -> np.ndarray:
        check_is_fitted(self)
        return self._expansion.coefs[:, np.argsort(self._positions)]

    @property
    def intercept_(self) -> np.ndarray:
        check_is_fitted(self)
        return self._expansion.intercepts

    @property
    def coef_(self) -> np.ndarray:
        check_is_fitted(self)
        if not self._linear:
            raise AttributeError("coef_ exists with kernel='linear' only")
        return self._expansion.weights(self.n_features_in_)


class ExpansionClassifier(KernelClassifier, ExpansionEstimator):
    """A classifier whose scores are those of an expansion, one row of it per problem."""

    def set_expansion(self, data: TrainingSet, coefs: np.ndarray, intercepts: np.ndarray) -> None:
        self.classes_ = data.classes
        super().set_expansion(data, coefs, intercepts)

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Scores of the rows of X: one per row for two classes (positive for `classes_[1]`), else
        one per row and class, the largest of which `predict` answers with.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            For kernel="precomputed", kernel values against all training examples, of which only
            the columns `support_` are read, or against those in `support_` alone.
        """
        return self._scores(X)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """The class with the largest score, for each row of X."""
        return self.classes_of(self._scores(X, self._tell_classes))

    def _scores(self, X: MatrixLike, told: Told | None = None) -> np.ndarray:
        if not hasattr(self, "_expansion"):
            check_is_fitted(self)
        with single_thread():
            return self.join_scores(self.problem_scores(X, told))

    def join_scores(self, scores: np.ndarray) -> np.ndarray:
        """Scores of classes from those of problems, one row per problem."""
        return scores[0] if len(self.classes_) == 2 else scores.T

    def _tell_classes(self, scores: np.ndarray, errors: np.ndarray) -> np.ndarray:
        """Of which rows the class is certain, though scores of problems may be off by `errors`."""
        if len(self.classes_) == 2:
            return signs_told(scores, errors)
        low, high = self._ranges_of_classes(scores, errors)
        return np.asarray((high >= low.max(axis=0)).sum(axis=0) == 1)

    def _ranges_of_classes(
        self, scores: np.ndarray, errors: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """What the scores of classes are between, one row per class."""
        return scores - errors, scores + errors
