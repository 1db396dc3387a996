"""Start factors."""

from __future__ import annotations

import numpy as np
from sklearn.decomposition._nmf import _initialize_nmf
from sklearn.utils import check_random_state

from rprnmf.observed import BaseView
from rprnmf.remote_start import remote_start

Pair = tuple[np.ndarray, np.ndarray]


def start_factors(view: BaseView, n_components: int, init: str | None, random_state) -> Pair:
    """W of shape (n, K) and the transpose of H, of shape (m, K).

    Parameters
    ----------
    view : BaseView
    n_components : int
    init : {None, "random", "nndsvd", "nndsvda", "nndsvdar", "uniform"}
        "random" starts at the same point as scikit-learn for the same seed; the others are
        scikit-learn's in the unit of X. "uniform" is the paper's start, uniform on [0, 1).
    random_state : int, RandomState or None

    Returns
    -------
    W, Ht : ndarray
    """
    rng = check_random_state(random_state)
    if view.remote:
        return remote_start(view, n_components, init, rng)
    n, m = view.shape
    if init == "uniform":
        W = rng.uniform(size=(n, n_components))
        H = rng.uniform(size=(n_components, m))
        return W.astype(view.dtype), np.ascontiguousarray(H.T, dtype=view.dtype)
    complete = view.complete_matrix()
    if init is None:
        init = "nndsvda" if complete is not None and n_components <= min(n, m) else "random"
    if init == "random":  # the same numbers as scikit-learn's
        size = np.sqrt(view.mean / n_components)
        H = np.abs(size * rng.standard_normal(size=(n_components, m)))
        W = np.abs(size * rng.standard_normal(size=(n, n_components)))
    elif complete is not None:
        W, H = _svd_start(complete, view, n_components, init, rng)
        if not (np.isfinite(W).all() and np.isfinite(H).all()):  # X has too few dimensions
            return start_factors(view, n_components, "random", rng)
    else:
        gaps = f"X has {n * m - view.n_observed} missing entries"
        found = "the entries of X have weights" if view.weighted else gaps
        raise ValueError(
            f"init={init!r} needs a complete matrix, but {found}; use init='random' (the default "
            "under a mask) or init='custom'."
        )
    dtype = view.dtype
    return np.ascontiguousarray(W, dtype=dtype), np.ascontiguousarray(H.T, dtype=dtype)


def _svd_start(X, view: BaseView, n_components: int, init: str, rng) -> Pair:
    """scikit-learn's NNDSVD of X in units of its mean, with the best common factor.

    It fills zeros with the mean of X in *both* factors, which is right in no unit but one.
    """
    unit = view.mean or 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        W, H = _initialize_nmf(
            X * X.dtype.type(1 / unit), n_components, init=init, random_state=rng
        )
    W, Ht = W.astype(np.float64), np.ascontiguousarray(H.T, dtype=np.float64)
    match = float(np.sum(W * view.times(Ht.astype(view.dtype)))) / unit
    size = float(np.sum((W.T @ W) * (Ht.T @ Ht)))
    factor = np.sqrt(unit * (match / size if match > 0 and size > 0 else 1.0))
    return W * factor, Ht.T * factor
