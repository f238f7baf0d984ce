"""Small fitted models for the tests of the model file, and ways to alter files."""

import hashlib
import json

import numpy as np
from safetensors.numpy import load as from_bytes
from safetensors.numpy import save as to_bytes
from sklearn.datasets import make_classification

from largemargin import VotedPerceptron
from largemargin.model_file.container import KEY, MARK, NO_SUM


def data(n=120, n_classes=3, seed=0):
    X, y = make_classification(
        n, 6, n_informative=5, n_redundant=0, n_classes=n_classes, flip_y=0.2, random_state=seed
    )
    return X, y


def small_model(**parameters):
    X, y = data(40)
    return VotedPerceptron(**{"epochs": 2, "degree": 2, **parameters}).fit(X, y)


def fitted(model, **kind):
    return model.fit(*data(60, **kind))


def changed(header, way, value):
    """A header with one value replaced, or taken out if the value is KeyError."""
    header = json.loads(json.dumps(header))
    node = header
    for key in way[:-1]:
        node = node[key]
    if value is KeyError:
        del node[way[-1]]
    else:
        node[way[-1]] = value
    return header


def put(index, value):
    """A change of an array in one place."""

    def change(array):
        array = array.copy()
        array[index] = value
        return array

    return change


def parts_of(path):
    """The header and the arrays of a file."""
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    return json.loads(json.loads(raw[8 : 8 + length])["__metadata__"][KEY]), dict(from_bytes(raw))


def forge(path, header, arrays):
    """Write a file with a right checksum, whatever is in it."""
    header = {**header, "sha256": NO_SUM}
    header = {"sha256": header.pop("sha256"), **header}
    text = header if isinstance(header, str) else json.dumps(header, separators=(",", ":"))
    raw = to_bytes({k: np.ascontiguousarray(v) for k, v in arrays.items()}, metadata={KEY: text})
    start = raw.index(MARK) + len(MARK)
    digest = hashlib.sha256(raw).hexdigest().encode()
    path.write_bytes(raw[:start] + digest + raw[start + 64 :])
