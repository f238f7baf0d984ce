"""`largemargin.calibrated`: probabilities from rows that a model has not seen."""

import numpy as np
import pytest
import sklearn.svm
from sklearn.datasets import load_wine
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

import largemargin
from largemargin import MIRA, SVC, OneClassSVM, calibrated
from largemargin.calibration import PairwiseCoupling, PlattScaling
from largemargin.tables import TablePreprocessor


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), np.array(["red", "rose", "white"])[y]


def test_it_is_a_copy_with_the_same_scores(wine):
    X, y = wine
    model = SVC().fit(X[::2], y[::2])
    sure = calibrated(model, X[1::2], y[1::2])
    assert type(sure) is SVC
    assert not hasattr(model, "predict_proba")
    assert np.array_equal(sure.decision_function(X), model.decision_function(X))
    found = sure.predict_proba(X)
    assert np.allclose(found.sum(axis=1), 1)
    assert (sure.classes_[found.argmax(axis=1)] == y).mean() > 0.95
    assert sure.calibration.n_folds == 0
    assert sure.calibration.n_rows == len(X[1::2])
    again = calibrated(sure, X[1::2], y[1::2]).predict_proba(X)
    assert np.array_equal(again, found)


def test_two_classes_are_platts_sigmoid(wine):
    X, y = wine[0], wine[1] == "red"
    model = SVC().fit(X[::2], y[::2])
    weights = np.arange(len(y[1::2])) % 3
    found = calibrated(model, X[1::2], y[1::2], sample_weight=weights).predict_proba(X)
    scaling = PlattScaling().fit(model.decision_function(X[1::2]), y[1::2], weights)
    assert np.allclose(found, scaling.predict_proba(model.decision_function(X)))


def test_pairs_are_coupled(wine):
    X, y = wine
    model = SVC(multiclass="ovo").fit(X[::2], y[::2])
    found = calibrated(model, X[1::2], y[1::2]).predict_proba(X)
    coupling = PairwiseCoupling().fit(model.problem_scores(X[1::2]).T, y[1::2])
    assert np.allclose(found, coupling.predict_proba(model.problem_scores(X).T))


def test_pipelines_stay_pipelines(wine):
    X, y = wine
    model = make_pipeline(StandardScaler(), SVC()).fit(X[::2], y[::2])
    sure = calibrated(model, X[1::2], y[1::2])
    assert type(sure) is type(model)
    assert list(sure.named_steps) == list(model.named_steps)
    assert not hasattr(model, "predict_proba")
    inside = calibrated(model[-1], model[0].transform(X[1::2]), y[1::2])
    assert np.array_equal(sure.predict_proba(X), inside.predict_proba(model[0].transform(X)))
    with pytest.raises(ValueError, match="are those that this SVC was trained on"):
        calibrated(model, X[::2], y[::2])


def test_tables_with_text_and_gaps(tmp_path):
    rng = np.random.default_rng(0)
    table = {
        "age": np.where(rng.random(120) < 0.1, np.nan, rng.normal(40, 10, 120)),
        "job": rng.choice(np.array(["baker", "smith", None], object), 120),
    }
    y = np.where(table["job"] == "smith", "rich", rng.choice(["rich", "poor"], 120))

    def rows(part):
        return {name: values[part] for name, values in table.items()}

    model = make_pipeline(TablePreprocessor(), SVC()).fit(rows(slice(60)), y[:60])
    sure = calibrated(model, rows(slice(60, None)), y[60:])
    largemargin.save(sure, tmp_path / "model.safetensors")
    loaded = largemargin.load(tmp_path / "model.safetensors")
    assert np.array_equal(loaded.predict_proba(table), sure.predict_proba(table))
    with pytest.raises(ValueError, match="these 60 rows are those"):
        calibrated(model, rows(slice(60)), y[:60])


def test_training_rows_are_refused_in_any_form(wine, tmp_path):
    X, y = wine
    X = X.astype(np.float32)
    model = SVC().fit(X[:100], y[:100])
    largemargin.save(model, tmp_path / "model.safetensors")
    loaded = largemargin.load(tmp_path / "model.safetensors")
    for one in (model, loaded):
        with pytest.raises(ValueError, match="these 100 rows are those that this SVC was trained"):
            calibrated(one, X[:100].astype(np.float64), y[:100][::-1])
    stream = MIRA()
    for first in (0, 50):
        stream.partial_fit(X[first : first + 50].astype(float), y[first : first + 50])
    with pytest.raises(ValueError, match="these 100 rows"):
        calibrated(stream, X[:100], y[:100])


def test_a_model_without_a_record_takes_any_rows(wine):
    X, y = wine
    model = SVC().fit(X, y)
    model.training_record = None
    assert hasattr(calibrated(model, X, y), "predict_proba")


def test_kernel_values(wine):
    X, y = wine
    model = SVC(kernel="precomputed").fit(rbf_kernel(X[::2], gamma=0.1), y[::2])
    K = rbf_kernel(X, X[::2], gamma=0.1)
    found = calibrated(model, K[1::2], y[1::2]).predict_proba(K)
    named = SVC(gamma=0.1).fit(X[::2], y[::2])
    assert np.allclose(found, calibrated(named, X[1::2], y[1::2]).predict_proba(X), atol=1e-3)


def test_data_frames_keep_their_names(wine):
    pd = pytest.importorskip("pandas")
    X, y = wine
    frame = pd.DataFrame(X, columns=[f"column {i}" for i in range(X.shape[1])])
    model = SVC().fit(frame[::2], y[::2])
    sure = calibrated(model, frame[1::2], y[1::2])
    assert sure.feature_names_in_.tolist() == frame.columns.tolist()
    with pytest.raises(ValueError, match="feature names"):
        calibrated(model, frame[1::2].iloc[:, ::-1], y[1::2])


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (slice(1, 60), None, "no row of class 'white' to calibrate with"),
        (slice(1, None, 2), "green", "y holds the label 'green', which is not among those"),
    ],
)
def test_labels_must_be_those_of_the_model(wine, rows, labels, message):
    X, y = wine
    model = SVC().fit(X[::2], y[::2])
    given = y[rows] if labels is None else np.where(y[rows] == "red", labels, y[rows])
    with pytest.raises(ValueError, match=message):
        calibrated(model, X[rows], given)


def test_what_it_cannot_calibrate_gets_a_sentence(wine):
    X, y = wine
    foreign = sklearn.svm.SVC().fit(X[::2], y[::2])
    with pytest.raises(TypeError, match="CalibratedClassifierCV for it"):
        calibrated(foreign, X[1::2], y[1::2])
    with pytest.raises(TypeError, match="OneClassSVM, which knows no classes"):
        calibrated(OneClassSVM().fit(X), X, y)
    search = GridSearchCV(SVC(), {"C": [1.0]}, cv=2).fit(X[::2], y[::2])
    with pytest.raises(TypeError, match="give its best_estimator_"):
        calibrated(search, X[1::2], y[1::2])
    assert hasattr(calibrated(search.best_estimator_, X[1::2], y[1::2]), "predict_proba")
    with pytest.raises(ValueError, match="has seen one class only, 'red'"):
        calibrated(MIRA().partial_fit(X[:9], y[:9]), X[9:], y[9:])
