"""Files with a right checksum and wrong content: refused in a sentence, or models that answer with
finite numbers.
"""

import copy
import random
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler

import largemargin as lm
from largemargin.tables import TablePreprocessor

from .models import data, forge, parts_of

X, Y = data(30, n_classes=3)
X2, Y2 = data(24, n_classes=2, seed=1)
K = X @ X.T
GAPS = np.where(X > 1, np.nan, X)
TEXT = np.array(["a", "b", "c", "d", None], object)[np.arange(30) ** 2 % 7 % 5]
TABLE = {
    "number": GAPS[:, 0],
    "text": TEXT,
    "truth": np.where(X[:, 1] > 0, "yes", "no"),
    "date": [f"2020-01-{1 + i % 28:02}" for i in range(30)],
    "row": np.arange(30),
}
OBJECTS = np.column_stack([GAPS[:, :2].astype(object), TEXT])


def by_columns():
    numbers = make_pipeline(SimpleImputer(), MinMaxScaler())
    texts = make_pipeline(
        SimpleImputer(missing_values=None, strategy="constant", fill_value="none"),
        OneHotEncoder(drop="if_binary", min_frequency=4, handle_unknown="infrequent_if_exist"),
    )
    return ColumnTransformer(
        [
            ("numbers", numbers, [0, 1]),
            ("missing", MissingIndicator(), [0]),
            ("texts", texts, [2]),
        ]
    )


def streamed(model):
    for part in range(0, 30, 10):
        model.partial_fit(X[part : part + 10], Y[part : part + 10], classes=[0, 1, 2])
    return model


FAMILIES = {
    "voted": lambda: (lm.VotedPerceptron(degree=2, epochs=2).fit(X, Y), X),
    "voted linear": lambda: (lm.VotedPerceptron(kernel="linear", epochs=2).fit(X2, Y2), X2),
    "voted sparse": lambda: (
        lm.VotedPerceptron(fit_intercept=True).fit(sp.csr_array(X), Y), sp.csr_array(X),
    ),
    "voted precomputed": lambda: (lm.VotedPerceptron(kernel="precomputed").fit(K, Y), K),
    "pocket": lambda: (lm.VotedPerceptron(method="pocket").fit(X2, Y2), X2),
    "svc": lambda: (lm.SVC().fit(X, Y), X),
    "svc pairs": lambda: (lm.SVC(multiclass="ovo", kernel="poly").fit(X, Y), X),
    "svc linear": lambda: (lm.SVC(kernel="linear").fit(X2, Y2), X2),
    "svc precomputed": lambda: (lm.SVC(kernel="precomputed").fit(K, Y), K),
    "crammer-singer": lambda: (lm.SVC(multiclass="crammer-singer").fit(X, Y), X),
    "laplacian": lambda: (lm.SVC(kernel="laplacian").fit(X2, Y2), X2),
    "sigmoid": lambda: (lm.SVC(kernel="sigmoid", gamma=0.01).fit(X2, Y2), X2),
    "nu": lambda: (lm.NuSVC(nu=0.2).fit(X2, Y2), X2),
    "adatron": lambda: (lm.KernelAdatron(C=1.0).fit(X2, Y2), X2),
    "lp": lambda: (lm.LPSVC().fit(X2, Y2), X2),
    "nu lp": lambda: (lm.NuLPSVC(nu=0.2).fit(X2, Y2), X2),
    "leave one out": lambda: (lm.LeaveOneOutSVC().fit(X2, Y2), X2),
    "adaptive": lambda: (lm.AdaptiveMarginSVC().fit(X, Y), X),
    "hyperplane": lambda: (lm.MaxMarginHyperplane(norm=1).fit(X, Y), X),
    "aggressive": lambda: (streamed(lm.AggressivePerceptron(budget=8)), X),
    "mira": lambda: (streamed(lm.MIRA(average=True)), X),
    "romma": lambda: (streamed(lm.ROMMA()), X),
    "alma": lambda: (streamed(lm.ALMA(budget=9, policy="projectron", kernel="rbf")), X),
    "stumps": lambda: (lm.AdaBoost(n_rounds=5).fit(X, Y), X),
    "boosted networks": lambda: (
        lm.AdaBoost(lm.RBFNetwork(n_centers=3, max_iter=3), n_rounds=3).fit(X2, Y2), X2,
    ),
    "network": lambda: (lm.RBFNetwork(n_centers=4, max_iter=3).fit(X, Y), X),
    "standard": lambda: (make_pipeline(StandardScaler(), lm.SVC()).fit(X2, Y2), X2),
    "minmax": lambda: (make_pipeline(MinMaxScaler(), lm.VotedPerceptron()).fit(X2, Y2), X2),
    "maxabs": lambda: (make_pipeline(MaxAbsScaler(), lm.MIRA()).fit(X2, Y2), X2),
    "table": lambda: (make_pipeline(TablePreprocessor(), lm.SVC()).fit(TABLE, Y), TABLE),
    "imputed": lambda: (
        make_pipeline(SimpleImputer(add_indicator=True), StandardScaler(), lm.SVC()).fit(GAPS, Y),
        GAPS,
    ),
    "columns": lambda: (make_pipeline(by_columns(), lm.SVC()).fit(OBJECTS, Y), OBJECTS),
}  # fmt: skip
VALUES = [
    None, True, False, -1, 0, 1, 2, 3, 7, 2**31, 2**53, 2**62, 2**70, 0.0, 0.5, -0.5, 1e308, -1e308,
    1e-308, 5e-324, 1e200, 1e30, "", "x", "linear", "precomputed", "poly", "rbf", "float32", [],
    [0], {}, {"$float": "nan"}, {"$float": "inf"}, {"$float": "-inf"}, {"$tuple": []},
    {"$kernel": {"name": "linear"}}, {"$kernel": {"name": "rbf", "gamma": 1e308}},
]  # fmt: skip
NUMBERS = [
    np.nan, np.inf, -np.inf, 0, -1, 1, 2, 1e308, -1e308, 1e-308, 1e200, -1e200, 1e155, 1e30, 1e39,
    2**31, 2**53, 2**62, -(2**63),
]  # fmt: skip


