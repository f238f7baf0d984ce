"""The arrays of fitted models in a file: checks of arrays that came from a file, sparse rows, the
basis of a kernel model, and kernel expansions.

A basis is its kernel, and its vectors or, if the kernel was given by its values, their positions
alone. An expansion is its basis, one row of coefficients and one threshold per problem, and what is
known of each problem. The machines of many classes have one row of coefficients per problem, over
the support vectors of all problems. One pair of classes in forty-five uses few of these, so the
rows are stored sparse where that is smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.base.expansion import Expansion
from largemargin.kernels.basis import Basis
from largemargin.kernels.engine import LARGEST_NUMBER, check_overflow, largest_square
from largemargin.kernels.functions import Kernel
from largemargin.runtime.arrays import Matrix

# Counts, steps and positions are below this one: a float64 counts so far exactly.
LARGEST_COUNT = 2**53
# Coefficients that may be stored sparse, at most: a small file must not claim memory that it does
# not fill.
MOST_SPARSE = 2**28
BASIS_FACTS = ("kernel", "precision", "n_support")
_EXPANSION_FACTS = {*BASIS_FACTS, "n_problems", "n_given", "largest_gap", "converged"}


def check_array(array: np.ndarray, name: str, dtype: Any, shape: tuple[int, ...]) -> None:
    """Refuse an array of another type or shape."""
    if array.shape != shape or array.dtype != dtype:
        raise ValueError(
            f"{name} has type {array.dtype} and shape {array.shape}, where {np.dtype(dtype)} and "
            f"{shape} belong"
        )


def check_range(array: np.ndarray, name: str, low: int, end: int) -> None:
    """Refuse integers below `low` or not below `end`."""
    if len(array) and not (array.min() >= low and array.max() < end):
        raise ValueError(f"{name} goes beyond the range from {low} to {end}")


def check_finite(array: np.ndarray, name: str) -> None:
    """Refuse infinities and NaN."""
    if not np.isfinite(array).all():
        raise ValueError(f"{name} is not all finite numbers")


def check_moderate(array: np.ndarray, name: str) -> None:
    """Refuse infinities, NaN, and numbers so large that scores made of them could be."""
    if not (np.abs(array) < LARGEST_NUMBER).all():
        raise ValueError(f"{name} is not all finite numbers below {LARGEST_NUMBER:g}")


def check_count(value: Any, name: str) -> None:
    """Refuse what is not an integer that counts something."""
    if type(value) is not int or not 0 <= value < LARGEST_COUNT:
        raise ValueError(f"{name} is not a count")


def pack_rows(rows: sp.csr_array, name: str) -> dict[str, np.ndarray]:
    """Sparse rows as their entries, the columns of these, and where each row begins."""
    return {
        f"{name}.data": rows.data,
        f"{name}.indices": rows.indices.astype(np.int64),
        f"{name}.indptr": rows.indptr.astype(np.int64),
    }


def unpack_rows(arrays: dict[str, np.ndarray], name: str, n_rows: int, width: int) -> sp.csr_array:
    """Take sparse rows out of the arrays, their entries in the order of columns."""
    data, indices, indptr = (arrays.pop(f"{name}.{part}") for part in ("data", "indices", "indptr"))
    check_array(data, f"{name}.data", data.dtype, (len(indices),))
    check_array(indices, f"{name}.indices", np.int64, (len(data),))
    check_array(indptr, f"{name}.indptr", np.int64, (n_rows + 1,))
    check_range(indices, f"{name}.indices", 0, width)
    if indptr[0] != 0 or indptr[-1] != len(data) or (indptr[1:] < indptr[:-1]).any():
        raise ValueError(f"{name}.indptr does not part the entries into rows")
    within = np.ones(len(indices), bool)  # the first entry of a row has none before it
    within[indptr[:-1][indptr[:-1] < len(indices)]] = False
    if len(indices) and (np.diff(indices, prepend=0)[within] <= 0).any():
        raise ValueError(f"{name}.indices are not in order within a row")
    return sp.csr_array((data, indices, indptr), shape=(n_rows, width))


def pack_basis(basis: Basis) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The facts and arrays of a basis."""
    facts = {"kernel": basis.kernel, "precision": basis.dtype.name, "n_support": len(basis)}
    arrays = {"basis.examples": basis.examples}
    if len(basis) and not basis.kernel.by_column:
        vectors = basis.vectors
        arrays |= (
            pack_rows(vectors, "basis") if sp.issparse(vectors) else {"basis.vectors": vectors}
        )
    return facts, arrays


