"""X, triplets, labels and graphs become clean arrays here; all input messages are here.

A message says what is wrong, where, what was expected and what was found.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

ROLES = ("q", "r", "s")


def check_matrix(X: Any, missing: str | None, whom: str, first: int = 0) -> Any:
    """X as a float array or CSR matrix, non-negative, finite but for allowed NaN.

    ``first`` is the number of its first row, for messages.
    """
    if sp.issparse(X):
        check_stored(X, whom)
    if sp.issparse(X) and X.format in ("bsr", "dia"):
        X = X.tocsr()
        X.eliminate_zeros()  # such zeros only fill a block or a diagonal: nobody stored them
    X = check_array(
        X,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
        estimator=whom,
        input_name="X",
    )
    if sp.issparse(X) and len(X.data) > X.indptr[-1]:  # arrays longer than what they store
        X = X.copy()
        X.prune()
    values = X.data if sp.issparse(X) else X
    _refuse(X, np.isinf(values), "Input X contains infinity", "a finite number", whom, first)
    if missing != "nan":
        expected = "a number; to mark missing entries with NaN pass missing='nan'"
        _refuse(X, np.isnan(values), "Input X contains NaN", expected, whom, first)
    _refuse(X, values < 0, f"Negative values in data passed to {whom}", "at least 0", whom, first)
    return X


def check_entry_weights(weights: Any, X: Any, matrix: Any) -> Any:
    """One weight per entry of X, of at least 0 and finite where X is not missing.

    Parameters
    ----------
    weights : array-like or sparse matrix
    X : array-like or sparse matrix
        As the user gave it.
    matrix : {ndarray, sparse matrix}
        The same, checked.

    Returns
    -------
    weights : {ndarray, csr_array} of shape (n_samples, n_features)
        In the layout of ``matrix``, stored places in the order of rows and columns.
    """
    what = "entry_weights"
    if sp.issparse(weights) != sp.issparse(matrix):
        kinds = ["sparse" if sp.issparse(one) else "dense" for one in (matrix, weights)]
        raise TypeError(f"{what} must be as X is, which is {kinds[0]}; got a {kinds[1]} matrix.")
    for axis, name in enumerate(("index", "columns")):
        both = getattr(X, name, None), getattr(weights, name, None)
        framed = hasattr(X, "columns") and hasattr(weights, "columns")
        if framed and not np.array_equal(np.asarray(both[0]), np.asarray(both[1])):
            side = ("row", "column")[axis]
            raise ValueError(f"{what} and X are DataFrames with different {side} labels.")
    if sp.issparse(weights):
        check_stored(weights, what)
    array = check_array(
        weights, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False, input_name=what
    )
    if array.shape != matrix.shape:
        raise ValueError(f"{what} must have the shape of X, {matrix.shape}, got {array.shape}.")
    values, seen = array, ~np.isnan(matrix) if not sp.issparse(matrix) else None
    if sp.issparse(matrix):
        array, matrix = (sorted_places(part) for part in (array, matrix))
        same = np.array_equal(array.indptr, matrix.indptr)
        if not same or not np.array_equal(array.indices, matrix.indices):
            raise ValueError(
                f"{what} must store a number at the same places as X, once each: X stores "
                f"{matrix.nnz} entries, {what} {array.nnz}"
                f"{', at other places' if array.nnz == matrix.nnz else ''}."
            )
        values, seen = array.data, ~np.isnan(matrix.data)
    bad = seen & ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        place = np.flatnonzero(bad)[0]
        row, column = (int(index[place]) for index in places_of(array))
        raise ValueError(
            f"{what}[{row}, {column}] = {values.ravel()[place]:g}; weights must be finite numbers "
            f"of at least 0 ({int(bad.sum())} such entries)."
        )
    return array


def sorted_places(X: Any) -> sp.csr_array:
    """A sparse matrix with its entries in the order of columns; entries at one place are added."""
    X = sp.csr_array(X)
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def places_of(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Row and column of every entry of a dense matrix, of every stored one of a sparse matrix."""
    if sp.issparse(X):
        return np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.indices
    rows, columns = np.indices(X.shape)
    return rows.ravel(), columns.ravel()


