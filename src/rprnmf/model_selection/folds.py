"""Folds over the entries of a matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from rprnmf.checks import axis_names, check_matrix
from rprnmf.triplets import as_triplets


class HeldOut(NamedTuple):
    """Entries that a fit does not see."""

    X_train: Any
    missing: str
    X_test: sp.csr_array


class MaskedKFold:
    """Folds over the observed *entries* of a matrix, not over its rows.

    Parameters
    ----------
    n_splits : int, default=5
    random_state : int, RandomState instance or None, default=None

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.model_selection import MaskedKFold
    >>> X = np.arange(1.0, 13.0).reshape(3, 4)
    >>> [fold.X_test.nnz for fold in MaskedKFold(3, random_state=0).split(X)]
    [4, 4, 4]
    """

    def __init__(self, n_splits: int = 5, random_state: Any = None):
        if n_splits < 2:
            raise ValueError(f"n_splits must be at least 2, got {n_splits}.")
        self.n_splits = n_splits
        self.random_state = random_state

    def split(self, X: Any, missing: str | None = None) -> Iterator[HeldOut]:
        """Yield the matrix without a fold, how its holes are marked, and the fold.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        missing : {None, "nan", "zero"}
            As in the estimators. Of a complete sparse matrix (None) every fold holds out
            some of the non-zeros, and about as many zeros at places drawn at random.

        Yields
        ------
        held_out : HeldOut
            ``X_train`` and ``missing`` go to an estimator, ``X_test`` is a sparse matrix whose
            stored entries are what was held out.
        """
        X = check_matrix(X, missing, "MaskedKFold")
        rng = check_random_state(self.random_state)
        rows, columns, values = observed_entries(X, missing, rng)
        fold = np.arange(len(values)) % self.n_splits
        rng.shuffle(fold)
        for number in range(self.n_splits):
            out = fold == number
            test = sp.csr_array((values[out], (rows[out], columns[out])), shape=X.shape)
            if not sp.issparse(X):
                train = X.copy()
                if missing == "zero":
                    train[train == 0] = np.nan
                train[rows[out], columns[out]] = np.nan
                yield HeldOut(train, "nan", test)
            elif missing == "zero":
                kept = (values[~out], (rows[~out], columns[~out]))
                yield HeldOut(sp.csr_array(kept, shape=X.shape), "zero", test)
            else:
                yield HeldOut(with_holes(X, rows[out], columns[out]), "nan", test)


def observed_entries(
    X: Any, missing: str | None, rng: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, column and value of every entry that may be held out."""
    if not sp.issparse(X):
        seen = X != 0 if missing == "zero" else ~np.isnan(X)
        rows, columns = np.nonzero(seen)
        return rows, columns, X[seen]
    entries = sp.coo_array(X)
    rows, columns = entries.coords
    values: np.ndarray = entries.data
    if missing == "zero":
        return rows, columns, values
    m = X.shape[1]
    cells = rows.astype(np.int64) * m + columns
    seen = ~np.isnan(values)
    drawn = (rng.uniform(size=seen.sum()) * X.shape[0] * m).astype(np.int64)
    zeros = np.setdiff1d(drawn, cells)
    cells = np.concatenate((cells[seen], zeros))
    return cells // m, cells % m, np.concatenate((values[seen], np.zeros(len(zeros), X.dtype)))


def with_holes(X: Any, rows: np.ndarray, columns: np.ndarray) -> sp.csr_array:
    """A sparse matrix with NaN stored at given places."""
    m = X.shape[1]
    entries = sp.coo_array(X)
    cells = entries.coords[0].astype(np.int64) * m + entries.coords[1]
    holes = rows.astype(np.int64) * m + columns
    keep = ~np.isin(cells, holes)
    data = np.concatenate((entries.data[keep], np.full(len(holes), np.nan, dtype=X.dtype)))
    cells = np.concatenate((cells[keep], holes))
    return sp.csr_array((data, (cells // m, cells % m)), shape=X.shape)


def resolved_triplets(X: Any, fit_params: dict[str, Any]) -> dict[str, Any]:
    """Parameters of ``fit`` with triplets by position, for the folds are arrays without names."""
    found = dict(fit_params)
    names = axis_names(X, found.pop("row_names", None), found.pop("column_names", None))
    for side, name, n in zip(("row", "column"), names, np.shape(X), strict=True):
        key = f"{side}_triplets"
        if found.get(key) is not None:
            found[key] = as_triplets(found[key]).positions(n, name, side)
    return found
