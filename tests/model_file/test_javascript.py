"""The reader in JavaScript on the page of the model file decides as the models do."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from largemargin import LPSVC, SVC, save

PAGE = Path(__file__).parents[2] / "docs" / "model_file.rst"
NODE = shutil.which("node")
X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]

needs_node = pytest.mark.skipif(NODE is None, reason="install node to run the reader in JavaScript")


def reader():
    """The code of the page, without its indentation."""
    text = PAGE.read_text().split("   :name: reader\n\n")[1]
    return "\n".join(line[3:] for line in re.split(r"\n(?=\S)", text)[0].split("\n"))


def test_the_reader_is_short():
    code = [line for line in reader().split("\n") if line.strip() and not line.startswith("//")]
    assert len(code) <= 22


@needs_node
@pytest.mark.parametrize(
    ("model", "data"),
    [
        (SVC(), X),
        pytest.param(SVC(kernel="poly", precision="float32"), X, marks=pytest.mark.full),
        pytest.param(SVC(kernel="linear"), X, marks=pytest.mark.full),
        pytest.param(SVC(kernel="sigmoid", gamma=0.01), X, marks=pytest.mark.full),
        pytest.param(LPSVC(kernel="laplacian"), X, marks=pytest.mark.full),
        pytest.param(SVC(), sp.csr_array(X * (X > 1)), marks=pytest.mark.full),
    ],
)
@pytest.mark.parametrize("n_classes", [pytest.param(2, marks=pytest.mark.full), 3])
def test_the_reader_decides_as_the_model(model, data, n_classes, tmp_path):
    rows = slice(100) if n_classes == 2 else slice(150)
    model.fit(data[rows], NAMES[rows])
    save(model, tmp_path / "model.safetensors")
    (tmp_path / "decide.js").write_text(reader())
    for x in X[:150:75] + 0.05:
        told = subprocess.run(
            [NODE, "decide.js", "model.safetensors", *map(repr, x.tolist())],
            cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip
        found = json.loads(told.stdout)
        wanted = np.atleast_1d(model.decision_function(x[None]).squeeze())
        off = 1e-12 if model.precision != "float32" else 1e-5
        assert np.abs(np.array(found["scores"]) - wanted).max() < off * np.abs(wanted).max() * 100
        assert found["label"] == model.predict(x[None])[0]
