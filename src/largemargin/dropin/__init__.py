"""Drop-in replacements of `sklearn.svm`: its names, signatures, defaults and attributes, and the
solvers and the prediction of this package.
"""

from largemargin.dropin.linear_svc import LinearSVC
from largemargin.dropin.machines import SVC, NuSVC, OneClassSVM
from largemargin.dropin.patching import patch_sklearn, unpatch_sklearn

__all__ = ["SVC", "LinearSVC", "NuSVC", "OneClassSVM", "patch_sklearn", "unpatch_sklearn"]
