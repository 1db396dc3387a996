"""Triplets and their pairs by row: the first fields of a `Coupling`."""

from __future__ import annotations

import numpy as np

from rprnmf.kernels import kernel
from rprnmf.kernels.coupling import Q, R, S


@kernel
def list_pairs(chosen, near, far, one, two, n):
    """The pairs of the chosen triplets by row, and the places of each with its two rows.

    Returns ``met``, ``pair``, ``other`` and ``mirror`` (see `Coupling`), and for every pair its
    places with row ``one`` and with row ``two``.
    """
    wanted = np.zeros(one.shape[0], np.bool_)
    for t in chosen:
        wanted[near[t]] = True
        wanted[far[t]] = True
    met = np.zeros(n + 1, np.int64)
    for p in range(one.shape[0]):
        if wanted[p]:
            met[one[p] + 1] += 1
            met[two[p] + 1] += 1
    for i in range(n):
        met[i + 1] += met[i]
    pair = np.empty(met[n], np.uint32)
    other = np.empty(met[n], np.uint32)
    mirror = np.empty(met[n], np.uint32)
    with_one = np.empty(one.shape[0], np.uint32)
    with_two = np.empty(one.shape[0], np.uint32)
    free = met.copy()
    for p in range(one.shape[0]):
        if wanted[p]:
            i, j = one[p], two[p]
            a, b = free[i], free[j]
            free[i] = a + 1
            free[j] = b + 1
            with_one[p] = a
            with_two[p] = b
            pair[a] = p
            other[a] = j
            mirror[a] = b
            pair[b] = p
            other[b] = i
            mirror[b] = a
    return met, pair, other, mirror, with_one, with_two


@kernel
def list_triplets(chosen, share, ends, near, far, one, with_one, with_two, met):
    """The chosen triplets by row and role: from ``first`` to ``share`` of a `Coupling`."""
    n = met.shape[0] - 1
    first = np.zeros(3 * n + 1, np.int64)
    for t in chosen:
        for role in range(3):
            first[3 * ends[role, t] + role + 1] += 1
    for slot in range(3 * n):
        first[slot + 1] += first[slot]
    triplet = np.empty(3 * chosen.shape[0], np.uint32)
    own = np.empty(3 * chosen.shape[0], np.uint32)
    also = np.empty(3 * chosen.shape[0], np.uint32)
    its_share = np.empty(3 * chosen.shape[0])
    free = first.copy()
    for t in chosen:
        q, r, s = ends[Q, t], ends[R, t], ends[S, t]
        a, b = near[t], far[t]
        near_q, near_r = with_one[a], with_two[a]
        if one[a] != q:
            near_q, near_r = near_r, near_q
        far_q, far_s = with_one[b], with_two[b]
        if one[b] != q:
            far_q, far_s = far_s, far_q
        for role in range(3):
            place = free[3 * ends[role, t] + role]
            free[3 * ends[role, t] + role] = place + 1
            triplet[place] = t
            its_share[place] = share[t]
            if role == Q:
                own[place] = near_q - met[q]
                also[place] = far_q - met[q]
            elif role == R:
                own[place] = near_r - met[r]
                also[place] = far_q
            else:
                own[place] = far_s - met[s]
                also[place] = near_q
    return first, triplet, own, also, its_share
