"""Names of what data is, for signatures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import scipy.sparse as sp

# Rows of numbers that were checked: a dense array, or a sparse matrix in CSR form.
Matrix: TypeAlias = "np.ndarray | sp.csr_array"
# Rows as a user gives them: an array, a sparse matrix, a data frame, or lists of numbers.
MatrixLike: TypeAlias = Any
# Labels, weights or other numbers as a user gives them, one per row.
VectorLike: TypeAlias = Any
