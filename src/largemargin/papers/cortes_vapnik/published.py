"""The numbers of the paper, with labels that say how well they are known.

Tables 2 and 3 are as printed. The support vectors of table 2 are means over the ten classifiers;
its images were smoothed. The benchmark figure is recalled. `OTHER_SOLVER_C`, `_SUPPORT` and
`_COMBINED` are about the public images: the same ten machines, trained one by one with a well-known
solver at its best C.
"""

from __future__ import annotations

from largemargin.papers.cells import Published

DEGREES = (1, 2, 3, 4, 5, 6, 7)
USPS_SIZES = (7_291, 2_007)  # of the public files; the paper speaks of 7,300 and 2,000
USPS_PRINTED_TRAIN = 7_300
MNIST_SIZES = (60_000, 10_000)

USPS_ERROR = dict(zip(DEGREES, (12.0, 4.7, 4.4, 4.3, 4.3, 4.2, 4.3), strict=True))
USPS_SUPPORT = dict(zip(DEGREES, (200, 127, 148, 165, 175, 185, 190), strict=True))
USPS_OTHERS = {
    "human performance": 2.5,
    "CART": 17,
    "C4.5": 16,
    "the best two-layer network": 6.6,
    "LeNet1": 5.1,
}

NIST_SUPPORT = (1379, 989, 1958, 1900, 1224, 2024, 1527, 2064, 2332, 2765)
NIST_TRAIN_ERRORS = (7, 16, 8, 11, 2, 4, 8, 16, 4, 1)
NIST_TEST_ERRORS = (19, 14, 35, 35, 36, 49, 32, 43, 48, 63)
NIST_COMBINED = Published(1.1, "print")

OTHER_SOLVER_C = 1e-7
OTHER_SOLVER_SUPPORT = (1610, 1799, 2837, 3234, 2650, 2994, 1793, 2605, 3460, 3589)
OTHER_SOLVER_COMBINED = Published(1.64, "run")

BENCHMARK = {
    "linear": Published(8.4, "recalled"),
    "3-NN": Published(2.4, "recalled"),
    "LeNet1": Published(1.7, "recalled"),
    "LeNet4": Published(1.1, "recalled"),
    "SVC": NIST_COMBINED,
}


def printed(values: tuple[int, ...]) -> list[Published]:
    return [Published(value, "print") for value in values]


def usps_bound(degree: int) -> Published:
    """Mean support vectors over training images, in percent."""
    return Published(round(100 * USPS_SUPPORT[degree] / USPS_PRINTED_TRAIN, 2), "derived")


def nist_bounds() -> list[Published]:
    """Support vectors over training images in percent, one number per class."""
    n_train = MNIST_SIZES[0]
    return [Published(round(100 * count / n_train, 2), "derived") for count in NIST_SUPPORT]


def nist_test_errors() -> list[Published]:
    """Test error of each class against the rest in percent."""
    n_test = MNIST_SIZES[1]
    return [Published(100 * count / n_test, "derived") for count in NIST_TEST_ERRORS]
