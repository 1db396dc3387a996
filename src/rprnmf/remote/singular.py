"""Singular vectors of a matrix whose rows lie in blocks, and random numbers for these rows.

*Random* numbers come one after the other from one generator. It runs through all of them here,
some at a time, to know where each block begins; the blocks draw their own numbers from there.

The decomposition is `randomized_svd` of scikit-learn, but for rounding. Its bases of the range are
kept orthogonal by way of Gram matrices instead of by LU: another basis of the same space, so that
the singular vectors are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as la

from rprnmf.remote.array import RemoteArray
from rprnmf.remote.pool import Pool

AT_ONCE = 1 << 20  # numbers that are drawn here at a time
OVERSAMPLES = 10  # as scikit-learn
RANK = 1e-14  # of the largest: squares of singular values below this are rounding


def normal_rows(pool: Pool, K: int, rng: Any, dtype: Any) -> RemoteArray:
    """Rows of normal numbers, each block's drawn where it lies."""
    states = []
    for n_rows in np.diff(pool.bounds):
        states.append(rng.get_state(legacy=False))
        left = int(n_rows) * K
        while left:
            rng.standard_normal(size=min(left, AT_ONCE))
            left -= min(left, AT_ONCE)
    drawn = pool.map(drawn_from, pool.scatter(states), pool.rows, K, np.dtype(dtype))
    return RemoteArray.of(drawn, (K,), dtype)


def drawn_from(state: Any, n_rows: int, K: int, dtype: np.dtype) -> np.ndarray:
    """Normal numbers from a state of the generator on."""
    rng = np.random.RandomState()
    if state["bit_generator"] != "MT19937":
        rng = np.random.RandomState(getattr(np.random, state["bit_generator"])())
    rng.set_state(state)
    return rng.standard_normal(size=(n_rows, K)).astype(dtype)


def small_side(view: Any, n_components: int) -> tuple[bool, int]:
    """Whether the transpose of X is decomposed, and how many directions are drawn."""
    n, m = view.shape
    return n < m, n_components + OVERSAMPLES


def singular_vectors(
    view: Any, n_components: int, rng: Any, of_transpose: bool = False
) -> tuple[Any, Any, Any]:
    """The leading singular vectors of X: `randomized_svd` of scikit-learn, but for rounding.

    ``of_transpose``: as that of X' finds them, which draws other numbers where X is square.
    """
    n, m = view.shape
    transposed, size = small_side(view, n_components)
    transposed = transposed or (of_transpose and n == m)
    n_iter = 7 if n_components < 0.1 * min(n, m) else 4
    dtype = view.dtype
    rows: Any
    if transposed:
        rows = normal_rows(view.pool, size, rng, np.float64)
    else:
        rows = view.times(rng.normal(size=(m, size)).astype(dtype, copy=False))
    if transposed:
        columns = view.T.times(rows.astype(dtype)).astype(np.float64)
        for _ in range(n_iter):
            rows = orthogonal(view.times(la.qr(columns, mode="economic")[0].astype(dtype)))
            columns = view.T.times(rows.astype(dtype)).astype(np.float64)
        Q = la.qr(columns, mode="economic")[0]
        B = view.times(Q.astype(dtype)).astype(np.float64)  # its rows are those of X
        basis = orthogonal(B)
        inner, s, Vt = la.svd(basis.T @ B, full_matrices=False)
        return basis @ inner[:, :n_components], s[:n_components], (Vt @ Q.T)[:n_components]
    for _ in range(n_iter):
        columns = view.T.times(orthogonal(rows).astype(dtype)).astype(np.float64)
        rows = view.times(la.qr(columns, mode="economic")[0].astype(dtype))
    Q = orthogonal(rows)
    B = view.T.times(Q.astype(dtype)).astype(np.float64)  # Q' X, transposed
    V, s, Wt = la.svd(B, full_matrices=False)
    return Q @ Wt[:n_components].T, s[:n_components], V.T[:n_components]


def orthogonal(A: RemoteArray) -> RemoteArray:
    """An orthonormal basis of the columns, by their Gram matrix; twice, for the digits."""
    A = A.astype(np.float64)
    for _ in range(2):
        values, vectors = la.eigh(A.T @ A)
        seen = values > RANK * max(values[-1], np.finfo(np.float64).tiny)
        A = A @ (vectors[:, seen] / np.sqrt(values[seen]))
    return A
