"""Triplets and their pairs by row: the lists of a `Coupling`.

The kernels fill arrays that their caller makes. ``first``, the offsets, has one slot more than it
needs while it is filled: the entries of row i are counted in slot i + 2, slot i + 1 then says
where the next entry of row i goes, and in the end where row i + 1 begins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rprnmf.kernels import kernel
from rprnmf.kernels.coupling import PairLists, Q, R, TripletLists


class PairEnds(NamedTuple):
    """The pairs of rows that triplets compare, by number."""

    one: np.ndarray  # the smaller row of each pair
    two: np.ndarray  # the larger one
    with_one: np.ndarray  # filled: the place of each pair with row ``one``,
    with_two: np.ndarray  # and with row ``two``


class TripletEnds(NamedTuple):
    """The triplets, by number."""

    rows: np.ndarray  # shape (3, n_triplets): q, r and s
    near: np.ndarray  # the number of the pair q-r
    far: np.ndarray  # the number of the pair q-s
    weight: np.ndarray


@kernel
def list_pairs(wanted, ends, lists, number):
    """The wanted pairs by row, and the places of each with its two rows.

    Fills ``lists``, a `PairLists` whose ``first`` is zeros, ``number``, the number of the pair
    at a place, and the places in ``ends``.
    """
    first, other, mirror = lists
    for p in range(ends.one.shape[0]):
        if wanted[p]:
            first[ends.one[p] + 2] += 1
            first[ends.two[p] + 2] += 1
    for i in range(2, first.shape[0]):
        first[i] += first[i - 1]
    for p in range(ends.one.shape[0]):
        if wanted[p]:
            i, j = ends.one[p], ends.two[p]
            a, b = first[i + 1], first[j + 1]
            first[i + 1] = a + 1
            first[j + 1] = b + 1
            ends.with_one[p] = a
            ends.with_two[p] = b
            number[a] = p
            other[a] = j
            mirror[a] = b
            number[b] = p
            other[b] = i
            mirror[b] = a


@kernel
def list_triplets(chosen, triplets, ends, pair_first, lists):
    """The chosen triplets by row and role: fills ``lists``, whose ``first`` is zeros.

    ``ends`` comes from `list_pairs`, ``pair_first`` is the ``first`` of its lists.
    """
    first, own, also, weight = lists
    for t in chosen:
        for role in range(3):
            first[3 * triplets.rows[role, t] + role + 2] += 1
    for slot in range(2, first.shape[0]):
        first[slot] += first[slot - 1]
    for t in chosen:
        q = triplets.rows[Q, t]
        a, b = triplets.near[t], triplets.far[t]
        near_q, near_r = ends.with_one[a], ends.with_two[a]
        if ends.one[a] != q:
            near_q, near_r = near_r, near_q
        far_q, far_s = ends.with_one[b], ends.with_two[b]
        if ends.one[b] != q:
            far_q, far_s = far_s, far_q
        for role in range(3):
            i = triplets.rows[role, t]
            place = first[3 * i + role + 1]
            first[3 * i + role + 1] = place + 1
            weight[place] = triplets.weight[t]
            if role == Q:
                own[place] = near_q - pair_first[i]
                also[place] = far_q - pair_first[i]
            elif role == R:
                own[place] = near_r - pair_first[i]
                also[place] = far_q
            else:
                own[place] = far_s - pair_first[i]
                also[place] = near_q


def pairs_by_row(wanted: np.ndarray, ends: PairEnds, n: int) -> tuple[PairLists, np.ndarray]:
    """The wanted pairs by row, for ``n`` rows, and the number of the pair at every place."""
    size = 2 * np.count_nonzero(wanted)
    first = np.zeros(n + 2, dtype=np.int64)
    number, other, mirror = np.empty((3, size), dtype=np.uint32)
    if size:  # nothing is compiled for factors without triplets
        list_pairs(wanted, ends, PairLists(first, other, mirror), number)
    return PairLists(first[:-1], other, mirror), number


def triplets_by_row(
    chosen: np.ndarray, triplets: TripletEnds, ends: PairEnds, pairs: PairLists
) -> TripletLists:
    """The chosen triplets by row and role; ``ends`` and ``pairs`` come from `pairs_by_row`."""
    n, size = len(pairs.first) - 1, 3 * len(chosen)
    first = np.zeros(3 * n + 2, dtype=np.int64)
    own, also = np.empty((2, size), dtype=np.uint32)
    weight = np.empty(size)
    lists = TripletLists(first, own, also, weight)
    if size:
        list_triplets(chosen, triplets, ends, pairs.first, lists)
    return lists._replace(first=first[:-1])
