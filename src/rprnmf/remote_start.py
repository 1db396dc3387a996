"""Start factors whose rows lie elsewhere: the same numbers as in one place, for any blocks.

Random numbers and singular vectors, of which *NNDSVD* is made, are those of `remote/singular.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.remote.singular import normal_rows, singular_vectors, small_side

Pair = tuple[Any, np.ndarray]
EPS = 1e-6  # as scikit-learn


def remote_start(view: Any, n_components: int, init: str | None, rng: Any) -> Pair:
    """W, whose rows lie with those of X, and the transpose of H; see `start_factors`."""
    n, m = view.shape
    if init is None:
        fits = view.complete and n_components <= min(n, m)
        init = "nndsvda" if fits else "random"
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


def svd_factors(view: Any, n_components: int, init: str, rng: Any) -> Pair | None:
    """NNDSVD in units of the mean of X, with the best common factor; None if it cannot be."""
    if not view.squares:  # nothing but zeros
        return None
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


def non_negative(U: Any, s: np.ndarray, Vt: np.ndarray) -> tuple[Any, np.ndarray]:
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