def empty_basis(facts: dict[str, Any]) -> Basis:
    """A basis of the kernel and type that the facts tell, without vectors yet."""
    if not isinstance(facts["kernel"], Kernel):
        raise ValueError("there is no kernel")
    if facts["precision"] not in ("float32", "float64"):
        raise ValueError(f"kernel values cannot be of type {str(facts['precision'])[:40]!r}")
    return Basis(facts["kernel"], np.dtype(facts["precision"]))


def fill_basis(
    basis: Basis,
    facts: dict[str, Any],
    arrays: dict[str, np.ndarray],
    n_features: int,
    n_examples: int = LARGEST_COUNT,
) -> None:
    """Take vectors out of the arrays and give them the slots they had.

    Their examples are numbers below `n_examples`; those of a precomputed kernel are columns of it.
    """
    kernel, examples = basis.kernel, arrays.pop("basis.examples")
    size = len(examples)
    check_array(examples, "basis.examples", np.int64, (size,))
    end = min(n_features, n_examples) if kernel.by_column else n_examples
    check_range(examples, "basis.examples", 0, end)
    if type(facts["n_support"]) is not int or facts["n_support"] != size:
        raise ValueError("the number of support vectors is not that of the basis")
    if not size:
        return
    if kernel.by_column:
        basis.add(None, examples)
        return
    vectors: Matrix
    if "basis.vectors" in arrays:
        vectors = arrays.pop("basis.vectors")
        check_array(vectors, "basis.vectors", vectors.dtype, (size, n_features))
        values = vectors
    else:
        vectors = unpack_rows(arrays, "basis", size, n_features)
        values = vectors.data
    fits = values.dtype == basis.dtype if kernel.on_products else values.dtype in ("f4", "f8")
    if not fits or not np.isfinite(values).all():
        raise ValueError(f"the vectors of the basis are not finite numbers of type {basis.dtype}")
    if kernel.on_products:
        check_overflow(kernel, basis.dtype, largest_square(vectors))
    basis.add(vectors, examples)


