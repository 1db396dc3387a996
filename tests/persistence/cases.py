"""Fitted models of all sorts, small, each with what its methods can be asked."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from rprnmf import GNMF, LCNMF, NMF, RPRNMF, Triplets
from rprnmf.triplets import next_queries

N, M = 14, 9
ROWS = [f"row {k}" for k in range(N)]
TRIPLETS = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11], [2, 12, 13], [5, 0, 9]])


def data(dtype: Any = np.float64) -> np.ndarray:
    """Non-negative, without zeros."""
    return (0.1 + np.random.default_rng(0).gamma(1.0, 1.0, (N, M))).astype(dtype)


def holes() -> np.ndarray:
    """A third is missing."""
    return np.where(np.random.default_rng(1).random((N, M)) < 0.33, np.nan, data())


def ratings() -> sp.csr_array:
    """Few entries, whole numbers; zeros are missing."""
    rng = np.random.default_rng(2)
    return sp.csr_array(np.where(rng.random((40, 30)) < 0.3, rng.integers(1, 6, (40, 30)), 0.0))


def facts(n: int = N) -> pd.DataFrame:
    """Numbers, categories and several labels in a cell."""
    return pd.DataFrame(
        {
            "year": np.arange(n) + 1990,
            "price": np.where(np.arange(n) % 4 == 0, np.nan, np.linspace(0, 1, n)),
            "kind": pd.Categorical(np.array(["a", "b", "c"])[np.arange(n) % 3]),
            "genres": ["Comedy|Drama" if k % 2 else "Drama" for k in range(n)],
            "tags": [["x", "y"] if k % 3 else ["z"] for k in range(n)],
        }
    )


def frame() -> pd.DataFrame:
    """With names of rows and columns."""
    return pd.DataFrame(data(), index=ROWS, columns=[f"column {k}" for k in range(M)])


def named(items: np.ndarray = TRIPLETS) -> np.ndarray:
    """The triplets by name."""
    return np.array(ROWS, dtype=object)[items]


#: name -> (estimator, X, arguments of fit)
FITS: dict[str, Callable[[], tuple[Any, Any, dict[str, Any]]]] = {
    "plain": lambda: (NMF(3), data(), {}),
    "float32": lambda: (NMF(3), data(np.float32), {}),
    "beta": lambda: (NMF(3, beta_loss=1.5, solver="mu"), data(), {}),
    "divergence": lambda: (NMF(3, beta_loss="kullback-leibler"), sp.csr_array(data()), {}),
    "norms": lambda: (NMF(2, alpha_W=0.1, l1_ratio=0.5), data(), {}),
    "missing": lambda: (NMF(3, missing="nan"), holes(), {}),
    "ratings": lambda: (NMF(4, missing="zero"), ratings(), {}),
    "mask": lambda: (NMF(4, missing="zero", row_prior="data"), ratings(), {}),
    "facts": lambda: (NMF(3, row_prior=facts()), data(), {}),
    "joined": lambda: (
        NMF(3, missing="nan", row_prior=["data", facts(), np.eye(N)], column_prior="data"),
        holes(),
        {},
    ),
    "sparse facts": lambda: (NMF(3, row_prior=sp.csr_array(np.eye(N))), data(), {}),
    "sparse data": lambda: (NMF(3, row_prior="data"), sp.csr_array(data()), {}),
    "graph": lambda: (GNMF(3, row_graph="cosine"), data(), {}),
    "own graph": lambda: (
        GNMF(3, row_graph=sp.coo_matrix(np.ones((N, N))), column_graph=np.ones((M, M))),
        data(),
        {},
    ),
    "labels": lambda: (LCNMF(3), data(), {"y": [0, 1] * (N // 2)}),
    "comparisons": lambda: (
        RPRNMF(3),
        data(),
        {"row_triplets": TRIPLETS, "column_triplets": TRIPLETS[:2]},
    ),
    "names": lambda: (RPRNMF(3), frame(), {"row_triplets": named()}),
    "given names": lambda: (
        RPRNMF(3, row_graph="knn"),
        sp.csc_matrix(data()),
        {"row_names": ROWS, "row_triplets": named(), "column_names": range(M)},
    ),
    "weights": lambda: (
        RPRNMF(3, row_strength=0.1),
        data(),
        {"row_triplets": Triplets(TRIPLETS, weights=np.arange(1.0, 7.0))},
    ),
    "taught": lambda: (
        RPRNMF(3, row_prior="data"),
        frame(),
        {"row_triplets": named(), "column_triplets": TRIPLETS[:2]},
    ),
    "taught by facts": lambda: (
        RPRNMF(3, row_prior=facts(), column_prior="mean"),
        data(),
        {"row_triplets": TRIPLETS},
    ),
    "obeyed": lambda: (
        RPRNMF(3, row_prior="data", row_strength="obey"),
        data(),
        {"row_triplets": TRIPLETS},
    ),
    "paper": lambda: (RPRNMF(3, solver="paper"), data(), {"row_triplets": TRIPLETS}),
    "kept components": lambda: (NMF(3), data(), {"H": data()[:3], "update_H": False}),
    "frames out": lambda: (NMF(3).set_output(transform="pandas"), frame(), {}),
}


#: tables of pandas with all sorts of columns and labels
FRAMES = {
    "range": pd.DataFrame({"a": [1, 2], "b": [0.5, np.nan]}),
    "text": pd.DataFrame({"a": ["x", None], 3: [True, False]}, index=["p", "q"]),
    "objects": pd.DataFrame({"a": pd.Series([1, "x", None, (1, 2)], dtype=object)}),
    "strings": pd.DataFrame({"a": pd.array(["x", None], dtype="string")}),
    "nullable": pd.DataFrame({"a": pd.array([1, None], dtype="Int8"), "b": pd.array([True, None])}),
    "categories": pd.DataFrame({"a": pd.Categorical(["b", None, "a"], ["b", "a"], ordered=True)}),
    "times": pd.DataFrame({"a": pd.to_datetime(["2020-01-01", None])}),
    "zones": pd.DataFrame(
        {"a": pd.to_datetime(["2020-07-01", "2020-01-01"]).tz_localize("Europe/Berlin")}
    ),
    "offsets": pd.DataFrame({"a": pd.to_datetime(["2020-07-01T00:00+02:00"])}),
    "no times": pd.DataFrame({"a": pd.to_datetime([]).tz_localize("UTC")}),
    "spans": pd.DataFrame({"a": pd.to_timedelta([1, 2], unit="s")}),
    "intervals": pd.DataFrame({"a": pd.interval_range(0, 2), "b": pd.cut([1.5, np.nan], 3)}),
    "time index": pd.DataFrame({"a": [1.0]}, index=pd.DatetimeIndex(["2020-01-01"], name="day")),
    "levels": pd.DataFrame(
        np.ones((2, 2)), columns=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["x", None])
    ),
    "same names": pd.DataFrame(np.ones((2, 2)), columns=["a", "a"]),
    "no columns": pd.DataFrame(index=[3, 4]),
    "no rows": pd.DataFrame({"a": np.zeros(0, dtype=np.int16)}),
    "series": pd.Series([1.5, 2.5], index=["x", "y"], name="s"),
}


@functools.cache
def fitted(name: str) -> tuple[Any, Any]:
    """The model and its data; do not change them."""
    model, X, arguments = FITS[name]()
    model.set_params(max_iter=30, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 30 iterations are not many
        model.fit(X, **arguments)
    return model, X


def answers(model: Any, X: Any) -> dict[str, Any]:
    """What all methods of a fitted model say."""
    tables = []
    for part in model.row_prior if isinstance(model.row_prior, list) else [model.row_prior]:
        if not isinstance(part, str) and part is not None:
            tables.append(part[:5])
    found = {
        "transform": model.transform(X[:5]),
        "inverse": model.inverse_transform(model.embedding_),
        "labels": model.predict_labels([0, 1, *[-1] * (len(model.embedding_) - 2)], X),
        "names": model.get_feature_names_out(),
        "text": repr(model),
    }
    if tables:
        found["with features"] = model.transform(X[:5], row_features=tables)
    if isinstance(model, RPRNMF):
        found |= comparison_answers(model, X)
    return found


def comparison_answers(model: RPRNMF, X: Any) -> dict[str, Any]:
    """What models with comparisons say beside it."""
    asked = TRIPLETS if model.row_names_ is None else named()
    new = np.array([[N, 0, 1], [N + 1, N, 2]])
    report = model.triplet_report()
    found = {
        "score": model.score_triplets(asked),
        "report": [report[column] for column in report.columns],
        "new rows": model.transform(X[:5], row_triplets=new),
        "queries": next_queries(model, 3, random_state=0).items,
    }
    if model._chances[0] is not None:
        found["chances"] = model.predict_triplets(asked)
    return found
