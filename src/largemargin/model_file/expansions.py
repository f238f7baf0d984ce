"""A kernel expansion in a file: its basis, one row of coefficients and one threshold per problem,
and what is known of each problem.

The machines of many classes have one row of coefficients per problem, over the support vectors of
all problems. One pair of classes in forty-five uses few of these, so rows are stored sparse where
that is smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.base.expansion import Expansion
from largemargin.kernels.basis import Basis
from largemargin.model_file.arrays import (
    LARGEST,
    check_array,
    check_count,
    check_moderate,
    check_range,
    pack_rows,
    unpack_rows,
)
from largemargin.model_file.basis import BASIS_FACTS, empty_basis, fill_basis, pack_basis

_FACTS = {*BASIS_FACTS, "n_problems", "n_given", "largest_gap", "converged"}
# The most coefficients that may be stored sparse: a small file must not claim memory that it does
# not fill.
MOST_SPARSE = 2**28


def pack_expansion(
    model: Any, words: Sequence[str], reports: Sequence[str]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The facts and arrays of a fitted model that is an expansion.

    `words` are its attributes that are true or false, but for the underscore before them, and
    `reports` those that have one number per problem, but for the underscore after.
    """
    expansion = model.expansion
    facts, arrays = pack_basis(expansion.basis)
    facts |= {
        "n_problems": len(expansion.coefs),
        "n_given": int(model.n_trained),
        "converged": bool(model.converged_),
        "largest_gap": float(model.dual_gap_.max()),
    }
    facts |= {word: bool(getattr(model, f"_{word}")) for word in words}
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
    words: Sequence[str],
    reports: Sequence[str],
) -> None:
    """Give an estimator the fitted state that `pack_expansion` took from another."""
    wanted = {*_FACTS, *words}
    if set(facts) != wanted:
        raise ValueError(f"{type(model).__name__} needs the facts {', '.join(sorted(wanted))}")
    basis = empty_basis(facts)
    check_count(facts["n_given"], "n_given")
    check_problems(facts, words, len(model.classes_))
    n_given, n_problems = facts["n_given"], facts["n_problems"]
    if basis.kernel.by_column and n_given != model.n_features_in_:
        raise ValueError("a precomputed kernel has not one column an example")
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
    for word in words:
        setattr(model, f"_{word}", facts[word])
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
    check_range(reports["n_iter"], "n_iter", 1, LARGEST)
    return reports


def check_problems(facts: dict[str, Any], words: Sequence[str], n_classes: int) -> None:
    """Refuse facts that are not those of the problems that so many classes make."""
    for name in ("converged", *words):
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
