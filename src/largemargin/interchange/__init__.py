"""Doors to other tools: ONNX, LIBSVM's model files, scikit-learn's machines, MLflow.

What others bring is imported when it is used.
"""

from largemargin.interchange.onnx_export import to_onnx

__all__ = ["to_onnx"]
