"""Data made for experiments: the paper's synthetic matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_random_state

from rprnmf.triplets import Triplets, triplets_from_chains


def make_chains(
    n_samples: int = 100,
    n_features: int = 100,
    n_components: int = 20,
    *,
    n_row_triplets: int = 0,
    n_column_triplets: int = 50,
    random_state: Any = None,
) -> Bunch:
    """A product of two uniform factors, and triplets in 5-chains that hold in them.

    As in the paper's synthetic experiments: W and H uniform on [0, 1), X = W H brought to
    [0, 1]; a chain is six rising distances along seven points.

    Parameters
    ----------
    n_samples, n_features, n_components : int
        X has shape (n_samples, n_features) and rank n_components, before it is scaled.
    n_row_triplets, n_column_triplets : int
        How many are drawn for the rows of W and for the columns of H; a last chain may be cut.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    bunch : Bunch
        ``data``: X; ``W`` and ``H``: what it was made from; ``row_triplets`` and
        ``column_triplets``; ``DESCR``.

    Examples
    --------
    >>> from rprnmf.datasets import make_chains
    >>> made = make_chains(20, 30, 4, n_column_triplets=10, random_state=0)
    >>> made.data.shape, made.column_triplets
    ((20, 30), Triplets(10 triplets by index))
    """
    rng = check_random_state(random_state)
    W, H = (
        rng.random_sample((n_samples, n_components)),
        rng.random_sample((n_components, n_features)),
    )
    X = W @ H
    return Bunch(
        data=(X - X.min()) / (np.ptp(X) or 1.0),
        W=W,
        H=H,
        row_triplets=_chains(W, n_row_triplets, rng),
        column_triplets=_chains(H.T, n_column_triplets, rng),
        DESCR="Uniform factors, scaled to [0, 1], with triplets in 5-chains.",
    )


def _chains(F: np.ndarray, n_triplets: int, rng: Any) -> Triplets:
    if n_triplets == 0:
        return Triplets(np.zeros((0, 3), dtype=np.int64))
    return triplets_from_chains(F, n_triplets, random_state=rng)
