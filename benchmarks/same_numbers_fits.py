"""The fits of `same_numbers.py`; as a script it runs them all and writes their histories."""

from __future__ import annotations

import sys
import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from common import without_priors

ITERATIONS = 25
SIZE = 48, 36
LAYOUTS = ("dense", "sparse", "nan", "sparse-zero")


class Fit(NamedTuple):
    """An estimator by name, its parameters, the form of X, and what is known."""

    estimator: str
    layout: str
    parameters: dict[str, Any]
    knows: tuple[str, ...] = ()
    dtype: str = "float64"


def fits() -> dict[str, Fit]:
    """All of them by name."""
    found: dict[str, Fit] = {}

    def add(estimator: str, layout: str, *knows: str, dtype: str = "float64", **parameters: Any):
        short = {"frobenius": "F", "kullback-leibler": "KL"}[parameters["beta_loss"]]
        said = [f"{k}={v}" for k, v in parameters.items() if k not in ("beta_loss", "solver")]
        words = [estimator, short, parameters.get("solver", "cd"), layout, *knows, *said]
        name = " ".join(words + [dtype] * (dtype != "float64"))
        found[name] = Fit(estimator, layout, parameters, knows, dtype)

    rows, columns = "row_triplets", "column_triplets"
    for beta_loss in ("frobenius", "kullback-leibler"):
        loss = {"beta_loss": beta_loss}
        fixed = loss | {"row_strength": 0.1, "column_strength": 0.1}
        paper = {"solver": "paper", **loss}
        for layout in LAYOUTS:
            add("NMF", layout, **loss)
            add("RPRNMF", layout, rows, columns, **fixed)
        add("NMF", "dense", alpha_W=0.01, l1_ratio=0.5, **loss)
        add("NMF", "sparse-zero", alpha_W=0.01, alpha_power=0.7, **loss)
        add("NMF", "dense", dtype="float32", **loss)
        add("NMF", "sparse", solver="mu", **loss)
        add("NMF", "nan", **paper)
        add("GNMF", "dense", "row_graph", row_strength=1.0, **loss)
        add("GNMF", "sparse-zero", "row_graph", "column_graph", solver="mu", **loss)
        add("GNMF", "dense", "row_graph", **paper)
        add("LCNMF", "dense", "y", **loss)
        add("LCNMF", "sparse-zero", "y", "column_labels", solver="mu", **loss)
        add("LCNMF", "dense", "y", **paper)
        add("RPRNMF", "dense", rows, **loss)
        add("RPRNMF", "sparse-zero", rows, columns, **loss)
        add("RPRNMF", "dense", rows, penalty="exponential", **fixed)
        add("RPRNMF", "sparse", rows, penalty="logistic", solver="mu", **fixed)
        add("RPRNMF", "nan", columns, distance="divergence", **fixed)
        add("RPRNMF", "dense", rows, "row_graph", graph_strength=1.0, **fixed)
        add("RPRNMF", "dense", rows, columns, **paper, row_strength=5.0, column_strength=5.0)
    return found


def matrix(layout: str, dtype: str) -> tuple[Any, str | None]:
    """X in one of its forms, and `missing`."""
    rng = np.random.default_rng(1)
    n, m = SIZE
    X = rng.gamma(0.5, 1.0, (n, 4)) @ rng.gamma(0.5, 1.0, (4, m)) + 0.1 * rng.random((n, m))
    X[rng.random((n, m)) < 0.3] = 0
    X = X.astype(dtype)
    hidden = rng.random((n, m)) < 0.3
    if layout == "dense":
        return X, None
    if layout == "sparse":
        return sp.csr_matrix(X), None
    if layout == "nan":
        return np.where(hidden, np.nan, X).astype(dtype), "nan"
    i, j = np.nonzero(~hidden)  # a stored zero is an observation
    return sp.csr_matrix((X[i, j], (i, j)), shape=X.shape), "zero"


def knowledge() -> dict[str, Any]:
    """Everything that may be known about rows and columns."""
    rng = np.random.default_rng(2)
    known: dict[str, Any] = {}
    for side, size in zip(("row", "column"), SIZE, strict=True):
        drawn = [rng.choice(size, 3, replace=False) for _ in range(2 * size)]
        known[f"{side}_triplets"] = np.array(drawn)
        weights = np.triu(rng.random((size, size)) * (rng.random((size, size)) < 0.1), 1)
        known[f"{side}_graph"] = weights + weights.T
        known["y" if side == "row" else "column_labels"] = rng.integers(-1, 6, size)
    return known


def history(fit: Fit) -> np.ndarray:
    """Of one fit: a row for each iteration."""
    import rprnmf

    X, missing = matrix(fit.layout, fit.dtype)
    known = knowledge()
    graphs = {name: known[name] for name in fit.knows if name.endswith("_graph")}
    given = {name: known[name] for name in fit.knows if not name.endswith("_graph")}
    model = getattr(rprnmf, fit.estimator)(5, missing=missing, init="random", random_state=0)
    model.set_params(tol=0, max_iter=ITERATIONS, n_jobs=1, **graphs, **fit.parameters)
    model.set_params(**without_priors(model))
    return model.fit(X, **given).history_


def main(target: str) -> None:
    """All histories into one file; a fit that fails leaves its message."""
    warnings.simplefilter("ignore")
    found = {}
    for name, fit in fits().items():
        try:
            found[name] = history(fit)
        except Exception as error:
            found[name] = np.array(f"{type(error).__name__}: {error}")
    np.savez(target, **found)


if __name__ == "__main__":
    from checkouts import check_source

    check_source()
    main(sys.argv[1])
