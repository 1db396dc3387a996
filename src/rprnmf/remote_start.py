"""Start factors whose rows lie elsewhere: the same numbers as in one place, for any blocks.

*Random* numbers come one after the other from one generator. It runs through all of them here,
some at a time, to know where each block begins; the blocks draw their own numbers from there.

*NNDSVD* takes a randomised singular value decomposition of X. Its bases of the range are kept
orthogonal by way of Gram matrices instead of by LU: another basis of the same space,
so that the singular vectors are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as la

from rprnmf.remote import Pool, RemoteArray

Pair = tuple[Any, np.ndarray]
AT_ONCE = 1 << 20  # numbers that are drawn here at a time
OVERSAMPLES, EPS = 10, 1e-6  # as scikit-learn
RANK = 1e-14  # of the largest: squares of singular values below this are rounding


def remote_start(view: Any, n_components: int, init: str | None, rng: Any) -> Pair:
    """W, whose rows lie with those of X, and the transpose of H; see `start_factors`."""
    n, m = view.shape
    if init is None:
        fits = view.complete and n_components <= min(n, m)
        init = "nndsvda" if fits else "random"
    if init == "uniform" or init == "nndsvdar":
        raise ValueError(
            f"init={init!r} is not made for an X that lies in blocks; use 'random', 'nndsvd', "
            "'nndsvda' or 'custom'."
        )
    if init == "random":
        return random_factors(view, n_components, rng)
    if not view.complete:
        raise ValueError(
            f"init={init!r} needs a complete matrix, but X has {n * m - view.n_observed} missing "
            "entries; use init='random' (the default under a mask) or init='custom'."
        )
    state = rng.get_state()
    found = svd_factors(view, n_components, init, rng)
    if found is None:  # X has too few dimensions
        rng.set_state(state)
        normal_rows(view.pool, small_side(view, n_components)[1], rng, view.dtype)
        return random_factors(view, n_components, rng)
    return found


def random_factors(view: Any, n_components: int, rng: Any) -> Pair:
    """The absolute values of normal numbers."""
    size = np.sqrt(view.mean / n_components)
    H = np.abs(size * rng.standard_normal(size=(n_components, view.shape[1])))
    W = np.abs(normal_rows(view.pool, n_components, rng, np.float64) * size)
    return W.astype(view.dtype), np.ascontiguousarray(H.T, dtype=view.dtype)


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


def svd_factors(view: Any, n_components: int, init: str, rng: Any) -> Pair | None:
    """NNDSVD in units of the mean of X, with the best common factor; None if it cannot be."""
    unit = view.mean or 1.0
    U, s, Vt = singular_vectors(view, n_components, rng)
    if not (np.isfinite(s).all() and s.any()):
        return None
    lacking = n_components - len(s)  # X has so many dimensions less
    U = U @ np.eye(len(s), n_components)
    Vt = np.concatenate((Vt, np.zeros((lacking, len(Vt[0])))))
    W, H = non_negative(U, np.concatenate((s / unit, np.zeros(lacking))), Vt)
    W = np.where(W < EPS, 0.0, W)
    H[H < EPS] = 0.0
    if init == "nndsvda":
        average = view.total / view.shape[0] / view.shape[1] / unit
        W = np.where(W == 0, average, W)
        H[H == 0] = average
    Ht = np.ascontiguousarray(H.T, dtype=np.float64)
    match = float(np.einsum("ik,ik->", W, view.times(Ht.astype(view.dtype)))) / unit
    size = float(np.sum((W.T @ W) * (Ht.T @ Ht)))
    factor = np.sqrt(unit * (match / size if match > 0 and size > 0 else 1.0))
    if not np.isfinite(factor):
        return None
    return (W * factor).astype(view.dtype), np.ascontiguousarray(Ht * factor, dtype=view.dtype)


def singular_vectors(view: Any, n_components: int, rng: Any) -> tuple[Any, Any, Any]:
    """The leading singular vectors of X: `randomized_svd` of scikit-learn, but for rounding."""
    n, m = view.shape
    transposed, size = small_side(view, n_components)
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


def non_negative(U: RemoteArray, s: np.ndarray, Vt: np.ndarray) -> tuple[Any, np.ndarray]:
    """NNDSVD: of each pair of vectors the larger of the two parts of one sign."""
    K = len(s)
    above = np.einsum("ik,ik->k", np.maximum(U, 0.0), np.maximum(U, 0.0))
    below = np.einsum("ik,ik->k", np.minimum(U, 0.0), np.minimum(U, 0.0))
    signs, sizes, H = np.ones(K), np.zeros(K), np.zeros_like(Vt)
    signs[0] = 0.0  # the first pair: absolute values
    sizes[0], H[0] = np.sqrt(s[0]), np.sqrt(s[0]) * np.abs(Vt[0])
    for j in range(1, K):
        y = Vt[j]
        up, down = np.linalg.norm(np.maximum(y, 0)), np.linalg.norm(np.minimum(y, 0))
        plus, minus = np.sqrt(above[j]) * up, np.sqrt(below[j]) * down
        signs[j], size_of_u, size_of_v, product = (
            (1.0, np.sqrt(above[j]), up, plus)
            if plus > minus
            else (-1.0, np.sqrt(below[j]), down, minus)
        )
        root = np.sqrt(s[j] * product)
        if root > 0:
            sizes[j] = root / size_of_u
            H[j] = root * np.maximum(signs[j] * y, 0.0) / size_of_v
    W = np.where(signs == 0, np.abs(U), np.maximum(U * signs, 0.0)) * sizes
    return W, H
