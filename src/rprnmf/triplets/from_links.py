"""Triplets from must-link and cannot-link pairs, from chains, from surveys."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_array, check_random_state
from sklearn.utils.random import sample_without_replacement

from rprnmf.checks import is_missing, item_array, label_codes
from rprnmf.triplets.draws import check_count
from rprnmf.triplets.pairs import distinct
from rprnmf.triplets.triplets import Triplets

MOST_LENGTH = 7  # of a chain: one draw in 8! = 40,320 has eight rising distances
MOST_ROUNDS = 200  # of draws that bring no chain, one after the other


def triplets_from_links(
    must_link: Any, cannot_link: Any, n_triplets: int | None = None, *, random_state: Any = None
) -> Triplets:
    """Comparisons from pairs that belong together and pairs that do not.

    q is closer to what it is linked with than to what it must not be linked with. Both pairs of a
    triplet are among the given ones: links through others are not followed, only checked for
    contradictions.

    Parameters
    ----------
    must_link, cannot_link : array-like of shape (n_pairs, 2)
        Positions.
    n_triplets : int, default=None
        How many to draw at random; None is all (q, r, s) with q-r and q-s among the given pairs.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    triplets : Triplets
        By index.

    Examples
    --------
    >>> from rprnmf.triplets import triplets_from_links
    >>> triplets_from_links([[0, 1]], [[1, 2]]).items
    array([[1, 0, 2]])
    """
    must, cannot = (
        _pairs(given, name)
        for given, name in ((must_link, "must_link"), (cannot_link, "cannot_link"))
    )
    n = int(max(must.max(initial=-1), cannot.max(initial=-1))) + 1
    if n == 0:
        return Triplets(np.zeros((0, 3), dtype=np.int64))
    ones = np.ones(len(must), dtype=np.int32)
    group = connected_components(
        sp.csr_array((ones, (must[:, 0], must[:, 1])), shape=(n, n)), directed=False
    )[1]
    wrong = group[cannot[:, 0]] == group[cannot[:, 1]]
    if wrong.any():
        pair = tuple(cannot[wrong][0].tolist())
        raise ValueError(f"cannot_link has {pair}, but must_link joins these two points.")
    ones = np.ones(2 * len(must), dtype=np.int32)
    near = sp.csr_array(
        (ones, (np.r_[must[:, 0], must[:, 1]], np.r_[must[:, 1], must[:, 0]])), shape=(n, n)
    )
    both = np.r_[cannot, cannot[:, ::-1]]  # each end is q once
    both = both[distinct(*both.T)[0]]
    near.sum_duplicates()
    counts = np.diff(near.indptr)[both[:, 0]]
    total = int(counts.sum())
    if n_triplets is None:
        numbers = np.arange(total)
    else:
        wanted = min(check_count(n_triplets), total)
        rng = check_random_state(random_state)
        numbers = np.sort(sample_without_replacement(total, wanted, random_state=rng))
    ends = np.cumsum(counts)
    row = np.searchsorted(ends, numbers, side="right")
    q, s = both[row].T if len(row) else (np.zeros(0, int), np.zeros(0, int))
    r = near.indices[near.indptr[q] + numbers - (ends[row] - counts[row])]
    return Triplets(np.column_stack((q, r, s)))


def _pairs(given: Any, name: str) -> np.ndarray:
    pairs = np.asarray(given)
    if pairs.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be whole numbers of shape (n_pairs, 2), got {pairs.dtype} {pairs.shape}."
        )
    if (pairs < 0).any() or (pairs[:, 0] == pairs[:, 1]).any():
        raise ValueError(f"{name} must name two different points, numbered from 0, in every row.")
    return pairs.astype(np.int64)


def triplets_from_chains(
    factor: Any, n_triplets: int, *, length: int = 5, random_state: Any = None
) -> Triplets:
    """Chains of comparisons that hold in a known factor, as in the paper's synthetic experiments.

    A chain of 5 has seven different points with six rising distances between neighbours:
    (p2, p1, p3), (p3, p2, p4), ..., each triplet's far pair being the near pair of the next.

    Parameters
    ----------
    factor : array-like of shape (n_points, n_components)
        One point per row: W, or the transpose of H.
    n_triplets : int
        How many; the last chain is cut where need be.
    length : int, default=5
        Triplets in a chain.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    triplets : Triplets
        By index.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.triplets import triplets_from_chains
    >>> W = np.random.default_rng(0).random((50, 4))
    >>> triplets_from_chains(W, 7, random_state=0).n_triplets
    7
    """
    F = check_array(factor, dtype=np.float64, input_name="factor")
    if not 1 <= length <= MOST_LENGTH:
        raise ValueError(f"length must lie between 1 and {MOST_LENGTH}, got {length}.")
    size = length + 2
    if len(F) < size:
        raise ValueError(f"a chain of {length} triplets needs {size} points, got shape {F.shape}.")
    rng = check_random_state(random_state)
    wanted = check_count(n_triplets)
    chains: list[np.ndarray] = []
    vain = 0
    while length * len(chains) < wanted:
        if vain == MOST_ROUNDS:
            raise ValueError(
                f"no chain of {length} rising distances was found among {len(F)} points in "
                f"{MOST_ROUNDS} rounds; are they different from each other?"
            )
        # a chain cannot be put together from pairs, which would have points in common: whole
        # draws are tried, many at once
        draws = (
            np.argsort(rng.uniform(size=(2048, len(F))), axis=1)[:, :size]
            if len(F) < 200
            else _distinct(rng, len(F), size)
        )
        apart = ((F[draws[:, 1:]] - F[draws[:, :-1]]) ** 2).sum(axis=2)
        rising = (np.diff(apart, axis=1) > 0).all(axis=1)
        vain = 0 if rising.any() else vain + 1
        chains += list(draws[rising])
    rows = [(p[i + 1], p[i], p[i + 2]) for p in chains for i in range(length)]
    return Triplets(np.array(rows[:wanted], dtype=np.int64).reshape(-1, 3))


def _distinct(rng: Any, n: int, size: int) -> np.ndarray:
    drawn = rng.randint(0, n, (4096, size))
    ordered = np.sort(drawn, axis=1)
    return drawn[(np.diff(ordered, axis=1) > 0).all(axis=1)]


def triplets_from_survey(head: Any, winner: Any, loser: Any, worker: Any = None) -> Triplets:
    """Comparisons from answers: which of two is more like the head?

    Parameters
    ----------
    head, winner, loser : array-like of shape (n_answers,)
        Positions or names.
    worker : array-like of shape (n_answers,), default=None
        Who answered. A worker's repeated answer to the same question counts once. Where it is
        not known (None, NaN or -1) every answer counts.

    Returns
    -------
    triplets : Triplets
        Every different answer once, weighted by the number of those who gave it.

    Examples
    --------
    >>> from rprnmf.triplets import triplets_from_survey
    >>> triplets_from_survey(["tea"] * 3, ["coffee"] * 3, ["soup"] * 3, ["ann", "bob", "ann"])
    Triplets(1 triplet by name, weights 2 to 2)
    """
    columns = [item_array(column) for column in (head, winner, loser)]
    if len({column.shape for column in columns}) > 1 or columns[0].ndim != 1:
        shapes = ", ".join(str(column.shape) for column in columns)
        raise ValueError(f"head, winner and loser must be columns of one length, got {shapes}.")
    for column, name in zip(columns, ("head", "winner", "loser"), strict=True):
        for place, item in enumerate(column.tolist() if column.dtype.kind in "fO" else ()):
            if is_missing(item):
                raise ValueError(
                    f"{name} must name an item in every answer, found {item} at {place}."
                )
    if all(column.dtype.kind in "iu" for column in columns):
        items = np.column_stack(columns)
    else:
        items = np.empty((len(columns[0]), 3), dtype=object)
        for place, column in enumerate(columns):
            items[:, place] = column.tolist()
    answers = Triplets(items)
    if worker is None:
        return answers.deduplicate()
    who = label_codes(worker, "worker")
    if len(who) != answers.n_triplets:
        raise ValueError(
            f"worker must name one for each of {answers.n_triplets} answers, got {len(who)}."
        )
    nameless = who < 0
    who[nameless] = who.max(initial=-1) + 1 + np.arange(nameless.sum())
    first, _ = distinct(who, *answers.numbers().T)
    return answers.take(np.sort(first)).deduplicate()