def check_stored(X: Any, whom: str) -> None:
    """The index arrays of a sparse matrix: what reads it in compiled code trusts them."""

    def refuse(found: str) -> None:
        raise ValueError(
            f"X is a malformed sparse matrix (format {X.format!r}, shape {X.shape}): {found}; "
            f"{whom} expects index arrays as scipy.sparse builds them."
        )

    def check_indices(indices: np.ndarray, limit: int, name: str) -> None:
        if indices.min(initial=0) < 0 or indices.max(initial=-1) >= limit:
            place = int(np.flatnonzero((indices < 0) | (indices >= limit))[0])
            refuse(f"{name}[{place}] = {indices[place]} is not in 0 to {limit - 1}")

    if len(X.shape) != 2:
        return  # check_array raises the error
    if X.format in ("csr", "csc", "bsr"):
        block = X.blocksize if X.format == "bsr" else (1, 1)
        major, minor = (size // side for size, side in zip(X.shape, block, strict=True))
        if X.format == "csc":
            major, minor = minor, major
        stored, indices, indptr = len(X.data), X.indices, X.indptr
        if len(indices) != stored:
            refuse(f"{stored} stored values, but {len(indices)} indices")
        if len(indptr) != major + 1:
            refuse(f"indptr has {len(indptr)} entries, not {major + 1}")
        if indptr[0] != 0:
            refuse(f"indptr starts at {indptr[0]}, not at 0")
        falls = np.flatnonzero(indptr[1:] < indptr[:-1])
        if len(falls):
            place = int(falls[0]) + 1
            refuse(f"indptr falls from {indptr[place - 1]} to {indptr[place]} at {place}")
        if indptr[-1] > stored:
            refuse(f"indptr ends at {indptr[-1]}, but {stored} values are stored")
        check_indices(indices[: indptr[-1]], minor, "indices")
    elif X.format == "coo":
        for axis, name in enumerate(("row", "col")):
            indices = getattr(X, name)
            if len(indices) != len(X.data):
                refuse(f"{len(X.data)} stored values, but {len(indices)} entries of {name}")
            check_indices(indices, X.shape[axis], name)


#: powers of ten between which powers of X must stay, so that they and their sums keep digits
RANGE = {np.dtype(np.float64): (-300, 307), np.dtype(np.float32): (-34, 37)}


def check_range_of_values(
    largest: float, n_entries: float, powers: tuple[float, ...], dtype: Any, tiny: bool = True
) -> None:
    """Refuse a matrix whose entries, raised to some powers and summed, leave the range of numbers.

    Parameters
    ----------
    largest : float
        The largest entry.
    n_entries : float
        Their number, or the sum of their weights.
    powers : tuple of float
    dtype : numpy.dtype
        Of the numbers that the powers are computed in.
    tiny : bool
        Whether too small is a fault too.
    """
    if not largest > 0:
        return
    low, high = RANGE[np.dtype(dtype)]
    size = np.log10(largest)
    for power in powers:
        if power * size + np.log10(n_entries) <= high and (power * size >= low or not tiny):
            continue
        number = f"{10.0 ** np.floor(size):g}"
        raise ValueError(
            f"the largest entry of X is {largest:g}; its power {power:g}, which this fit needs, "
            f"cannot be summed in {np.dtype(dtype)} without loss. Divide X by {number}: W is then "
            "divided by the same, and H is not."
        )


def _refuse(X: Any, bad: np.ndarray, what: str, expected: str, whom: str, first: int = 0) -> None:
    if not bad.any():
        return
    if sp.issparse(X):
        place = int(np.flatnonzero(bad)[0])
        row = int(np.searchsorted(X.indptr, place, side="right")) - 1
        column, value = int(X.indices[place]), X.data[place]
    else:
        row, column = (int(index) for index in np.argwhere(bad)[0])
        value = X[row, column]
    raise ValueError(
        f"{what}: X[{first + row}, {column}] = {value:g}; {whom} expects {expected}"
        f" ({int(bad.sum())} such entries)."
    )


def axis_names(X: Any, row_names: Any = None, column_names: Any = None) -> tuple[Any, Any]:
    """The names of X's rows and columns, as arrays; None where there are none.

    Names that are given count, else the labels of a data frame.
    """
    labels = (getattr(X, "index", None), X.columns) if hasattr(X, "columns") else (None, None)
    rows = labels[0] if row_names is None else row_names
    columns = labels[1] if column_names is None else column_names
    return _name_array(rows, X, "row"), _name_array(columns, X, "column")


def _name_array(names: Any, X: Any, side: str) -> np.ndarray | None:
    """One name per row (column) of X: int64 if all are integers, else objects."""
    if names is None:
        return None
    n = np.shape(X)[0 if side == "row" else 1]
    what = f"{side}_names must be a list with one name for each {side} of X"
    if isinstance(names, str) or not np.iterable(names):
        raise TypeError(f"{what}, got {names!r}.")
    found = list(names)
    if len(found) != n:
        hint = (
            " (Cross-validation takes a part out of every list that is as long as X has rows, of "
            "column names too; pass X as a DataFrame then.)"
        )
        raise ValueError(
            f"{what}, {n} of them, got {len(found)}.{hint if side == 'column' else ''}"
        )
    if all(isinstance(name, int | np.integer) and not isinstance(name, bool) for name in found):
        return np.array(found, dtype=np.int64)
    return np.fromiter(found, dtype=object, count=n)  # names may be tuples


def item_array(items: Any) -> np.ndarray:
    """An array of whatever is given; in a list with text 1 does not become "1", nor NaN "nan"."""
    array = np.asarray(items)
    if array.dtype.kind in "US" and not isinstance(items, np.ndarray):
        array = np.asarray(items, dtype=object)
    return array


def check_triplet_array(triplets: Any) -> np.ndarray:
    """An (n, 3) array of integer indices (int64) or of names (object)."""
    if hasattr(triplets, "to_numpy"):
        triplets = triplets.to_numpy()
    try:
        array = item_array(triplets)
    except ValueError as error:
        raise ValueError(
            "triplets must have the shape (n_triplets, 3), but the rows have different lengths."
        ) from error
    if array.size == 0 and array.ndim <= 2:
        return np.zeros((0, 3), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(
            "triplets must have the shape (n_triplets, 3), one row (q, r, s) for "
            f"'q is closer to r than to s'; got an array of shape {array.shape}."
        )
    if array.dtype.kind in "OUST":
        array = array.astype(object)
        kinds = {type(item) for item in array.ravel()}
        _refuse_missing(array, kinds)
        if any(issubclass(kind, float | np.floating | bool | np.bool_) for kind in kinds):
            found = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise TypeError(f"triplets must be integer indices or names, got {found}.")
        if not all(issubclass(kind, int | np.integer) for kind in kinds):
            return array
    elif array.dtype.kind == "f":
        _refuse_items(array, np.isnan(array), "is missing; leave such triplets out")
        raise TypeError(
            "triplets must be integer indices or names, got floating point numbers "
            f"(dtype {array.dtype}); convert them with .astype(int) if they are indices."
        )
    elif array.dtype.kind not in "iu":
        raise TypeError(f"triplets must be integer indices or names, got dtype {array.dtype}.")
    lowest, highest = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    _refuse_items(array, (array < lowest) | (array > highest), "does not fit into 64 bits")
    return array.astype(np.int64)


def is_missing(item: Any) -> bool:
    """Whether something is None, NaN, NaT or pandas' NA."""
    if item is None or type(item).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(item != item)
    except (TypeError, ValueError):  # an array, for instance
        return False


def _refuse_missing(triplets: np.ndarray, kinds: set[type]) -> None:
    if kinds <= {str, int}:  # the usual ones, at no cost
        return
    bad = np.array([is_missing(item) for item in triplets.ravel()]).reshape(triplets.shape)
    _refuse_items(triplets, bad, "is missing; leave such triplets out")


def check_not_negative(triplets: np.ndarray) -> None:
    """Positions count from 0."""
    _refuse_items(
        triplets, triplets < 0, "is no position: they count from 0 (named=True takes any name)"
    )


def _refuse_items(triplets: np.ndarray, bad: Any, why: str) -> None:
    bad = np.asarray(bad, dtype=bool)
    if bad.any():
        t, role = (int(index) for index in np.argwhere(bad)[0])
        raise ValueError(
            f"triplets[{t}] = {_triplet(triplets[t])}: {ROLES[role]}={triplets[t, role]} {why}."
        )


def check_weights(weights: Any, n_triplets: int) -> np.ndarray:
    """One positive finite weight per triplet."""
    if weights is None:
        return np.ones(n_triplets)
    try:
        weights = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"weights must be positive numbers, one per triplet: {error}.") from error
    if weights.shape != (n_triplets,):
        raise ValueError(
            f"weights must have one entry per triplet, shape ({n_triplets},), got {weights.shape}."
        )
    bad = ~(np.isfinite(weights) & (weights > 0))
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"weights[{first}] = {weights[first]}; weights must be positive finite numbers."
        )
    return weights