def ways_of(node, way=()):
    """The paths to all values in a header."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        yield (*way, key)
        if isinstance(value, dict | list):
            yield from ways_of(value, (*way, key))


def mutated_header(header, draw):
    header = copy.deepcopy(header)
    # a file may say what a missing value is; scikit-learn refuses any other nan in two lines
    ways = [way for way in ways_of(header["model"]) if "missing_values" not in way]
    way = draw.choice([way for way in ways if len(way) < 14])
    node = header["model"]
    for key in way[:-1]:
        node = node[key]
    what = draw.random()
    if what < 0.1:
        del node[way[-1]]
    elif what < 0.3 and isinstance(node[way[-1]], int | float):
        node[way[-1]] = node[way[-1]] * draw.choice([-1, 2, 0.5, 1e300, 1e-300]) + draw.choice(
            [0, 1]
        )
    else:
        node[way[-1]] = draw.choice(VALUES)
    return header


def cast(array, number):
    """A number as the type of the array has it."""
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return array.dtype.type(number)
    if not np.isfinite(number):
        number = -1
    info = np.iinfo(array.dtype)
    return int(min(max(number, info.min), info.max))


def mutated_arrays(arrays, draw):
    arrays = {name: array.copy() for name, array in arrays.items()}
    name = draw.choice(sorted(arrays))
    array = arrays[name]
    what = draw.randrange(12)
    if what == 0:
        del arrays[name]
    elif what == 1:
        arrays[name] = array[: len(array) // 2]
    elif what == 2:
        arrays[name] = array.astype(draw.choice(["f4", "f8", "i8", "i4", "u1"]))
    elif what == 3:
        arrays[name] = array[::-1]
    elif what == 4:
        arrays[name] = array[None]
    elif what == 5:
        other = draw.choice(sorted(arrays))
        arrays[name], arrays[other] = arrays[other], array
    elif what == 6 and array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            arrays[name] = array * array.dtype.type(draw.choice([0, -1, 1e200, 1e-200, 1e300]))
    elif what == 7:
        arrays[f"{name}x"] = array
    elif array.size:
        for _ in range(draw.choice([1, 1, 3])):
            array.flat[draw.randrange(array.size)] = cast(array, draw.choice(NUMBERS))
        if what == 8:
            array[:] = array.flat[0]
    return arrays


def outcome_of(path, rows):
    """Whether a file is refused in a sentence, answers with finite numbers, or neither."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", category=RuntimeWarning, module="largemargin")
        try:
            model = lm.load(path)
        except lm.ModelFileError as error:
            sentence = str(error)
            return "" if "\n" not in sentence and len(sentence) < 1000 else sentence
        try:
            scores = model.decision_function(rows)
            model.predict(rows)
        except ValueError as error:
            return "" if "\n" not in str(error) and "NaN" not in str(error) else str(error)
    return "" if np.isfinite(scores).all() else "decisions that are not finite"


def attack(family, path, rounds, seed):
    model, rows = FAMILIES[family]()
    lm.save(model, path)
    header, arrays = parts_of(path)
    draw = random.Random(f"{family} {seed}")
    accepted = 0
    for k in range(rounds):
        forged = mutated_header(header, draw), arrays
        if draw.random() < 0.6:
            forged = header, mutated_arrays(arrays, draw)
        try:
            forge(path, *forged)
        except (TypeError, ValueError):
            continue
        found = outcome_of(path, rows)
        assert not found, (family, k, found)
        accepted += 1
    assert accepted > rounds // 2


@pytest.mark.parametrize("family", FAMILIES)
def test_a_few(family, tmp_path):
    attack(family, tmp_path / "m", 10, 0)


@pytest.mark.full
@pytest.mark.parametrize("family", FAMILIES)
def test_many(family, tmp_path):
    attack(family, tmp_path / "m", 400, 1)
