"""Models inside pipelines and searches."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from largemargin import SVC
from largemargin.base.pipelines import (
    before_final_step,
    best_model,
    deciding_model,
    earlier_steps,
    final_step,
)

X, y = load_iris(return_X_y=True)


def test_a_model_alone_is_its_own():
    model = SVC()
    assert final_step(model) is best_model(model) is deciding_model(model) is model
    assert earlier_steps(model) is None
    assert before_final_step(model, X) is X


@pytest.mark.parametrize("scalers", [(), (StandardScaler(),), (StandardScaler(), MinMaxScaler())])
def test_a_pipeline(scalers):
    model = make_pipeline(*scalers, SVC()).fit(X, y)
    final = model.steps[-1][1]
    assert final_step(model) is deciding_model(model) is final
    assert (earlier_steps(model) is None) == (not scalers)
    rows = X
    for scaler in scalers:
        rows = scaler.transform(rows)
    np.testing.assert_array_equal(before_final_step(model, X), rows)
    np.testing.assert_array_equal(final.predict(before_final_step(model, X)), model.predict(X))


def test_what_decides_in_a_search_in_a_pipeline_in_a_search():
    inner = GridSearchCV(SVC(), {"C": [1.0]}, cv=2)
    outer = GridSearchCV(make_pipeline(StandardScaler(), inner), {}, cv=2).fit(X, y)
    best = outer.best_estimator_
    assert best_model(outer) is best
    assert deciding_model(outer) is best[-1].best_estimator_
    assert final_step(outer) is outer


def test_nothing_is_imported():
    code = "import sys, largemargin.base.pipelines; print('numpy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"
