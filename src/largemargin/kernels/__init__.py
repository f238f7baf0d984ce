"""Kernels and the one engine that computes their values."""

from largemargin.kernels.functions import (
    FunctionKernel,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    make_kernel,
)

__all__ = [
    "FunctionKernel",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
    "make_kernel",
]
