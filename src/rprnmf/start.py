"""Start factors."""

from __future__ import annotations

import numpy as np

# The published start of scikit-learn's NMF, so that the same seed starts both libraries
# at the same point.
from sklearn.decomposition._nmf import _initialize_nmf
from sklearn.utils import check_random_state

from rprnmf.observed import BaseView, FullDense, FullSparse

Pair = tuple[np.ndarray, np.ndarray]


def start_factors(view: BaseView, n_components: int, init: str | None, random_state) -> Pair:
    """W of shape (n, K) and the transpose of H, of shape (m, K).

    Parameters
    ----------
    view : BaseView
    n_components : int
    init : {None, "random", "nndsvd", "nndsvda", "nndsvdar", "uniform"}
        As in scikit-learn; "uniform" is the paper's start, entries uniform on [0, 1).
    random_state : int, RandomState or None

    Returns
    -------
    W, Ht : ndarray
    """
    rng = check_random_state(random_state)
    n, m = view.shape
    if init == "uniform":
        W = rng.uniform(size=(n, n_components))
        H = rng.uniform(size=(n_components, m))
        return W.astype(view.dtype), np.ascontiguousarray(H.T, dtype=view.dtype)
    complete = _complete_matrix(view)
    if complete is not None:
        W, H = _initialize_nmf(complete, n_components, init=init, random_state=rng)
    elif init in (None, "random"):
        size = np.sqrt(view.mean / n_components)
        H = np.abs(size * rng.standard_normal(size=(n_components, m)))
        W = np.abs(size * rng.standard_normal(size=(n, n_components)))
    else:
        raise ValueError(
            f"init={init!r} needs a complete matrix, but X has {n * m - view.n_observed} missing "
            "entries; use init='random' (the default under a mask) or init='custom'."
        )
    dtype = view.dtype
    return np.ascontiguousarray(W, dtype=dtype), np.ascontiguousarray(H.T, dtype=dtype)


def _complete_matrix(view: BaseView):
    if isinstance(view, FullDense):
        return view.X
    if isinstance(view, FullSparse) and view.holes is None:
        return view.entries.matrix()
    return None
