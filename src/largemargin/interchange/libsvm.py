"""Model files of LIBSVM, which ThunderSVM writes too: read as a fitted machine, and written.

The file is text: a header of names and values, the line "SV", and a line for each support vector,
its coefficients before its entries.

    c_svc, nu_svc   f of the pair i < j is sum_k coef_k k(x_k, x) - rho, positive for the class i
    one_class       f is sum_k coef_k k(x_k, x) - rho, negative for an outlier

Of several classes LIBSVM takes the one with the most pairs won, and of equals the one that comes
first in the file; here the margins of the pairs decide between equals. So labels are the same
except where votes are tied.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from largemargin.base.pipelines import earlier_steps, final_step
from largemargin.interchange.assembling import fill_machine, rows_of
from largemargin.interchange.decision import (
    EACH,
    INSIDE,
    Decision,
    KernelSum,
    LinearSum,
    decision_of,
    without_constant,
)
from largemargin.interchange.pairs import by_class, rows_of_pairs, to_ours
from largemargin.kernels.choosing import make_kernel
from largemargin.kernels.functions import KERNELS, Kernel, Linear

KERNEL_NAMES = {
    "linear": "linear",
    "polynomial": "poly",
    "rbf": "rbf",
    "sigmoid": "sigmoid",
    "precomputed": "precomputed",
}
MACHINES = {"c_svc": "SVC", "nu_svc": "NuSVC", "one_class": "OneClassSVM"}
LARGEST_INDEX = 2**31 - 1  # LIBSVM's own


@dataclass(frozen=True)
class Contents:
    """A file as it stands: the header, coefficients one row per line of it, and sparse rows."""

    header: dict[str, list[str]]
    coefs: np.ndarray
    rows: Any


def read_libsvm(path: str | PathLike[str], n_features: int | None = None) -> Any:
    """The machine of a model file that LIBSVM or ThunderSVM wrote, fitted.

    Its decision values are those of LIBSVM up to rounding, with the sign of this library: positive
    for the second of two classes in ascending order. Labels are the same except where votes of
    several classes are tied: LIBSVM takes the class that comes first in the file, this library the
    one with the larger margins. What the file does not hold, such as C, has its default, and
    nothing is told of training (`dual_gap_` is infinite). Estimates of probabilities are left out.

    Parameters
    ----------
    path : str or path-like
        The file.
    n_features : int, optional
        Features of the rows to come. LIBSVM leaves out zeros and does not say; by default it is the
        largest index in the file.

    Returns
    -------
    SVC, NuSVC or OneClassSVM

    Raises
    ------
    ValueError
        For a file that is none, of regression, or with what this library cannot compute with.
    """
    try:
        contents = _parse(Path(path).read_bytes())
        return _machine(contents, n_features)
    except ValueError as error:
        raise ValueError(f"{path} cannot be read as a model of LIBSVM: {error}") from error


def _parse(data: bytes) -> Contents:
    head, found, body = data.partition(b"\nSV")
    if not head.startswith(b"svm_type"):
        raise ValueError(f"it does not begin with svm_type, but with {head[:16]!r}")
    if not found:
        raise ValueError("it has no line SV: was it cut short?")
    header = {}
    for line in head.decode("ascii", "replace").splitlines():
        name, *values = line.split() or [""]
        header[name] = values
    lines = [line for line in body.splitlines() if line.strip()]
    n_coefs = max(1, _integer(header, "nr_class") - 1)
    sizes = np.array([line.count(b":") for line in lines], np.int64)
    try:
        numbers = np.array(body.replace(b":", b" ").split(), np.float64)
    except ValueError as error:
        raise ValueError("a line after SV holds a value that is not a number") from error
    ends = np.cumsum(2 * sizes + n_coefs)
    whole = len(numbers) == (ends[-1] if len(ends) else 0)
    if not whole or not np.isfinite(numbers).all():
        raise ValueError(
            f"a line after SV has not {n_coefs} finite coefficients and then entries index:value"
        )
    starts = ends - 2 * sizes - n_coefs
    coefs = numbers[starts[:, None] + np.arange(n_coefs)].T
    is_entry = np.ones(len(numbers), bool)
    is_entry[(starts[:, None] + np.arange(n_coefs)).ravel()] = False
    index, value = numbers[is_entry].reshape(-1, 2).T
    if (index != np.round(index)).any() or (index < 0).any() or (index > LARGEST_INDEX).any():
        raise ValueError("the index of an entry is not the number of a feature")
    row = np.repeat(np.arange(len(lines)), sizes)
    shape = len(lines), int(index.max(initial=0)) + 1
    return Contents(header, coefs, sp.coo_array((value, (row, index.astype(int))), shape))


def _values(header: dict[str, list[str]], name: str, kind: Any, count: int) -> list[Any]:
    values = header.get(name)
    if values is None or len(values) != count:
        raise ValueError(f"the header has not {count} of {name}")
    try:
        return [kind(value) for value in values]
    except ValueError as error:
        raise ValueError(f"{name} has the value {' '.join(values)[:40]!r}") from error


def _integer(header: dict[str, list[str]], name: str) -> int:
    return int(_values(header, name, int, 1)[0])


def _machine(contents: Contents, n_features: int | None) -> Any:
    from largemargin import svm

    header = contents.header
    kind = " ".join(header.get("svm_type", []))
    if kind not in MACHINES:
        raise ValueError(
            f"its svm_type is {kind[:40]!r}, and only {', '.join(MACHINES)} can be read"
        )
    kernel, parameters = _kernel(header)
    if _integer(header, "total_sv") != contents.rows.shape[0]:
        raise ValueError("total_sv is not the number of lines after SV: was it cut short?")
    vectors, positions, width = _support(contents, kernel, n_features)
    cls = getattr(svm, MACHINES[kind])
    n_given = width if kernel.by_column else len(positions)
    if kind == "one_class":
        (rho,) = _values(header, "rho", float, 1)
        scores = KernelSum(kernel, vectors, positions, contents.coefs, np.array([-rho]))
        return fill_machine(cls(**parameters), scores, width, n_given)
    n_classes = _integer(header, "nr_class")
    if n_classes < 2:
        raise ValueError(f"it has {n_classes} class: a classifier needs two")
    labels = np.array(_values(header, "label", int, n_classes))
    sizes = np.array(_values(header, "nr_sv", int, n_classes))
    rho = np.array(_values(header, "rho", float, n_classes * (n_classes - 1) // 2))
    if (sizes < 0).any() or sizes.sum() != len(positions):
        raise ValueError("nr_sv does not add up to total_sv")
    if labels.dtype.kind != "i" or len(np.unique(labels)) < n_classes:
        raise ValueError("a label occurs twice, or is not an integer of 64 bits")
    rows = rows_of_pairs(contents.coefs, sizes)
    classes, coefs, intercepts = to_ours(rows, -rho, labels)
    scores = KernelSum(kernel, vectors, positions, coefs, intercepts)
    return fill_machine(cls(multiclass="ovo", **parameters), scores, width, n_given, classes)


def _kernel(header: dict[str, list[str]]) -> tuple[Kernel, dict[str, Any]]:
    """The kernel, and the parameters of an estimator that mean it."""
    name = KERNEL_NAMES.get(" ".join(header.get("kernel_type", [])))
    if name is None:
        raise ValueError(
            f"its kernel_type is {' '.join(header.get('kernel_type', []))[:40]!r}, where one of "
            f"{', '.join(KERNEL_NAMES)} belongs"
        )
    kinds = {"degree": int, "gamma": float, "coef0": float}
    wanted = {key: kinds[key] for key in KERNELS[name].parameters}
    numbers = {key: _values(header, key, kind, 1)[0] for key, kind in wanted.items()}
    return make_kernel(name, **numbers), {"kernel": name, **numbers}


def _support(
    contents: Contents, kernel: Kernel, n_features: int | None
) -> tuple[Any, np.ndarray, int]:
    """The support vectors, their positions, and the number of features."""
    rows = sp.csr_array(contents.rows)
    largest = rows.shape[1] - 1
    positions = np.arange(rows.shape[0])
    vectors = None
    if kernel.by_column:  # an entry 0:n names the n-th row of the training data
        if rows.shape[1] != 1 or (rows.data < 1).any() or rows.nnz < rows.shape[0]:
            raise ValueError("a support vector of a precomputed kernel is not 0:NUMBER")
        positions = rows.data.astype(np.int64) - 1
        largest = int(positions.max(initial=0)) + 1
        if len(np.unique(positions)) < len(positions):
            raise ValueError("an example is a support vector twice")
    elif rows[:, [0]].nnz:
        raise ValueError("an entry has the index 0, and features are counted from 1")
    width = max(largest, 1) if n_features is None else int(n_features)
    if width < largest:
        raise ValueError(f"it has the feature {largest}, and n_features is {width}")
    if not kernel.by_column:
        parts = rows.data, rows.indices - 1, rows.indptr
        vectors = rows_of(sp.csr_array(parts, shape=(rows.shape[0], width)))
    return vectors, positions, width


def write_libsvm(model: Any, path: str | PathLike[str]) -> None:
    """Write a fitted machine as a model file of LIBSVM, with all digits.

    Parameters
    ----------
    model : estimator
        A machine that sums over support vectors with a kernel that LIBSVM has (linear, poly, rbf,
        sigmoid, precomputed): of two classes, or of more by pairs (`multiclass="ovo"`), or an
        outlier detector; or a linear machine of two classes. Labels must be integers.
    path : str or path-like
        The file, by custom with the ending .model.

    Raises
    ------
    ValueError
        With the reason, for what such a file cannot hold.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from largemargin import SVC
    >>> from largemargin.interchange import read_libsvm, write_libsvm
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(multiclass="ovo").fit(X, y)
    >>> path = os.path.join(tempfile.mkdtemp(), "iris.model")
    >>> write_libsvm(model, path)
    >>> bool((read_libsvm(path).predict(X) == model.predict(X)).all())
    True
    """
    from largemargin.runtime.files import write_atomically

    if earlier_steps(model) is not None:
        raise ValueError(
            "a model file of LIBSVM holds no scaling or encoding of rows: write the last step of "
            "the pipeline alone, and transform rows before they are given to LIBSVM"
        )
    final = final_step(model)
    decision = decision_of(final, expanded=True)
    scores = _as_kernel_sum(decision, type(final).__name__)
    kind = {"NuSVC": "nu_svc", "OneClassSVM": "one_class"}.get(type(final).__name__, "c_svc")
    text = _header_and_lines(decision, scores, kind)
    write_atomically(path, ["\n".join([*text, ""]).encode()])


def _as_kernel_sum(decision: Decision, name: str) -> KernelSum:
    scores = decision.scores
    if isinstance(scores, LinearSum) and decision.joined != EACH:  # w is its own support vector
        one = np.ones((1, 1))
        scores = KernelSum(Linear(), scores.weights, np.arange(1), one, scores.intercepts)
    if not isinstance(scores, KernelSum | LinearSum):
        raise ValueError(
            f"a model file of LIBSVM holds sums over support vectors, and {name} decides "
            "otherwise: convert it to .onnx, or use SVC"
        )
    if decision.joined == EACH or isinstance(scores, LinearSum):
        raise ValueError(
            f"LIBSVM decides between several classes by pairs, and this {name} has a function for "
            "each class: fit SVC with multiclass='ovo', or convert it to .onnx"
        )
    scores = without_constant(scores)
    if scores.kernel.name not in KERNEL_NAMES.values():
        raise ValueError(
            f"LIBSVM has no {scores.kernel.name} kernel, only {', '.join(KERNEL_NAMES)}: fit with "
            "one of these, or convert it to .onnx"
        )
    return scores


def _header_and_lines(decision: Decision, scores: KernelSum, kind: str) -> list[str]:
    kernel: Any = scores.kernel
    theirs = next(key for key, name in KERNEL_NAMES.items() if name == kernel.name)
    lines = [f"svm_type {kind}", f"kernel_type {theirs}"]
    lines += [f"{name} {getattr(kernel, name):.17g}" for name in kernel.parameters]
    if decision.joined == INSIDE:
        order, coefs = np.arange(scores.coefs.shape[1]), scores.coefs
        lines += ["nr_class 2", f"total_sv {len(order)}", f"rho {_text(-scores.intercepts)}"]
    else:
        labels = _labels(decision.classes)
        laid_out = by_class(-scores.coefs, len(labels))
        order, coefs = laid_out.order, laid_out.coefs
        lines += [f"nr_class {len(labels)}", f"total_sv {len(order)}"]
        lines += [f"rho {_text(scores.intercepts)}", f"label {' '.join(map(str, labels))}"]
        lines += [f"nr_sv {' '.join(map(str, laid_out.sizes.tolist()))}"]
    return [*lines, "SV", *_lines(scores, order, coefs)]


def _labels(classes: np.ndarray | None) -> list[int]:
    assert classes is not None
    labels = classes.tolist()
    whole = classes.dtype.kind in "iub" or all(
        isinstance(label, float) and label.is_integer() for label in labels
    )
    if not whole or max(abs(int(label)) for label in labels) >= 2**31:
        raise ValueError(
            f"the labels of LIBSVM are integers of 32 bits, and one of these is {labels[0]!r}: fit "
            "again with such numbers as labels"
        )
    return [int(label) for label in labels]


def _lines(scores: KernelSum, order: np.ndarray, coefs: np.ndarray) -> list[str]:
    if scores.kernel.by_column:
        entries = [f"0:{position + 1}" for position in scores.positions[order].tolist()]
    elif not len(order):
        entries = []
    else:
        rows = sp.csr_array(scores.vectors).astype(np.float64)[order]
        rows.sum_duplicates()
        entries = [
            " ".join(
                f"{index + 1}:{value:.17g}"
                for index, value in zip(
                    rows.indices[start:end].tolist(), rows.data[start:end].tolist(), strict=True
                )
            )
            for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        ]
    return [f"{_text(coefs[:, k])} {entry}" for k, entry in enumerate(entries)]


def _text(numbers: np.ndarray) -> str:
    return " ".join(f"{number:.17g}" for number in numbers.tolist())
