"""Doors to other tools: ONNX, LIBSVM's model files, scikit-learn's machines, MLflow.

What others bring is imported when it is used.
"""

from largemargin.interchange.libsvm import read_libsvm, write_libsvm
from largemargin.interchange.onnx_export import to_onnx
from largemargin.interchange.scikit_learn import from_sklearn, to_sklearn

__all__ = ["from_sklearn", "read_libsvm", "to_onnx", "to_sklearn", "write_libsvm"]
