"""The probabilities of calibrated models in graphs, against the formula."""

from types import SimpleNamespace

import numpy as np
import onnxruntime
import pytest
from scipy.special import expit
from sklearn.datasets import load_iris

from largemargin import SVC
from largemargin.interchange import to_onnx

X, LABELS = load_iris(return_X_y=True)


def calibrated(n_classes, slopes, offsets, **read_with):
    """A model with sigmoids, as calibration leaves them."""
    rows = n_classes > LABELS
    model = SVC(multiclass=read_with.pop("multiclass", "ovr")).fit(X[rows], LABELS[rows])
    model.calibration = SimpleNamespace(
        slopes=np.array(slopes), offsets=np.array(offsets), read_with=read_with
    )
    model.score_unit = 2.0
    return model


def run(model):
    graph = to_onnx(model).SerializeToString()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    return dict(
        zip((one.name for one in session.get_outputs()), session.run(None, {"X": X}), strict=True)
    )


def test_two_classes():
    model = calibrated(2, [-1.7], [0.3])
    second = expit(1.7 * model.decision_function(X) / 2 - 0.3)
    wanted = np.column_stack([1 - second, second])
    assert np.abs(run(model)["probabilities"] - wanted).max() < 1e-14


def test_more_classes_even_where_all_sigmoids_are_tiny():
    for offset in (0.2, 800.0):  # exp(800) is no float
        model = calibrated(3, [-2.0, -1.0, -3.0], [offset, offset + 1, offset])
        exponents = model.decision_function(X) / 2 * [-2.0, -1.0, -3.0] + [
            offset, offset + 1, offset,
        ]  # fmt: skip
        logs = -np.logaddexp(0, exponents)
        wanted = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
        assert np.abs(run(model)["probabilities"] - wanted).max() < 1e-12


def test_pairs_are_left_out_with_a_warning():
    model = calibrated(3, [-1.0] * 3, [0.0] * 3, multiclass="ovo")
    with pytest.warns(UserWarning, match="probabilities of one-vs-one are left out"):
        assert set(run(model)) == {"label", "scores"}


def test_scores_that_are_read_in_another_way_are_refused():
    with pytest.raises(ValueError, match=r"calibrated with tol=5, and it is 0.001 now"):
        to_onnx(calibrated(2, [-1.0], [0.0], tol=5))


@pytest.mark.skipif(
    "calibrate" not in SVC().get_params(), reason="this version has no calibrate parameter"
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_calibrated_machine(n_classes):
    rows = n_classes > LABELS
    model = SVC(calibrate=True).fit(X[rows], LABELS[rows])
    assert np.abs(run(model)["probabilities"] - model.predict_proba(X)).max() < 1e-12
