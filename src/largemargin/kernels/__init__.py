"""Kernels and the one engine that computes their values."""

from largemargin.kernels.choosing import FunctionKernel, make_kernel
from largemargin.kernels.functions import (
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    Sigmoid,
)

__all__ = [
    "FunctionKernel",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
    "make_kernel",
]
