"""Models in files, and new data beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rprnmf.cli.files import real_file
from rprnmf.cli.report import counted

SUFFIX = ".rprnmf"


def load_model(path: str) -> Any:
    """A fitted model."""
    from rprnmf.persistence import load

    with real_file(path, SUFFIX) as file:
        model = load(file)
    if not hasattr(model, "transform"):
        raise ValueError(f"{path} holds {type(model).__name__}; a model is needed.")
    if not hasattr(model, "components_"):
        raise ValueError(f"{path} holds a model that was not fitted.")
    return model


def factor_of(model: Any, side: str) -> Any:
    """One point per row (column) of X: W, or H transposed."""
    return model.embedding_ if side == "row" else model.components_.T


def names_of(model: Any, side: str) -> Any:
    """The names of the rows (columns), or None."""
    return getattr(model, f"{side}_names_", None)


def called(model: Any, side: str) -> list[Any]:
    """What each row (column) is called: its name, else its position."""
    names = names_of(model, side)
    n = len(factor_of(model, side))
    return list(range(n)) if names is None else list(names)


def align_columns(matrix: Any, model: Any, run: Any) -> Any:
    """The columns of new data in the order of the model's.

    Columns are found by name where both have names. Those that the model does not know are left
    out. Those that are not there are zeros, or not known, in sparse data; else they are an error.

    Returns
    -------
    X : ndarray, csr_array or dask array of shape (n_rows, n_features)
    """
    import numpy as np
    import scipy.sparse as sp

    from rprnmf.remote import is_chunked

    X, names = matrix.X, names_of(model, "column")
    m = model.components_.shape[1]
    if names is None or matrix.column_names is None:
        if X.shape[1] != m:
            raise ValueError(f"the data have {X.shape[1]} columns, the model was fitted on {m}.")
        return X
    place = find(names, matrix.column_names)
    known = np.flatnonzero(place >= 0)
    if len(known) == 0:
        raise ValueError(
            f"none of the columns of the data is known to the model: it has {names[0]!r}, ..., "
            f"they have {matrix.column_names[0]!r}, ..."
        )
    if len(known) < len(place):
        left = counted(len(place) - len(known), "column")
        run.note(f"{left} that the model does not know, left out.")
    like = X._meta if is_chunked(X) else X
    may_lack = sp.issparse(like) or matrix.missing == model.missing == "nan"
    if len(known) < m and not may_lack:
        lacking = np.setdiff1d(np.arange(m), place[known])[0]
        raise ValueError(f"the data lack the column {names[lacking]!r} of the model.")
    if is_chunked(X):
        size = X.chunks[0], (m,)
        return X.map_blocks(in_order, known, place[known], m, chunks=size, dtype=X.dtype, meta=like)
    return in_order(X, known, place[known], m)


def in_order(X: Any, known: Any, place: Any, m: int) -> Any:
    """Some columns at new places among m; the others are empty."""
    import numpy as np
    import scipy.sparse as sp

    if sp.issparse(X):
        entries = sp.coo_array(X.tocsc()[:, known])
        rows, columns = entries.coords
        return sp.csr_array((entries.data, (rows, place[columns])), shape=(X.shape[0], m))
    ordered = np.full((X.shape[0], m), np.nan, dtype=X.dtype)
    ordered[:, place] = X[:, known]
    return ordered


def find(names: Sequence[Any], wanted: Sequence[Any]) -> Any:
    """The place of each wanted name among the names; -1: not there. Text and numbers are alike."""
    import numpy as np

    place = {str(name): k for k, name in enumerate(names)}
    return np.array([place.get(str(name), -1) for name in wanted], dtype=np.int64)


def rows_of(matrix: Any, X: Any, model: Any, run: Any) -> Any:
    """The rows of W for the rows of data: those of the fit where they are known, else new ones."""
    import numpy as np

    from rprnmf.remote import is_chunked

    names = names_of(model, "row")
    n = len(model.embedding_)
    if names is None or matrix.row_names is None:
        if X.shape[0] == n:
            return model.embedding_
        place = np.full(X.shape[0], -1)
    else:
        place = find(names, matrix.row_names)
    new = place < 0
    if new.any():
        run.note(
            f"{counted(int(new.sum()), 'row')} of {len(place)}: new to the model, placed by its "
            "data."
        )
    if new.all():
        return model.transform(X)
    known = model.embedding_
    if not np.array_equal(place, np.arange(n)):
        known = known[np.maximum(place, 0)]
    if not new.any():
        return known
    return (with_new_blocks if is_chunked(X) else with_new)(X, known, new[:, None], model)


def with_new_blocks(X: Any, known: Any, new: Any, model: Any) -> Any:
    """`with_new`, lazily, of each block."""
    import dask.array as da

    from rprnmf.estimators.remote_transform import light
    from rprnmf.remote import as_blocks

    rows, K = X.chunks[0], len(model.components_)
    known = as_blocks(known, (X.shape[0], K), rows)
    marks = da.from_array(new, chunks=(rows, 1))
    return da.map_blocks(
        *(with_new, X, known, marks), model=light(model), chunks=(rows, (K,)), dtype=known.dtype
    )


def with_new(X: Any, known: Any, new: Any, model: Any) -> Any:
    """Rows of W, in which those that are new are placed by their data."""
    import numpy as np

    rows = np.flatnonzero(new[:, 0])
    W = np.array(known)
    if len(rows):
        W[rows] = model.transform(X[rows])
    return W
