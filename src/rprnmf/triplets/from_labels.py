"""Triplets from class labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_array, check_random_state

from rprnmf.checks import label_codes
from rprnmf.triplets.draws import check_count
from rprnmf.triplets.pairs import distinct
from rprnmf.triplets.triplets import Triplets

MOST_NUMBERED = 1 << 52  # triplets: float64 cannot number more
NEAR_CLASSES = 4  # a triplet between classes has r in one of the four most like that of q


def triplets_from_labels(
    labels: Any,
    n_triplets: int | None = None,
    *,
    per_class: int = 2,
    features: Any = None,
    random_state: Any = None,
) -> Triplets:
    """Comparisons that hold in given classes: q and r are of one class, s is not.

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
        this is the paper's protocol for the ORL faces: two triplets per class.
    features : {array-like, sparse matrix} of shape (n_points, n_features), default=None
        With them the drawn points are also compared between classes, which labels alone cannot
        tell: (q, r, s) with r of one of the four classes whose mean is nearest to that of q's
        class and s of a class whose mean is further away. Each drawn point is q twice within its
        class (with two others of it, s of another class) and once between classes; all of q, r
        and s are drawn points. ``per_class=4`` is then the paper's protocol for the PIE faces:
        12 triplets per class, 8 within and 4 between. How many of each the paper had is not
        printed.
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
    n_points = len(codes)
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
        if features is None:
            triplets = _by_class(codes, len(classes), per_class, rng)
        else:
            means = _class_means(features, n_points, known, codes, len(classes))
            triplets = _within_and_between(codes, means, per_class, rng)
    elif features is not None:
        raise ValueError("features compare classes with per_class only; n_triplets must be None.")
    else:
        triplets = _at_random(codes, check_count(n_triplets), rng)
    return Triplets(known[triplets])


def _by_class(codes: np.ndarray, n_classes: int, per_class: int, rng) -> np.ndarray:
    """Every drawn point with every other one of its class, and a point of another class."""
    order, starts, drawn, begin, sizes = _drawn(codes, n_classes, per_class, rng)
    code = codes[drawn]
    here = np.arange(len(drawn)) - begin[code]
    q = np.repeat(np.arange(len(drawn)), sizes[code] - 1)
    step = np.arange(len(q)) - np.repeat(
        np.cumsum(sizes[code] - 1) - (sizes[code] - 1), sizes[code] - 1
    )
    other = step + (step >= here[q])
    return np.column_stack(
        (drawn[q], drawn[begin[code[q]] + other], _outside(order, starts, code[q], rng))
    )


def _drawn(codes: np.ndarray, n_classes: int, per_class: int, rng) -> tuple[np.ndarray, ...]:
    """Points drawn from every class: all points by class, where classes begin, and the drawn."""
    shuffled = rng.permutation(len(codes))
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]  # by class, at random within
    starts = np.searchsorted(codes[order], np.arange(n_classes + 1))
    drawn = order[np.arange(len(order)) - starts[codes[order]] < per_class]
    sizes = np.minimum(np.diff(starts), per_class)
    return order, starts, drawn, np.cumsum(sizes) - sizes, sizes


def _class_means(
    features: Any, n: int, known: np.ndarray, codes: np.ndarray, n_classes: int
) -> np.ndarray:
    X = check_array(features, accept_sparse="csr", dtype=np.float64, input_name="features")
    if X.shape[0] != n:
        raise ValueError(f"features must have a row for each of {n} labels, got {X.shape[0]}.")
    if n_classes < 3:
        raise ValueError(f"triplets between classes need three of them, got {n_classes}.")
    ones = np.ones(len(known)) / np.bincount(codes)[codes]
    mean = sp.csr_array((ones, (codes, known)), shape=(n_classes, n)) @ X
    return mean.toarray() if sp.issparse(mean) else mean


def _within_and_between(codes: np.ndarray, means: np.ndarray, per_class: int, rng) -> np.ndarray:
    """Triplets among drawn points: within their classes, and between classes."""
    n_classes = len(means)
    _, _, drawn, begin, sizes = _drawn(codes, n_classes, per_class, rng)
    code = codes[drawn]
    here = np.arange(len(drawn)) - begin[code]
    triplets = []
    for step in (1, 2):  # the next one of the class, in a circle, and the one after
        q = np.flatnonzero(sizes[code] > step)
        r = begin[code[q]] + (here[q] + step) % sizes[code[q]]
        other = (code[q] + 1 + rng.randint(0, n_classes - 1, len(q))) % n_classes
        triplets.append((q, r, begin[other] + rng.randint(0, sizes[other])))
    apart = euclidean_distances(means, squared=True)
    np.fill_diagonal(apart, -1.0)  # every class is nearest to itself
    rank = np.argsort(apart, axis=1, kind="stable")
    near = rng.randint(1, 1 + min(NEAR_CLASSES, n_classes - 2), len(drawn))
    far = near + 1 + (rng.uniform(size=len(drawn)) * (n_classes - 1 - near)).astype(np.int64)
    r_class, s_class = rank[code, near], rank[code, far]
    clear = apart[code, r_class] < apart[code, s_class]  # classes may have the same mean
    r, s = (begin[c] + rng.randint(0, sizes[c]) for c in (r_class, s_class))
    triplets.append((np.flatnonzero(clear), r[clear], s[clear]))
    found = np.concatenate([drawn[np.column_stack(part)] for part in triplets])
    return found[np.argsort(codes[found[:, 0]], kind="stable")]


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
    possible = int(pairs_of.sum(dtype=object)) if n > 1_000_000 else int(pairs_of.sum())
    if possible > MOST_NUMBERED:
        return _some_of_many(order, starts, place, codes, pairs_of, n_triplets, rng)
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


def _some_of_many(order, starts, place, codes, pairs_of, n_triplets: int, rng) -> np.ndarray:
    """The same where there are too many to be numbered."""
    ends = np.cumsum(pairs_of / pairs_of.mean(dtype=np.float64))
    triplets = np.zeros((0, 3), dtype=np.int64)
    while len(triplets) < n_triplets:
        size = n_triplets - len(triplets) + 16
        q = np.searchsorted(ends, rng.uniform(0, ends[-1], size), side="right")
        begin, members = starts[codes[q]], np.diff(starts)[codes[q]]
        r_place = begin + (rng.uniform(size=size) * (members - 1)).astype(np.int64)
        r_place += r_place >= place[q]
        s = _outside(order, starts, codes[q], rng)
        triplets = np.concatenate((triplets, np.column_stack((q, order[r_place], s))))
        triplets = triplets[np.sort(distinct(*triplets.T)[0])]
    return triplets[:n_triplets]