def summable(weights: np.ndarray) -> np.ndarray:
    """The weights; if their sum overflows, all divided by the same power of two."""
    with np.errstate(over="ignore"):
        if np.isfinite(weights.sum()):
            return weights
    return np.ldexp(weights, -len(weights).bit_length())


def check_distinct(triplets: np.ndarray) -> None:
    """q, r and s must be three different rows or columns."""
    q, r, s = triplets.T
    bad = np.asarray((q == r) | (q == s) | (r == s), dtype=bool)
    if bad.any():
        t = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"triplets[{t}] = {_triplet(triplets[t])} repeats an index; q, r and s must be "
            "three different rows (columns) of X."
        )


def check_positions(names: Any, n: int, side: str) -> None:
    """Integers are no positions where the labels of X are integers of another order."""
    if names is None or getattr(names, "dtype", np.dtype(object)).kind not in "iu":
        return
    if not np.array_equal(np.asarray(names), np.arange(n)):
        raise ValueError(
            f"{side}_triplets are integers, and the {side} labels of X are integers too but not "
            f"0 to {n - 1} in order (rows split away by cross-validation?), so it is not clear "
            f"which is meant; pass Triplets(..., named=True, absent='drop') to mean labels, or X "
            "as an array to mean positions."
        )


def check_range(triplets: np.ndarray, n: int, side: str) -> None:
    """Indices must lie in 0 .. n - 1."""
    bad = (triplets < 0) | (triplets >= n)
    if bad.any():
        t, role = (int(index) for index in np.argwhere(bad)[0])
        raise ValueError(
            f"{side}_triplets[{t}] = {_triplet(triplets[t])} is out of range: "
            f"{ROLES[role]}={triplets[t, role]}, but X has {n} {side}s, numbered 0 to {n - 1}."
            " (Where rows are split away, as in cross-validation, only triplets by name keep "
            "their meaning: pass Triplets(names, absent='drop') and a DataFrame, or row_names=.)"
        )


