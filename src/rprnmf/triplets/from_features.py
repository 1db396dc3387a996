"""Triplets from features, from distances, from rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import norm as sparse_norm
from sklearn.utils import check_array, check_random_state

from rprnmf.triplets.draws import check_count, check_margin, draw
from rprnmf.triplets.triplets import Triplets, as_triplets

BLOCK = 1 << 22  # numbers per block, so that memory stays small
SAMPLE = 10_000  # pairs for a mean distance


def triplets_from_features(
    features: Any, n_triplets: int, *, margin: float = 0.0, random_state: Any = None
) -> Triplets:
    """Comparisons that hold for the Euclidean distances between given rows.

    Parameters
    ----------
    features : {array-like, sparse matrix} of shape (n_points, n_features)
    n_triplets : int
        How many to draw at random, all different; fewer if no more are found.
    margin : float, default=0
        By how much s must be further from q than r, in units of the mean distance between
        two points (of a sample of them, where there are many); ties are never taken.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    triplets : Triplets
        By index.

    Examples
    --------
    >>> from rprnmf.triplets import triplets_from_features
    >>> triplets_from_features([[0.0], [1.0], [5.0]], 1, random_state=0).n_triplets
    1
    """
    X = check_array(features, accept_sparse="csr", dtype=np.float64, input_name="features")
    rng = check_random_state(random_state)

    def apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        found = np.empty(len(a))
        for start in range(0, len(a), block):
            part = slice(start, start + block)
            difference = X[a[part]] - X[b[part]]
            norm = sparse_norm if sp.issparse(X) else np.linalg.norm
            found[part] = norm(difference, axis=1)
        return found

    block = max(1, BLOCK // X.shape[1])
    return _by_distance(X.shape[0], n_triplets, apart, margin, rng)


def triplets_from_distances(
    distances: Any, n_triplets: int, *, margin: float = 0.0, random_state: Any = None
) -> Triplets:
    """Comparisons that hold in a matrix of distances.

    Parameters
    ----------
    distances : array-like of shape (n_points, n_points)
        ``distances[q, r]`` need not equal ``distances[r, q]``; NaN is not known.
    n_triplets : int
        How many to draw at random, all different; fewer if no more are found.
    margin : float, default=0
        By how much s must be further from q than r, in units of the mean distance (of a
        sample, where there are many points); ties are never taken.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    triplets : Triplets
        By index.

    Examples
    --------
    >>> from rprnmf.triplets import triplets_from_distances
    >>> triplets_from_distances([[0, 1, 2], [1, 0, 1], [2, 1, 0]], 9, random_state=0).n_triplets
    2
    """
    D = check_array(
        distances, dtype=np.float64, ensure_all_finite="allow-nan", input_name="distances"
    )
    if D.shape[0] != D.shape[1]:
        raise ValueError(f"distances must be a square matrix, got shape {D.shape}.")
    rng = check_random_state(random_state)
    return _by_distance(D.shape[0], n_triplets, lambda a, b: D[a, b], margin, rng)


def _by_distance(n: int, n_triplets: int, apart: Any, margin: float, rng: Any) -> Triplets:
    wanted = check_count(n_triplets)
    in_means = check_margin(margin)
    least = 0.0
    if in_means and n > 1:
        a, b = (i.ravel() for i in np.triu_indices(n, 1)) if n * n < 4 * SAMPLE else (None, None)
        if a is None:
            a = rng.randint(0, n, SAMPLE)
            b = (a + 1 + rng.randint(0, n - 1, SAMPLE)) % n
        least = in_means * float(np.nanmean(apart(a, b)))

    def gap(q: np.ndarray, r: np.ndarray, s: np.ndarray) -> np.ndarray:
        return np.nan_to_num(apart(q, s) - apart(q, r), nan=0.0)

    return Triplets(draw(n, wanted, gap, least, rng))


def triplets_from_rankings(
    rankings: Mapping[Any, Sequence[Any]],
    n_triplets: int | None = None,
    *,
    steps: int = 1,
    random_state: Any = None,
) -> Triplets:
    """Comparisons from lists of what is nearest to something, best first.

    Parameters
    ----------
    rankings : mapping
        For an item its list of other items, the most alike first; positions or names.
    n_triplets : int, default=None
        How many of them to draw at random; None is all.
    steps : int, default=1
        Every item of a list is called nearer than the ``steps`` that follow it; -1: than all
        that follow.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    triplets : Triplets

    Examples
    --------
    >>> from rprnmf.triplets import triplets_from_rankings
    >>> triplets_from_rankings({"tea": ["coffee", "cocoa", "soup"]}).items.tolist()
    [['tea', 'coffee', 'cocoa'], ['tea', 'cocoa', 'soup']]
    """
    if not isinstance(rankings, Mapping):
        raise TypeError(f"rankings must map items to lists, got {type(rankings).__name__}.")
    if steps == 0 or steps < -1:
        raise ValueError(f"steps must be at least 1, or -1 for all; got {steps}.")
    triplets: list[tuple[Any, Any, Any]] = []
    for q, ranked in rankings.items():
        ranked = list(ranked)
        if len(set(ranked)) < len(ranked):
            raise ValueError(f"the ranking of {q!r} names an item twice.")
        if q in ranked:
            raise ValueError(f"the ranking of {q!r} contains {q!r} itself.")
        for place, r in enumerate(ranked):
            last = len(ranked) if steps == -1 else place + 1 + steps
            triplets += [(q, r, s) for s in ranked[place + 1 : last]]
    found = as_triplets(triplets or None)
    if n_triplets is None:
        return found
    order = check_random_state(random_state).permutation(found.n_triplets)
    return found.take(np.sort(order[: check_count(n_triplets)]))
