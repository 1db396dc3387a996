"""Triplets from class labels."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from rprnmf.checks import label_codes
from rprnmf.triplets.triplets import Triplets


def triplets_from_labels(
    labels: Any, n_triplets: int | None = None, *, per_class: int = 2, random_state: Any = None
) -> Triplets:
    """Comparisons that hold in given classes: q and r share a class, s does not.

    Parameters
    ----------
    labels : array-like of shape (n_points,)
        Class of each point; -1 (or None, or NaN) where it is not known. Such points occur in no
        triplet.
    n_triplets : int, default=None
        How many to draw at random, all different; fewer if there are not as many. None
        draws by class instead, see ``per_class``.
    per_class : int, default=2
        Without ``n_triplets``: the number of points drawn from every class. Each of them is
        q once for every other one of its class as r, with s drawn from another class. With 2
        this is the paper's protocol for the ORL faces: two triplets a class.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    triplets : Triplets
        By index.

    Examples
    --------
    >>> from rprnmf.triplets import triplets_from_labels
    >>> triplets_from_labels([0, 0, 1, 1, -1], random_state=0).items.shape
    (4, 3)
    """
    codes = label_codes(labels)
    rng = check_random_state(random_state)
    known = np.flatnonzero(codes >= 0)
    classes, codes = np.unique(codes[known], return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"triplets need points of at least two classes, got {len(classes)} "
            f"class{'' if len(classes) == 1 else 'es'} among {len(known)} labelled points."
        )
    if n_triplets is None:
        if per_class < 2:
            raise ValueError(f"per_class must be at least 2, got {per_class}.")
        rows = _by_class(codes, len(classes), per_class, rng)
    else:
        if not isinstance(n_triplets, Integral) or n_triplets < 0:
            raise ValueError(f"n_triplets must be a whole number, at least 0; got {n_triplets}.")
        rows = _at_random(codes, n_triplets, rng)
    return Triplets(known[rows])


def _by_class(codes: np.ndarray, n_classes: int, per_class: int, rng) -> np.ndarray:
    rows = []
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(n_classes + 1))
    for code in range(n_classes):
        members = order[starts[code] : starts[code + 1]]
        chosen = rng.permutation(members)[:per_class]
        q, r = (part.ravel() for part in np.meshgrid(chosen, chosen, indexing="ij"))
        q, r = q[q != r], r[q != r]
        s = _outside(order, starts, np.full(len(q), code), rng)
        rows.append(np.column_stack((q, r, s)))
    return np.concatenate(rows)


def _outside(order: np.ndarray, starts: np.ndarray, codes: np.ndarray, rng) -> np.ndarray:
    """A point of another class for each class number."""
    sizes = np.diff(starts)[codes]
    places = (rng.uniform(size=len(codes)) * (len(order) - sizes)).astype(np.int64)
    return order[np.where(places < starts[codes], places, places + sizes)]


def _at_random(codes: np.ndarray, n_triplets: int, rng) -> np.ndarray:
    n = len(codes)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 2))
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    sizes = np.diff(starts)[codes]
    pairs_of = (sizes - 1) * (n - sizes)  # triplets in which a point is q
    possible = int(pairs_of.sum())
    wanted = min(n_triplets, possible)
    if 2 * wanted >= possible:  # number all of them, shuffle, take
        if possible > 20_000_000:
            raise ValueError(f"n_triplets={n_triplets} is too close to the {possible} possible.")
        numbers = rng.permutation(possible)[:wanted]
    else:
        numbers = np.zeros(0, dtype=np.int64)
        while len(numbers) < wanted:
            more = (rng.uniform(size=2 * (wanted - len(numbers)) + 16) * possible).astype(np.int64)
            both = np.concatenate((numbers, more))
            _, first = np.unique(both, return_index=True)
            numbers = both[np.sort(first)][:wanted]
    ends = np.cumsum(pairs_of)
    q = np.searchsorted(ends, numbers, side="right")
    rest = numbers - (ends[q] - pairs_of[q])
    r_step, s_place = np.divmod(rest, n - sizes[q])
    begin = starts[codes[q]]
    r_place = begin + r_step
    r_place += r_place >= place[q]
    s_place = np.where(s_place < begin, s_place, s_place + sizes[q])
    return np.column_stack((q, order[r_place], order[s_place]))