def _triplet(row: np.ndarray) -> str:
    return "(" + ", ".join(f"{role}={item}" for role, item in zip(ROLES, row, strict=True)) + ")"


def label_codes(labels: Any, what: str = "labels") -> np.ndarray:
    """A number for each label, in order of appearance; -1 where it is not known.

    Not known are -1, None, NaN and pandas' NA.
    """
    if hasattr(labels, "__array__") or hasattr(labels, "to_numpy"):
        array = np.asarray(labels)
        if array.ndim != 1:
            raise ValueError(f"{what} must be one-dimensional, got shape {array.shape}.")
        values = array.tolist()
    elif isinstance(labels, str) or not np.iterable(labels):
        raise ValueError(f"{what} must be a list with one label for each point, got {labels!r}.")
    else:
        values = list(labels)
    numbers: dict[Any, int] = {}
    codes = np.empty(len(values), dtype=np.int64)
    for place, label in enumerate(values):
        if is_missing(label):
            codes[place] = -1
            continue
        if isinstance(label, float | np.floating) and not float(label).is_integer():
            raise ValueError(
                f"{what} must be whole numbers or names, got {label} at position {place}; use -1 "
                "where the label is not known."
            )
        try:
            unknown = not isinstance(label, str) and label == -1
            codes[place] = -1 if unknown else numbers.setdefault(label, len(numbers))
        except (TypeError, ValueError):
            raise ValueError(
                f"{what} must be one-dimensional, with a whole number or a name for each point, "
                f"got {label!r} at position {place}."
            ) from None
    return codes


def check_labels(labels: Any, n: int, side: str) -> np.ndarray | None:
    """Group numbers from labels; each point whose label is not known is a group of its own."""
    if labels is None:
        return None
    codes = label_codes(labels, f"{side} labels")
    if len(codes) != n:
        raise ValueError(
            f"{side} labels must have one entry for each {side} of X, shape ({n},), "
            f"got ({len(codes)},); use -1 where the label is not known."
        )
    unknown = codes == -1
    codes[unknown] = codes.max(initial=-1) + 1 + np.arange(unknown.sum())
    return codes


def check_start(
    factor: Any, shape: tuple[int, int], name: str, dtype: np.dtype, zeros: bool = False
) -> np.ndarray:
    """A factor given by the user; ``zeros`` allows one that is zero everywhere.

    Messages begin as scikit-learn's do.
    """
    if factor is None:
        raise ValueError(f"init='custom' needs both start factors, but {name} is None.")
    given = getattr(factor, "dtype", None)
    if isinstance(given, np.dtype) and given.kind == "f" and given != dtype:
        raise TypeError(
            f"{name} should have the same dtype as X. Got {name}.dtype = {given} and "
            f"X.dtype = {dtype}."
        )
    array = check_array(factor, dtype=[np.float64, np.float32], input_name=name)
    if array.shape != shape:
        which = "first" if array.shape[0] != shape[0] else "second"
        raise ValueError(
            f"Array with wrong {which} dimension passed to NMF (input {name}): {name} must have "
            f"the shape {shape}, got {array.shape}."
        )
    if (array < 0).any():
        i, j = (int(index) for index in np.argwhere(array < 0)[0])
        raise ValueError(
            f"Negative values in data passed to NMF (input {name}): {name}[{i}, {j}] = "
            f"{array[i, j]:g}; factors must be at least 0."
        )
    if not zeros and not array.any():
        raise ValueError(
            f"Array passed to NMF (input {name}) is full of zeros: {name} is all zeros; a "
            "multiplicative step cannot leave zero."
        )
    return array.astype(dtype)


def check_count(value: Any, name: str, least: int = 1) -> int:
    """A whole number, not below the least one."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be a whole number from {least}, got {value!r}.")
    return int(value)
