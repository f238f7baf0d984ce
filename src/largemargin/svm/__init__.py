"""Support vector machines: many dual problems solved together over shared kernel rows."""

from largemargin.svm.cross_validation import CrossValidation, cross_validate
from largemargin.svm.kernel_adatron import KernelAdatron
from largemargin.svm.nu_svc import NuSVC
from largemargin.svm.one_class_svm import OneClassSVM
from largemargin.svm.svc import SVC

__all__ = ["SVC", "CrossValidation", "KernelAdatron", "NuSVC", "OneClassSVM", "cross_validate"]