def pack_expansion(
    model: Any, flags: Sequence[str], reports: Sequence[str]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The facts and arrays of a fitted model that is an expansion.

    `flags` names its attributes that are true or false, without the underscore that they begin
    with; `reports` names those of one number per problem, without the underscore at their end.
    """
    expansion = model.expansion
    facts, arrays = pack_basis(expansion.basis)
    facts |= {
        "n_problems": len(expansion.coefs),
        "n_given": int(model.n_trained),
        "converged": bool(model.converged_),
        "largest_gap": float(model.dual_gap_.max()),
    }
    facts |= {flag: bool(getattr(model, f"_{flag}")) for flag in flags}
    arrays |= pack_coefs(expansion.coefs)
    arrays["intercepts"] = expansion.intercepts
    for name in reports:
        dtype = np.int64 if name == "n_iter" else np.float64
        arrays[name] = np.asarray(getattr(model, f"{name}_"), dtype)
    return facts, arrays


def unpack_expansion(
    model: Any,
    facts: dict[str, Any],
    arrays: dict[str, np.ndarray],
    flags: Sequence[str],
    reports: Sequence[str],
) -> None:
    """Give an estimator the fitted state that `pack_expansion` took from another."""
    wanted = {*_EXPANSION_FACTS, *flags}
    if set(facts) != wanted:
        raise ValueError(f"{type(model).__name__} needs the facts {', '.join(sorted(wanted))}")
    basis = empty_basis(facts)
    check_count(facts["n_given"], "n_given")
    # without labels there is one problem
    check_problems(facts, flags, len(model.classes_) if hasattr(model, "classes_") else 1)
    n_given, n_problems = facts["n_given"], facts["n_problems"]
    if basis.kernel.by_column and n_given != model.n_features_in_:
        raise ValueError("a precomputed kernel does not have one column per example")
    arrays = dict(arrays)
    fill_basis(basis, facts, arrays, model.n_features_in_, n_given)
    positions = basis.examples.copy()
    if len(np.unique(positions)) < len(positions):
        raise ValueError("an example is in the basis twice")
    coefs = unpack_coefs(arrays, n_problems, len(basis))
    intercepts = arrays.pop("intercepts")
    check_array(intercepts, "intercepts", np.float64, (n_problems,))
    check_moderate(intercepts, "intercepts")
    check_scores(basis, coefs)
    known = unpack_reports(arrays, reports, n_problems)
    if arrays:
        raise ValueError(f"there is an array {sorted(arrays)[0][:60]!r}, which no model has")
    if known["dual_gap"].max() != facts["largest_gap"]:
        raise ValueError("the largest gap is not that of the problems")
    model.restore_expansion(Expansion(basis, coefs, intercepts), positions, n_given)
    model.converged_ = facts["converged"]
    for flag in flags:
        setattr(model, f"_{flag}", facts[flag])
    for name, values in known.items():
        setattr(model, f"{name}_", values)


def pack_coefs(coefs: np.ndarray) -> dict[str, np.ndarray]:
    """Coefficients, one row per problem, in whichever form is smaller."""
    entry, place = coefs.itemsize, np.dtype(np.int64).itemsize
    sparse_size = np.count_nonzero(coefs) * (entry + place) + (len(coefs) + 1) * place
    if coefs.size <= MOST_SPARSE and sparse_size < coefs.nbytes:
        return pack_rows(sp.csr_array(coefs), "coefs")
    return {"coefs": coefs}


def unpack_coefs(arrays: dict[str, np.ndarray], n_problems: int, n_support: int) -> np.ndarray:
    """Take coefficients out of the arrays."""
    if "coefs" in arrays:
        coefs = arrays.pop("coefs")
    elif n_problems * n_support > MOST_SPARSE:
        raise ValueError(f"{n_problems} x {n_support} coefficients are too many to be sparse")
    else:
        coefs = unpack_rows(arrays, "coefs", n_problems, n_support).toarray()
    check_array(coefs, "coefs", np.float64, (n_problems, n_support))
    with np.errstate(over="ignore", invalid="ignore"):
        check_moderate(np.abs(coefs).sum(axis=1), "the sum of coefs")
    return coefs


def check_scores(basis: Basis, coefs: np.ndarray) -> None:
    """Refuse coefficients whose scores of vectors as large as those of the basis overflow."""
    kernel = basis.kernel
    square = float(basis.squares.max(initial=0.0)) if kernel.on_products else 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        largest = np.abs(coefs).sum(axis=-1) * max(kernel.bound(square), 1.0)
    check_moderate(largest, "the largest score")


def unpack_reports(
    arrays: dict[str, np.ndarray], names: Sequence[str], n_problems: int
) -> dict[str, np.ndarray]:
    """What is known of each problem, or of all of them as one."""
    reports = {name: arrays.pop(name) for name in names}
    size = 1 if reports["objective"].shape == (1,) else n_problems
    for name, values in reports.items():
        check_array(values, name, np.int64 if name == "n_iter" else np.float64, (size,))
        if np.isnan(values).any():
            raise ValueError(f"{name} is not a number for every problem")
    check_range(reports["n_iter"], "n_iter", 1, LARGEST_COUNT)
    return reports


def check_problems(facts: dict[str, Any], flags: Sequence[str], n_classes: int) -> None:
    """Refuse facts that are not those of the problems that so many classes make."""
    for name in ("converged", *flags):
        if type(facts[name]) is not bool:
            raise ValueError(f"{name} is neither true nor false")
    by_pairs = facts.get("by_pairs", False)
    if n_classes == 2:
        n_problems = 0 if by_pairs else 1
    else:
        n_problems = n_classes * (n_classes - 1) // 2 if by_pairs else n_classes
    if type(facts["n_problems"]) is not int or facts["n_problems"] != n_problems:
        raise ValueError("the number of problems is not that of the labels")
    if type(facts["largest_gap"]) is not float:
        raise ValueError("the largest gap is not a number")
