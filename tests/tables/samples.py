"""A table with every kind of column, and what scikit-learn makes of it without this room."""

import numpy as np
import scipy.sparse as sp
from sklearn.compose import make_column_transformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler


def mixed(n=120, seed=0):
    """A dict of columns, and labels that depend on some of them."""
    draw = np.random.default_rng(seed)
    age = draw.integers(18, 90, n).astype(float)
    age[draw.random(n) < 0.1] = np.nan
    jobs = np.array(["clerk", "smith", "nurse", "pilot"], object)
    job = draw.choice(jobs, n, p=[0.5, 0.3, 0.15, 0.05])
    job[draw.random(n) < 0.1] = None
    paid = draw.random(n) < 0.4
    days = draw.integers(0, 4000, n)
    y = np.where((np.nan_to_num(age) / 40 + paid + (job == "nurse")) > 1.7, "good", "bad")
    table = {
        "age": age,
        "job": job,
        "paid": paid,
        "since": np.datetime64("2010-01-01", "D") + days,
        "income": np.array([f"{x:,.2f}" for x in draw.lognormal(8, 1, n)], object),
        "share": np.array([f"{x:.1f} %" for x in 100 * draw.random(n)], object),
        "row": np.arange(n, dtype=float),
        "country": np.array(["NO"] * n, object),
    }
    return table, y


def twin(table, scale=StandardScaler, min_frequency=1):
    """The rows that plain transformers make of `mixed`, its text parsed by hand."""
    numbers = np.column_stack(
        [
            table["age"],
            [float(text.replace(",", "")) for text in table["income"]],
            [float(text.strip(" %")) / 100 for text in table["share"]],
            table["since"].astype("datetime64[D]").astype(float),
        ]
    )
    job = table["job"][:, None]
    blocks = [
        make_pipeline(SimpleImputer(strategy="median"), scale()).fit_transform(numbers),
        table["paid"][:, None].astype(float),
        MissingIndicator().fit_transform(numbers).astype(float),
        make_column_transformer(
            (OneHotEncoder(min_frequency=min_frequency, sparse_output=False), [0])
        ).fit_transform(np.where(job == None, "(missing)", job)),  # noqa: E711
    ]
    return np.hstack([block.toarray() if sp.issparse(block) else block for block in blocks])
