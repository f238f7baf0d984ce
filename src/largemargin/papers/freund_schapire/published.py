"""The numbers of the paper, with labels that say how well they are known.

Table 1 is recalled, not re-read: where a row is missing it is not at hand, and neither are tables 2
and 3. The row of Cortes and Vapnik beside table 2: the support vectors are as printed, the error
rates follow from the printed numbers of test errors in 10,000 images.
"""

from __future__ import annotations

from largemargin.papers.cells import Published
from largemargin.papers.freund_schapire.experiments import TABLE_EPOCHS

N_TRAIN, N_TEST = 60_000, 10_000
PERMUTATIONS = 10
DEGREES = (1, 2, 3, 4, 5, 6)
EPOCHS = 30
EPOCHS_LINEAR = 10  # degree 1 stopped there, after six days

# degree -> row -> one number for each of TABLE_EPOCHS, as far as the paper went
TABLE_1: dict[int, dict[str, tuple[float, ...]]] = {
    1: {
        "vote": (10.7, 8.5, 8.3, 8.2, 8.2, 8.1),
        "average": (10.9, 8.7, 8.5, 8.4, 8.3, 8.3),
        "average normalized": (10.9, 8.5, 8.3, 8.2, 8.2, 8.1),
        "last": (16.0, 14.7, 13.6, 13.9, 13.7, 13.5),
        "last normalized": (15.4, 14.1, 13.1, 13.5, 13.2, 13.0),
        "random": (22.0, 15.7, 14.7, 14.3, 14.1, 13.8),
        "random normalized": (21.5, 15.2, 14.2, 13.8, 13.6, 13.2),
        "n_support": (2489, 19795, 24263, 26704, 28322, 32994),
        "n_mistakes": (3342, 25461, 48431, 70915, 93090, 223657),
    },
    2: {
        "vote": (6.0, 2.8, 2.4, 2.2, 2.1, 1.8, 1.8),
        "average": (6.0, 2.8, 2.4, 2.2, 2.1, 1.9, 1.8),
        "average normalized": (6.2, 3.0, 2.5, 2.3, 2.2, 1.9, 1.8),
        "last": (8.6, 4.0, 3.4, 3.0, 2.7, 2.3, 2.0),
        "last normalized": (8.4, 3.9, 3.3, 3.0, 2.7, 2.3, 1.9),
        "random": (13.4, 5.9, 4.7, 4.1, 3.8, 2.9, 2.4),
        "random normalized": (13.2, 5.9, 4.7, 4.1, 3.8, 2.9, 2.3),
        "n_support": (1639, 8190, 9888, 10818, 11424, 12963, 13861),
        "n_mistakes": (2150, 10201, 15290, 19093, 22100, 32451, 41614),
    },
    3: {
        "vote": (5.4, 2.3, 1.9, 1.8, 1.7, 1.6, 1.6),
        "average": (5.3, 2.3, 1.9, 1.8, 1.7, 1.6, 1.5),
        "average normalized": (5.5, 2.5, 2.0, 1.8, 1.8, 1.6, 1.5),
        "last": (6.9, 3.1, 2.5, 2.2, 2.0, 1.7, 1.6),
        "last normalized": (6.8, 3.1, 2.5, 2.2, 2.0, 1.7, 1.6),
        "n_support": (1460, 6774, 8073, 8715, 9102, 9883, 10094),
        "n_mistakes": (1937, 8475, 11739, 13757, 15129, 18422, 19473),
    },
    4: {
        "vote": (5.4, 2.2, 1.8, 1.7, 1.6, 1.6, 1.6),
        "n_support": (1406, 6338, 7453, 7944, 8214, 8673, 8717),
        "n_mistakes": (1882, 7977, 10543, 11933, 12780, 14375, 14538),
    },
    5: {
        "vote": (5.7, 2.2, 1.8, 1.7, 1.7, 1.7, 1.7),
        "n_support": (1439, 6327, 7367, 7788, 7990, 8295, 8313),
        "n_mistakes": (1953, 8044, 10379, 11563, 12215, 13234, 13289),
    },
    6: {
        "vote": (6.0, 2.5, 2.1, 2.0, 1.9, 1.9, 1.9),
        "n_support": (1488, 6521, 7572, 7947, 8117, 8284, 8285),
        "n_mistakes": (2034, 8351, 10764, 11892, 12472, 13108, 13118),
    },
}

SVM_SUPPORT_VECTORS = (1379, 989, 1958, 1900, 1224, 2024, 1527, 2064, 2332, 2765)
SVM_TEST_ERROR = (0.2, 0.1, 0.4, 0.4, 0.4, 0.5, 0.3, 0.4, 0.5, 0.6)


def table_1(degree: int, row: str, epochs: float) -> Published | None:
    """What table 1 says, if it is at hand."""
    known = TABLE_1[degree].get(row, ())
    column = TABLE_EPOCHS.index(epochs)
    if column >= len(known):
        return None
    return Published(known[column], "recalled", runs=PERMUTATIONS)


def svm_support_vectors() -> list[Published]:
    """Support vectors of the degree 4 machine of Cortes and Vapnik, one number per class."""
    return [Published(value, "print") for value in SVM_SUPPORT_VECTORS]


def svm_test_errors() -> list[Published]:
    """Test error of the same machine in percent, one number per class."""
    return [Published(value, "derived") for value in SVM_TEST_ERROR]
